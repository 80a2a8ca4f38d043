"""metadata.managedFields: updated by every write, and used by server-side apply.

Source: k8s.io/apimachinery pkg/util/managedfields, as kube-apiserver uses it, and the recorded answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from podless.codec import gotext, serializer
from podless.fields import kubectl, merge, sets
from podless.fields.check import check_value, raise_faults
from podless.fields.collect import collect_created
from podless.fields.compare import Comparison, compare_values, equal_values, find_replaced
from podless.fields.merge import Conflicts, FieldOwner, NoVersion, Owned, Owners, WriteTarget
from podless.fields.overlay import lay_over
from podless.fields.sets import Fields, Path
from podless.fields.typed import UNOWNED, SchemaMisfit, Shape
from podless.meta.errors import APIError, BadRequest, Internal
from podless.meta.objectmeta import MAX_MANAGER
from podless.runtime.bounded import bounded_cache
from podless.runtime.jsonobject import Object
from podless.runtime.meter import MAX_UNCHARGED, charge, each
from podless.structs import gotypes, restore
from podless.structs.structfiles import load_struct

MANAGED_FIELDS_ENTRY = load_struct("meta/v1", "ManagedFieldsEntry")

Entry = dict[str, Any]
Times = dict[FieldOwner, str | None]

BEFORE_APPLY = "before-first-apply"
_ANCIENT = "ancient-changes"
_MAX_UPDATES = 10  # maximum separate entries of updates; older ones are merged


class ApplyConflict(APIError, code=409, reason="Conflict"):
    """409: an apply would change fields that other managers own."""

    def __init__(self, conflicts: Sequence[tuple[FieldOwner, Path]]) -> None:
        by_owner: dict[FieldOwner, list[str]] = {}
        for owner, path in each(conflicts):
            by_owner.setdefault(owner, []).append(sets.format_element_path(path))
        charge(len(conflicts))
        named = [(_describe_owner(owner), by_owner[owner]) for owner in sorted(by_owner, key=_make_identifier)]
        if len(conflicts) == 1:
            text = f"1 conflict: conflict with {named[0][0]}: {named[0][1][0]}"
        else:
            lists = ("\n- ".join((f"conflicts with {name}:", *paths)) for name, paths in named)
            text = f"{len(conflicts)} conflicts: " + "\n".join(lists)
        causes = [
            {"reason": "FieldManagerConflict", "message": f"conflict with {name}", "field": path}
            for name, paths in named
            for path in paths
        ]
        super().__init__(f"Apply failed with {text}", {"causes": causes})


def _describe_owner(owner: FieldOwner) -> str:
    text = gotext.quote(owner.manager)
    if owner.subresource:
        text += f" with subresource {gotext.quote(owner.subresource)}"
    return f"{text} using {owner.version}" if owner.operation == "Update" else text


def _make_identifier(owner: FieldOwner) -> bytes:
    """Return the text by which a real server identifies and sorts owners."""
    named = {"manager": owner.manager, "operation": owner.operation, "apiVersion": owner.version}
    named["subresource"] = owner.subresource
    return serializer.encode_json({name: text for name, text in named.items() if text})


def find_manager_name(manager: str, agent: str) -> str:
    """Return the manager of a write: the fieldManager parameter, else the first part of the User-Agent, or ""."""
    return manager or _find_agent_name(agent)


@bounded_cache(1024)
def _find_agent_name(agent: str) -> str:
    first = agent.partition("/")[0]
    if first.isprintable() and len(first.encode()) <= MAX_MANAGER:
        return first
    name = ""
    for char in first:
        if char.isprintable():
            if len((name + char).encode()) > MAX_MANAGER:
                break
            name += char
    return name


def decode_managed_fields(entries: Any, *, canonical: bool = False) -> tuple[Owners, Times]:
    """Return owners and times from managedFields. canonical: as stored. Raises ValueError for invalid entries."""
    owners: Owners = {}
    times: Times = {}
    entries = entries or ()
    if len(entries) > MAX_UNCHARGED:  # each apply comes here: `each` would be a call more
        charge(len(entries))
    for index, entry in enumerate(entries):
        operation, version = entry.get("operation", ""), entry.get("apiVersion", "")
        if not canonical:
            _check_entry(entry, index)
        owner = FieldOwner(
            entry.get("manager", ""), operation, version if operation == "Update" else "", entry.get("subresource", "")
        )
        fields = entry.get("fieldsV1")
        owners[owner] = Owned((fields or {}) if canonical else sets.parse_set(fields), version)
        times[owner] = entry.get("time")
    return owners, times


def _check_entry(entry: Any, index: int) -> None:
    if entry.get("operation") not in ("Apply", "Update"):
        raise ValueError("operation must be `Apply` or `Update`")
    if not entry.get("apiVersion"):
        raise ValueError("apiVersion must not be empty")
    fields_type = entry.get("fieldsType") or ""
    if fields_type != "FieldsV1":
        problem = f"invalid fieldsType {gotext.quote(fields_type)}" if fields_type else "missing fieldsType"
        raise ValueError(f"{problem} in managed fields entry {index}")


def encode_managed_fields(owners: Owners, times: Times, *, custom: bool) -> list[Entry]:
    """Return managedFields from owners, sorted by operation, time, manager, version and subresource."""
    managed_fields: list[Entry] = []
    if len(owners) > MAX_UNCHARGED:
        charge(len(owners))
    for owner, (fields, version) in owners.items():
        manager, operation, _, subresource = owner
        fields = fields if custom else sets.order_set(fields)
        managed_fields.append(_make_entry(manager, operation, version, times.get(owner), fields, subresource))
    if len(managed_fields) > 1:
        managed_fields.sort(key=_sort_key)
    return managed_fields


def _make_entry(
    manager: str, operation: str, version: str, time: str | None, fields: Fields, subresource: str
) -> Entry:
    entry: Entry = {
        "manager": manager, "operation": operation, "apiVersion": version, "time": time, "fieldsType": "FieldsV1",
        "fieldsV1": fields,
    }  # fmt: skip
    if not manager:
        del entry["manager"]
    if not time:
        del entry["time"]
    if subresource:
        entry["subresource"] = subresource
    return entry


def _sort_key(entry: Entry) -> tuple[str, ...]:
    get = entry.get
    return entry["operation"], get("time", ""), get("manager", ""), entry["apiVersion"], get("subresource", "")


def put_managed_fields(metadata: Object, entries: list[Entry]) -> None:
    """Set managedFields, or remove them if there are no entries."""
    if entries:
        metadata["managedFields"] = entries
    else:
        metadata.pop("managedFields", None)


def _choose_owners(target: WriteTarget, old: Object | None, value: Any) -> tuple[Owners, Times]:
    """Return the owners before an update: those that the client sends if they are valid, else the stored ones."""
    if old is None and value is None:
        return {}, {}
    managed_fields = ((old or {}).get("metadata") or {}).get("managedFields")
    if not target.subresource:
        if value is not None and (not value or value == [{}]):
            return {}, {}  # the client resets them
        if value and value != managed_fields:
            try:
                owners, times = decode_managed_fields(value)
            except ValueError:
                owners = {}
            if owners:
                return owners, times
    return decode_managed_fields(managed_fields, canonical=True)


def update_managed_fields(
    target: WriteTarget, old: Object | None, new: Object, manager: str, now: str, *, settled: bool = False
) -> list[Entry]:
    """Return the managedFields of an object that is created or changed, but not by apply.

    target: where it is written. old: the object before, None for a new one. new: the object after the write, with
    defaults, but before the server restores fields that this endpoint may not change. Its own managedFields are those
    that the client sent; they are removed from it. manager: see `find_manager_name`. now: the time for the entry.
    settled: the old object was written under the present schema. Never raises: if a state does not fit the schema, or a
    custom kind no longer has an owner's version, the result is empty.
    """
    sent_entries = new["metadata"].pop("managedFields", None)
    if new.get("kind") != target.blank.get("kind"):
        return []  # a JSON patch has changed it; later steps set it again
    stored_entries = old["metadata"].get("managedFields") if old is not None else None
    settled = settled and (sent_entries is None or sent_entries == stored_entries)
    owner = FieldOwner(manager or "unknown", "Update", target.version, target.subresource)
    try:
        before, compared = target.blank if old is None else drop_managed_fields(old), None
        if old is not None and find_replaced(new["metadata"], before["metadata"]) == []:
            before["metadata"] = new["metadata"]  # the identical value needs no comparison
        if settled and stored_entries and (owned := _find_only_fields(owner, stored_entries, target.version)):
            compared = compare_values(before, new, target.get_shape(target.version))
            changed = merge.find_own_changes(target, compared, owned)
            if changed is not None:
                return [{**stored_entries[0], "time": now}] if changed else stored_entries
        owners, times = _choose_owners(target, old, sent_entries)
        if not owners and old is not None:
            return []  # as in a real server, an object without managers gets none before its first apply
        owners = _update_owners(target, before, new, owners, times, owner, now, settled=settled, compared=compared)
    except (SchemaMisfit, NoVersion):
        return []
    return encode_managed_fields(owners, times, custom=target.custom)


def _find_only_fields(owner: FieldOwner, entries: list[Entry], version: str) -> Fields | None:
    """Return the fields of an owner in an apiVersion. None if it has none there, or if there are others."""
    entry = entries[0]
    if len(entries) > 1 or entry.get("apiVersion") != version or entry.get("manager") != owner.manager:
        return None
    if entry.get("operation") != owner.operation or entry.get("subresource", "") != owner.subresource:
        return None
    return entry.get("fieldsV1")


def claim_created(target: WriteTarget, new: Object, manager: str, now: str, *, schema_valid: bool) -> list[Entry]:
    """Return the managedFields of a new custom object whose client sent none.

    schema_valid: the object is known to fit the schema. The other arguments are as for an update.
    """
    version = target.version
    try:
        fields = target.drop(collect_created(new, target.get_shape(version), is_valid=schema_valid), version)
    except SchemaMisfit:
        return []
    return [_make_entry(manager or "unknown", "Update", version, now, fields, target.subresource)] if fields else []


def _update_owners(
    target: WriteTarget,
    old: Object,
    new: Object,
    owners: Owners,
    times: Times,
    owner: FieldOwner,
    now: str,
    *,
    settled: bool = False,
    compared: Comparison | None = None,
) -> Owners:
    """Return the owners after an update, and set times. compared: the two states. Raises SchemaMisfit, NoVersion."""
    if not owners and target.custom and old is target.blank:
        fields = target.drop(collect_created(new, target.get_shape(target.version)), target.version)
        times[owner] = now
        return {owner: Owned(fields, target.version)} if fields else {}
    if target.custom and not settled and old is not target.blank:
        for state in (new, old):  # a misfit counts even in an unchanged part
            check_value(state, target.get_shape(target.version), repeats=True)
    owners, fields = merge.update_owned(target, old, new, owners, settled=settled, compared=compared)
    if fields := sets.subtract_set(fields, UNOWNED):
        owned = owners.get(owner)
        owners[owner] = Owned(sets.unite_sets(fields, owned.fields) if owned is not None else fields, target.version)
        times[owner] = now
    return _cap_owners(owners, times)


def _cap_owners(owners: Owners, times: Times) -> Owners:
    """Limit the number of update entries: merge the oldest ones of a version."""
    if len(owners) <= _MAX_UPDATES:
        return owners
    updaters = [owner for owner in owners if owner.operation == "Update"]
    surplus = len(updaters) - _MAX_UPDATES
    if surplus <= 0:
        return owners
    charge(len(updaters))
    updaters.sort(key=lambda owner: (times.get(owner) or "", _make_identifier(owner)))
    first: dict[str, FieldOwner] = {}
    gathered: dict[FieldOwner, list[Fields]] = {}
    for owner in updaters:
        if surplus <= 0:
            break
        owned = owners[owner]
        if owned.version not in first:
            first[owned.version] = owner
            continue
        bucket = FieldOwner(_ANCIENT, "Update", owned.version, "")
        if bucket not in owners:
            owners[bucket] = owners.pop(first[owned.version])
        gathered.setdefault(bucket, [owners[bucket].fields]).append(owned.fields)
        if owner != bucket:
            del owners[owner]
        times[bucket] = times.get(owner)
        surplus -= 1
    for bucket, several in gathered.items():
        owners[bucket] = Owned(sets.unite_all(several), bucket.version)
    return owners


def apply_object(
    target: WriteTarget,
    live: Object | None,
    applied: Object,
    manager: str,
    force: bool,
    now: str,
    *,
    settled: bool = False,
) -> Object:
    """Return the object after a server-side apply, with its managedFields; not yet defaulted.

    live: None for a new object. settled: it was written under the present schema. Raises BadRequest, ApplyConflict, and
    Internal where a real server answers 500: an applied object that does not fit the schema.
    """
    if _has_owners(applied.get("metadata")):
        raise BadRequest("metadata.managedFields must be nil")
    base = target.blank if live is None else drop_managed_fields(live)
    entries = live["metadata"].get("managedFields") or [] if live is not None else []
    owner = FieldOwner(manager, "Apply", "", target.subresource)
    try:
        merged, entries = _apply_owners(target, base, applied, entries, owner, now, force, settled)
    except Conflicts as conflicts:
        raise ApplyConflict(conflicts.conflicts) from None
    except (SchemaMisfit, NoVersion) as misfit:
        raise Internal(str(misfit)) from None
    obj = dict(base if merged is None else gotypes.rewrite_fields(merged, target.raws))
    obj["metadata"] = dict(obj.get("metadata") or {})
    if manager == kubectl.MANAGER:
        kubectl.note_applied(obj["metadata"], applied)
    put_managed_fields(obj["metadata"], entries)
    return obj


def _has_owners(metadata: Any) -> bool:
    """Return whether metadata has managedFields that Go can decode. The schema check reports others."""
    entries = metadata.get("managedFields") if isinstance(metadata, dict) else None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        return False
    try:
        for entry in entries:
            restore.restore_value(MANAGED_FIELDS_ENTRY, entry)
    except restore.Misfit:
        return False
    return True


def _claim_fields(target: WriteTarget, live: Object, times: Times, now: str) -> Owners:
    """Return one owner of all fields, for an object without owners. Raises SchemaMisfit."""
    try:
        owner = FieldOwner(BEFORE_APPLY, "Update", target.version, target.subresource)
        return _update_owners(target, target.blank, live, {}, times, owner, now)
    except SchemaMisfit as misfit:
        action = f"failed to create manager for existing fields: failed to convert new object ({describe_object(live)})"
        raise SchemaMisfit(f"{action} to smd typed: {_locate_misfit(target, live, misfit)}") from None


def _locate_misfit(target: WriteTarget, live: Object, misfit: SchemaMisfit) -> SchemaMisfit:
    """Return the same error with the path of the misfit."""
    try:
        raise_faults(live, target.get_shape(target.version), repeats=True)
    except SchemaMisfit as located:
        return located
    return misfit


def _apply_owners(
    target: WriteTarget,
    live: Object,
    applied: Object,
    entries: list[Entry],
    owner: FieldOwner,
    now: str,
    force: bool,
    settled: bool,
) -> tuple[Object | None, list[Entry]]:
    """Return the object after an apply (None if it does not change) and its managedFields. entries: those before."""
    times: Times = {}
    claimed = _claim_fields(target, live, times, now) if not entries else None
    shape = target.get_shape(target.version)
    try:
        if not settled or any(entry.get("apiVersion") != target.version for entry in entries):
            check_value(live, shape, repeats=True)
        laid = lay_over(live, applied, shape)
    except SchemaMisfit:
        _explain_misfit(live, applied, shape)
        raise
    owned = _find_only_fields(owner, entries, target.version) if settled and entries else None
    if owned and target.drop(laid.applied, target.version) == owned:  # the only manager applies the same fields again
        merged = merge.find_merged(live, laid.merged, laid.compared)
        return merged, entries if merged is None else [{**entries[0], "time": now}]
    owners, times = (claimed, times) if claimed is not None else decode_managed_fields(entries, canonical=True)
    try:
        merged, owners = merge.apply_owned(target, live, laid, owners, owner, force=force, settled=settled)
    except Conflicts as conflicts:
        if owner.manager != kubectl.MANAGER or not kubectl.is_upgrade(target, live, conflicts):
            raise
        merged, owners = merge.apply_owned(target, live, laid, owners, owner, force=True, settled=settled)
    if merged is not None:
        times[owner] = now
    return merged, encode_managed_fields(owners, times, custom=target.custom)


def _explain_misfit(live: Object, applied: Object, shape: Shape) -> None:
    """Raise SchemaMisfit if an object does not fit the shape. The applied one counts first."""
    for obj, noun, repeats in ((applied, "patch", False), (live, "live", True)):
        try:
            check_value(obj, shape, repeats=repeats)
        except SchemaMisfit as misfit:
            raise SchemaMisfit(f"failed to create typed {noun} object ({describe_object(obj)}): {misfit}") from None


def describe_object(obj: Object) -> str:
    """Return an object as messages show it: namespace/name; group/version, Kind=kind."""
    metadata = obj.get("metadata")
    values = [metadata.get(key) if isinstance(metadata, dict) else "" for key in ("namespace", "name")]
    namespace, name = (text if isinstance(text, str) else "" for text in values)
    return f"{namespace}/{name}; {describe_type(obj)}"


def describe_type(obj: Object) -> str:
    """Return the type of an object as messages show it: group/version, Kind=kind."""
    group, _, version = str(obj.get("apiVersion") or "").rpartition("/")
    return f"{group}/{version}, Kind={obj.get('kind') or ''}"


def restore_times(obj: Object, old: Object) -> None:
    """Restore the times of managedFields if nothing but the times has changed."""
    entries, managed_fields = obj["metadata"].get("managedFields"), old["metadata"].get("managedFields")
    if not entries or not managed_fields or len(entries) != len(managed_fields) or entries == managed_fields:
        return
    if any(_drop_time(entry) != _drop_time(other) for entry, other in zip(entries, managed_fields, strict=True)):
        return
    if equal_values(drop_managed_fields(obj), drop_managed_fields(old)):
        obj["metadata"]["managedFields"] = managed_fields


def _drop_time(entry: Entry) -> Entry:
    return {key: item for key, item in entry.items() if key != "time"}


def drop_managed_fields(obj: Object) -> Object:
    """Return the object without managedFields; its other parts are shared."""
    metadata = obj["metadata"].copy()
    metadata.pop("managedFields", None)
    return {**obj, "metadata": metadata}
