"""What exists from the start."""

from __future__ import annotations

import re
from typing import Any

from podless import Server
from podless.codec import gotime

KINDS = ("services", "servicecidrs", "priorityclasses", "flowschemas", "prioritylevelconfigurations")


def owned(server: Server) -> dict[str, Any]:
    """Whose the fields of each object are, without the times."""
    found = {}
    for kind in KINDS:
        for obj in server.list(kind):
            metadata = obj["metadata"]
            assert all(entry.pop("time") for entry in metadata["managedFields"])
            found[f"{kind}/{metadata['name']}"] = metadata["managedFields"]
    return found


def test_owners_are_the_same_in_each_server() -> None:
    with Server() as one, Server() as other:
        assert owned(one) == owned(other)
        assert {entry["manager"] for entries in owned(one).values() for entry in entries} == {
            "kube-apiserver",
            "kubernetes-service-cidr-controller",
            "api-priority-and-fairness-config-producer-v1",
        }


def test_the_service_owns_what_was_not_allocated() -> None:
    with Server() as server:
        fields = owned(server)["services/kubernetes"][0]["fieldsV1"]["f:spec"]
    names = ("clusterIP", "internalTrafficPolicy", "ipFamilyPolicy", "ports", "sessionAffinity", "type")
    assert set(fields) == {f"f:{name}" for name in names}


EVERY = (*KINDS, "namespaces", "clusterroles", "clusterrolebindings", "apiservices", "serviceaccounts")
TIME = re.compile(r"\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z")


def initial(server: Server) -> dict[str, Any]:
    """What exists from the start, by kind and name."""
    listed = [(kind, obj) for kind in EVERY for obj in server.list(kind, namespace=None)]
    return {f"{kind}/{obj['metadata'].get('namespace')}/{obj['metadata']['name']}": obj for kind, obj in listed}


def test_servers_differ_in_uids_and_times_alone() -> None:
    with Server() as one:
        former = initial(one)
    later = Server()
    later.clock.advance(hours=1)
    with later:
        found = initial(later)
    for name, known in (("uid", [former, found]), ("resourceVersion", [former]), ("resourceVersion", [found])):
        values = [obj["metadata"].pop(name) for each in known for obj in each.values()]
        assert len(values) == len({*values}), name
    for name, obj in found.items():
        before, after = str(former[name]), str(obj)
        assert TIME.sub("", before) == TIME.sub("", after)
        latest, earliest = max(map(seconds, TIME.findall(before))), min(map(seconds, TIME.findall(after)))
        assert earliest - latest >= 3600, name


def seconds(text: str) -> int:
    return gotime.parse_instant(text)[0]
