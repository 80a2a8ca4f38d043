"""Endpoints go with the service of their name, whoever made them: before its deletion is answered, where this server
leads, and at once where another one does.

Source: Kubernetes' pkg/registry/core/service/storage.
"""

from __future__ import annotations

from collections.abc import Sequence

from podless.apis.core.group import ENDPOINTS, SERVICES
from podless.cache.events import Event
from podless.controllers.controller import Controller
from podless.controllers.write import delete_all
from podless.kinds.kind import Kind


class EndpointsOfServices(Controller):
    """Deletes the Endpoints of services that are gone; EndpointSlices are left alone. Keys are those of services."""

    name = "service-endpoints"

    async def begin(self) -> None:
        services = await self.api.loaded(SERVICES)
        self.leave.append(services.add_event_handler(self._gone))

    @property
    def awaited(self) -> Sequence[Kind]:
        """Services: their Endpoints are gone before a deletion is answered."""
        return (SERVICES,)

    def _gone(self, events: Sequence[Event]) -> None:
        for event in events:
            if event.after is None:
                self.queue.add(event.key)

    async def reconcile(self, key: str) -> None:
        """Delete what has the name of a service that is no longer there."""
        if self.api.collection(SERVICES).get(key) is not None:
            return
        endpoints = await self.api.loaded(ENDPOINTS)
        left = endpoints.get(ENDPOINTS.prefix + key.removeprefix(SERVICES.prefix))
        if left is not None:
            await delete_all(self.api, ENDPOINTS, [left])
