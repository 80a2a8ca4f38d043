"""Reads a running API for a plan: counts the requests, limits concurrent ones, and never writes."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from urllib.parse import urlencode

from podless.plan.options import CannotPlan
from podless.plan.result import UnreadPart
from podless.remote import RemoteError
from podless.remote.cluster import Refused, RemoteCluster
from podless.remote.resources import APIResource, Discovery
from podless.runtime.jsonobject import Object

_CONCURRENT = 16  # concurrent requests
_PAGE = 500  # objects of a page
_MAX_SINGLE_READS = 8  # up to this many objects of a collection are read one by one
_SPARE = 4  # maximum objects in a list for each wanted one; else they are read one by one
_METADATA_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json"
_ROOTS = {"groups", "resources", "major", "versions"}  # discovery documents have one of these fields and no metadata


class ReadFailed(Exception):
    """A read failed. The text says why."""


class APIReader:
    """Reads one API.

    seconds: timeout of one request with all its attempts. say: called with each progress text. requests: sent so far,
    by verb and resource. missing: failed reads. notes: more about the reads, for the report.
    """

    def __init__(self, cluster: RemoteCluster, seconds: float, say: Callable[[str], None]) -> None:
        self.requests: Counter[str] = Counter()
        self.missing: list[UnreadPart] = []
        self.notes: list[str] = []
        self._cluster = cluster
        self._seconds = seconds
        self._say = say
        self._turn = asyncio.Semaphore(_CONCURRENT)

    async def read_document(self, path: str, label: str, accept: str = "") -> Object | None:
        """Return a document, None for 404. label: verb and resource, for the count. Raises ReadFailed."""
        headers = [("Accept", accept)] if accept else []
        async with self._turn:
            self.requests[label] += 1
            self._say(f"reads the API: request {sum(self.requests.values())}")
            try:
                async with asyncio.timeout(self._seconds):
                    document = await self._cluster.send("GET", path, headers=headers)
            except TimeoutError:
                raise ReadFailed(f"no answer within {self._seconds:g} s") from None
            except Refused as refused:
                if refused.code == 404:
                    return None
                if refused.code == 401:
                    raise CannotPlan(f"the API does not know who asks: {refused}") from None
                raise ReadFailed(str(refused)) from refused
            except RemoteError as error:
                raise ReadFailed(str(error)) from error
        if "metadata" not in document and not _ROOTS & document.keys():
            raise ReadFailed("the answer is none of a Kubernetes API")
        return document

    def note_unread(self, what: str, why: object, effect: str = "") -> None:
        """Record something that could not be read, and the effect on the plan."""
        self.missing.append(UnreadPart(what, str(why), effect))

    def make_discovery(self, effect: str) -> Discovery:
        """Return the discovery documents of the API. effect: on the plan, if one cannot be read."""

        async def get(path: str) -> Object:
            try:
                return await self.read_document(path, "get discovery") or {}
            except ReadFailed as error:
                self.note_unread(path, error, effect)
                return {}

        return Discovery(get)

    async def get_object(self, resource: APIResource, namespace: str, name: str) -> Object | None:
        """Return an object, None if it does not exist. Raises ReadFailed."""
        return await self.read_document(resource.path(namespace, name), f"get {resource.full_name}")

    async def list_objects(
        self,
        resource: APIResource,
        namespace: str = "",
        labels: str = "",
        *,
        metadata: bool = False,
        remaining_limit: int = 0,
    ) -> list[Object] | None:
        """Return the objects of a collection as single reads return them; None if it is not served.

        metadata: read only the metadata. remaining_limit: stop if more than this many objects remain after a page
        (default: never). Raises ReadFailed.
        """
        objects: list[Object] = []
        token = ""
        accept = _METADATA_LIST if metadata else ""
        while True:
            query = {"limit": str(_PAGE), **({"labelSelector": labels} if labels else {})}
            query |= {"continue": token} if token else {}
            path = f"{resource.path(namespace)}?{urlencode(query)}"
            try:
                page = await self.read_document(path, f"list {resource.full_name}", accept)
            except ReadFailed as error:
                refused = error.__cause__
                token = refused.next_token if isinstance(refused, Refused) else ""
                if not token:
                    raise
                name = name_collection(resource, namespace)
                self.notes.append(f"{name} changed while podless read them: two states are mixed")
                continue
            if page is None:
                return objects or None
            head = {"apiVersion": resource.api_version, "kind": resource.kind}
            objects += [{**item, **head} for item in page.get("items") or ()]
            token = page["metadata"].get("continue") or ""
            remaining = int(page["metadata"].get("remainingItemCount") or 0)
            if not token or (remaining_limit and remaining > remaining_limit):
                return objects

    async def try_list(
        self, resource: APIResource, namespace: str = "", labels: str = "", *, effect: str, metadata: bool = False
    ) -> list[Object]:
        """Return the objects of a collection. If it cannot be read, record the effect on the plan."""
        try:
            return await self.list_objects(resource, namespace, labels, metadata=metadata) or []
        except ReadFailed as error:
            self.note_unread(name_collection(resource, namespace), error, effect)
            return []

    async def try_lists(
        self,
        resources: Iterable[APIResource],
        namespaces: Sequence[str],
        labels: str = "",
        *,
        effect: str,
        metadata: bool = False,
    ) -> list[tuple[APIResource, str, Object]]:
        """Return the objects of collections, as `try_list`, each with its resource and the namespace of its list.

        namespaces: for resources of namespaced kinds.
        """
        pairs = [(item, namespace) for item in resources for namespace in (namespaces if item.namespaced else ("",))]
        lists = await asyncio.gather(
            *(self.try_list(*pair, labels, effect=effect, metadata=metadata) for pair in pairs)
        )
        return [(*pair, obj) for pair, listed in zip(pairs, lists, strict=True) for obj in listed]

    async def read_named(
        self, resource: APIResource, namespace: str, names: Sequence[str]
    ) -> tuple[list[Object], list[str], dict[str, str]]:
        """Return the named objects that exist, the names of missing ones, and the errors of failed reads."""
        wanted_names = dict.fromkeys(names)
        objects: dict[str, Object] = {}
        complete = False
        if len(wanted_names) > _MAX_SINGLE_READS:
            try:
                limit = _SPARE * len(wanted_names)
                listed = await self.list_objects(resource, namespace, remaining_limit=limit) or []
                objects = {obj["metadata"]["name"]: obj for obj in listed if obj["metadata"]["name"] in wanted_names}
                complete = len(listed) < _PAGE
            except ReadFailed:
                pass  # then one by one: a user may be allowed to get, but not to list
        faults: dict[str, str] = {}
        unread = [name for name in wanted_names if name not in objects and not complete]

        async def read_one(name: str) -> None:
            try:
                obj = await self.get_object(resource, namespace, name)
            except ReadFailed as error:
                faults[name] = str(error)
                return
            if obj is not None:
                objects[name] = obj

        await asyncio.gather(*map(read_one, unread))
        absent = [name for name in wanted_names if name not in objects and name not in faults]
        return [*objects.values()], absent, faults


def name_collection(resource: APIResource, namespace: str) -> str:
    """Return the name of a collection for messages. namespace: "" for all."""
    return f"{resource.full_name} in namespace {namespace}" if namespace else resource.full_name


def format_selector(selector: Object) -> str:
    """Return a LabelSelector in the form of a query parameter."""
    terms = [f"{key}={value}" for key, value in (selector.get("matchLabels") or {}).items()]
    requirements: Iterable[Object] = selector.get("matchExpressions") or ()
    for requirement in requirements:
        key, operator, values = requirement["key"], requirement["operator"], requirement.get("values") or ()
        if operator in ("In", "NotIn"):
            terms.append(f"{key} {operator.lower()} ({','.join(values)})")
        else:
            terms.append(key if operator == "Exists" else f"!{key}")
    return ",".join(terms)
