"""Checks that a value fits its shape, which comparing and merging require.

This is much less than schema validation: it rejects only values for which no field set exists. Source:
sigs.k8s.io/structured-merge-diff typed (validation), with its texts.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from podless.codec import gotext
from podless.fields.items import make_element, name_items
from podless.fields.sets import format_element_path
from podless.fields.typed import ListShape, MapShape, SchemaMisfit, Shape
from podless.meta.field import MAX
from podless.runtime.meter import MAX_UNCHARGED, ONE_CHILD, charge, each

Fault = tuple[str, str]  # (path, text)


def check_value(value: Any, shape: Shape, *, repeats: bool = False) -> None:
    """Raise SchemaMisfit if a value does not fit the shape. repeats: items of sets and maps may be duplicated."""
    if not ((repeats and shape.decoded) or _fits_surely(value, shape, repeats)):
        raise_faults(value, shape, repeats)


def raise_faults(value: Any, shape: Shape, repeats: bool) -> None:
    """Raise SchemaMisfit with all faults of a value, if it has any."""
    faults = islice(find_faults(value, shape, repeats), MAX)
    if texts := [f"{path}: {text}" if path else text for path, text in faults]:
        raise SchemaMisfit(texts[0] if len(texts) == 1 else "\n  ".join(["errors:", *texts]))


def _fits_surely(value: Any, shape: Shape, repeats: bool) -> bool:
    """Return whether a value certainly fits the shape. Decides nearly all cases in half the time of `find_faults`."""
    kind = type(value)
    if kind is dict:
        if shape.map is None:
            return False
        plan = shape.map.plans[tuple(value), tuple(map(type, value.values()))] if shape.map.declared else None
        if plan is not None:
            if len(plan.nested) > ONE_CHILD:
                charge(len(value))
            for key, _, nested, _ in plan.nested:  # noqa: SIM110 (twice as fast as all())
                if not _fits_surely(value[key], nested, repeats):
                    return False
            return True
        if len(value) > MAX_UNCHARGED:
            charge(len(value))
        if shape.map.leaves.issuperset(map(type, value.values())):
            return True
        if len(value) > ONE_CHILD:
            charge(len(value))
        children, find = shape.map.children, shape.map.find_child
        for key, item in value.items():
            child = (children.get(key) or find(key))[1]
            if child is None or (type(item) not in child.types and not _fits_surely(item, child, repeats)):
                return False
        return True
    if kind is list:
        if len(value) > MAX_UNCHARGED:
            charge(len(value))
        if shape.list is None or (shape.list.associative and not _is_distinct(value, shape.list, repeats)):
            return False
        child = shape.list.item
        types = child.types
        if types.issuperset(map(type, value)):
            return True
        if len(value) > ONE_CHILD:
            charge(len(value))
        if child.map is not None and (child.map.plan_all(value) is not None or _are_leaves(value, child.map)):
            return True
        for item in value:  # noqa: SIM110 (twice as fast as all())
            if type(item) not in types and not _fits_surely(item, child, repeats):
                return False
        return True
    return kind in shape.types


def _are_leaves(items: list[Any], form: MapShape) -> bool:
    """Return whether all fields of all items are leaves of known types, as in most lists of objects."""
    find = form.plans.get
    if not form.plans:
        return False
    for item in items:
        if type(item) is not dict:
            return False
        if len(item) > MAX_UNCHARGED:
            charge(len(item))
        plan = find((tuple(item), tuple(map(type, item.values()))))
        if plan is None or plan.nested:
            return False
    return True


def _is_distinct(value: list[Any], form: ListShape, repeats: bool) -> bool:
    """Return whether all items of an associative list are distinct, or duplicates are allowed."""
    try:
        names = name_items(form, value)
    except SchemaMisfit:
        return False
    return repeats or len(set(names)) == len(names)


def find_faults(value: Any, shape: Shape, repeats: bool) -> Iterator[Fault]:
    """Yield the faults of a value, with paths."""
    kind = type(value)
    if kind is dict and shape.map is not None:
        for key, item in each(value).items():
            name, child, _ = shape.map.find_child(key)
            if child is None:
                yield f".{key}", "field not declared in schema"
                return
            for path, text in find_faults(item, child, repeats):
                yield f".{name[2:]}{path}", text
    elif kind is list and shape.list is not None:
        seen = set()
        for index, item in enumerate(each(value)):
            name = f"i:{index}"
            if shape.list.associative:
                try:
                    name = make_element(shape.list, item)
                except SchemaMisfit as fault:
                    yield "", f"element {index}: {fault}"
                    return
                if name in seen and not repeats:
                    yield "", f"duplicate entries for key {format_element_path((name,))}"
                seen.add(name)
            for path, text in find_faults(item, shape.list.item, repeats):
                yield f"{format_element_path((name,))}{path}", text
    elif kind not in shape.types:
        yield "", _describe_misfit(value, shape)


def _describe_misfit(value: Any, shape: Shape) -> str:
    if shape.map is not None:
        return f"expected map, got &{{{gotext.format_plain(value)}}}"
    if shape.scalar == "numeric":
        kind = value.kind if isinstance(value, gotext.GoValue) else gotext.name_type(value)
        return f"expected numeric (int or float), got {kind}"
    if shape.scalar == "string":
        return f"expected string, got &value.valueUnstructured{{Value:{gotext.format_interface(value)}}}"
    expected = {"boolean": "boolean", "untyped": "any scalar"}.get(shape.scalar, "list")
    return f"expected {expected}, got &{{{gotext.format_plain(value)}}}"
