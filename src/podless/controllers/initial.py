"""What exists from the start: the service that the server is known by, priorities, and the levels of flow control.

What is there already is left alone. Source: the post-start hooks of kube-apiserver.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from podless.apis.flowcontrol import bootstrap
from podless.apis.scheduling import priorityclasses
from podless.controllers.controller import Controller
from podless.controllers.write import make_object
from podless.kinds.kind import Kind
from podless.runtime import clock
from podless.runtime.jsonobject import Object
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
_RESOURCES = (
    ("", "services"),
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
        for resource in _RESOURCES:
            if (served := self._kind(*resource)) is not None:
                await self.api.loaded(served)
        now = clock.now()
        found = [
            (kind, obj, manager) for group, plural, manager, obj in _wanted() if (kind := self._kind(group, plural))
        ]
        missing = [one for one in found if self._missing(one[0], one[1])]
        await asyncio.gather(
            *(make_object(self.api, kind, obj, manager, constant=now) for kind, obj, manager in missing)
        )

    def _kind(self, group: str, plural: str) -> Kind | None:
        return self.api.registry.get(group, plural)

    def _missing(self, kind: Kind, obj: Object) -> bool:
        metadata = obj["metadata"]
        return self.api.collection(kind).get(kind.key(metadata.get("namespace", ""), metadata["name"])) is None


def _wanted() -> Iterator[Wanted]:
    services, classes, levels, schemas = _RESOURCES
    yield *services, _SERVER, {**_SERVICE, "metadata": dict(_SERVICE["metadata"])}
    for known in priorityclasses.SYSTEM:
        yield *classes, _SERVER, {**known, "metadata": dict(known["metadata"])}
    for level in bootstrap.bootstrap_levels():
        yield *levels, _FLOWS, level
    for schema in bootstrap.bootstrap_schemas():
        yield *schemas, _FLOWS, schema
