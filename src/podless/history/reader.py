"""Reads changes for one user: only those of objects that the user may get."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from podless.auth.authorizer import Attributes, Authorizer
from podless.auth.user import User
from podless.history.change import ChangedObject, find_replaced, make_change, place_of
from podless.kinds.registry import Registry
from podless.offload.offloop import OffLoop
from podless.runtime.jsonobject import Object
from podless.store import keys
from podless.store.contract import ChangeLog, LoggedWrite

_BATCH_CHANGES = 100  # changes in one read
_PAGE_BYTES = 8 << 20  # bytes of states and fields of the changes of one page
_FIELD_BYTES = 400  # bytes of a changed field in memory
_CHANGES_PER_SLICE = 20  # changes that are rendered at a time; each decodes two states


class HistoryScope(NamedTuple):
    """The objects whose changes are read; "" or None stands for all.

    namespace, group, resource, name: as in the objects' keys.
    """

    namespace: str = ""
    group: str | None = None
    resource: str = ""
    name: str = ""


class HistoryPage(NamedTuple):
    """Changes, newest first. following: the sequence number to continue below, 0 at the end."""

    changes: list[Object]
    following: int


class HistoryReader:
    """Reads the log for requests of one server."""

    def __init__(self, log: ChangeLog, registry: Registry, authorizer: Authorizer, off_loop: OffLoop) -> None:
        self._log = log
        self._off_loop = off_loop
        self._registry = registry
        self._authorizer = authorizer

    async def read_page(
        self,
        user: User,
        scope: HistoryScope,
        before: int,
        after: int,
        limit: int,
        matches: Callable[[Object], bool] | None,
        *,
        states: bool = False,
    ) -> HistoryPage:
        """Return changes between two sequence numbers (0: no limit), at most `limit`.

        matches: selects changes by their shown form. states: include the object as each change left it. Raises
        StoreError.
        """
        changes_found, size = list[Object](), 0
        visible: dict[ChangedObject, bool] = {}
        while True:
            batch = await self._read_batch(scope, before, after)
            for number, written in enumerate(batch):
                if written.key.startswith(keys.OWN):
                    continue
                changed_object = self.find_object(written.key)
                if not self._is_in_scope(scope, changed_object) or not self.may_get(user, changed_object, visible):
                    continue
                change = await self._show_change(user, written, changed_object, state=states)
                if matches is None or matches(change):
                    changes_found.append(change)
                    size += keys.size_of(written.stored) + _FIELD_BYTES * len(change.get("fields", ()))
                if len(changes_found) >= limit or size > _PAGE_BYTES:
                    return HistoryPage(changes_found, written.sequence)
                if number % _CHANGES_PER_SLICE == 0:
                    await asyncio.sleep(0)
            if not batch:
                return HistoryPage(changes_found, 0)
            before = batch[-1].sequence
            await asyncio.sleep(0)

    async def sequence_of(self, revision: int) -> int:
        """Return the sequence number of the last change at or before a revision. Raises StoreError."""
        return await self._log.find_sequence(revision)

    async def read_change(self, user: User, namespace: str, sequence: int) -> Object | None:
        """Return one change with the object's state; None if it does not exist or the user may not see it."""
        changes = await self._log.read_under([keys.ALL], sequence + 1, sequence - 1, 1)
        if not changes or changes[0].key.startswith(keys.OWN):
            return None
        changed_object = self.find_object(changes[0].key)
        if changed_object.namespace != namespace or not self.may_get(user, changed_object, {}):
            return None
        return await self._show_change(user, changes[0], changed_object, state=True)

    async def _show_change(
        self, user: User, written: LoggedWrite, changed_object: ChangedObject, *, state: bool = False
    ) -> Object:
        """Return a change as the API shows it. Raises StoreError."""
        before = await find_replaced(self._log, written)
        make = partial(make_change, written, before, changed_object, state=state)
        size = keys.size_of(written.stored) + (keys.size_of(before.stored) if before is not None else 0)
        if not self._off_loop.is_long(size):
            return await self._off_loop.slices.run(make)
        # one at a time: decoded, it takes 20 times the bytes
        async with self._off_loop.turns.wait_turn(user.name, size):
            return await self._off_loop.slices.run(make)

    def find_object(self, key: str) -> ChangedObject:
        """Return the object of a key."""
        group, resource = keys.resource_of(key)
        kind = self._registry.get(group, resource)
        return place_of(key, namespaced=kind.namespaced if kind is not None else None)

    def may_get(self, user: User, changed_object: ChangedObject, answers: dict[ChangedObject, bool]) -> bool:
        """Return whether the user may get the object now. answers: earlier ones within the same request."""
        allowed = answers.get(changed_object)
        if allowed is None:
            kind = self._registry.get(changed_object.group, changed_object.resource)
            version = kind.versions[0].name if kind is not None else ""
            attributes = Attributes(
                "get",
                changed_object.group,
                version,
                changed_object.resource,
                "",
                changed_object.namespace,
                changed_object.name,
            )
            allowed = answers[changed_object] = self._authorizer.is_allowed(user, attributes)
        return allowed

    def _is_in_scope(self, scope: HistoryScope, changed_object: ChangedObject) -> bool:
        return (
            (not scope.namespace or changed_object.namespace == scope.namespace)
            and scope.group in (None, changed_object.group)
            and scope.resource in ("", changed_object.resource)
            and scope.name in ("", changed_object.name)
        )

    async def _read_batch(self, scope: HistoryScope, before: int, after: int) -> list[LoggedWrite]:
        """Return the next changes, some of which may be out of scope."""
        prefixes = self._list_prefixes(scope)
        if scope.name and self._is_whole(scope):
            return link_changes(await self._log.read_key(prefixes[0] + scope.name, before, after, _BATCH_CHANGES))
        return link_changes(await self._log.read_under(prefixes, before, after, _BATCH_CHANGES))

    def _is_whole(self, scope: HistoryScope) -> bool:
        """Return whether a scope with a name determines one key."""
        if scope.group is None or not scope.resource:
            return False
        kind = self._registry.get(scope.group, scope.resource)
        return bool(scope.namespace) or (kind is not None and not kind.namespaced)

    def _list_prefixes(self, scope: HistoryScope) -> list[str]:
        if scope.resource and scope.group is not None:
            kind = self._registry.get(scope.group, scope.resource)
            prefix = keys.ResourceKeys.of(scope.group, scope.resource, namespaced=True).prefix
            within = scope.namespace and (kind is None or kind.namespaced)
            return [f"{prefix}{scope.namespace}/" if within else prefix]
        if not scope.namespace:
            return [keys.ALL]
        kinds = [kind for kind in self._registry if kind.home is None and kind.namespaced and not kind.virtual]
        return [kind.keys.scope(scope.namespace) for kind in kinds if scope.resource in ("", kind.plural)]


def link_changes(batch: list[LoggedWrite]) -> list[LoggedWrite]:
    """Return changes with the states that they replaced, if other changes of the batch made these states.

    batch: all changes of some keys between two sequence numbers, newest first.
    """
    linked, last = list[LoggedWrite](), dict[str, LoggedWrite]()
    for written in reversed(batch):
        earlier = last.get(written.key)
        last[written.key] = written
        if written.replaced is None and earlier is not None:
            written = written._replace(replaced=earlier.record)
        linked.append(written)
    return linked[::-1]
