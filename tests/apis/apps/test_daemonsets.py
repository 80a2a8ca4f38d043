"""DaemonSets: defaults, rules, and the annotation that counts templates."""

from __future__ import annotations

from typing import Any

import pytest

from podless import Server
from podless.apis.apps.group import DAEMON_SETS
from podless.structs.structs import DecodeError
from tests.apis.late import changed, decoded, faults, made, reported, template
from tests.conftest import Client

SPEC: dict[str, Any] = {"selector": {"matchLabels": {"app": "web"}}, "template": template()}
GENERATION = "deprecated.daemonset.template.generation"


def strategy(kind: str, **rolling: Any) -> dict[str, Any]:
    return {**SPEC, "updateStrategy": {"type": kind, "rollingUpdate": rolling}}


def test_defaults() -> None:
    spec = decoded(DAEMON_SETS, SPEC)["spec"]
    assert spec["updateStrategy"] == {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}}
    assert spec["revisionHistoryLimit"] == 10


def test_a_rolling_part_that_is_not_used_has_zeros() -> None:
    given = decoded(DAEMON_SETS, strategy("OnDelete"))["spec"]["updateStrategy"]
    assert given["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": 0}


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        (SPEC, ""),
        (strategy("OnDelete"), ""),
        (strategy("RollingUpdate", maxUnavailable=0, maxSurge=1), ""),
        (
            strategy("RollingUpdate", maxSurge=1),
            "spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: "
            "may not be set when maxUnavailable is non-zero",
        ),
        (
            strategy("RollingUpdate", maxUnavailable=0),
            "spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0",
        ),
        (
            {**SPEC, "updateStrategy": {"type": "x"}},
            'spec.updateStrategy: Unsupported value: {"Type":"x","RollingUpdate":null}: '
            'supported values: "RollingUpdate", "OnDelete"',
        ),
        (
            {**SPEC, "selector": None},
            'spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`',
        ),
    ],
)
def test_rules(spec: dict[str, Any], wanted: str) -> None:
    assert faults(DAEMON_SETS, spec) == ([wanted] if wanted else [])


def test_the_selector_stays() -> None:
    other = {**SPEC, "selector": {"matchExpressions": [{"key": "app", "operator": "Exists"}]}}
    assert changed(DAEMON_SETS, SPEC, other)[-1].endswith("field is immutable")
    other["selector"] = {"matchLabels": {"app": "other"}}
    assert [fault.split(":")[0] for fault in changed(DAEMON_SETS, SPEC, other)] == [
        "spec.template.metadata.labels",
        "spec.selector",
    ]


def test_templates_are_counted() -> None:
    version = DAEMON_SETS.versions[0]
    assert decoded(DAEMON_SETS, SPEC)["metadata"]["annotations"] == {GENERATION: "0"}
    old = made(DAEMON_SETS, SPEC, annotations={"a": "b"})
    assert old["metadata"]["annotations"] == {"a": "b", GENERATION: "1"}
    new = decoded(DAEMON_SETS, {**SPEC, "template": template(hostNetwork=True)}, annotations={GENERATION: "7"})
    DAEMON_SETS.strategy.prepare_update(version, new, old)
    assert new["metadata"]["annotations"] == {GENERATION: "2"}
    reported_ = decoded(DAEMON_SETS, SPEC)
    DAEMON_SETS.strategy.prepare_status(version, reported_, old)
    assert reported_["metadata"]["annotations"] == {GENERATION: "1"}


def test_the_count_is_a_number() -> None:
    with pytest.raises(DecodeError, match="invalid syntax"):
        decoded(DAEMON_SETS, SPEC, annotations={GENERATION: "x"})


def test_status() -> None:
    assert reported(DAEMON_SETS, SPEC, {"numberReady": -1}) == [
        "status.numberReady: Invalid value: -1: must be greater than or equal to 0"
    ]


def test_only_a_changed_template_is_warned_of(client: Client) -> None:
    path = "/apis/apps/v1/namespaces/default/daemonsets"
    pods = template(nodeSelector={"beta.kubernetes.io/os": "linux"})
    made = client.post(path, {"metadata": {"name": "warned"}, "spec": {**SPEC, "template": pods}})
    assert "deprecated" in made.headers["Warning"]
    assert "Warning" not in client.merge(f"{path}/warned", {"spec": {"minReadySeconds": 1}}).headers
    changed = {"spec": {"template": {"metadata": {"labels": {"more": "x"}}}}}
    assert "deprecated" in client.merge(f"{path}/warned", changed).headers["Warning"]


def test_older_releases_validate_a_change_as_a_new_object_first() -> None:
    path = "/apis/apps/v1/namespaces/default/daemonsets"
    with Server(tls=False, kubernetes_version="1.33", default_accounts=False) as server:
        client = Client(server.url, server.token)
        client.post(path, {"metadata": {"name": "d"}, "spec": SPEC})
        change = {"minReadySeconds": -1, "selector": {"matchExpressions": [{"key": "app", "operator": "Exists"}]}}
        causes = client.merge(f"{path}/d", {"spec": change}).body["details"]["causes"]
    assert [cause["field"] for cause in causes] == ["spec.minReadySeconds", "spec.minReadySeconds", "spec.selector"]
