"""What exists from the start."""

from __future__ import annotations

from typing import Any

from podless import Server

KINDS = ("services", "priorityclasses", "flowschemas", "prioritylevelconfigurations")


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
            "api-priority-and-fairness-config-producer-v1",
        }
