"""Sends the requests of a plan, to a server in memory or to a running API; the built-in resources that they name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol
from urllib.parse import urlencode

from podless.apis.catalog import ALL
from podless.kinds.kind import Kind
from podless.remote.cluster import RemoteCluster
from podless.remote.resources import APIResource
from podless.runtime.jsonobject import Object

JSON = "application/json"
# by apiVersion and kind
BUILT_IN: Mapping[tuple[str, str], Kind] = {
    (kind.api_version(version.name), kind.kind): kind for kind in ALL for version in kind.versions
}
_WARNING = re.compile(r'299 \S+ "((?:[^"\\]|\\.)*)"')
_ESCAPED = re.compile(r"\\(.)")


class RequestResult(NamedTuple):
    """The answer to a request. warnings: from the server."""

    obj: Object
    warnings: Sequence[str] = ()


class SendRequest(Protocol):
    """Sends requests to a Kubernetes API, for one user."""

    async def __call__(
        self, method: str, path: str, body: Any = None, media: str = JSON, **query: str
    ) -> RequestResult:
        """Send a request and return its answer. Raises Refused, or RemoteError if there is no answer."""


class ActingUser(NamedTuple):
    """A user for whom requests are sent. uid: "" for none."""

    name: str
    groups: Sequence[str] = ()
    uid: str = ""

    def list_headers(self) -> list[tuple[str, str]]:
        """Return the headers that impersonate the user."""
        uid = [("Impersonate-Uid", self.uid)] if self.uid else []
        return [("Impersonate-User", self.name), *(("Impersonate-Group", group) for group in self.groups), *uid]


def make_sender(cluster: RemoteCluster, acting: ActingUser | None = None) -> SendRequest:
    """Return a function that sends requests to a running API. acting: the user to impersonate, None for none."""
    headers = acting.list_headers() if acting is not None else []

    async def send(method: str, path: str, body: Any = None, media: str = JSON, **query: str) -> RequestResult:
        obj = await cluster.send(method, f"{path}?{urlencode(query)}" if query else path, body, media, headers)
        return RequestResult(obj, read_warnings(cluster.warnings))

    return send


def read_warnings(values: Iterable[str]) -> list[str]:
    """Return the texts in Warning headers."""
    matches = [_WARNING.match(value) for value in values]
    return [_ESCAPED.sub(r"\1", match[1]) for match in matches if match is not None]


def find_builtin(api_version: str, kind: str) -> APIResource:
    """Return the resource of a built-in kind."""
    found = BUILT_IN[api_version, kind]
    return APIResource(api_version, found.plural, kind, found.namespaced)
