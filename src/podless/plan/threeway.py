"""The patches of client-side `kubectl apply`, computed from three states of an object.

original: the last-applied state. modified: the wanted state. current: the state in the API. A field is deleted if the
original has it and the modified one does not. All fields of the modified state are set. Source: k8s.io/apimachinery
pkg/util/jsonmergepatch and pkg/util/strategicpatch (CreateThreeWayMergePatch).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from podless.codec import serializer
from podless.fields.kubectl import LAST_APPLIED
from podless.runtime.jsonobject import Object
from podless.structs.gotypes import GoType, ListOf, MapOf, Raw, Union
from podless.structs.structs import Struct

_ORDER, _DELETE, _RETAIN, _DIRECTIVE = "$setElementOrder/", "$deleteFromPrimitiveList/", "$retainKeys", "$patch"


class _PatchRule(NamedTuple):
    """How a field is patched. merge: the merge key of a list, "" for plain values, None if the list is replaced."""

    struct: Struct | None
    merge: str | None
    replace: bool
    retain: bool


_FREE = _PatchRule(None, None, False, False)


def encode_last_applied(obj: Object) -> str:
    """Return kubectl's record of an applied object: its JSON without the annotation that has this record."""
    metadata = dict(obj.get("metadata") or {})
    annotations = {key: value for key, value in (metadata.get("annotations") or {}).items() if key != LAST_APPLIED}
    metadata["annotations"] = annotations
    return serializer.encode_sorted({**obj, "metadata": metadata}).decode() + "\n"


def annotate_applied(obj: Object) -> Object:
    """Return a copy of an object with kubectl's last-applied annotation."""
    metadata = dict(obj.get("metadata") or {})
    metadata["annotations"] = {**(metadata.get("annotations") or {}), LAST_APPLIED: encode_last_applied(obj)}
    return {**obj, "metadata": metadata}


def read_last_applied(current: Object) -> Object:
    """Return the last-applied state, {} if the object has none. Raises ValueError for an invalid annotation."""
    text = ((current.get("metadata") or {}).get("annotations") or {}).get(LAST_APPLIED)
    if not text:
        return {}
    state = serializer.decode_json(str(text).encode())
    return state if isinstance(state, dict) else {}


def make_patch(original: Object, modified: Object, current: Object, struct: Struct | None) -> Object:
    """Return the three-way strategic merge patch of a built-in kind; for a custom kind (None) the JSON merge patch."""
    if struct is None:  # kubectl leaves nulls out of JSON merge patches
        original, modified = _drop_nulls(original), _drop_nulls(modified)
    delta = _diff_maps(current, modified, struct)
    return _merge_patches(_diff_maps(original, modified, struct, deletions=True), delta, struct)


def _drop_nulls(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: _drop_nulls(item) for key, item in value.items() if item is not None}


def _is_same(first: Any, second: Any) -> bool:
    """Return whether two values have equal JSON; True is not 1."""
    return (type(first) is type(second) and bool(first == second)) or (
        isinstance(first, int | float)
        and isinstance(second, int | float)
        and not isinstance(first, bool)
        and not isinstance(second, bool)
        and first == second
    )


def _find_rule(struct: Struct | None, name: str) -> _PatchRule:
    if struct is None:
        return _FREE
    for field in struct:
        if field.name == name:
            type_: GoType | None = field.type
            listed = isinstance(type_, ListOf)
            while isinstance(type_, ListOf | MapOf | Union):
                type_ = type_.forms.get(dict) if isinstance(type_, Union) else type_.item
            item_struct = type_ if isinstance(type_, Struct) and not isinstance(type_, Raw) else None
            strategies = field.patch.split(",")
            merge = field.merge if listed and "merge" in strategies else None
            return _PatchRule(item_struct, merge, "replace" in strategies, "retainKeys" in strategies)
    return _FREE


def _diff_maps(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    struct: Struct | None,
    *,
    retain: bool = False,
    deletions: bool = False,
) -> Object:
    """Return the changes and the order of lists; or only the deletions. retain: as the field says."""
    patch: Object = {}
    for key, old in before.items():
        if key not in after:
            if deletions:
                patch[key] = None
            continue
        new, rule = after[key], _find_rule(struct, key)
        if isinstance(old, dict) and isinstance(new, dict) and not rule.replace:
            if nested_patch := _diff_maps(old, new, rule.struct, retain=rule.retain, deletions=deletions):
                patch[key] = nested_patch
        elif isinstance(old, list) and isinstance(new, list) and rule.merge is not None:
            _diff_lists(patch, key, old, new, rule, deletions=deletions)
        elif not deletions and not _is_same(old, new):
            patch[key] = new
    if not deletions:
        patch |= {key: value for key, value in after.items() if key not in before}
        if retain and patch:
            patch[_RETAIN] = sorted(after)
    return patch


def _diff_lists(patch: Object, key: str, old: list[Any], new: list[Any], rule: _PatchRule, *, deletions: bool) -> None:
    merge = rule.merge or ""
    if not merge:
        if deletions and (removed := [item for item in old if item not in new]):
            patch[_DELETE + key] = removed
        if not deletions and (added := [item for item in new if item not in old]):
            patch[key] = added
        if not deletions and [item for item in old if item in new] != new:
            patch[_ORDER + key] = list(new)
        return
    if any(not isinstance(item, dict) or merge not in item for item in (*old, *new)):  # the server reports that
        if not deletions and old != new:
            patch[key] = new
        return
    old_keys, new_keys = ([_make_key(item[merge]) for item in items] for items in (old, new))
    old_by_key = dict(zip(old_keys, old, strict=True))
    changed: list[Any] = []
    for name, item in zip(new_keys, new, strict=True):
        before = old_by_key.get(name)
        if before is None:
            changed += [] if deletions else [item]
        elif nested_patch := _diff_maps(before, item, rule.struct, retain=rule.retain, deletions=deletions):
            changed.append({**nested_patch, merge: item[merge]})
    if deletions:
        kept = set(new_keys)
        gone = [item[merge] for name, item in zip(old_keys, old, strict=True) if name not in kept]
        changed += [{_DIRECTIVE: "delete", merge: value} for value in gone]
    if changed:
        patch[key] = changed
    if not deletions and (changed or old_keys != new_keys):
        patch[_ORDER + key] = [{merge: item[merge]} for item in new]


def _make_key(value: Any) -> tuple[str, Any]:
    return type(value).__name__, value if isinstance(value, str | int | float | bool | None) else str(value)


def _merge_patches(deletions: Object, delta: Object, struct: Struct | None) -> Object:
    """Return a patch with the effects of both."""
    patch = dict(deletions)
    for key, value in delta.items():
        before, rule = patch.get(key), _find_rule(struct, key)
        if isinstance(before, dict) and isinstance(value, dict):
            patch[key] = _merge_patches(before, value, rule.struct)
        elif isinstance(before, list) and isinstance(value, list) and rule.merge:
            patch[key] = _merge_items(before, value, rule, delta.get(_ORDER + key) or ())
        else:
            patch[key] = value
    return patch


def _merge_items(deletions: list[Any], delta: list[Any], rule: _PatchRule, order: Sequence[Any]) -> list[Any]:
    """Merge the patches of a list's items, in the wanted order; a server rejects any other."""
    merge = rule.merge or ""
    remaining = {_make_key(item[merge]): item for item in deletions}
    merged = []
    for item in delta:
        before = remaining.pop(_make_key(item[merge]), None)
        merged.append(item if before is None else _merge_patches(before, item, rule.struct))
    indexes = {_make_key(item[merge]): index for index, item in enumerate(order)}
    return sorted([*merged, *remaining.values()], key=lambda item: indexes.get(_make_key(item[merge]), len(indexes)))
