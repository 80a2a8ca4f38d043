"""Sends the requests of a plan, to a server in memory or to a running API."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol
from urllib.parse import quote, urlencode

from podless.kinds.kind import Kind
from podless.remote.cluster import RemoteCluster
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object

JSON = "application/json"
APPLY = "application/apply-patch+yaml"
STRATEGIC = "application/strategic-merge-patch+json"
MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
_WARNING = re.compile(r'299 \S+ "((?:[^"\\]|\\.)*)"')
_ESCAPED = re.compile(r"\\(.)")


class RequestResult(NamedTuple):
    """The answer to a request. warnings: from the server."""

    obj: Object
    warnings: Sequence[str] = ()


class Requester(Protocol):
    """Answers requests to a Kubernetes API."""

    async def send_request(
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


class RemoteRequester:
    """Sends requests to a running API. acting: the user to impersonate, None for none."""

    def __init__(self, cluster: RemoteCluster, acting: ActingUser | None = None) -> None:
        self._cluster = cluster
        self._headers = acting.list_headers() if acting is not None else []

    async def send_request(
        self, method: str, path: str, body: Any = None, media: str = JSON, **query: str
    ) -> RequestResult:
        """Send a request and return its answer. Raises Refused, or RemoteError if there is no answer."""
        target = f"{path}?{urlencode(query)}" if query else path
        obj = await self._cluster.send(method, target, body, media, self._headers)
        return RequestResult(obj, read_warnings(self._cluster.warnings))


def read_warnings(values: Iterable[str]) -> list[str]:
    """Return the texts in Warning headers."""
    matches = [_WARNING.match(value) for value in values]
    return [_ESCAPED.sub(r"\1", match[1]) for match in matches if match is not None]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The endpoint of a kind in one version. known_kind: the kind, None if podless does not know it."""

    api_version: str
    plural: str
    kind: str
    namespaced: bool
    known_kind: Kind | None = None

    @property
    def resource(self) -> str:
        """The plural with its group, as definitions are named."""
        group = self.api_version.rpartition("/")[0]
        return f"{self.plural}.{group}" if group else self.plural

    def path(self, namespace: str = "", name: str = "") -> str:
        """Return the path of an object, or of a collection for the name ""."""
        base = f"/apis/{self.api_version}" if "/" in self.api_version else f"/api/{self.api_version}"
        namespace_path = f"/namespaces/{quote(namespace, safe='')}" if self.namespaced and namespace else ""
        return f"{base}{namespace_path}/{self.plural}" + (f"/{quote(name, safe='')}" if name else "")
