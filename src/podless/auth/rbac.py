"""RBAC: decisions by the stored roles and bindings.

Bindings are indexed by subject and updated with each change. The rules of a role are compiled once for each of its
states, so that a decision does not iterate over them. Decisions are cached until an object of the group
rbac.authorization.k8s.io changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from podless.apis.rbac import rbac
from podless.apis.rbac.group import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, ROLE_BINDINGS, ROLES
from podless.auth import rules
from podless.auth.authorizer import Attributes, Authorizer, Decision, PolicyRule
from podless.auth.rules import RoleRules, join_errors
from podless.auth.user import User
from podless.cache.cache import Cache
from podless.cache.entry import Entry
from podless.cache.events import CacheEvent
from podless.cache.watchcache import WatchCache
from podless.codec.gotext import quote
from podless.kinds.kind import Kind
from podless.offload.offloop import LONG_BYTES
from podless.runtime.bounded import MAX_KEY_LENGTH
from podless.runtime.meter import charge, each_part

Subject = tuple[str, str]  # ("User", name) or ("Group", name); a service account is the user that it authenticates as

# characters of all cached decisions with their keys, and of the longest one: users can be in hundreds of groups
_MAX = 8 << 20
_LONGEST = 16 * MAX_KEY_LENGTH
_DECISION_COST = 256  # characters that each cached decision counts for, besides its texts
_MERGED = 8  # bindings of a subject that one step merges
_STEP = 64  # bytes of a role that one step decodes
_YES = Decision(True)


class RoleBinding(NamedTuple):
    """A binding of a role. namespace: where it applies, "" for everywhere. subjects: each with its first index.

    accounts: service accounts among the subjects as NAME/NAMESPACE, by index.
    """

    key: str
    name: str
    namespace: str
    role_kind: str
    role: str
    subjects: dict[Subject, int]
    accounts: dict[int, str]

    def describe_binding(self, subjects: dict[Subject, None]) -> str:
        """Return the text for a binding in the reason of a decision, with the first of the user's subjects."""
        subject = min(subjects.keys() & self.subjects.keys(), key=self.subjects.__getitem__)
        name = f"{self.name}/{self.namespace}" if self.namespace else self.name
        kind = "RoleBinding" if self.namespace else "ClusterRoleBinding"
        account = self.accounts.get(self.subjects[subject])
        whom = f"{subject[0]} {quote(subject[1])}" if account is None else f"ServiceAccount {quote(account)}"
        return f"{kind} {quote(name)} of {self.role_kind} {quote(self.role)} to {whom}"


# for each namespace and subject: one binding, or several by their keys
_BindingTable = dict[str, dict[Subject, RoleBinding | dict[str, RoleBinding]]]


class RBAC(Authorizer):
    """Decides by roles and bindings. Members of system:masters may do everything."""

    def __init__(self, cache: Cache) -> None:
        self._roles = _find_collection(cache, ROLES)
        self._cluster_roles = _find_collection(cache, CLUSTER_ROLES)
        self._collections = (_find_collection(cache, CLUSTER_ROLE_BINDINGS), _find_collection(cache, ROLE_BINDINGS))
        self._bindings: _BindingTable = {}
        self._decided: dict[tuple[str, tuple[str, ...], Attributes], Decision] = {}
        self.cached_size = 0  # characters of the cached decisions
        self._changes = 0  # number of changes of roles and bindings
        self._long_roles: dict[str, Entry] = {}  # by key: long roles whose rules are not compiled

    async def start(self) -> None:
        """Load the stored roles and bindings, and follow their changes."""
        for collection in (self._roles, self._cluster_roles):
            await collection.load()
            for entry in collection.list_entries():
                self._note_role(entry)
            collection.add_event_handler(self._handle_roles)
        for collection in self._collections:
            await collection.load()
            for entry in collection.list_entries():
                self._add_binding(parse_binding(entry))
            collection.add_event_handler(self._handle_bindings)

    def _drop_decisions(self, events: Sequence[CacheEvent]) -> None:
        self._changes += 1
        self._decided.clear()
        self.cached_size = 0

    def _handle_roles(self, events: Sequence[CacheEvent]) -> None:
        self._drop_decisions(events)
        for event in events:
            self._long_roles.pop(event.key, None)
            if event.after is not None:
                self._note_role(event.after)

    def _note_role(self, role: Entry) -> None:
        if len(role.body) >= LONG_BYTES and "rbac" not in role.forms:
            self._long_roles[role.key] = role

    def _handle_bindings(self, events: Sequence[CacheEvent]) -> None:
        self._drop_decisions(events)
        for event in events:
            if event.before is not None:
                self._remove_binding(parse_binding(event.before))
            if event.after is not None:
                self._add_binding(parse_binding(event.after))

    def _add_binding(self, binding: RoleBinding) -> None:
        by_subject = self._bindings.setdefault(binding.namespace, {})
        for subject in binding.subjects:
            bindings = by_subject.get(subject)
            if bindings is None:
                by_subject[subject] = binding
            elif isinstance(bindings, dict):
                bindings[binding.key] = binding
            else:
                by_subject[subject] = {bindings.key: bindings, binding.key: binding}

    def _remove_binding(self, binding: RoleBinding) -> None:
        by_subject = self._bindings.get(binding.namespace, {})
        for subject in binding.subjects:
            bindings = by_subject.get(subject)
            if isinstance(bindings, dict):
                bindings.pop(binding.key, None)
            if bindings is not None and (not bindings or not isinstance(bindings, dict)):
                del by_subject[subject]
        if not by_subject:
            self._bindings.pop(binding.namespace, None)

    def decide(self, user: User, attributes: Attributes) -> Decision:
        if user.is_master:
            return _YES
        # the uid is left out, and extra too, which differs between tokens: RBAC does not look at them
        key = user.name, user.groups, attributes
        decision = self._decided.get(key)
        if decision is None:
            changes = self._changes
            decision = self._find_decision(user, attributes)
            if changes == self._changes:  # else a role or binding changed meanwhile, and the decision can be stale
                self._cache_decision(key, decision)
        return decision

    def decide_quickly(self, user: User, attributes: Attributes) -> Decision | None:
        return None if self._long_roles and self.is_costly(user, attributes) else self.decide(user, attributes)

    def is_costly(self, user: User, *requests: Attributes) -> bool:
        """Return whether one of these decisions must run in slices, because it compiles a long role."""
        if not self._long_roles or user.is_master:
            return False
        subjects = _list_subjects(user)
        return any(
            (role := self._find_role(binding)) is not None and role.key in self._long_roles
            for attributes in requests
            if (user.name, user.groups, attributes) not in self._decided
            for binding in self._bindings_of(subjects, attributes.namespace)
        )

    def _cache_decision(self, key: tuple[str, tuple[str, ...], Attributes], decision: Decision) -> None:
        """Cache a decision unless it or its key is long. The oldest ones are dropped first."""
        size = _decision_size(*key, decision)
        if size > _LONGEST or sum(map(len, key[2])) > MAX_KEY_LENGTH or key in self._decided:
            return
        self.cached_size += size
        self._decided[key] = decision
        while self.cached_size > _MAX:
            oldest = next(iter(self._decided))
            self.cached_size -= _decision_size(*oldest, self._decided.pop(oldest))

    def _find_decision(self, user: User, attributes: Attributes) -> Decision:
        errors: list[str] = []
        refused: set[tuple[str, str]] = set()  # roles that do not allow the request
        subjects = _list_subjects(user)
        for binding in self._bindings_of(subjects, attributes.namespace):
            name = binding.role_kind, binding.role
            if name in refused:
                continue
            role = self._find_role(binding)
            if role is None:
                errors.append(_not_found(binding))
            elif self._compile_rules(role).allows_request(attributes):
                return Decision(True, f"RBAC: allowed by {binding.describe_binding(subjects)}")
            refused.add(name)
        return Decision(False, f"RBAC: {join_errors(errors)}" if errors else "")

    def list_rules(self, user: User, namespace: str) -> tuple[list[PolicyRule], list[str]]:
        rules: list[PolicyRule] = []
        errors: list[str] = []
        for role in self._roles_of(user, namespace, errors):
            charge(len(role.body) // _STEP)
            rules += role.decode().get("rules") or []
        return rules, errors

    def find_missing_rules(
        self, user: User, namespace: str, policy_rules: Iterable[PolicyRule]
    ) -> tuple[list[PolicyRule], list[str]]:
        roles_held: dict[str, RoleRules] = {}
        errors: list[str] = []
        for role in self._roles_of(user, namespace, errors):
            if role.key not in roles_held:
                roles_held[role.key] = self._compile_rules(role)
        return rules.find_missing([*roles_held.values()], policy_rules), errors

    def find_role(self, kind: str, name: str, namespace: str) -> list[PolicyRule] | None:
        entry = self._find_role(RoleBinding("", "", namespace, kind, name, {}, {}))
        return None if entry is None else entry.decode().get("rules") or []

    def _roles_of(self, user: User, namespace: str, errors: list[str]) -> Iterator[Entry]:
        """Yield the roles of a user in a namespace. errors: gets one for each missing role."""
        for binding in self._bindings_of(_list_subjects(user), namespace):
            role = self._find_role(binding)
            if role is None:
                errors.append(_not_found(binding))
            else:
                yield role

    def _bindings_of(self, subjects: dict[Subject, None], namespace: str) -> Iterator[RoleBinding]:
        """Yield the bindings of a user in a namespace: cluster role bindings first, each group sorted by key."""
        for space in ("", namespace) if namespace else ("",):
            if (by_subject := self._bindings.get(space)) is not None:
                bindings = _find_bindings(by_subject, subjects)
                yield from (bindings[key] for key in sorted(bindings)) if len(bindings) > 1 else bindings.values()

    def _compile_rules(self, role: Entry) -> RoleRules:
        rules: RoleRules | None = role.forms.get("rbac")
        if rules is None:
            charge(len(role.body) // _STEP)
            rules = role.forms["rbac"] = RoleRules(role.decode().get("rules") or ())
            if self._long_roles.get(role.key) is role:  # else a later state of the role is not compiled
                del self._long_roles[role.key]
        return rules

    def _find_role(self, binding: RoleBinding) -> Entry | None:
        if binding.role_kind == "ClusterRole":
            return self._cluster_roles.get(CLUSTER_ROLES.key("", binding.role))
        return self._roles.get(ROLES.key(binding.namespace, binding.role))


def _list_subjects(user: User) -> dict[Subject, None]:
    """Return the user and all of the user's groups."""
    subjects: dict[Subject, None] = {("User", user.name): None}
    for groups in each_part(user.groups):
        subjects.update((("Group", group), None) for group in groups)
    return subjects


def _find_bindings(
    table: dict[Subject, RoleBinding | dict[str, RoleBinding]], subjects_of_user: dict[Subject, None]
) -> dict[str, RoleBinding]:
    """Return the bindings that name one of the user's subjects, by key."""
    bindings: dict[str, RoleBinding] = {}
    if len(subjects_of_user) <= len(table):
        for subjects in each_part(tuple(subjects_of_user)):
            for subject in subjects:
                if (found_binding := table.get(subject)) is not None:
                    _merge_bindings(bindings, found_binding)
    else:
        for subjects in each_part(tuple(table)):
            for subject in subjects:
                if subject in subjects_of_user:
                    _merge_bindings(bindings, table.get(subject, {}))
    return bindings


def _merge_bindings(bindings: dict[str, RoleBinding], added: RoleBinding | dict[str, RoleBinding]) -> None:
    if isinstance(added, dict):
        charge(1 + len(added) // _MERGED)
        bindings |= added
    else:
        bindings[added.key] = added


def _decision_size(name: str, groups: Sequence[str], attributes: Attributes, decision: Decision) -> int:
    return _DECISION_COST + len(name) + sum(map(len, groups)) + sum(map(len, attributes)) + len(decision.reason)


def _find_collection(cache: Cache, kind: Kind) -> WatchCache:
    return cache.collection(kind.keys)


def parse_binding(entry: Entry) -> RoleBinding:
    """Parse a stored RoleBinding or ClusterRoleBinding."""
    obj = entry.decode()
    subjects: dict[Subject, int] = {}
    accounts: dict[int, str] = {}
    for index, item in enumerate(obj.get("subjects") or ()):
        kind, name = item["kind"], item["name"]
        if kind != "ServiceAccount":
            subjects.setdefault((kind, name), index)
            continue
        namespace = item.get("namespace", "")
        if space := namespace or entry.namespace:
            subject = "User", f"system:serviceaccount:{space}:{name}"
            if subjects.setdefault(subject, index) == index:
                accounts[index] = f"{name}/{namespace}"
    ref = obj["roleRef"]
    return RoleBinding(entry.key, entry.name, entry.namespace, ref["kind"], ref["name"], subjects, accounts)


def _not_found(binding: RoleBinding) -> str:
    return f"{binding.role_kind.lower()}.{rbac.GROUP} {quote(binding.role)} not found"
