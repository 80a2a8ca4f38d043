"""The registry of served kinds. A change is in force for the next request."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from podless.kinds.kind import Kind, Version
from podless.structs.structs import Struct


class AnnouncedVersion(NamedTuple):
    """A group-version that a user's APIService announces.

    priority, version_priority: groupPriorityMinimum and versionPriority. remote: another server serves it.
    """

    priority: int
    version_priority: int
    remote: bool


class Registry:
    """All served kinds, and the definitions that are not served yet.

    announced: group-versions of APIServices, by group and version. remote: those that other servers serve. generation:
    counts changes, for callers that cache results.
    """

    def __init__(self) -> None:
        self.generation = 0
        self._kinds: dict[tuple[str, str], Kind] = {}
        # by group and plural; dicts of dicts, because there can be as many groups as kinds
        self._served: dict[str, dict[str, Kind]] = {}
        self._waiting: dict[str, dict[str, Kind]] = {}
        self._routes: dict[tuple[str, str, str], tuple[Kind, Version]] = {}
        # by group and version, then by plural in the order of addition
        self._versions: dict[tuple[str, str], dict[str, Kind]] = {}
        self._listeners: dict[Callable[[], None], None] = {}
        self._followers: dict[Callable[[str, str], None], None] = {}
        self.announced: Mapping[tuple[str, str], AnnouncedVersion] = {}
        self.remote: frozenset[tuple[str, str]] = frozenset()
        self._announced: dict[str, list[str]] = {}

    def add_listener(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call the listener after every change. The returned function removes it."""
        self._listeners[listener] = None

        def remove_listener() -> None:
            self._listeners.pop(listener, None)

        return remove_listener

    def follow_versions(self, follower: Callable[[str, str], None]) -> Callable[[], None]:
        """Call the follower with group and version of each added or removed kind. The returned function removes it."""
        self._followers[follower] = None

        def remove_follower() -> None:
            self._followers.pop(follower, None)

        return remove_follower

    def _call_listeners(self) -> None:
        self.generation += 1
        for listener in list(self._listeners):
            listener()

    def set_announced(self, announced: Mapping[tuple[str, str], AnnouncedVersion]) -> None:
        """Set the group-versions that APIServices announce."""
        if announced != self.announced:
            self.announced = announced
            self.remote = frozenset(key for key, announcement in announced.items() if announcement.remote)
            self._announced = {}
            for group, version in announced:
                self._announced.setdefault(group, []).append(version)
            self._call_listeners()

    def put_kind(self, kind: Kind) -> None:
        """Serve a kind, in place of an earlier one with its group and plural."""
        self._drop_kind(kind.group, kind.plural)
        self._kinds[kind.group, kind.plural] = kind
        self._served.setdefault(kind.group, {})[kind.plural] = kind
        for version in kind.versions:
            self._routes[kind.group, version.name, kind.plural] = kind, version
            self._versions.setdefault((kind.group, version.name), {})[kind.plural] = kind
            self._tell_followers(kind.group, version.name)
        self._call_listeners()

    def add_waiting(self, kind: Kind) -> None:
        """Add a definition that is not served yet: its versions appear in the group's discovery document."""
        self._drop_kind(kind.group, kind.plural)
        self._waiting.setdefault(kind.group, {})[kind.plural] = kind
        self._call_listeners()

    def remove_kind(self, group: str, plural: str) -> None:
        """Stop serving a kind, and free its compiled form: the kind itself is in reference cycles."""
        kind = self._drop_kind(group, plural)
        if kind is not None and kind.custom:
            kind.strategy.form.drop_unused()
        self._call_listeners()

    def _drop_kind(self, group: str, plural: str) -> Kind | None:
        kind = self._kinds.pop((group, plural), None)
        for kinds_by_group in (self._served, self._waiting):
            if kinds_by_group.get(group, {}).pop(plural, None) is not None and not kinds_by_group[group]:
                del kinds_by_group[group]
        if kind is not None:
            for version in kind.versions:
                self._routes.pop((group, version.name, plural), None)
                kinds_of_version = self._versions[group, version.name]
                del kinds_of_version[plural]
                if not kinds_of_version:
                    del self._versions[group, version.name]
                self._tell_followers(group, version.name)
        return kind

    def _tell_followers(self, group: str, version: str) -> None:
        for follower in list(self._followers):
            follower(group, version)

    def find_route(self, group: str, version: str, plural: str) -> tuple[Kind, Version] | None:
        """Return the kind and version of a path."""
        return self._routes.get((group, version, plural))

    def find_struct(self, group: str, version: str, plural: str, kind: str) -> Struct | None:
        """Return the struct of the built-in kind of a path if it has this name; None if it is not loaded yet."""
        route = self.find_route(group, version, plural)
        return route[0].struct_of(route[1]) if route and route[0].kind == kind and route[0].is_loaded else None

    def get(self, group: str, plural: str) -> Kind | None:
        """Return a served kind."""
        return self._kinds.get((group, plural))

    def __iter__(self) -> Iterator[Kind]:
        return iter(list(self._kinds.values()))

    def is_builtin_group(self, group: str) -> bool:
        """Return whether the group has a built-in kind: error texts differ from those of custom groups."""
        return any(not kind.custom for kind in self._served.get(group, {}).values())

    def list_kinds_of(self, group: str, version: str) -> list[Kind]:
        """Return the kinds of one group-version, in the order they were added."""
        return list(self._versions.get((group, version), {}).values())

    def group_versions(self) -> list[tuple[str, str]]:
        """Return group and version of all served kinds."""
        return list(self._versions)

    def list_versions(self, group: str, *, waiting: bool = True) -> list[str]:
        """Return the versions of a group, unordered; optionally with those of waiting definitions."""
        places = (self._served, self._waiting) if waiting else (self._served,)
        kinds = [kind for kinds_by_group in places for kind in kinds_by_group.get(group, {}).values()]
        names = {version.name: None for kind in kinds for version in kind.versions}
        return list(names | dict.fromkeys(self._announced.get(group, ())))

    def list_groups(self) -> list[str]:
        """Return all groups except the core one, unordered."""
        groups = dict.fromkeys([*self._served, *self._waiting, *self._announced])
        return [group for group in groups if group]
