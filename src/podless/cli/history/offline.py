"""The history in a data folder that no server uses."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from podless.apis import catalog
from podless.cli.history.source import InvalidArguments
from podless.history.change import CREATE, decode_state, make_change, operation_of, place_of
from podless.history.moments import find_revision
from podless.kinds.kind import Kind
from podless.remote.resources import APIResource, choose_resources
from podless.runtime.jsonobject import Object
from podless.store import HistoryCompacted, Record, ResourceKeys, keys
from podless.store.contract import LoggedWrite
from podless.store.engines import StoreSettings, make_store

_PAGE = 100  # changes per read


class OfflineHistory:
    """Reads a folder's database. Implements HistorySource. Methods raise StoreError and InvalidArguments."""

    def __init__(self, path: Path) -> None:
        self._store = make_store("sqlite", StoreSettings(database=path, compacting=False))
        assert self._store.changelog is not None
        self._log = self._store.changelog
        self._namespaced = {(kind.group, kind.plural): kind.namespaced for kind in catalog.ALL}

    async def open(self) -> None:
        """Open the database. Raises StoreInUse if a server uses it, StoreError."""
        await self._store.open()

    async def close(self) -> None:
        """Close the database."""
        await self._store.close()

    async def find_resource(self, name: str) -> APIResource:
        """Return the built-in resource with a name, or one in the log with this plural or kind."""
        resources = [_resource_of(kind) for kind in catalog.ALL if kind.home is None]
        resources += [await self._derive_resource(prefix) for prefix in await self._log.list_resources()]
        try:
            return choose_resources(resources, [name])[0]
        except LookupError:
            raise InvalidArguments(f"the history has no {name}; name a custom resource as PLURAL.GROUP") from None

    async def _derive_resource(self, prefix: str) -> APIResource:
        """Return a custom resource, as derived from its objects in the log."""
        group, plural = keys.resource_of(prefix)
        kind, api_version, namespaced = "", f"{group}/", True
        for written in await self._log.read_under([prefix], limit=10):
            namespaced = bool(place_of(written.key, namespaced=None).namespace)
            if written.stored is not None:
                state = decode_state(written.stored, written.revision)
                kind, api_version = str(state.get("kind", "")), str(state.get("apiVersion", ""))
                break
        return APIResource(api_version, plural, kind, namespaced, names=frozenset({plural}))

    async def list_changes(
        self, resource: APIResource | None, namespace: str, name: str, *, by: str = "", states: bool = False
    ) -> AsyncIterator[Object]:
        """Yield changes, newest first. states: include the object after each change."""
        before = 0
        while page := await self._read_page(resource, namespace, name, before):
            for written in page:
                before = written.sequence
                object_place = place_of(written.key, namespaced=self._namespaced.get(keys.resource_of(written.key)))
                if written.key.startswith(keys.OWN) or (namespace and object_place.namespace != namespace):
                    continue
                if (name and object_place.name != name) or (by and written.author.user != by):
                    continue
                yield make_change(written, await self._read_before(written), object_place, state=states)

    async def _read_page(
        self, resource: APIResource | None, namespace: str, name: str, before: int
    ) -> list[LoggedWrite]:
        if resource is None:
            return await self._log.read_under([keys.ALL], before, limit=_PAGE)
        resource_keys = ResourceKeys.of(resource.group, resource.plural, namespaced=resource.namespaced)
        if name and (namespace or not resource.namespaced):
            return await self._log.read_key(resource_keys.key(namespace, name), before, limit=_PAGE)
        return await self._log.read_under([resource_keys.scope(namespace)], before, limit=_PAGE)

    async def _read_before(self, written: LoggedWrite) -> Record | None:
        if operation_of(written) == CREATE:
            return None
        for earlier in await self._log.read_key(written.key, written.sequence, limit=1):
            if earlier.stored is not None:
                return Record(earlier.key, earlier.stored, earlier.revision, earlier.created)
        return None

    async def read_state(
        self, resource: APIResource, namespace: str, name: str, at: Mapping[str, str]
    ) -> Object | None:
        """Return an object in an earlier state, None if it did not exist. at: from `query_of_moment`."""
        key = ResourceKeys.of(resource.group, resource.plural, namespaced=resource.namespaced).key(namespace, name)
        moment = at.get("at") or at.get("resourceVersion") or ""
        try:
            revision = await find_revision(self._store, moment) if moment else await self._store.read_revision()
            records = await self._store.read_range_at(key, revision)
        except HistoryCompacted as error:
            raise InvalidArguments(
                f"the history has no state at {moment}: the oldest one is revision {error.revision}"
            ) from None
        matching = [record for record in records if record.key == key]
        return decode_state(matching[0].stored, matching[0].revision) if matching else None


def _resource_of(kind: Kind) -> APIResource:
    names = frozenset({kind.plural, kind.singular, *kind.short_names})
    return APIResource(kind.api_version(kind.versions[0].name), kind.plural, kind.kind, kind.namespaced, names=names)
