"""What a set changes: fields of its objects, with causes and owners, and other objects as a consequence."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from podless.codec import serializer
from podless.fields import sets
from podless.history.difference import ABSENT, Step, find_key, format_path
from podless.meta.field import Path
from podless.meta.objectmeta import SERVER_METADATA
from podless.plan.manifests import Identity
from podless.plan.result import Action, By, Change, FieldChange
from podless.plan.secrecy import holds_data, is_secret
from podless.plan.simulation import Simulation
from podless.runtime.jsonobject import Object
from podless.store import Record
from podless.store.keys import OWN, resource_of

_LEFT_OUT = frozenset(SERVER_METADATA) - {"uid", "creationTimestamp"}  # these two are shown, as generated
# values that another server would choose differently
_GENERATED = {
    ("metadata", "uid"), ("metadata", "creationTimestamp"), ("metadata", "deletionTimestamp"),
}  # fmt: skip
_GENERATED_OF = {"Service": {("spec", "clusterIP"), ("spec", "clusterIPs"), ("spec", "healthCheckNodePort")}}
_TIMES = ("lastTransitionTime", "lastUpdateTime", "lastProbeTime", "lastHeartbeatTime")
_POLICIES = ("MutatingAdmissionPolicy", "PlannedMutatingWebhooks")
_NAMES = {"PlannedMutatingWebhooks": "webhooks", "MutatingAdmissionPolicy": "policies"}
_QUIET = {("", "events"), ("events.k8s.io", "events"), ("coordination.k8s.io", "leases")}


def compare_objects(
    identity: Identity,
    before: Object | None,
    after: Object | None,
    manifest: Object | None = None,
    recorded: Mapping[str, set[Path]] | None = None,
) -> list[FieldChange]:
    """Return the fields in which an object changes.

    manifest: the object in the set, None if it is not in the set. recorded: paths that admission plugins changed, by
    plugin. Values of Secrets are marked as secret.
    """
    old_owners, new_owners = list_owners(before), list_owners(after)
    manifest = _join_strings(identity, manifest)
    changes: dict[str, FieldChange] = {}
    for steps, path, old, new in _walk_values(_strip_object(before), _strip_object(after), (), ()):
        text = format_path(steps)
        by, plugin = _find_cause(steps, path, new, manifest, recorded or {})
        generated = _is_generated(identity, path) and (old is ABSENT or new is ABSENT or path[0] == "metadata")
        old_names, new_names = old_owners.get(text, ()), new_owners.get(text, ())
        moved = (old_names, new_names) if old_names and new_names and old_names != new_names else ((), ())
        changes[text] = FieldChange(text, old, new, by, plugin, generated, is_secret(identity, path), *moved)
    for text in sorted(old_owners.keys() & new_owners.keys() - changes.keys()):
        if old_owners[text] != new_owners[text]:
            changes[text] = FieldChange(text, None, None, old_managers=old_owners[text], new_managers=new_owners[text])
    return [*changes.values()]


def _join_strings(identity: Identity, manifest: Object | None) -> Object | None:
    """Return a manifest with a Secret's stringData moved to data, as the server does."""
    if manifest is None or not holds_data(identity) or not isinstance(manifest.get("stringData"), dict):
        return manifest
    data = manifest.get("data")
    return {**manifest, "data": {**(data if isinstance(data, dict) else {}), **manifest["stringData"]}}


def _is_generated(identity: Identity, path: Path) -> bool:
    if path[:2] in _GENERATED or path[-1:] == ("nodePort",) or path[-1] in _TIMES:
        return True
    return path[:2] in _GENERATED_OF.get(identity.kind, ())


def _strip_object(obj: Object | None) -> Object:
    if obj is None:
        return {}
    metadata = {key: value for key, value in obj.get("metadata", {}).items() if key not in _LEFT_OUT}
    return {**{key: value for key, value in obj.items() if key not in ("apiVersion", "kind")}, "metadata": metadata}


Steps = tuple[Step, ...]


def _walk_values(
    before: Any, after: Any, steps: Steps, path: Path
) -> Iterator[tuple[Steps, tuple[Any, ...], Any, Any]]:
    """Yield (steps, path, before, after) for each difference. path: in the new value, or the old one if it is gone."""
    if before is not ABSENT and after is not ABSENT and before == after and type(before) is type(after):
        return
    if isinstance(before, dict | type(ABSENT)) and isinstance(after, dict | type(ABSENT)) and (before or after):
        old, new = (value if isinstance(value, dict) else {} for value in (before, after))
        for key in [*new, *(key for key in old if key not in new)]:
            yield from _walk_values(old.get(key, ABSENT), new.get(key, ABSENT), (*steps, key), (*path, key))
    elif isinstance(before, list | type(ABSENT)) and isinstance(after, list | type(ABSENT)) and (before or after):
        yield from _walk_lists(
            before or [], after or [], steps, path, absent_before_or_after=before is ABSENT or after is ABSENT
        )
    else:
        yield steps, path, before, after


def _walk_lists(
    before: Sequence[Any], after: Sequence[Any], steps: Steps, path: Path, *, absent_before_or_after: bool
) -> Iterator[tuple[Steps, tuple[Any, ...], Any, Any]]:
    key = find_key([*before], [*after])
    if not key:
        if all(not isinstance(item, dict | list) for item in (*before, *after)):
            absent = absent_before_or_after  # one of the lists is empty because its field is absent
            old, new = (ABSENT if absent and not items else [*items] for items in (before, after))
            yield steps, path, old, new
            return
        for index in range(max(len(before), len(after))):
            old = before[index] if index < len(before) else ABSENT
            new = after[index] if index < len(after) else ABSENT
            yield from _walk_values(old, new, (*steps, index), (*path, index))
        return
    old_items = {item[key]: item for item in before}
    places = {item[key]: index for index, item in enumerate(after)}
    old_places = {item[key]: index for index, item in enumerate(before)}
    for value in [*places, *(value for value in old_items if value not in places)]:
        old = old_items.get(value, ABSENT)
        new = after[places[value]] if value in places else ABSENT
        item_path = (*path, places.get(value, old_places.get(value, 0)))
        yield from _walk_values(old, new, (*steps, (key, value)), item_path)


def _find_cause(
    steps: Steps, path: tuple[Any, ...], new: Any, manifest: Object | None, recorded: Mapping[str, set[Path]]
) -> tuple[By, str]:
    """Return the cause of a field's change, and the plugin if it is one."""
    touched = [plugin for plugin, paths in recorded.items() if any(_paths_overlap(path, changed) for changed in paths)]
    policies = [plugin for plugin in touched if plugin in _POLICIES]
    value = _value_at(manifest, steps) if manifest is not None else ABSENT
    is_set = value is not ABSENT or (new is ABSENT and manifest is not None)
    if policies and not (is_set and value == new and new is not ABSENT):
        return By.POLICY, _NAMES[policies[0]]
    if is_set:
        return By.SET, ""
    plain = [plugin for plugin in touched if plugin not in _POLICIES]
    return By.SERVER, plain[0] if plain else ""


def _paths_overlap(first: tuple[Any, ...], second: tuple[Any, ...]) -> bool:
    """Return whether one path equals the other, or one is above the other."""
    shorter = min(len(first), len(second))
    return first[:shorter] == second[:shorter]


def _value_at(value: Any, steps: Steps) -> Any:
    """Return the value of a manifest at some steps, ABSENT if it is absent."""
    for step in steps:
        if isinstance(step, tuple):
            items = value if isinstance(value, list) else []
            key, item_key = step
            value = next((item for item in items if isinstance(item, dict) and item.get(key) == item_key), ABSENT)
        elif isinstance(step, int):
            value = value[step] if isinstance(value, list) and step < len(value) else ABSENT
        else:
            value = value.get(step, ABSENT) if isinstance(value, dict) else ABSENT
        if value is ABSENT:
            return ABSENT
    return value


def list_owners(obj: Object | None) -> dict[str, tuple[str, ...]]:
    """Return the managers of each field that has some, by the text of its path."""
    owners: dict[str, list[str]] = {}
    for entry in (obj or {}).get("metadata", {}).get("managedFields") or ():
        if entry.get("subresource"):
            continue
        for path in sets.list_paths(entry.get("fieldsV1") or {}):
            names = owners.setdefault(_format_owned(path), [])
            if entry.get("manager") not in names:
                names.append(str(entry.get("manager")))
    return {path: tuple(sorted(names)) for path, names in owners.items()}


def _format_owned(path: Sequence[str]) -> str:
    steps: list[Any] = []
    for element in path:
        kind, _, text = element.partition(":")
        if kind == "f":
            steps.append(text)
        elif kind == "k":
            keys = parse_keys(element)
            first = next(iter(keys), None)
            steps.append((first, keys[first]) if first is not None else text)
        else:
            steps.append(("", text))
    return format_path(tuple(steps))


def parse_keys(element: str) -> Object:
    """Return the keys in a list item's path element, {} for other elements."""
    try:
        keys = serializer.decode_json(element.partition(":")[2].encode())
    except serializer.JSONError:
        return {}
    return keys if isinstance(keys, dict) else {}


async def find_consequences(simulation: Simulation, revision: int, touched: Collection[str]) -> list[Change]:
    """Return the changes since a revision, except objects of the set that still exist."""
    first: dict[str, Record | None] = {}
    last: dict[str, Record | None] = {}
    for change in await simulation.api.store.read_changes("/", revision):
        if change.key.startswith(OWN) or resource_of(change.key) in _QUIET:
            continue
        first.setdefault(change.key, change.before)
        last[change.key] = change.record
    changes = []
    for key, before in first.items():
        after = last[key]
        if key in touched and after is not None:
            continue
        if (before is None and after is None) or (before and after and before.stored == after.stored):
            continue
        changes.append(_make_change(simulation, key, before, after))
    deletions = [change_ for change_ in changes if change_.action is Action.DELETE]
    for change_ in deletions:
        change_.message = _explain_deletion(change_, deletions)
    return [*deletions, *(change_ for change_ in changes if change_.action is not Action.DELETE and change_.fields)]


def _make_change(simulation: Simulation, key: str, before: Record | None, after: Record | None) -> Change:
    old, new = (_decode_record(record) for record in (before, after))
    obj = new or old
    assert obj is not None
    identity = Identity.of(obj)
    change = Change(Action.CREATE, identity, consequence=True, before=old, after=new)
    ends = new is not None and "deletionTimestamp" in new["metadata"]
    if new is None or (ends and old is not None and "deletionTimestamp" not in old["metadata"]):
        change.action = Action.DELETE
        change.waits = list((new or {}).get("metadata", {}).get("finalizers") or ())
    elif old is not None:
        change.action = Action.UPDATE
    if change.action is not Action.DELETE:
        change.fields = compare_objects(identity, old, new)
    return change


def _decode_record(record: Record | None) -> Object | None:
    if record is None:
        return None
    obj: Object = serializer.decode_json(record.stored.with_revision(record.revision))
    return obj


def _explain_deletion(change: Change, deletions: Iterable[Change]) -> str:
    identity, before = change.identity, change.before
    owners = {owner.get("uid") for owner in ((before or {}).get("metadata") or {}).get("ownerReferences") or ()}
    for deletion in deletions:
        metadata = (deletion.before or {}).get("metadata") or {}
        if metadata.get("uid") in owners:
            return f"its owner {deletion.identity} is deleted"
    for deletion in deletions:
        spec = (deletion.before or {}).get("spec") or {}
        if deletion.identity.kind == "Namespace" and deletion.identity.name == identity.namespace:
            return f"its namespace {deletion.identity.name} is deleted"
        defined = spec.get("group"), (spec.get("names") or {}).get("kind")
        if deletion.identity.kind == "CustomResourceDefinition" and defined == (identity.group, identity.kind):
            return f"its definition {deletion.identity.name} is deleted"
    return ""
