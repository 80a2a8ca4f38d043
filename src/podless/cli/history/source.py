"""The sources of the history commands: a server, or a folder that no server uses."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Protocol

from podless.remote.resources import APIResource
from podless.runtime.jsonobject import Object
from podless.runtime.option import ReportedError


class InvalidArguments(ReportedError):
    """The arguments are invalid. The text is one line."""


class HistorySource(Protocol):
    """A source of changes and states. Methods raise RemoteError, StoreError and InvalidArguments."""

    async def find_resource(self, name: str) -> APIResource:
        """Return the resource with a name."""

    def list_changes(
        self, resource: APIResource | None, namespace: str, name: str, *, by: str = "", states: bool = False
    ) -> AsyncIterator[Object]:
        """Yield changes, newest first. states: include the object after each change."""

    async def read_state(
        self, resource: APIResource, namespace: str, name: str, at: Mapping[str, str]
    ) -> Object | None:
        """Return an object in an earlier state, None if it did not exist. at: from `query_of_moment`."""
