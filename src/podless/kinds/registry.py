"""The kinds that are served now. A change is in force for the next request."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from podless.kinds.kind import Kind, Version


class Announced(NamedTuple):
    """A group-version that an APIService of a client announces.

    priority, version_priority: how much its group counts, and it within that. remote: another server has it.
    """

    priority: int
    version_priority: int
    remote: bool


class Registry:
    """All live kinds, and the definitions that wait to be served.

    announced: what there is beside by the word of APIServices, by group and version. remote: of these, what other
    servers have.

    generation grows with every change, for those who keep something that depends on the kinds.
    """

    def __init__(self) -> None:
        self.generation = 0
        self._kinds: dict[tuple[str, str], Kind] = {}
        self._waiting: dict[tuple[str, str], Kind] = {}
        self._routes: dict[tuple[str, str, str], tuple[Kind, Version]] = {}
        self._listeners: dict[Callable[[], None], None] = {}
        self.announced: Mapping[tuple[str, str], Announced] = {}
        self.remote: frozenset[tuple[str, str]] = frozenset()

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call the listener after every change. Returns what ends that."""
        self._listeners[listener] = None

        def leave() -> None:
            self._listeners.pop(listener, None)

        return leave

    def _changed(self) -> None:
        self.generation += 1
        for listener in list(self._listeners):
            listener()

    def announce(self, announced: Mapping[tuple[str, str], Announced]) -> None:
        """Show what APIServices announce beside what is served."""
        if announced != self.announced:
            self.announced = announced
            self.remote = frozenset(key for key, found in announced.items() if found.remote)
            self._changed()

    def put(self, kind: Kind) -> None:
        """Serve a kind, in place of an earlier one of its group and plural."""
        self._forget(kind.group, kind.plural)
        self._kinds[kind.group, kind.plural] = kind
        for version in kind.versions:
            self._routes[kind.group, version.name, kind.plural] = kind, version
        self._changed()

    def wait(self, kind: Kind) -> None:
        """Know of a kind that is not served yet: its versions count for the group's discovery document."""
        self._forget(kind.group, kind.plural)
        self._waiting[kind.group, kind.plural] = kind
        self._changed()

    def remove(self, group: str, plural: str) -> None:
        """Serve it no longer."""
        self._forget(group, plural)
        self._changed()

    def _forget(self, group: str, plural: str) -> None:
        self._waiting.pop((group, plural), None)
        kind = self._kinds.pop((group, plural), None)
        if kind is not None:
            for version in kind.versions:
                self._routes.pop((group, version.name, plural), None)

    def find(self, group: str, version: str, plural: str) -> tuple[Kind, Version] | None:
        """The kind and version behind a path."""
        return self._routes.get((group, version, plural))

    def get(self, group: str, plural: str) -> Kind | None:
        """A served kind."""
        return self._kinds.get((group, plural))

    def __iter__(self) -> Iterator[Kind]:
        return iter(list(self._kinds.values()))

    def builtin(self, group: str) -> bool:
        """Whether a built-in kind is in the group: its error texts differ from those of custom groups."""
        return any(kind.group == group and not kind.custom for kind in self._kinds.values())

    def of_version(self, group: str, version: str) -> list[Kind]:
        """The kinds served in one version of a group, in the order they came."""
        return [
            kind
            for kind in self._kinds.values()
            if kind.group == group and any(served.name == version for served in kind.versions)
        ]

    def versions(self, group: str, *, waiting: bool = True) -> list[str]:
        """The versions of a group, in no order; those of definitions that wait included where asked."""
        kinds = [*self._kinds.values(), *(self._waiting.values() if waiting else ())]
        found = {version.name: None for kind in kinds if kind.group == group for version in kind.versions}
        return list(found | {version: None for of, version in self.announced if of == group})

    def groups(self) -> list[str]:
        """All groups but the core one, in no order."""
        kinds = [*self._kinds.values(), *self._waiting.values()]
        return list({kind.group: None for kind in kinds if kind.group} | {group: None for group, _ in self.announced})
