"""Creates the default roles and bindings at the start, and fills aggregated roles.

At its start, a server adds missing rules and subjects to default roles and bindings, except objects with
rbac.authorization.kubernetes.io/autoupdate: "false"; it keeps additions. Aggregated rules are in force before the write
that changes them is answered.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from itertools import repeat

from podless.apis.rbac.group import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES
from podless.auth import bootstrappolicy
from podless.cache.entry import Entry
from podless.codec import serializer
from podless.controllers.controller import Controller
from podless.controllers.write import amend_object, make_object
from podless.kinds.kind import Kind
from podless.meta import selectors
from podless.meta.selectors import LabelSelector
from podless.runtime import clock
from podless.runtime.jsonobject import Object
from podless.runtime.meter import charge, each_part
from podless.verbs.call import API

_MANAGER = "clusterrole-aggregation-controller"  # the manager of aggregated rules in a real cluster
_ALL_KEY = "all"  # aggregate all roles
_LATER_KEY = "again"  # the same, later, for cycles of roles
_LATER_SECONDS = 10.0  # seconds until then
_SELECTOR_STEPS = 8  # steps on the meter to parse a selector
_MAX_ROUNDS = 16  # rounds of aggregation before a write is answered, which limits the length of chains


class RoleController(Controller):
    """Maintains the default and the aggregated roles."""

    name = "poststarthook/rbac/bootstrap-roles"
    leads = False
    awaited = (CLUSTER_ROLES,)  # so that aggregated rules are in force when a write is answered

    def __init__(self, api: API) -> None:
        super().__init__(api)
        self._roles = api.collection(CLUSTER_ROLES)
        self._gathered = -1  # the newest change of roles that is aggregated

    async def begin(self) -> None:
        """Create or repair default roles and bindings in one batch, then aggregate."""
        defaults = [(CLUSTER_ROLES, obj) for obj in bootstrappolicy.make_cluster_roles()]
        defaults += [(CLUSTER_ROLE_BINDINGS, obj) for obj in bootstrappolicy.make_cluster_role_bindings()]
        for kind in (CLUSTER_ROLES, CLUSTER_ROLE_BINDINGS):
            await self.api.load_collection(kind)
        await asyncio.gather(*(self._ensure_object(kind, obj) for kind, obj in defaults))
        self.leave.append(self._roles.add_event_handler(lambda _: self.queue.add(_ALL_KEY)))
        self.queue.add(_ALL_KEY)
        await self.reconcile_all()

    async def _ensure_object(self, kind: Kind, default: Object) -> None:
        key = kind.key("", default["metadata"]["name"])
        if self.api.collection(kind).get(key) is not None:
            await amend_object(self.api, kind, key, lambda stored: _complete_stored(stored, default))
            return
        await make_object(self.api, kind, default, constant=clock.now())

    def find_due_keys(self, key: str) -> Iterable[str]:
        return (_ALL_KEY,)

    async def reconcile(self, key: str) -> None:
        if self._gathered == self._roles.changed and key == _ALL_KEY:
            return
        for first in (True, *repeat(False, _MAX_ROUNDS)):
            seen = self._roles.changed
            entries = self._list_roles()
            for entry in entries:
                if b'"aggregationRule":{' in entry.body:
                    # in a cycle, each role needs the result of the one before; otherwise it would never settle
                    await self._aggregate_rules(entry.key, entries if first else self._list_roles(), ordered=first)
                    await asyncio.sleep(0)  # other requests run in between, because there can be many roles
            if seen == self._roles.changed:
                self._gathered = seen
                return
        self._gathered = self._roles.changed  # a cycle may never settle, so do not wait for it
        self.queue.add(_LATER_KEY, _LATER_SECONDS)

    def _list_roles(self) -> Sequence[Entry]:
        return self._roles.list_entries()

    async def _aggregate_rules(self, key: str, entries: Sequence[Entry], *, ordered: bool) -> None:
        """Set the rules of an aggregated role. ordered: compare their order, too; in a cycle it would never settle."""
        entry = self._roles.get(key)
        if entry is None:
            return
        selected = await self.api.off_loop.slices.run(_select_rules, entry, entries)
        if selected is None:
            return
        stored = _encode_rules(entry)
        if stored == [*selected] or (not ordered and len(stored) == len(selected) and selected.keys() == {*stored}):
            return
        rules = [*map(serializer.decode_own, selected)]
        await amend_object(self.api, CLUSTER_ROLES, key, lambda obj: _make_aggregated(obj, rules), hooks=False)


def _select_rules(entry: Entry, entries: Sequence[Entry]) -> dict[bytes, None] | None:
    """Return the rules of all roles that an aggregated role selects, in order; None if it is not aggregated."""
    role_selectors = _read_selectors(entry)
    if role_selectors is None:
        return None
    rules: dict[bytes, None] = {}
    for selector in role_selectors:
        charge(1)
        matches = selector.matches
        for batch in each_part(entries):
            for role in batch:
                if role.key != entry.key and matches(role.labels):
                    rules.update(dict.fromkeys(_encode_rules(role)))
    return rules


def _read_selectors(entry: Entry) -> list[LabelSelector] | None:
    """Return the selectors of a role's aggregationRule, None without one; cached."""
    if "gathers" not in entry.forms:
        rule = entry.decode().get("aggregationRule")
        compiled: list[LabelSelector] | None = None
        if rule is not None:
            compiled = []
            for selector in rule.get("clusterRoleSelectors") or ():
                charge(_SELECTOR_STEPS)
                compiled.append(selectors.from_object(selector))
        entry.forms["gathers"] = compiled
    role_selectors: list[LabelSelector] | None = entry.forms["gathers"]
    return role_selectors


def _encode_rules(entry: Entry) -> list[bytes]:
    """Return the rules of a role, each as JSON; cached."""
    rules: list[bytes] | None = entry.forms.get("rules")
    if rules is None:
        stored = entry.decode().get("rules") or ()
        rules = entry.forms["rules"] = [serializer.fit_bytes(serializer.encode_json(rule)) for rule in stored]
    return rules


def _make_aggregated(obj: Object, rules: list[Object]) -> Object:
    """Return the role with aggregated rules. The controller of a real cluster applies them with force and owns them."""
    owned = {
        "manager": _MANAGER,
        "operation": "Apply",
        "apiVersion": obj["apiVersion"],
        "time": clock.now(),
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:rules": {}},
    }
    entries = [owned]
    for entry in obj["metadata"].get("managedFields") or ():
        remaining = {name: item for name, item in entry["fieldsV1"].items() if name != "f:rules"}
        if remaining:
            entries.append({**entry, "fieldsV1": remaining})
    return _replace_rules({**obj, "metadata": {**obj["metadata"], "managedFields": entries}}, rules)


def _replace_rules(obj: Object, rules: list[Object]) -> Object:
    """Return the role with these rules, with fields in the order of the struct."""
    head = {name: obj[name] for name in ("kind", "apiVersion", "metadata")}
    return head | {"rules": rules} | ({"aggregationRule": obj["aggregationRule"]} if "aggregationRule" in obj else {})


def _complete_stored(stored: Object, default: Object) -> Object:
    """Return a stored default role or binding, completed with everything from the default one."""
    metadata = stored["metadata"]
    if (metadata.get("annotations") or {}).get(bootstrappolicy.AUTOUPDATE) == "false":
        return stored
    for name in ("labels", "annotations"):
        metadata[name] = dict(sorted({**(metadata.get(name) or {}), **default["metadata"][name]}.items()))
    if "aggregationRule" in default:
        return _replace_rules({**stored, "aggregationRule": default["aggregationRule"]}, stored.get("rules") or [])
    for name in ("rules", "subjects"):
        if name in default:
            stored_items = stored.get(name) or []
            stored[name] = [*stored_items, *(item for item in default[name] if item not in stored_items)]
    return stored
