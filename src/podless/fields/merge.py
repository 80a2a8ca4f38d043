"""The owners of fields after a write: the rules of updates and applies over field sets.

Source: sigs.k8s.io/structured-merge-diff merge, as kube-apiserver uses it. An owner's fields are those of the API
version that it wrote in; an object is converted to that version before it is compared with them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import NamedTuple

from podless.fields import sets
from podless.fields.check import check_value
from podless.fields.collect import collect_leaves
from podless.fields.combine import remove_fields
from podless.fields.compare import Comparison, compare_values, equal_values
from podless.fields.overlay import Overlay
from podless.fields.sets import LEAF, SELF, Fields, Path, is_member
from podless.fields.typed import DEDUCED, UNOWNED, SchemaMisfit, Shape
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object
from podless.runtime.meter import MAX_UNCHARGED, charge


class FieldOwner(NamedTuple):
    """An owner of fields. version: the apiVersion for updates, "" for applies, which are one owner in all versions."""

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
        if result is not None:
            return result
        reason = f"request to convert CR to an invalid group/version: {version}"
        raise SchemaMisfit(reason) if self.custom else NoVersion(version)

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
        return fields if reset is None or reset.keys().isdisjoint(fields) else sets.subtract_below(fields, reset)


def find_own_changes(target: WriteTarget, compared: Comparison, owned: Fields) -> Fields | None:
    """Return the fields of a change if all of them are in a set, so that no owner changes; None if not.

    None also if the change removes fields, or touches some that no manager owns.
    """
    removed, modified, added = compared
    if removed or not owned:
        return None
    changed = target.drop(sets.unite_sets(modified, added), target.version)
    return changed if UNOWNED.keys().isdisjoint(changed) and sets.contains_set(owned, changed) else None


def update_owned(
    target: WriteTarget, old: Object, new: Object, owners: Owners, *, settled: bool, compared: Comparison | None
) -> tuple[Owners, Fields]:
    """Return the owners before an update, without what the update takes from them, and the fields that it changes.

    settled: the owners' fields fit the present schema. compared: the comparison of the two states, if available. Raises
    SchemaMisfit.
    """
    if owners:
        owners = _reconcile_owners(target, old, owners, settled)
    compared = compared or compare_values(old, new, target.get_shape(target.version))
    if owners:
        owners = _settle_owners(target, old, new, owners, None, compared, force=True)
    return owners, target.drop(sets.unite_sets(compared.modified, compared.added), target.version)


def apply_owned(
    target: WriteTarget, live: Object, laid: Overlay, owners: Owners, owner: FieldOwner, *, force: bool, settled: bool
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


def _reconcile_owners(target: WriteTarget, obj: Object, owners: Owners, settled: bool) -> Owners:
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
    owner: FieldOwner | None,
    compared: Comparison,
    *,
    force: bool,
) -> Owners:
    """Return the owners, all but `owner` without the fields that a write changed or removed. Raises Conflicts."""
    if not owners or (len(owners) == 1 and owner in owners):
        return {other_owner: owned for other_owner, owned in owners.items() if owned.fields}
    changes: dict[str, tuple[Fields, Fields]] = {}  # by version: the fields changed or added, and those removed
    lost: dict[FieldOwner, Fields] = {}
    if len(owners) > MAX_UNCHARGED:
        charge(len(owners))
    for other_owner, (fields, version) in owners.items():
        if other_owner == owner:
            continue
        if version not in changes:
            seen = compared
            if version != target.version:
                before = target.convert_object(old, version, "old object")
                after = target.convert_object(new, version, "new object")
                seen = compare_values(before, after, target.get_shape(version))
            changed = sets.unite_sets(seen.modified, seen.added)
            changes[version] = target.drop(changed, version), target.drop(seen.removed, version)
        if shared := sets.intersect_sets(fields, changes[version][0]):
            lost[other_owner] = shared
    if lost and not force:
        raise Conflicts([(other_owner, path) for other_owner, taken in lost.items() for path in sets.list_paths(taken)])
    remaining: Owners = {}
    for other_owner, (fields, version) in owners.items():
        if other_owner != owner:
            for taken in (lost.get(other_owner), changes[version][1]):
                fields = sets.subtract_set(fields, taken) if taken else fields
        if fields:
            remaining[other_owner] = Owned(fields, version)
    return remaining


def _prune_object(target: WriteTarget, merged: Object, owners: Owners, owner: FieldOwner, last: Owned | None) -> Object:
    """Return the merged object without the fields that the owner applied before, no longer applies, and owns alone."""
    now = owners[owner]
    if last is None:
        return merged
    if last.version == now.version:  # compare only the nodes that differ, often few
        unequal = {name: node for name, node in last.fields.items() if now.fields.get(name) != node}
        if sets.contains_set(now.fields, unequal):
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


def reconcile_set(fields: Fields, shape: Shape) -> Fields:
    """Return a set under a changed schema: the same object if nothing changes.

    Source: sigs.k8s.io/structured-merge-diff typed (reconcile). If a list or map has become one leaf, owners of its
    parts own it as a whole. The other direction changes nothing, and neither does a map that declares no type.
    """
    form = shape.map
    item = shape.list.item if form is None and shape.list is not None else None
    if not fields or (form is None and item is None):
        return fields
    if form is not None and form.atomic:
        return fields if form.free else LEAF
    if form is None and shape.list is not None and not shape.list.associative:
        return LEAF
    changed: Fields = {}
    if len(fields) > MAX_UNCHARGED:
        charge(len(fields))
    for name, child in fields.items():
        if not child or name == SELF:
            continue
        child_shape = item
        if form is not None:
            child_shape = form.find_child(name[2:])[1] if name[:2] == "f:" else None
        if child_shape is not None and child_shape is not DEDUCED:
            reconciled = reconcile_set(child, child_shape)
            if reconciled is not child:
                changed[name] = reconciled
    return {**fields, **changed} if changed else fields


def name_members(fields: Fields, shape: Shape | None) -> Fields:
    """Return the set with the declared fields that lead to its members.

    Removing fields needs them: an object goes with the last of its fields. Source: fieldpath's sets of named fields.
    """
    named: Fields = {}
    form = shape.map if shape is not None else None
    charge(len(fields))
    for name, node in fields.items():
        if name == SELF or not node:
            named[name] = node
            continue
        child_shape: Shape | None = None
        declared = False
        if form is not None and name[:2] == "f:":
            _, child_shape, declared = form.find_child(name[2:])
        elif shape is not None and shape.list is not None and name[:2] == "k:":
            child_shape = shape.list.item
        child = name_members(node, child_shape)
        named[name] = child if is_member(node) or not declared else {SELF: LEAF, **child}
    return named
