"""RBAC: who may do what, from the roles and bindings that are stored now.

Bindings are kept by subject and taken in as they change; what a role allows is compiled once for each of its states.
Decisions are kept until anything in the group rbac.authorization.k8s.io changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from podless.auth.attributes import Attributes
from podless.auth.authorizer import Decision
from podless.auth.rules import PolicyRule, Rule, joined
from podless.auth.user import User
from podless.cache.cache import Cache
from podless.cache.entry import Entry
from podless.cache.events import Event
from podless.cache.watchcache import WatchCache
from podless.kinds.builtin import rbac
from podless.kinds.kind import Kind
from podless.meta.bounded import LONGEST
from podless.meta.gotext import quote

Object = dict[str, Any]
Subject = tuple[str, str]  # ("User", name) or ("Group", name); a service account is the user that it acts as

_MOST = 8192  # decisions that are kept
_YES = Decision(True)


class Binding(NamedTuple):
    """A role for some subjects. namespace: where it holds, "" for everywhere. subjects: each with its text."""

    key: str
    name: str
    namespace: str
    role_kind: str
    role: str
    subjects: tuple[tuple[Subject, str], ...]

    def told(self, subject: str) -> str:
        """The binding as the reason of a decision names it."""
        name = f"{self.name}/{self.namespace}" if self.namespace else self.name
        kind = "RoleBinding" if self.namespace else "ClusterRoleBinding"
        return f"{kind} {quote(name)} of {self.role_kind} {quote(self.role)} to {subject}"


class _Held:
    """The bindings of one subject, by their keys: those that hold everywhere, and those of each namespace."""

    __slots__ = ("everywhere", "spaces")

    def __init__(self) -> None:
        self.everywhere: dict[str, Binding] = {}
        self.spaces: dict[str, dict[str, Binding]] = {}

    def of(self, namespace: str) -> dict[str, Binding]:
        return self.spaces.setdefault(namespace, {}) if namespace else self.everywhere


class RBAC:
    """Decides by roles and bindings; whoever is in system:masters may do everything."""

    def __init__(self, cache: Cache) -> None:
        self._roles = _collection(cache, rbac.ROLES)
        self._cluster_roles = _collection(cache, rbac.CLUSTER_ROLES)
        self._bindings = (_collection(cache, rbac.CLUSTER_ROLE_BINDINGS), _collection(cache, rbac.ROLE_BINDINGS))
        self._held: dict[Subject, _Held] = {}
        self._decided: dict[tuple[str, tuple[str, ...], Attributes], Decision] = {}

    async def start(self) -> None:
        """Read what is stored, and follow its changes from then on."""
        for collection in (self._roles, self._cluster_roles):
            await collection.load()
            collection.add_event_handler(self._forget)
        for collection in self._bindings:
            await collection.load()
            for entry in collection.under(collection.prefix)[0]:
                self._add(entry)
            collection.add_event_handler(self._follow)

    def _forget(self, events: Sequence[Event]) -> None:
        self._decided.clear()

    def _follow(self, events: Sequence[Event]) -> None:
        self._decided.clear()
        for event in events:
            if event.before is not None:
                self._remove(event.before)
            if event.after is not None:
                self._add(event.after)

    def _add(self, entry: Entry) -> None:
        binding = parse(entry)
        for subject, _ in binding.subjects:
            self._held.setdefault(subject, _Held()).of(binding.namespace)[binding.key] = binding

    def _remove(self, entry: Entry) -> None:
        binding = parse(entry)
        for subject, _ in binding.subjects:
            held = self._held.get(subject)
            if held is not None:
                held.of(binding.namespace).pop(binding.key, None)
                if binding.namespace and not held.spaces[binding.namespace]:
                    del held.spaces[binding.namespace]
                if not held.everywhere and not held.spaces:
                    del self._held[subject]

    # decisions

    def allowed(self, user: User, asked: Attributes) -> bool:
        """Whether the user may do it."""
        return user.master or self.decide(user, asked).allowed

    def decide(self, user: User, asked: Attributes) -> Decision:
        """The same with the reason."""
        if user.master:
            return _YES
        key = user.name, user.groups, asked  # nothing else of a user counts, and tokens differ in what else there is
        known = self._decided.get(key)
        if known is None:
            known = self._decide(user, asked)
            if sum(map(len, asked)) <= LONGEST:
                if len(self._decided) >= _MOST:
                    self._decided.clear()
                self._decided[key] = known
        return known

    def _decide(self, user: User, asked: Attributes) -> Decision:
        errors: list[str] = []
        for binding, subject in self._bound(user, asked.namespace):
            role = self._role(binding)
            if role is None:
                errors.append(_not_found(binding))
            elif any(rule.allows(asked) for rule in _compiled(role)):
                return Decision(True, f"RBAC: allowed by {binding.told(subject)}")
        return Decision(False, f"RBAC: {joined(errors)}" if errors else "")

    def rules(self, user: User, namespace: str) -> tuple[list[PolicyRule], list[str]]:
        """All rules that hold for the user in a namespace ("": those that hold everywhere), and what went wrong."""
        found: list[PolicyRule] = []
        errors: list[str] = []
        for binding, _ in self._bound(user, namespace):
            role = self._role(binding)
            if role is None:
                errors.append(_not_found(binding))
            else:
                found += role.decode().get("rules") or []
        return found, errors

    def role(self, kind: str, name: str, namespace: str) -> list[PolicyRule] | None:
        """The rules of a role that a binding names, or None where there is no such role."""
        entry = self._role(Binding("", "", namespace, kind, name, ()))
        return None if entry is None else entry.decode().get("rules") or []

    def _bound(self, user: User, namespace: str) -> Iterator[tuple[Binding, str]]:
        """The bindings of a user that hold in a namespace, each with the subject that it is the user's by."""
        mine = [("User", user.name), *(("Group", group) for group in user.groups)]
        held = [found for subject in mine if (found := self._held.get(subject)) is not None]
        everywhere = {key: binding for one in held for key, binding in one.everywhere.items()}
        spaces = {key: binding for one in held for key, binding in one.spaces.get(namespace, {}).items()}
        for bindings in (everywhere, spaces):
            for key in sorted(bindings):
                binding = bindings[key]
                yield binding, next(told for subject, told in binding.subjects if subject in mine)

    def _role(self, binding: Binding) -> Entry | None:
        if binding.role_kind == "ClusterRole":
            return self._cluster_roles.get(rbac.CLUSTER_ROLES.key("", binding.role))
        return self._roles.get(rbac.ROLES.key(binding.namespace, binding.role))


def _collection(cache: Cache, kind: Kind) -> WatchCache:
    return cache.collection(kind.keys)


def parse(entry: Entry) -> Binding:
    """A stored binding."""
    obj = entry.decode()
    subjects = [_subject(one, entry.namespace) for one in obj.get("subjects") or []]
    ref = obj["roleRef"]
    return Binding(entry.key, entry.name, entry.namespace, ref["kind"], ref["name"], tuple(filter(None, subjects)))


def _subject(subject: Object, namespace: str) -> tuple[Subject, str] | None:
    kind, name = subject["kind"], subject["name"]
    if kind != "ServiceAccount":
        return (kind, name), f"{kind} {quote(name)}"
    given = subject.get("namespace", "")
    space = given or namespace
    told = f"ServiceAccount {quote(f'{name}/{given}')}"
    return (("User", f"system:serviceaccount:{space}:{name}"), told) if space else None


def _compiled(role: Entry) -> tuple[Rule, ...]:
    known: tuple[Rule, ...] | None = role.forms.get("rbac")
    if known is None:
        known = role.forms["rbac"] = tuple(map(Rule, role.decode().get("rules") or ()))
    return known


def _not_found(binding: Binding) -> str:
    return f"{binding.role_kind.lower()}.{rbac.GROUP} {quote(binding.role)} not found"
