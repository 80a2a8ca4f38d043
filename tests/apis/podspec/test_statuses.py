"""Status updates of pods: what containers, addresses and nominated nodes may become."""

from __future__ import annotations

from typing import Any

import pytest

from podless.apis.features import choose_release
from podless.apis.podspec.statuses import validate_status_update
from podless.runtime.release import CURRENT

_ADDRESSES = {"podIPs": [{"ip": "a"}, {"ip": "1.2.3.4"}], "hostIP": "1.2.3.4", "hostIPs": [{"ip": "1.2.3.5"}]}
_ENDED = {"state": {"terminated": {"exitCode": 1}}}
_RUNS: dict[str, Any] = {"state": {"running": {}}}


def pod(status: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {
        "metadata": {},
        "spec": {"containers": [{"name": "c"}], "restartPolicy": "Always", **spec},
        "status": status,
    }


def faults(status: dict[str, Any], before: dict[str, Any], release: str = "1.36", **spec: Any) -> list[str]:
    token = CURRENT.set(choose_release(release))
    try:
        return [str(error) for error in validate_status_update(pod(status, **spec), pod(before, **spec))]
    finally:
        CURRENT.reset(token)


def test_addresses_are_reported_in_order() -> None:
    assert [fault.partition(": ")[0] for fault in faults(_ADDRESSES, {})] == [
        "status.podIPs[0]",
        "status.podIPs",
        "status.podIPs",
        "status.hostIPs[0].ip",
    ]
    assert "failed to check for dual stack with error:invalid IP[0]: a" in faults(_ADDRESSES, {})[1]


@pytest.mark.parametrize(("release", "count"), [("1.34", 0), ("1.35", 1)])
def test_bound_pods_need_no_nomination(release: str, count: int) -> None:
    assert len(faults({"nominatedNodeName": "b"}, {}, release, nodeName="a")) == count


@pytest.mark.parametrize(
    ("release", "name", "spec", "count"),
    [
        ("1.36", "c", {}, 0),
        ("1.36", "other", {}, 1),
        ("1.33", "other", {}, 0),
        ("1.33", "other", {"restartPolicy": "OnFailure"}, 0),
        ("1.33", "c", {"restartPolicy": "Never"}, 1),
    ],
)
def test_ended_containers_run_again_if_they_may(release: str, name: str, spec: dict[str, Any], count: int) -> None:
    statuses = [{"containerStatuses": [{"name": name, **state}]} for state in (_RUNS, _ENDED)]
    assert len(faults(statuses[0], statuses[1], release, **spec)) == count
