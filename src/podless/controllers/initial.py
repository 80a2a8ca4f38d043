"""Creates the initial objects: the service `kubernetes`, its ServiceCIDR, priority classes, and flow control levels.

Existing objects stay unchanged. Source: the post-start hooks of kube-apiserver.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from podless.apis.core.serviceallocation import NETWORK
from podless.apis.flowcontrol import bootstrap
from podless.apis.networking.group import SERVICE_CIDRS
from podless.apis.scheduling import priorityclasses
from podless.controllers.controller import Controller
from podless.controllers.write import SELF, make_object
from podless.kinds.kind import Kind
from podless.runtime import clock
from podless.runtime.jsonobject import Object

_FLOWS = "api-priority-and-fairness-config-producer-v1"
_ADDRESS = "10.0.0.1"
_SERVICE: Object = {
    "metadata": {
        "name": "kubernetes",
        "namespace": "default",
        "labels": {"component": "apiserver", "provider": "kubernetes"},
    },
    "spec": {
        "ports": [{"name": "https", "protocol": "TCP", "port": 443, "targetPort": 6443}],
        "clusterIP": _ADDRESS,
        "clusterIPs": [_ADDRESS],
        "type": "ClusterIP",
        "sessionAffinity": "None",
        "ipFamilies": ["IPv4"],
        "ipFamilyPolicy": "SingleStack",
        "internalTrafficPolicy": "Cluster",
    },
}
# Source: pkg/controlplane/controller/defaultservicecidr
_RANGE: Object = {"metadata": {"name": "kubernetes"}, "spec": {"cidrs": [str(NETWORK)]}}
_READY_CONDITION: Object = {
    "type": "Ready",
    "status": "True",
    "reason": "",
    "message": "Kubernetes default Service CIDR is ready",
}
_REPORTED: Object = {
    "manager": "kubernetes-service-cidr-controller",
    "operation": "Apply",
    "apiVersion": "networking.k8s.io/v1",
    "fieldsType": "FieldsV1",
    "fieldsV1": {
        "f:status": {
            "f:conditions": {
                'k:{"type":"Ready"}': {
                    ".": {},
                    "f:lastTransitionTime": {},
                    "f:message": {},
                    "f:status": {},
                    "f:type": {},
                }
            }
        }
    },
    "subresource": "status",
}
_RESOURCES = (
    ("", "services"),
    ("networking.k8s.io", "servicecidrs"),
    ("scheduling.k8s.io", "priorityclasses"),
    ("flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations"),
    ("flowcontrol.apiserver.k8s.io", "flowschemas"),
)
# group, plural, field manager, object
InitialObject = tuple[str, str, str, Object]


class InitialObjects(Controller):
    """Creates missing objects in one batch. It watches nothing."""

    name = "poststarthook/bootstrap-controller"
    leads = False

    async def begin(self) -> None:
        for resource in _RESOURCES:
            if (served := self._find_kind(*resource)) is not None:
                await self.api.load_collection(served)
        now = clock.now()
        served_objects = [
            (kind, obj, manager)
            for group, plural, manager, obj in _list_wanted(now)
            if (kind := self._find_kind(group, plural))
        ]
        missing = [item for item in served_objects if self._is_missing(item[0], item[1])]
        await asyncio.gather(*(self._create_object(kind, obj, manager, now) for kind, obj, manager in missing))

    async def _create_object(self, kind: Kind, obj: Object, manager: str, now: str) -> None:
        reporter = {**_REPORTED, "time": now} if kind == SERVICE_CIDRS else None
        await make_object(self.api, kind, obj, manager, constant=now, reporter=reporter)

    def _find_kind(self, group: str, plural: str) -> Kind | None:
        return self.api.registry.get(group, plural)

    def _is_missing(self, kind: Kind, obj: Object) -> bool:
        metadata = obj["metadata"]
        return self.api.collection(kind).get(kind.key(metadata.get("namespace", ""), metadata["name"])) is None


def _list_wanted(now: str) -> Iterator[InitialObject]:
    services, ranges, classes, levels, schemas = _RESOURCES
    yield *services, SELF, {**_SERVICE, "metadata": dict(_SERVICE["metadata"])}
    status = {"conditions": [{**_READY_CONDITION, "lastTransitionTime": now}]}
    yield *ranges, SELF, {**_RANGE, "metadata": dict(_RANGE["metadata"]), "status": status}
    for priority_class in priorityclasses.SYSTEM:
        yield *classes, SELF, {**priority_class, "metadata": dict(priority_class["metadata"])}
    for level in bootstrap.bootstrap_levels():
        yield *levels, _FLOWS, level
    for schema in bootstrap.bootstrap_schemas():
        yield *schemas, _FLOWS, schema
