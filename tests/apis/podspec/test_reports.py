"""What is reported of a pod's claims and containers."""

from __future__ import annotations

from typing import Any

import pytest

from podless.apis.podspec import statuses

RESOURCES = {"requests": {"a.b/c": "1"}, "claims": [{"name": "x"}]}
SPEC: dict[str, Any] = {"containers": [{"name": "c", "resources": RESOURCES}]}


@pytest.mark.parametrize(
    ("status", "fields"),
    [
        ({}, []),
        ({"resourceClaimStatuses": [{"name": "x"}]}, ["resourceClaimStatuses[0].name"]),
        (
            {"extendedResourceClaimStatus": {"requestMappings": []}},
            ["extendedResourceClaimStatus.requestMappings", "extendedResourceClaimStatus.resourceClaimName"],
        ),
        (
            {
                "extendedResourceClaimStatus": {
                    "requestMappings": [{"containerName": "c", "resourceName": "a.b/c", "requestName": "r"}],
                    "resourceClaimName": "x",
                }
            },
            [],
        ),
        (
            {"containerStatuses": [{"name": "c", "user": {"linux": {"uid": -1, "gid": 0}}}]},
            ["containerStatuses[0].user.linux.uid"],
        ),
        (
            {"containerStatuses": [{"name": "c", "allocatedResourcesStatus": [{"name": "claim:x"}, {"name": "no"}]}]},
            ["containerStatuses[0].allocatedResourcesStatus[1].name"],
        ),
        (
            {"ephemeralContainerStatuses": [{"name": "e", "allocatedResourcesStatus": [{"name": "a.b/c"}]}]},
            ["ephemeralContainerStatuses[0].allocatedResourcesStatus"],
        ),
    ],
)
def test_reports(status: dict[str, Any], fields: list[str]) -> None:
    found = [*statuses.validate_claims(status, SPEC), *statuses.validate_containers(status, SPEC)]
    assert [error.field for error in found] == [f"status.{name}" for name in fields]


def test_users_come_before_resources() -> None:
    one = {"name": "c", "user": {"linux": {"uid": -1, "gid": 0}}, "allocatedResourcesStatus": [{"name": "no"}]}
    found = statuses.validate_containers({"containerStatuses": [one, one]}, SPEC)
    assert [error.field.rpartition(".")[2] for error in found] == ["uid", "uid", "name", "name"]
