"""The owners of fields after a write: the rules of updates and applies over field sets.

Source: sigs.k8s.io/structured-merge-diff merge, as kube-apiserver uses it. An owner's fields are those of the API
version that it wrote in; an object is converted to that version before it is compared with them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, NamedTuple

from podless.fields import sets
from podless.fields.check import check_value
from podless.fields.collect import collect_leaves
from podless.fields.compare import Comparison, compare_values
from podless.fields.items import make_element
from podless.fields.overlay import Overlay
from podless.fields.reconcile import name_members, reconcile_set
from podless.fields.sets import Fields, Path, is_member
from podless.fields.typed import UNOWNED, ListShape, MapShape, SchemaMisfit, Shape
from podless.fields.values import equal_values
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object
from podless.runtime.meter import MAX_UNCHARGED, charge
from podless.runtime.release import has

# removes fields from an object. Source: sigs.k8s.io/structured-merge-diff typed (remove). From v6.3.2 on, emptied
# maps and lists stay empty; before, they became null.


def remove_fields(value: Any, fields: Fields, shape: Shape) -> Any:
    """Return the value without the fields of a set. The given value is not changed.

    If the set names only a part of a leaf, the whole leaf is emptied.
    """
    if not fields:
        return value
    if type(value) is dict and shape.map is not None:
        return _keep_map(value, fields, shape.map)
    if type(value) is list and shape.list is not None:
        return _keep_list(value, fields, shape.list)
    return value


def _keep_map(value: dict[str, Any], fields: Fields, form: MapShape) -> dict[str, Any] | None:
    remaining: dict[str, Any] = {}
    if form.atomic:
        return remaining if has("EmptiedFields") else None
    charge(len(value))
    for key, item in value.items():
        name, shape, _ = form.find_child(key)
        node = fields.get(name)
        if node is None:
            remaining[key] = item
        elif not is_member(node):
            remaining[key] = item if shape is None else remove_fields(item, node, shape)
    return remaining if remaining or has("EmptiedFields") else None


def _keep_list(value: list[Any], fields: Fields, form: ListShape) -> list[Any] | None:
    remaining: list[Any] = []
    if not form.associative:
        return remaining if has("EmptiedFields") else None
    charge(len(value))
    for item in value:
        node = fields.get(make_element(form, item))
        if node is None:
            remaining.append(item)
        elif not is_member(node):
            remaining.append(remove_fields(item, node, form.item))
    return remaining if remaining or has("EmptiedFields") else None


class FieldOwner(NamedTuple):
    """An owner of fields.

    version: the apiVersion for updates, "" for applies, which are one owner in all versions.
    """

    manager: str
    operation: str
    version: str
    subresource: str


class Owned(NamedTuple):
    """The fields of an owner, in an apiVersion."""

    fields: Fields
    version: str


Owners = dict[FieldOwner, Owned]


class Conflicts(Exception):
    """Fields of other owners that an apply would change."""

    def __init__(self, conflicts: list[tuple[FieldOwner, Path]]) -> None:
        super().__init__(conflicts)
        self.conflicts = conflicts


class NoVersion(Exception):
    """A kind does not have this version, or no longer."""


@dataclass(frozen=True, slots=True)
class WriteTarget:
    """Where an object is written, and what the rules need to know about its kind."""

    version: str  # the apiVersion of the requests
    # returns the shape of the kind's objects in an apiVersion, None if the kind lacks it
    shapes: Callable[[str], Shape | None]
    blank: Object  # an object without content
    subresource: str = ""  # "" for the object itself
    # by apiVersion, the fields that a write to it never changes
    reset: Mapping[str, Fields] = field(default_factory=dict)
    custom: bool = True  # a definition made the kind; such kinds reject owners in a removed version, others drop them
    # returns an object in another apiVersion, None if only the apiVersion differs
    convert: Callable[[Object, str], Object] | None = None
    raws: tuple[str, ...] = ()  # fields that may hold any JSON, and are encoded again when an object is merged

    def get_shape(self, version: str) -> Shape:
        """Return the shape of objects in a version. Raises NoVersion, or SchemaMisfit for a custom kind."""
        result = self.shapes(version)
        if result is None and self.custom:
            raise SchemaMisfit(f"request to convert CR to an invalid group/version: {version}")
        if result is None:
            raise NoVersion(version)
        return result

    def convert_object(self, obj: Object, version: str, name: str = "") -> Object:
        """Return the object in another version; name: its name in messages. Raises NoVersion or SchemaMisfit."""
        if obj.get("apiVersion") == version:
            return obj
        try:
            shape = self.get_shape(version)
            seen = self.convert(obj, version) if self.convert is not None else {**obj, "apiVersion": version}
            check_value(seen, shape)
        except SchemaMisfit as misfit:
            raise SchemaMisfit(f"failed to convert {name}: {misfit}" if name else str(misfit)) from None
        return seen

    def drop(self, fields: Fields, version: str) -> Fields:
        """Return a set without the fields that the endpoint resets."""
        reset = self.reset.get(version)
        return fields if reset is None or reset.keys().isdisjoint(fields) else sets.difference_below(fields, reset)


def changed_own(target: WriteTarget, compared: Comparison, owned: Fields) -> Fields | None:
    """Return the fields of a change if all of them are in a set, so that no owner changes; None if not.

    None also if the change removes fields, or touches some that no manager owns.
    """
    removed, modified, added = compared
    if removed or not owned:
        return None
    changed = target.drop(sets.unite_sets(modified, added), target.version)
    return changed if UNOWNED.keys().isdisjoint(changed) and sets.contains_set(owned, changed) else None


def update_owned(
    target: WriteTarget,
    old: Object,
    new: Object,
    owners: Owners,
    owner: FieldOwner,
    *,
    settled: bool = False,
    compared: Comparison | None = None,
) -> Owners:
    """Return the owners after `owner` changed the object from the old to the new state. Raises SchemaMisfit.

    settled: the owners' fields fit the present schema. compared: the comparison of the two states, if available.
    """
    if not owners:  # usually a new object: no manager can lose fields
        compared = compared or compare_values(old, new, target.get_shape(target.version))
        owned = target.drop(sets.unite_sets(compared.modified, compared.added), target.version)
        return {owner: Owned(owned, target.version)} if owned else {}
    owners = _reconcile_owners(target, old, owners, settled)
    compared = compared or compare_values(old, new, target.get_shape(target.version))
    owners = _settle_owners(target, old, new, owners, owner, compared, force=True)
    owned_before = owners[owner].fields if owner in owners else {}
    changed = sets.unite_sets(compared.modified, compared.added)
    owned = target.drop(sets.unite_sets(sets.subtract_set(owned_before, compared.removed), changed), target.version)
    if owned:
        owners[owner] = Owned(owned, target.version)
    else:
        owners.pop(owner, None)
    return owners


def apply_owned(
    target: WriteTarget,
    live: Object,
    laid: Overlay,
    owners: Owners,
    owner: FieldOwner,
    *,
    force: bool,
    settled: bool = False,
) -> tuple[Object | None, Owners]:
    """Return the object after an apply (None if it does not change) and its owners.

    laid: the applied object over the live one. settled: as for an update. Raises Conflicts unless `force` is set, and
    SchemaMisfit.
    """
    owners = _reconcile_owners(target, live, owners, settled)
    last = owners.get(owner)
    owners[owner] = Owned(target.drop(laid.applied, target.version), target.version)
    try:
        merged = _prune_object(target, laid.merged, owners, owner, last)
    except SchemaMisfit as misfit:
        raise SchemaMisfit(f"failed to prune fields: {misfit}") from None
    compared = laid.compared
    if merged is not laid.merged:
        compared = compare_values(live, merged, target.get_shape(target.version))
    owners = _settle_owners(target, live, merged, owners, owner, compared, force=force)
    return find_merged(live, merged, compared), owners


def find_merged(live: Object, merged: Object, compared: Comparison) -> Object | None:
    """Return the merged object, None if it equals the live one. compared: the comparison of the two."""
    return None if not any(compared) and equal_values(live, merged) else merged


def _reconcile_owners(target: WriteTarget, obj: Object, owners: Owners, settled: bool = False) -> Owners:
    """Return the owners with their fields under the present schema; those of versions that are gone are left out."""
    result: Owners = {}
    served: dict[str, bool] = {}
    if len(owners) > MAX_UNCHARGED:
        charge(len(owners))
    for owner, owned in owners.items():
        if owned.version not in served:
            served[owned.version] = _is_served(target, obj, owned.version)
        if not served[owned.version]:
            continue
        if not settled:
            owned = Owned(reconcile_set(owned.fields, target.get_shape(owned.version)), owned.version)
        result[owner] = owned
    return result


def _is_served(target: WriteTarget, obj: Object, version: str) -> bool:
    """Return whether the object exists in a version. Raises SchemaMisfit."""
    try:
        target.convert_object(obj, version)
    except NoVersion:
        return False
    return True


def _settle_owners(
    target: WriteTarget,
    old: Object,
    new: Object,
    owners: Owners,
    owner: FieldOwner,
    compared: Comparison,
    *,
    force: bool,
) -> Owners:
    """Return the owners, each without the fields that another manager changed or removed. Raises Conflicts."""
    if not owners or (len(owners) == 1 and owner in owners):
        return {other_owner: owned for other_owner, owned in owners.items() if owned.fields}
    by_version = {target.version: _drop_reset(target, compared, target.version)}
    changed: dict[str, Fields] = {}
    lost_by_owner: dict[FieldOwner, Fields] = {}
    if len(owners) > MAX_UNCHARGED:
        charge(len(owners))
    for other_owner, owned in owners.items():
        if other_owner == owner:
            continue
        if owned.version not in by_version:
            states = (
                target.convert_object(old, owned.version, "old object"),
                target.convert_object(new, owned.version, "new object"),
            )
            by_version[owned.version] = _drop_reset(
                target, compare_values(*states, target.get_shape(owned.version)), owned.version
            )
        if owned.version not in changed:
            changes = by_version[owned.version]
            changed[owned.version] = sets.unite_sets(changes.modified, changes.added)
        lost = sets.intersect_sets(owned.fields, changed[owned.version])
        if lost:
            lost_by_owner[other_owner] = lost
    if lost_by_owner and not force:
        raise Conflicts(
            [(other_owner, path) for other_owner, lost in lost_by_owner.items() for path in sets.list_paths(lost)]
        )
    remaining: Owners = {}
    for other_owner, owned in owners.items():
        fields = owned.fields
        if other_owner != owner:
            for lost_fields in (lost_by_owner.get(other_owner), by_version[owned.version].removed):
                fields = sets.subtract_set(fields, lost_fields) if lost_fields else fields
        if fields:
            remaining[other_owner] = Owned(fields, owned.version)
    return remaining


def _drop_reset(target: WriteTarget, compared: Comparison, version: str) -> Comparison:
    removed, modified, added = compared
    return Comparison(target.drop(removed, version), target.drop(modified, version), target.drop(added, version))


def _prune_object(target: WriteTarget, merged: Object, owners: Owners, owner: FieldOwner, last: Owned | None) -> Object:
    """Return the merged object without the fields that the owner applied before, no longer applies, and owns alone."""
    now = owners[owner]
    if last is None or (last.version == now.version and _keeps_all(now.fields, last.fields)):
        return merged  # the apply drops no field
    try:
        merged = target.convert_object(merged, last.version, "merged object to last applied version")
    except NoVersion:
        return merged
    shape = target.get_shape(last.version)
    given_up = name_members(last.fields, shape)
    # an apply also states fields that no manager owns, such as the name, which keep their metadata
    stated = {**owners, owner: Owned(sets.unite_sets(now.fields, UNOWNED), now.version)}
    pruned = _add_owned(target, merged, remove_fields(merged, given_up, shape), last.version, stated)
    pruned = target.convert_object(pruned, last.version, "pruned object to last applied version")
    present = name_members(collect_leaves(pruned, shape), shape)
    removed = sets.intersect_sets(
        sets.subtract_set(name_members(collect_leaves(merged, shape), shape), present), given_up
    )
    return target.convert_object(remove_fields(merged, removed, shape), now.version)


def _keeps_all(now: Fields, last: Fields) -> bool:
    """Return whether an owner applies all fields that it applied before. Compares only unequal nodes, often few."""
    return sets.contains_set(now, {name: node for name, node in last.items() if now.get(name) != node})


def _add_owned(target: WriteTarget, merged: Object, pruned: Object, first: str, owners: Owners) -> Object:
    """Return the pruned object with owned fields restored, one version of owners after the other."""
    by_version: dict[str, list[Fields]] = {}
    for owned in owners.values():
        by_version.setdefault(owned.version, []).append(owned.fields)
    for version, several in sorted(by_version.items(), key=lambda item: item[0] != first):
        try:
            merged = target.convert_object(merged, version, f"merged object at version {version}")
            pruned = target.convert_object(pruned, version, f"pruned object at version {version}")
        except NoVersion:
            continue
        except SchemaMisfit as misfit:
            raise SchemaMisfit(f"failed add back owned items: {misfit}") from None
        shape = target.get_shape(version)
        restored = sets.unite_sets(
            name_members(collect_leaves(pruned, shape), shape), name_members(sets.unite_all(several), shape)
        )
        pruned = remove_fields(
            merged, sets.subtract_set(name_members(collect_leaves(merged, shape), shape), restored), shape
        )
    return pruned
