"""The objects that configure admission: webhook configurations, policies with bindings and parameters, and classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from podless.cache.cache import Cache
from podless.cache.entry import Entry
from podless.cache.watchcache import WatchCache
from podless.kinds import conversion, view
from podless.kinds.kind import Kind, Version
from podless.kinds.state import State
from podless.meta import selectors
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each, each_part

T = TypeVar("T")

_DEFAULT = b"is-default-class"  # only classes with these bytes must be decoded
_MAX_DECODED = 1 << 20  # maximum bytes of the objects that are kept decoded, which take ten times as much
_NO_PARAMS = "no params found for policy binding with `Deny` parameterNotFoundAction"
_CLUSTER = "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"


class ConfigurationLister(Generic[T]):
    """All objects of one kind of configuration, sorted by name.

    make: compiles one object; it must be cheap. collection: the objects, with the revision of their last change.
    """

    def __init__(self, cache: Cache, kind: Kind, make: Callable[[Object], T]) -> None:
        self.collection: WatchCache = cache.collection(kind.keys)
        self._make = make
        self._compiled: dict[str, tuple[int, T]] = {}
        self._items: list[T] = []
        self._revision = -1

    async def load(self) -> None:
        """Load the objects. Later changes take effect immediately."""
        await self.collection.load()

    def list_items(self) -> list[T]:
        """Return the compiled objects, in key order."""
        while self._revision != self.collection.changed:
            self._compile_changed()
        return self._items

    def _compile_changed(self) -> None:
        """Compile the objects that have changed.

        Decoding can be suspended. Another request can then compile a later state, which must not be replaced.
        """
        revision, compiled = self.collection.changed, dict[str, tuple[int, T]]()
        for entry in self.collection.list_entries():
            item = self._compiled.get(entry.key)
            if item is None or item[0] != entry.revision:
                item = entry.revision, self._make(entry.decode())
            compiled[entry.key] = item
        if revision == self.collection.changed or revision > self._revision:
            self._compiled, self._revision = compiled, revision
            self._items = [item for _, item in compiled.values()]


async def find_default(state: State, kind: Kind, *marks: str) -> str | None:
    """Return the name of the default object of a kind of classes: of several, the newest, then the first by name.

    marks: annotations of defaults, whose names end with is-default-class.
    """
    entries = (await state.load_collection(kind)).list_entries()
    classes = (entry.decode()["metadata"] for entry in each(entries) if _DEFAULT in entry.body)
    defaults = [item for item in classes if any((item.get("annotations") or {}).get(mark) == "true" for mark in marks)]
    # another program may have written an object without a time to etcd
    newest = max((item.get("creationTimestamp") or "" for item in defaults), default="")
    return min((item["name"] for item in defaults if (item.get("creationTimestamp") or "") == newest), default=None)


class MissingConfiguration(Exception):
    """A policy or binding names something that does not exist. The text says what."""


def find_kind(state: State, param_kind: Mapping[str, str]) -> tuple[Kind, Version]:
    """Return the kind and version that a paramKind names. Raises MissingConfiguration."""
    group, _, version = param_kind["apiVersion"].rpartition("/")
    for kind in state.registry.list_kinds_of(group, version):
        if kind.kind == param_kind["kind"]:
            return kind, kind.by_version[version]
    named = f"{param_kind['apiVersion']}, Kind={param_kind['kind']}"
    raise MissingConfiguration(f"failed to find resource referenced by paramKind: '{named}'")


class ParamReader:
    """Reads the parameters of policies. Decoded ones are kept, because each write that a policy matches needs them."""

    __slots__ = ("_decoded", "_size", "_state")

    def __init__(self, state: State) -> None:
        self._state = state
        # by the key of the object, the version, and the last change of its kind
        self._decoded: dict[tuple[str, str, int], tuple[Entry, Object]] = {}
        self._size = 0  # bytes of their entries

    async def find_params(
        self, kind_version: tuple[Kind, Version], param_ref: Mapping[str, Any], namespace: str
    ) -> list[Object]:
        """Return the parameters that a paramRef names or selects. None if there are none and the binding allows that.

        namespace: of the request. Callers must not change the objects. Raises MissingConfiguration.
        """
        kind, version = kind_version
        params_namespace = param_ref.get("namespace") or ""
        if params_namespace and not kind.namespaced:
            raise MissingConfiguration("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
        params_namespace = params_namespace or namespace if kind.namespaced else ""
        if kind.namespaced and not params_namespace:
            raise MissingConfiguration(_CLUSTER)
        collection = await self._state.load_collection(kind)
        if param_ref.get("name"):
            entry = collection.get(kind.key(params_namespace, param_ref["name"]))
            entries = [] if entry is None else [entry]
        else:
            matches = selectors.from_object(param_ref.get("selector") or {}).matches
            parts = each_part(collection.list_entries(params_namespace))
            entries = [entry for part in parts for entry in part if matches(entry.labels)]
        if not entries and param_ref.get("parameterNotFoundAction") == "Deny":
            raise MissingConfiguration(_NO_PARAMS)
        try:
            await self._state.converter.prepare_entries(kind, version, entries)
        except conversion.ConversionFailed as failed:
            raise MissingConfiguration(f"failed to convert object version: {failed}") from None
        return [self._decode_parameter(kind, version, entry) for entry in entries]

    def _decode_parameter(self, kind: Kind, version: Version, entry: Entry) -> Object:
        key = entry.key, version.name, kind.changed
        cached = self._decoded.get(key)
        if cached is not None and cached[0] is entry:
            return cached[1]
        obj = view.load_object(kind, version, entry)  # other requests can run meanwhile
        if (stale := self._decoded.pop(key, None)) is not None:
            self._size -= len(stale[0].body)
        if self._size + len(entry.body) > _MAX_DECODED:
            self._decoded.clear()
            self._size = 0
        if len(entry.body) <= _MAX_DECODED:
            self._decoded[key] = entry, obj
            self._size += len(entry.body)
        return obj
