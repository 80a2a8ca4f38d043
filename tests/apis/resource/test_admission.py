"""Who may give devices to claims, tell how they are, and look after them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from podless.admission import CREATE, UPDATE, AdmissionAttributes
from podless.apis.core.group import PODS
from podless.apis.resource.admission import DeviceAccessCheck
from podless.apis.resource.group import RESOURCE_CLAIM_TEMPLATES, RESOURCE_CLAIMS
from podless.auth.authorizer import Attributes, Decision
from podless.auth.user import User
from podless.runtime.jsonobject import Object

RESULT: Object = {"request": "one", "driver": "gpu.example.com", "pool": "p", "device": "d"}
ON_NODE: Object = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}
GIVEN: Object = {"devices": {"results": [RESULT]}, "nodeSelector": {"nodeSelectorTerms": [ON_NODE]}}
DEVICE: Object = {name: RESULT[name] for name in ("driver", "pool", "device")}
ALICE = User("alice")
PLUGIN = User("system:serviceaccount:kube:plugin", extra={"authentication.kubernetes.io/node-name": ("n1",)})


class Rights:
    """Allows what is listed: verb, subresource, namespace and name."""

    def __init__(self, *rights: tuple[str, str, str, str]) -> None:
        self._rights = rights

    def decide(self, user: User, asked: Attributes) -> Decision:
        return Decision((asked.verb, asked.subresource, asked.namespace, asked.name) in self._rights)


class Spaces:
    """Namespaces: admin is marked, shop is not."""

    async def load_namespace(self, name: str) -> Any:
        labels = {"resource.kubernetes.io/admin-access": "true"} if name == "admin" else {}
        return SimpleNamespace(labels=labels) if name in ("admin", "shop") else None


def refused(
    obj: Object, old: Object | None, *rights: tuple[str, str, str, str], user: User = ALICE, namespace: str = "shop"
) -> list[str]:
    step: Any = DeviceAccessCheck(Spaces(), Rights(*rights))  # type: ignore[arg-type]
    kind, subresource = RESOURCE_CLAIMS, "" if old is None else "status"
    operation = CREATE if old is None else UPDATE
    assert step.allocates(operation, kind, subresource)
    attr = AdmissionAttributes(
        operation, kind, kind.by_version["v1"], subresource, namespace, "gpu", obj, old, {}, False, user, verb="update"
    )
    anyio.run(step.allocate, attr)
    return [str(error) for error in attr.refused]


def test_new_claims_and_templates_and_the_status_of_claims_are_judged() -> None:
    step: Any = DeviceAccessCheck(Spaces(), Rights())  # type: ignore[arg-type]
    for kind in (RESOURCE_CLAIMS, RESOURCE_CLAIM_TEMPLATES):
        assert step.allocates(CREATE, kind, "")
        assert not step.allocates(UPDATE, kind, "")
    assert step.allocates(UPDATE, RESOURCE_CLAIMS, "status")
    assert not step.allocates(CREATE, PODS, "")


def test_giving_devices_needs_the_right_to_bind_everywhere() -> None:
    obj: Object = {"status": {"allocation": GIVEN}}
    old: Object = {"status": {}}
    assert refused(obj, old) == [
        "status.allocation: Forbidden: changing status.allocation or status.reservedFor requires"
        ' resource="resourceclaims/binding", verb="update" permission: resourceclaims.resource.k8s.io is forbidden:'
        ' User "alice" cannot update resource "resourceclaims/binding" in API group "resource.k8s.io" at the cluster'
        " scope"
    ]
    assert not refused(obj, old, ("update", "binding", "", ""))
    assert not refused(obj, obj)


def test_telling_of_devices_needs_the_right_to_speak_for_their_driver() -> None:
    obj, old = {"status": {"allocation": GIVEN, "devices": [DEVICE]}}, {"status": {"allocation": GIVEN}}
    (text,) = refused(obj, old)
    assert 'requires resource="resourceclaims/driver", verb="[arbitrary-node:update]" permission' in text
    assert not refused(obj, old, ("arbitrary-node:update", "driver", "shop", "gpu.example.com"))
    near = ("associated-node:update", "driver", "shop", "gpu.example.com")
    assert refused(obj, old, near)
    assert not refused(obj, old, near, user=PLUGIN)
    assert 'verb="[associated-node:update arbitrary-node:update]"' in refused(obj, old, user=PLUGIN)[0]


@pytest.mark.parametrize(("namespace", "count"), [("admin", 0), ("shop", 1), ("none", 1)])
def test_looking_after_devices_needs_a_marked_namespace(namespace: str, count: int) -> None:
    spec = {"devices": {"requests": [{"name": "a"}, {"name": "b", "exactly": {"adminAccess": True}}]}}
    for obj in ({"spec": spec}, {"spec": {"spec": spec}}):
        texts = refused(obj, None, namespace=namespace)
        assert [text.partition(":")[0] for text in texts] == ["spec.devices.requests[1].adminAccess"] * count
    status = {"allocation": {"devices": {"results": [{**RESULT, "adminAccess": True}]}}}
    rights = ("update", "binding", "", "")
    assert len(refused({"status": status}, {"status": {}}, rights, namespace=namespace)) == count
    assert not refused({"status": status}, {"status": status}, namespace=namespace)
