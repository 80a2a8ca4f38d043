"""What the commands of the history read: a server, or a folder that no server uses."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Protocol

from podless.cli.transfer.resources import Resource
from podless.runtime.jsonobject import Object


class Mistaken(Exception):
    """What the command was given cannot be; the text is one clear line."""


class HistorySource(Protocol):
    """Where changes and states are read from. Methods raise RemoteError, StoreError and Mistaken."""

    async def resource(self, name: str) -> Resource:
        """Return the resource of a name."""

    def changes(
        self, resource: Resource | None, namespace: str, name: str, *, by: str = "", states: bool = False
    ) -> AsyncIterator[Object]:
        """Return changes, newest first. states: with the object as each left it."""

    async def state(self, resource: Resource, namespace: str, name: str, at: Mapping[str, str]) -> Object | None:
        """Return an object as it was, None where it was not there. at: as `query_of_moment` returns it."""
