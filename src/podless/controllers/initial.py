"""Creates the initial objects: the service `kubernetes`, its ServiceCIDR, priority classes, and flow control levels.

Existing objects stay unchanged. Source: the post-start hooks of kube-apiserver, and defaultservicecidr of
pkg/controlplane/controller.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

from podless.apis.core.group import SERVICES
from podless.apis.core.serviceallocation import NETWORK
from podless.apis.flowcontrol import bootstrap
from podless.apis.flowcontrol.group import FLOW_SCHEMAS, PRIORITY_LEVELS
from podless.apis.networking.group import SERVICE_CIDRS
from podless.apis.scheduling import priorityclasses
from podless.apis.scheduling.group import PRIORITY_CLASSES
from podless.controllers.controller import Controller
from podless.controllers.write import SELF, make_object
from podless.kinds.kind import Kind
from podless.runtime import clock
from podless.runtime.jsonobject import Object

_FLOWS = "api-priority-and-fairness-config-producer-v1"


class InitialObjects(Controller):
    """Creates missing objects in one batch. It watches nothing."""

    name = "poststarthook/bootstrap-controller"
    leads = False

    async def begin(self) -> None:
        now = clock.now()
        registry = self.api.registry
        wanted = [
            (kind, obj, manager, reporter)
            for home, obj, manager, reporter in _list_wanted(now)
            if (kind := registry.get(home.group, home.plural)) is not None
        ]
        for kind in dict.fromkeys(item[0] for item in wanted):
            await self.api.load_collection(kind)
        await asyncio.gather(
            *(
                make_object(self.api, kind, obj, manager, constant=now, reporter=reporter)
                for kind, obj, manager, reporter in wanted
                if self._is_missing(kind, obj)
            )
        )

    def _is_missing(self, kind: Kind, obj: Object) -> bool:
        metadata = obj["metadata"]
        return self.api.collection(kind).get(kind.key(metadata.get("namespace", ""), metadata["name"])) is None


def _list_wanted(now: str) -> Iterator[tuple[Kind, Object, str, Object | None]]:
    """Yield kind, object, manager, and the managedFields entry of its status."""
    given = json.loads(Path(__file__).with_name("initial.json").read_bytes())
    yield SERVICES, given["service"], SELF, None
    status = {"conditions": [given["ready"] | {"lastTransitionTime": now}]}
    cidr = {**given["range"], "spec": {"cidrs": [str(NETWORK)]}, "status": status}
    yield SERVICE_CIDRS, cidr, SELF, given["reporter"] | {"time": now}
    for priority_class in priorityclasses.SYSTEM:
        yield PRIORITY_CLASSES, {**priority_class, "metadata": dict(priority_class["metadata"])}, SELF, None
    for level in bootstrap.bootstrap_levels():
        yield PRIORITY_LEVELS, level, _FLOWS, None
    for schema in bootstrap.bootstrap_schemas():
        yield FLOW_SCHEMAS, schema, _FLOWS, None
