"""The rules of pruning, defaulting and validity once more, as plainly as they can be said; values are never changed."""

from __future__ import annotations

import math
from typing import Any

import re2

from podless.runtime.jsonobject import Schema
from podless.schema import formats

META = ("apiVersion", "kind", "metadata")
GONE: Any = object()


def below(schema: Schema, key: str) -> Schema | None:
    """The schema of a field, None when nothing is declared for it."""
    if key in (schema.get("properties") or {}):
        return schema["properties"][key] or {}
    extra = schema.get("additionalProperties")
    return extra if isinstance(extra, dict) else None


def pruned(value: Any, schema: Schema | None, keep: bool = False, root: bool = False) -> Any:
    keep = keep or bool(schema and schema.get("x-kubernetes-preserve-unknown-fields"))
    if isinstance(value, list):
        items = (schema or {}).get("items")
        if keep:
            return [pruned(item, items, keep=True) if items is not None else item for item in value]
        return [pruned(item, items) for item in value]
    if not isinstance(value, dict):
        return value
    out = {}
    for key, item in value.items():
        schema = schema or {}
        known = key in (schema.get("properties") or {}) or schema.get("additionalProperties") is not None
        if root and key in META:
            out[key] = item
        elif known:
            out[key] = pruned(item, below(schema, key))
        elif keep:
            out[key] = item
    return out


def nulls(value: Any, schema: Schema | None, root: bool = False) -> Any:
    """Without the nulls of fields that are neither nullable nor defaulted."""
    if schema is None:
        return value
    if isinstance(value, list):
        return [nulls(item, schema.get("items")) for item in value]
    if not isinstance(value, dict):
        return value
    out = {}
    for key, item in value.items():
        child = None if root and key in META else below(schema, key)
        if item is None and child is not None and not child.get("nullable") and child.get("default") is None:
            continue
        out[key] = nulls(item, child)
    return out


def defaulted(value: Any, schema: Schema | None, root: bool = False) -> Any:
    if schema is None:
        return value
    if isinstance(value, list):
        items = schema.get("items")
        return [defaulted(given(item, items), items) for item in value]
    if not isinstance(value, dict):
        return value
    out = dict(value)
    for name, child in (schema.get("properties") or {}).items():
        if name not in out and child.get("default") is not None and not (root and name in META):
            out[name] = child["default"]
    return {
        key: item if root and key in META else defaulted(given(item, below(schema, key)), below(schema, key))
        for key, item in out.items()
    }


def given(item: Any, schema: Schema | None) -> Any:
    if item is None and schema is not None and not schema.get("nullable") and schema.get("default") is not None:
        return schema["default"]
    return item


def kind(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    names = {str: "string", int: "integer", float: "number", list: "array", dict: "object", type(None): "null"}
    return names[type(value)]


def typed(value: Any, schema: Schema) -> bool:
    types: list[str] = ["integer", "string"] if schema.get("x-kubernetes-int-or-string") else [schema.get("type") or ""]
    if value is None:
        return types == [""] or bool(schema.get("nullable"))
    form = formats.narrow_format(schema.get("format") or "", () if types == [""] else tuple(types))
    if form and kind(value) in ("string", "array") and "integer" not in types and "number" not in types:
        return True
    if types == [""]:
        return not form
    if kind(value) == "number" and "integer" in types:
        return value.is_integer() and abs(value) < 2**53 and (len(types) > 1 or ranged(value, schema))
    return kind(value) in types or (kind(value) == "integer" and "number" in types)


def ranged(value: float, schema: Schema) -> bool:
    return schema.get("format") != "int32" or -(2**31) <= value < 2**31


def sized(count: int, schema: Schema, what: str) -> bool:
    most, least = schema.get(f"max{what}"), schema.get(f"min{what}")
    return (most is None or count <= most) and (least is None or count >= least)


def same(one: Any, other: Any) -> bool:
    if kind(one) in ("integer", "number") and kind(other) == "integer":
        return bool(math.trunc(one) == other)
    if kind(one) in ("integer", "number") and kind(other) == "number":
        return bool(float(one) == other)
    return kind(one) == kind(other) and bool(one == other)


def valid(value: Any, schema: Schema, nested: bool = False) -> bool:
    """Whether validation of a value has no errors."""
    if not typed(value, schema):
        return False
    allowed = schema.get("enum")
    if allowed and (value is None or not any(same(value, item) for item in allowed)):
        return False
    if value is None:
        return True
    return single(value, schema) and logical(value, schema) and inner(value, schema, nested)


def single(value: Any, schema: Schema) -> bool:
    what = kind(value)
    if what == "string":
        pattern, form = schema.get("pattern"), formats.find_check(schema.get("format") or "")
        found = not pattern or re2.search(pattern, value) is not None
        return sized(len(value), schema, "Length") and found and (form is None or form(value))
    if what in ("integer", "number"):
        most, least = (bound(value, schema.get(name)) for name in ("maximum", "minimum"))
        over = most is not None and (value > most or (schema.get("exclusiveMaximum") and value == most))
        under = least is not None and (value < least or (schema.get("exclusiveMinimum") and value == least))
        factor = schema.get("multipleOf")
        return (
            not over
            and not under
            and (schema.get("type") != "integer" or ranged(value, schema))
            and (factor is None or multiple(value, factor))
        )
    return True


def bound(value: float, limit: float | None) -> float | None:
    """Integers are held to what is before the point of a bound."""
    return math.trunc(limit) if limit is not None and kind(value) == "integer" else limit


def multiple(value: float, factor: float) -> bool:
    """Integers by the whole part of a factor, floats but for a relative error of 1e-9 and within 53 bits."""
    if kind(value) == "integer":
        return factor >= 1 and value % math.trunc(factor) == 0
    quotient = value / factor if factor >= 1 else 1 / factor * value
    nearest = math.copysign(math.floor(abs(quotient) + 0.5), quotient)
    return abs(quotient) < 2**53 and (quotient == nearest or abs(quotient - nearest) < 1e-9 * abs(nearest))


def logical(value: Any, schema: Schema) -> bool:
    def holds(part: Schema) -> bool:
        return valid(value, part, nested=True)

    return (
        all(map(holds, schema.get("allOf") or ()))
        and (not schema.get("anyOf") or any(map(holds, schema["anyOf"])))
        and (not schema.get("oneOf") or sum(map(holds, schema["oneOf"])) == 1)
        and not (schema.get("not") is not None and holds(schema["not"]))
    )


def inner(value: Any, schema: Schema, nested: bool) -> bool:
    if isinstance(value, list):
        items = schema.get("items")
        if not sized(len(value), schema, "Items") or (not nested and not listed(value, schema)):
            return False
        return items is None or all(valid(item, items, nested) for item in value)
    if not isinstance(value, dict):
        return True
    if not sized(len(value), schema, "Properties") or any(name not in value for name in schema.get("required") or ()):
        return False
    if schema.get("additionalProperties") is False and set(value) - set(schema.get("properties") or ()):
        return False
    children = [(item, below(schema, key)) for key, item in value.items()]
    return all(child is None or valid(item, child, nested) for item, child in children)


def listed(value: list[Any], schema: Schema) -> bool:
    """Sets and maps have nothing twice."""
    if schema.get("x-kubernetes-list-type") == "set":
        keys: list[Any] = value
    elif schema.get("x-kubernetes-list-type") == "map":
        if not all(item is None or isinstance(item, dict) for item in value):
            return False
        names = schema["x-kubernetes-list-map-keys"]
        keys = [{name: item[name] for name in names if name in item} if item else {} for item in value]
    else:
        return True
    return not any(alike(key, entry) for index, key in enumerate(keys) for entry in keys[:index])


def alike(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(item, other[key]) for key, item in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    return kind(one) == kind(other) and bool(one == other)


def holds_on_update(value: Any, old: Any, schema: Schema, root: bool = True) -> bool:
    """Whether a changed value has no errors but those that it had before where it has not changed; sets apart."""
    return own(value, old, schema, root) or unchanged(value, old, schema)


def own(value: Any, old: Any, schema: Schema, root: bool) -> bool:
    """The errors of a value, those below it by what stood there before."""
    shallow = {key: item for key, item in schema.items() if key not in ("properties", "items")}
    if isinstance(value, dict) and isinstance(shallow.get("additionalProperties"), dict):
        del shallow["additionalProperties"]
    if shallow.get("additionalProperties") is False and set(value) - set(schema.get("properties") or ()):
        return False
    if not valid(value, {**shallow, "additionalProperties": True}, nested=True):
        return False
    if isinstance(value, list):
        return all(below_holds(value, old, schema, place) for place in range(len(value)))
    if isinstance(value, dict):
        for key, item in value.items():
            child = below(schema, key)
            if child is None:
                continue
            plainly = (root and key in ("apiVersion", "kind")) or not isinstance(old, dict) or key not in old
            if not (valid(item, child, nested=True) if plainly else holds_on_update(item, old[key], child, False)):
                return False
    return True


def below_holds(value: list[Any], old: Any, schema: Schema, place: int) -> bool:
    """One item of a list, by the old item of the same keys where there is one."""
    if schema.get("items") is None:
        return True
    before = correlated(value[place], old, schema)
    if before is GONE:
        return valid(value[place], schema["items"], nested=True)
    return holds_on_update(value[place], before, schema["items"], False)


def correlated(item: Any, old: Any, schema: Schema) -> Any:
    names = schema.get("x-kubernetes-list-map-keys") or ()
    if schema.get("x-kubernetes-list-type") != "map" or not isinstance(old, list):
        return GONE
    for other in old:
        if all(
            isinstance(value, dict) and isinstance(value.get(name), str | bool | int | float)
            for value in (item, other)
            for name in names
        ) and all(alike(item[name], other[name]) for name in names):
            return other
    return GONE


def unchanged(value: Any, old: Any, schema: Schema) -> bool:
    if isinstance(value, dict) and isinstance(old, dict):
        known = [below(schema, key) for key in value]
        return value.keys() == old.keys() and all(
            child is not None and unchanged(value[key], old[key], child)
            for key, child in zip(value, known, strict=True)
        )
    if isinstance(value, list) and isinstance(old, list) and schema.get("x-kubernetes-list-type") == "map":
        before = [correlated(item, old, schema) for item in value]
        return len(value) == len(old) and all(
            other is not GONE and unchanged(item, other, schema["items"])
            for item, other in zip(value, before, strict=True)
        )
    return alike(value, old)
