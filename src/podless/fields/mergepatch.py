"""Merge patch (RFC 7396), as a real server applies it.

Source: evanphx/json-patch v4 and the recorded answers. Unlike in the RFC, nulls directly in lists stay, and objects in
lists lose their nulls.
"""

from __future__ import annotations

from typing import Any

from podless.meta.errors import BadRequest
from podless.runtime.meter import charge
from podless.runtime.sorting import sort_texts
from podless.structs.gotypes import JSON_NAMES

BROKEN = "Invalid JSON Patch"


def check_merge_patch(patch: Any, *, checked: bool = True) -> Any:
    """Return the patch, which must be an object. With checked=False it may also be a list, which loses its nulls.

    Raises BadRequest.
    """
    if patch is None or not (checked or isinstance(patch, dict | list)):
        raise BadRequest(BROKEN)
    if isinstance(patch, list) and not checked:
        return _pruned(patch)
    if not isinstance(patch, dict):
        found = JSON_NAMES[type(patch)]
        why = f"json: cannot unmarshal {found} into Go value of type map[string]interface {{}}"
        raise BadRequest(f"error decoding patch: {why}")
    return patch


def apply_merge_patch(document: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    """Return the document with the patch merged into it. Neither is changed, and equal parts are shared.

    Objects on the way have sorted keys, as in the texts that a real server shows.
    """
    merged = document.copy()
    charge(len(patch) + len(merged))
    for key, item in patch.items():
        if item is None:
            merged.pop(key, None)
            continue
        old = merged.get(key)
        if not isinstance(old, dict):
            merged[key] = _pruned(item)
        elif isinstance(item, dict):
            merged[key] = apply_merge_patch(old, item)
        else:
            merged[key] = item  # a list that replaces an object keeps even the nulls in its objects
    return {key: merged[key] for key in sort_texts(merged)}


def _pruned(value: Any) -> Any:
    """Return a value without the nulls in its objects."""
    if isinstance(value, dict | list):
        charge(len(value))
    if isinstance(value, dict):
        return {key: _pruned(value[key]) for key in sort_texts(value) if value[key] is not None}
    if isinstance(value, list):
        return [_pruned(item) for item in value]
    return value
