"""Strategic merge patch: a merge patch for built-in kinds, whose lists may be merged by a key.

Source: k8s.io/apimachinery pkg/util/strategicpatch and the recorded answers. Patches are only applied here; creating
them is for clients.
"""

from __future__ import annotations

from itertools import compress
from operator import not_
from typing import Any

from podless.codec import gotext
from podless.meta.errors import BadRequest, Internal, Unprocessable
from podless.runtime.meter import charge, each
from podless.structs import gotypes
from podless.structs.gotypes import GoType, ListOf, MapOf, Raw, Union
from podless.structs.structs import Struct

# Lists that are merged: path (without indices; "*." and a field name for any place) -> the merge key of their objects,
# "" for lists of plain values. All other lists are replaced. The few objects that are replaced have _REPLACED.
Table = dict[str, str]
_REPLACED = "$whole"
# values without a schema, so objects and lists in them cannot be merged
_RAW = "$raw"
# "PATH$fields" -> the name of the struct at a path, and its fields
_FIELDS = "$fields"

_DIRECTIVE = "$patch"
_RETAIN = "$retainKeys"
_DELETE = "$deleteFromPrimitiveList/"
_ORDER = "$setElementOrder/"
_GO_TYPES = {**gotext.TYPE_NAMES, type(None): "%!s(<nil>)"}


def make_merge_table(struct: Struct) -> Table:
    """Return the lists of a kind's objects that are merged."""
    merge_table: Table = {}
    _collect_lists(struct, "", (), merge_table)
    return merge_table


def _collect_lists(struct: Struct, path: str, ancestors: tuple[Struct, ...], table: Table) -> None:
    table[f"{path}.{_FIELDS}"] = " ".join((struct.name, *(field.name for field in struct)))
    for field in struct:
        inside = f"{path}.{field.name}" if path else field.name
        if isinstance(field.type, ListOf) and field.patch.startswith("merge"):
            table[inside] = field.merge
        elif field.patch == "replace":
            table[inside] = _REPLACED
        elif type(field.type) is Raw:
            table[inside] = _RAW
        kind: GoType | None = field.type
        while isinstance(kind, ListOf | MapOf | Union):
            kind = kind.forms.get(dict) if isinstance(kind, Union) else kind.item  # of what it holds
        if not isinstance(kind, Struct):
            continue
        if kind in ancestors:  # a recursive struct can occur at any place
            table |= {f"*.{member.name}": member.merge for member in kind if member.patch.startswith("merge")}
        else:
            _collect_lists(kind, inside, (*ancestors, struct), table)


def check_strategic_patch(patch: Any) -> dict[str, Any]:
    """Return the patch, which must be an object or null. Raises BadRequest."""
    if patch is not None and not isinstance(patch, dict):
        raise BadRequest(gotypes.explain_unmarshal(patch))
    return patch or {}


def apply_strategic_patch(document: dict[str, Any], patch: Any, table: Table) -> dict[str, Any]:
    """Return the document with the patch merged into it, by the merge keys of lists. The document is not changed.

    The patch is consumed: directives are removed, and nulls in parts without a counterpart.

    Raises BadRequest, Unprocessable and Internal (where a real server answers 500).
    """
    return _merge_objects(document, check_strategic_patch(patch), "", table)


def _find_key(table: Table, path: str) -> str | None:
    """Return the merge key of the list at a path, None if the list is replaced."""
    key = table.get(path)
    return table.get(f"*.{path.rpartition('.')[2]}") if key is None else key


def _merge_objects(original: dict[str, Any], patch: dict[str, Any], path: str, table: Table) -> dict[str, Any]:
    if _DIRECTIVE in patch:
        return _apply_directive(patch)
    merged = original.copy()
    charge(len(patch) + len(merged))
    _retain_keys(merged, patch)
    orders = [name for name in patch if name.startswith(_ORDER)]
    for name in orders:
        _merge_ordered(merged, patch, name, path, table)
    for name, item in list(patch.items()):
        deleting = name.startswith(_DELETE)
        key = name.removeprefix(_DELETE) if deleting else name
        if item is None:
            merged.pop(key, None)
            continue
        old = merged.get(key)
        inside = f"{path}.{key}" if path else key
        if isinstance(old, dict | list) and type(old) is type(item) and table.get(path) == _RAW:
            raise Internal(f"unable to find api field in struct RawExtension for the json field {gotext.quote(key)}")
        if isinstance(old, dict) and isinstance(item, dict):
            merged[key] = item if table.get(inside) == _REPLACED else _merge_objects(old, item, inside, table)
        elif isinstance(old, list) and isinstance(item, list):
            merged[key] = _merge_list(old, item, inside, table, deleting)
        elif not deleting:
            _set_new(merged, key, item)
    return merged


def _apply_directive(patch: dict[str, Any]) -> dict[str, Any]:
    directive = patch[_DIRECTIVE]
    if directive == "replace":
        del patch[_DIRECTIVE]
        return patch
    if directive == "delete":
        return {}
    raise _make_unknown(directive, patch)


def _make_unknown(directive: Any, patch: dict[str, Any]) -> Internal:
    return Internal(f"unknown patch type: {_format_text(directive)} in map: {gotext.format_plain(patch)}")


def _format_text(value: Any) -> str:
    """Return a value as Go's %s prints it."""
    if value is None:
        return _GO_TYPES[type(None)]
    if isinstance(value, bool | int | float):
        return f"%!s({_GO_TYPES[type(value)]}={gotext.format_plain(value)})"
    return gotext.format_plain(value)


def _retain_keys(merged: dict[str, Any], patch: dict[str, Any]) -> None:
    """Drop the fields that $retainKeys does not name, and remove that directive from the patch."""
    if _RETAIN not in patch:
        return
    retained = patch.pop(_RETAIN)
    if isinstance(retained, list):
        each(retained)
    names = {name for name in retained if isinstance(name, str)} if isinstance(retained, list) else set()
    set_fields = (name for name, item in patch.items() if item is not None and not name.startswith((_DELETE, _ORDER)))
    if not isinstance(retained, list) or any(name not in names for name in set_fields):
        raise BadRequest("invalid patch format of retainKeys")
    for name in [name for name in merged if name not in names]:
        del merged[name]


def _merge_ordered(merged: dict[str, Any], patch: dict[str, Any], name: str, path: str, table: Table) -> None:
    """Merge a list with its $setElementOrder, and remove both from the patch."""
    order, field = patch.pop(name), name.removeprefix(_ORDER)
    old, new = merged.get(field), patch.get(field)
    for value in (order, *((old,) if field in merged else ()), *((new,) if field in patch else ())):
        if not isinstance(value, list):
            raise _make_type_error(list, value)
    inside = f"{path}.{field}" if path else field
    struct, *known_names = table.get(f"{path}.{_FIELDS}", "?").split()
    if known_names and field not in known_names:
        raise Internal(f"unable to find api field in struct {struct} for the json field {gotext.quote(field)}")
    key = _find_key(table, inside)
    _check_order(new or [], order, key or "")
    if old is None and new is None:
        return
    items = (
        _strip_directives(new) if old is None else old if new is None else _merge_list(old, new, inside, table, False)
    )
    of_maps = _find_element_type(old or [], new or []) is dict
    merged[field] = _arrange_items(items, order, old or [], key or "" if of_maps else None)
    patch.pop(field, None)


def _check_order(new: list[Any], order: list[Any], key: str) -> None:
    """Reject a list whose items have another order than $setElementOrder."""
    if not new or not order:
        return
    expected = iter(each(order))
    for item in each(new):
        if key and not isinstance(item, dict):
            raise _make_type_error(dict, item)
        if isinstance(item, dict) and _DIRECTIVE in item:
            continue
        if not any(_are_equal(item, expected_item, key) for expected_item in expected):
            patch_text, wanted_order = gotext.format_plain(new), gotext.format_plain(order)
            text = f"The order in patch list:\n{patch_text}\n doesn't match $setElementOrder list:\n{wanted_order}\n"
            raise Internal(text)


def _are_equal(left: Any, right: Any, key: str) -> bool:
    """Return whether two items have equal identities. Values of different types are never equal."""
    return (bool(key) or type(left) is type(right)) and bool(_get_identity(left, key) == _get_identity(right, key))


def _merge_list(old: list[Any], new: list[Any], path: str, table: Table, deleting: bool) -> list[Any]:
    key = _find_key(table, path)
    if key is None and not deleting:
        return new
    if not old and not new:
        return old
    charge(len(old) + len(new))
    if _find_element_type(old, new) is dict:
        if not key:
            raise Internal("cannot merge lists without merge key for struct")
        old, new = _apply_directives(old, new, key)
        return _arrange_items(_merge_items(old, new, key, path, table), new, old, key)
    if deleting:
        deleted = {_get_identity(item, "") for item in new}
        return [item for item in old if _get_identity(item, "") not in deleted]
    merged = list({_get_identity(item, ""): item for item in [*old, *new]}.values())
    return _arrange_items(merged, new, old, None)


def _apply_directives(old: list[Any], new: list[Any], key: str) -> tuple[list[Any], list[Any]]:
    """Carry out the directives among the items of a patch. Returns the list and the rest of the patch."""
    plain: list[Any] = []
    deleted: set[Any] = set()
    replace = False
    for item in new:
        directive = item.get(_DIRECTIVE, _DIRECTIVE)
        if directive == _DIRECTIVE:
            plain.append(item)
        elif directive == "delete":
            deleted.add(_get_identity(item, key))
            if len(deleted) == 1:
                names = [_get_identity(old_item, key) if key in old_item else None for old_item in old]
        elif directive == "replace":
            replace = True
        elif directive == "merge":
            raise Internal("merging lists cannot yet be specified in the patch")
        else:
            raise _make_unknown(directive, item)
    if deleted:
        old = [old_item for old_item, name in zip(old, names, strict=True) if name not in deleted]
    return (plain, []) if replace else (old, plain)


def _merge_items(old: list[Any], new: list[Any], key: str, path: str, table: Table) -> list[Any]:
    merged = old.copy()
    places = {_get_identity(item, key): index for index, item in reversed(list(enumerate(merged))) if key in item}
    for item in new:
        index = places.get(_get_identity(item, key))
        if index is None:
            places[_get_identity(item, key)] = len(merged)
            merged.append(item)
        else:
            merged[index] = _merge_objects(merged[index], item, path, table)
    return merged


def _arrange_items(items: list[Any], patch_order: list[Any], old_order: list[Any], key: str | None) -> list[Any]:
    """Return items in the order of a patch, and the others in the old order; items keep their place before others.

    key: the merge key of items that are maps, "" if there is none; None for plain values.
    """
    key, of_maps = key or "", key is not None
    charge(2 * len(items) + 2 * len(patch_order) + len(old_order))
    chosen = {_get_identity(item, key) for item in patch_order if not key or key in item}
    are_chosen = [_get_identity(item, key) in chosen for item in items]
    first, unordered = [*compress(items, are_chosen)], [*compress(items, map(not_, are_chosen))]
    if of_maps:
        for item in [*first, *patch_order, *unordered, *old_order]:
            _get_identity(item, key)  # raises for an item without the key
    old_places = _index_order(old_order, key)
    left, right = _sort_items(unordered, old_places, key), _sort_items(first, _index_order(patch_order, key), key)
    result: list[Any] = []
    i = j = 0
    while i < len(left) and j < len(right):
        left_place = old_places.get(_get_identity(left[i], key))
        right_place = old_places.get(_get_identity(right[j], key))
        if left_place is not None and right_place is not None and left_place < right_place:
            result.append(left[i])
            i += 1
        else:
            result.append(right[j])
            j += 1
    return result + left[i:] + right[j:]


def _index_order(order: list[Any], key: str) -> dict[Any, int]:
    return {_get_identity(item, key): index for index, item in reversed(list(enumerate(order)))}


def _sort_items(items: list[Any], places: dict[Any, int], key: str) -> list[Any]:
    """Sort items by an order. Items that it does not name come first, in reverse."""
    named = [item for item in items if _get_identity(item, key) in places]
    unnamed = [item for item in items if _get_identity(item, key) not in places]
    return unnamed[::-1] + sorted(named, key=lambda item: places[_get_identity(item, key)])


def _get_identity(item: Any, key: str) -> Any:
    """Return the identity of an item: the value of its merge key, or the item itself."""
    if key and not isinstance(item, dict):
        raise _make_type_error(dict, item)
    if isinstance(item, dict):
        if not key or key not in item:  # without a merge key, no map contains it
            raise Internal(f"map: {gotext.format_plain(item)} does not contain declared merge key: {key}")
        item = item[key]
    if isinstance(item, dict | list):
        raise Internal(f"runtime error: hash of unhashable type {_GO_TYPES[type(item)]}")
    return type(item), item


def _find_element_type(old: list[Any], new: list[Any]) -> type:
    """Return the one type of the items of a list and of its patch.

    Raises Unprocessable for lists of lists and Internal for a mixture.
    """
    items = [*old, *new]
    kinds = {type(item) for item in items}
    if not kinds:
        raise Internal("no elements in any of the given slices")
    if type(items[0]) is list:
        raise Unprocessable("the server rejected our request due to an error in our request", {})
    if len(kinds) > 1:
        raise Internal(f"list element types are not identical: [{gotext.format_plain(old)} {gotext.format_plain(new)}]")
    return kinds.pop()


def _make_type_error(expected: type, value: Any) -> Internal:
    return Internal(f"expected a {_GO_TYPES[expected]}, but received a {_GO_TYPES[type(value)]}")


def _set_new(merged: dict[str, Any], key: str, item: Any) -> None:
    """Set a value that has no counterpart, without its nulls and directives."""
    _drop_nulls(item)
    if isinstance(item, dict) and _DIRECTIVE in item:
        merged.pop(key, None)
    else:
        merged[key] = _strip_directives(item)


def _drop_nulls(value: Any) -> Any:
    """Return the value without the nulls in its objects; changes it in place."""
    if isinstance(value, dict | list):
        charge(len(value))
    if isinstance(value, dict):
        for key in [key for key, item in value.items() if item is None]:
            del value[key]
        for item in value.values():
            _drop_nulls(item)
    elif isinstance(value, list):
        for item in value:
            _drop_nulls(item)
    return value


def _strip_directives(value: Any) -> Any:
    """Return a value without the objects in it that have a directive. Objects are changed, lists are copied."""
    if isinstance(value, dict | list):
        charge(len(value))
    if isinstance(value, dict):
        for key, item in list(value.items()):
            if _has_directive(item):
                del value[key]
            else:
                value[key] = _strip_directives(item)
    if isinstance(value, list):
        return [_strip_directives(item) for item in value if not _has_directive(item)]
    return value


def _has_directive(value: Any) -> bool:
    return isinstance(value, dict) and _DIRECTIVE in value
