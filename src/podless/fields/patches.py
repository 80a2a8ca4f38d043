"""The types of patches, one row each: media type, kinds that accept it, and the function that reads it.

Code that lists these types (verbs, OpenAPI, `podless test`) lists the rows. The merge patch (RFC 7396) is here, the
other algorithms are in modules of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from podless.codec import sentfloats, serializer
from podless.codec.serializer import Floats
from podless.fields import patchtext
from podless.meta.errors import BadRequest
from podless.runtime import lazy
from podless.runtime.jsonobject import Object
from podless.runtime.meter import ONE_CHILD, charge
from podless.runtime.sorting import sort_texts
from podless.structs import gotypes

if TYPE_CHECKING:
    from podless.fields import jsonpatch, strategic
else:  # before the first such patch, a server does not need them
    jsonpatch, strategic = lazy.LateModule("podless.fields.jsonpatch"), lazy.LateModule("podless.fields.strategic")

BROKEN = "Invalid JSON Patch"
_SCALARS = (str, int, bool)  # of these, equal values of one class have the same JSON


def check_merge_patch(patch: Any, *, checked: bool = True) -> Any:
    """Return the patch, an object; if not `checked` also a list, which loses its nulls. Raises BadRequest."""
    if isinstance(patch, dict):
        return patch
    if isinstance(patch, list) and not checked:
        return _prune_nulls(patch)
    if patch is None or not checked:
        raise BadRequest(BROKEN)
    raise BadRequest(f"error decoding patch: {gotypes.explain_unmarshal(patch)}")


def apply_merge_patch(document: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    """Return the document with a merge patch merged into it. Neither is changed, and equal parts are shared.

    Objects on the way have sorted keys, as in the texts that a real server shows. An object with sorted keys that
    keeps its values is returned itself. Source: evanphx/json-patch v4 and the recorded answers. Unlike in the RFC,
    nulls directly in lists stay, and objects in lists lose their nulls.
    """
    merged = document.copy()
    if len(patch) > ONE_CHILD:
        charge(len(patch))
    is_same = True
    for key, item in patch.items():
        old = merged.get(key)
        if item is None:
            if key not in merged:
                continue
            del merged[key]
        elif old.__class__ is not dict:
            if item.__class__ is old.__class__ in _SCALARS and item == old:
                continue
            merged[key] = _prune_nulls(item)
        elif item.__class__ is dict:
            merged[key] = new = apply_merge_patch(old, item)
            if new is old:
                continue
        else:
            merged[key] = item  # a list that replaces an object keeps even the nulls in its objects
        is_same = False
    names = sort_texts(merged)
    if names != list(merged):
        return {key: merged[key] for key in names}
    return document if is_same else merged


def _prune_nulls(value: Any) -> Any:
    if not isinstance(value, dict | list):
        return value
    charge(len(value))
    if isinstance(value, dict):
        return {key: _prune_nulls(value[key]) for key in sort_texts(value) if value[key] is not None}
    return [_prune_nulls(item) for item in value]


class Patch(NamedTuple):
    """A patch that is ready to apply. strategic: the rest of a strategic merge patch's document, None for others."""

    apply: Callable[[Object], Any]
    strategic: Object | None = None


class SentPatch(NamedTuple):
    """A patch as the client sent it.

    for_error: the patched document is invalid, and an error shows it. Go shows the bytes of values as they were
    written, so the patch is applied a second time with values as text (patchtext.py).
    """

    body: bytes
    checked: bool  # repeated and unknown fields are reported
    for_error: bool
    custom: bool  # the patch is for a custom kind
    repeated: list[str]  # receives repeated fields
    floats: Floats  # receives whole numbers that are written as floats
    get_merge_table: Callable[[], strategic.Table]  # of the kind, for strategic merge patches
    list_raw_fields: Callable[[], Sequence[str]]  # fields of the kind that hold any JSON (RawExtension)


class PatchType(NamedTuple):
    """A type of patches. read: raises BadRequest; None for apply, which has a verb. custom: custom kinds take it."""

    name: str
    media: str
    read: Callable[[SentPatch], Patch] | None
    custom: bool = True


def _read_json_patch(patch: SentPatch) -> Patch:
    body, checked = patch.body, patch.checked
    if isinstance(body, serializer.ParsedJSON):
        body.kept = True
    jsonpatch.decode_json_patch(body, checked=checked)
    patch.floats.extend(jsonpatch.find_floats(body))
    if checked:
        patch.repeated.extend(jsonpatch.find_unknown_fields(body))
    return Patch(lambda old: jsonpatch.apply_json_patch(old, body, checked=checked, for_error=patch.for_error))


def _decode_patch(patch: SentPatch) -> Any:
    """Decode the body of a patch. Raises JSONError."""
    return serializer.decode_json(patch.body, patch.repeated if patch.checked else None, patch.floats)


def _read_merge_patch(patch: SentPatch) -> Patch:
    try:
        document = _decode_patch(patch)
    except serializer.JSONError as error:
        raise BadRequest(f"error decoding patch: {error}" if patch.checked else BROKEN) from None
    changes = check_merge_patch(document, checked=patch.checked)
    if patch.for_error:
        return Patch(partial(_write_merged, patch))
    if isinstance(changes, list):  # it replaces the object, and decoding then rejects it
        return Patch(lambda old: changes)
    raws = [name for name in patch.list_raw_fields() if changes and name in changes]

    def merge_patch(old: Object) -> Object:
        merged: Object = gotypes.rewrite_fields(apply_merge_patch(old, changes), raws)
        return serializer.copy_value(merged) if patch.floats else merged  # see sentfloats: floats are set in place

    return Patch(merge_patch)


def _write_merged(patch: SentPatch, old: Object) -> Any:
    """Return the document after a merge patch, for an error text: with values as they were written."""
    text, marked = patchtext.mark_values(patch.body)
    changes = check_merge_patch(serializer.decode_json(text), checked=patch.checked)
    merged = changes if isinstance(changes, list) else apply_merge_patch(old, changes)
    encoded = serializer.encode_sorted(merged) if patch.custom else serializer.encode_json(merged)
    return orjson.Fragment(patchtext.unmark_values(encoded, marked))


def _read_strategic(patch: SentPatch) -> Patch:
    """Read a strategic merge patch. Applying it consumes the document, so it is decoded again for each attempt."""
    try:
        document = _decode_patch(patch)
    except serializer.JSONError as error:
        raise BadRequest(str(error)) from None
    is_unused = True
    merge_table, raws = patch.get_merge_table(), patch.list_raw_fields()

    def check_patch(document: Object) -> Object:
        if patch.floats and not raws:  # decoding the merged document would make integers of them
            document = sentfloats.copy_as_sent(document, patch.floats)
        return strategic.check_strategic_patch(document)

    document = check_patch(document)

    def merge_patch(old: Object) -> Object:
        nonlocal is_unused
        if not is_unused:
            document.clear()
            document.update(check_patch(serializer.decode_json(patch.body)))
        is_unused = False
        result: Object = gotypes.rewrite_fields(strategic.apply_strategic_patch(old, document, merge_table), raws)
        return result

    return Patch(merge_patch, document)


APPLY_MEDIA = "application/apply-patch"  # with +yaml, and maybe parameters
JSON_PATCH = PatchType("json", "application/json-patch+json", _read_json_patch)
MERGE = PatchType("merge", "application/merge-patch+json", _read_merge_patch)
STRATEGIC = PatchType("strategic", "application/strategic-merge-patch+json", _read_strategic, custom=False)
APPLY = PatchType("apply", f"{APPLY_MEDIA}+yaml", None)
TYPES = (JSON_PATCH, MERGE, STRATEGIC, APPLY)  # in the order in which errors and OpenAPI list them
CUSTOM = tuple(one.media for one in TYPES if one.custom)
BUILTIN = tuple(one.media for one in TYPES)
READERS = {one.media: one.read for one in TYPES if one.read is not None}
