"""Reports the condition Dangling of FlowSchemas: whether their priority level exists.

Source: k8s.io/apiserver pkg/util/flowcontrol, the consumer of the configuration.
"""

from __future__ import annotations

from collections.abc import Sequence

from podless.apis.flowcontrol import bootstrap
from podless.apis.flowcontrol.group import FLOW_SCHEMAS, PRIORITY_LEVELS
from podless.cache.events import CacheEvent
from podless.controllers.controller import Controller
from podless.controllers.write import apply_status
from podless.runtime import clock


class FlowSchemaController(Controller):
    """Follows FlowSchemas and their priority levels. Keys are those of FlowSchemas."""

    name = "api-priority-and-fairness-config-consumer-v1"

    async def begin(self) -> None:
        if self.api.registry.get(FLOW_SCHEMAS.group, FLOW_SCHEMAS.plural) is None:
            return
        await self.watch_kind(PRIORITY_LEVELS, self._handle_levels)
        await self.follow_kind(FLOW_SCHEMAS)

    def _handle_levels(self, events: Sequence[CacheEvent]) -> None:
        if any(event.before is None or event.after is None for event in events):
            for entry in self.api.collection(FLOW_SCHEMAS).list_entries():
                self.queue.add(entry.key)

    async def reconcile(self, key: str) -> None:
        entry = self.api.collection(FLOW_SCHEMAS).get(key)
        if entry is None:
            return
        schema = entry.decode()
        level = schema["spec"]["priorityLevelConfiguration"]["name"]
        level_exists = self.api.collection(PRIORITY_LEVELS).get(PRIORITY_LEVELS.key("", level)) is not None
        expected = bootstrap.dangling_condition(level, exists=level_exists)
        conditions = (schema.get("status") or {}).get("conditions") or ()
        if not any(expected.items() <= condition.items() for condition in conditions):
            condition = {**expected, "lastTransitionTime": clock.now()}
            await apply_status(self.api, FLOW_SCHEMAS, entry.name, self.name, {"conditions": [condition]})
