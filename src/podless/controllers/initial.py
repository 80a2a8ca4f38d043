"""What exists from the start: the service of the server, the range of its address, priorities, and flow control levels.

What is there already is left alone. Source: the post-start hooks of kube-apiserver.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from podless.controllers.controller import Controller
from podless.controllers.write import make
from podless.kinds.builtin.allocation import NETWORK
from podless.kinds.builtin.flowcontrol import bootstrap
from podless.kinds.builtin.scheduling import priorityclasses
from podless.kinds.kind import Kind
from podless.kinds.strategy import Object
from podless.meta import clock
from podless.verbs.call import API

_SERVER, _FLOWS = "kube-apiserver", "api-priority-and-fairness-config-producer-v1"
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
# pkg/controlplane/controller/defaultservicecidr, and pkg/registry/core/service/ipallocator
_RANGE: Object = {"metadata": {"name": "kubernetes"}, "spec": {"cidrs": [str(NETWORK)]}}
_READY = {"type": "Ready", "status": "True", "reason": "", "message": "Kubernetes default Service CIDR is ready"}
_TAKEN: Object = {
    "metadata": {
        "name": _ADDRESS,
        "labels": {
            "ipaddress.kubernetes.io/ip-family": "IPv4",
            "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
        },
    },
    "spec": {"parentRef": {"resource": "services", "namespace": "default", "name": "kubernetes"}},
}
_RESOURCES = (
    ("", "services"),
    ("networking.k8s.io", "servicecidrs"),
    ("networking.k8s.io", "ipaddresses"),
    ("scheduling.k8s.io", "priorityclasses"),
    ("flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations"),
    ("flowcontrol.apiserver.k8s.io", "flowschemas"),
)
# group, plural, whose it is, and what there is
Wanted = tuple[str, str, str, Object]


class Initial(Controller):
    """Makes what is missing, in one batch; nothing is watched."""

    name = "poststarthook/bootstrap-controller"
    leads = False

    def __init__(self, api: API) -> None:
        super().__init__(api)

    async def begin(self) -> None:
        """Make what is missing."""
        for resource in _RESOURCES:
            if (served := self._kind(*resource)) is not None:
                await self.api.loaded(served)
        now = clock.now()
        found = [
            (kind, obj, manager) for group, plural, manager, obj in _wanted(now) if (kind := self._kind(group, plural))
        ]
        missing = [one for one in found if self._missing(one[0], one[1])]
        await asyncio.gather(*(make(self.api, kind, obj, manager, constant=now) for kind, obj, manager in missing))

    def _kind(self, group: str, plural: str) -> Kind | None:
        return self.api.registry.get(group, plural)

    def _missing(self, kind: Kind, obj: Object) -> bool:
        metadata = obj["metadata"]
        return self.api.collection(kind).get(kind.key(metadata.get("namespace", ""), metadata["name"])) is None


def _wanted(now: str) -> Iterator[Wanted]:
    services, ranges, addresses, classes, levels, schemas = _RESOURCES
    yield *services, _SERVER, {**_SERVICE, "metadata": dict(_SERVICE["metadata"])}
    ready = {"conditions": [{**_READY, "lastTransitionTime": now}]}
    yield *ranges, _SERVER, {**_RANGE, "metadata": dict(_RANGE["metadata"]), "status": ready}
    yield *addresses, _SERVER, {**_TAKEN, "metadata": dict(_TAKEN["metadata"])}
    for known in priorityclasses.SYSTEM:
        yield *classes, _SERVER, {**known, "metadata": dict(known["metadata"])}
    for level in bootstrap.levels():
        yield *levels, _FLOWS, level
    for schema in bootstrap.schemas():
        yield *schemas, _FLOWS, schema
