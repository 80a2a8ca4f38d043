"""Validation, exactly: every OpenAPI keyword, with the errors of a real server in its order.

This walk is taken only when the compiled one has found something wrong, to say what. The rules and texts are those of
k8s.io/kube-openapi's validation; a result counts what matched, since of several failing alternatives the one that
matched most is reported.
"""

from __future__ import annotations

from typing import Any

from podless.meta import field, gotext
from podless.meta.field import At, FieldError, Path
from podless.meta.meter import charge, each
from podless.meta.pairs import Pair
from podless.schema import formats, lists, numbers, regex
from podless.schema.node import Node
from podless.schema.shown import MOST, shown

_TYPES = {dict: "object", list: "array", str: "string", bool: "boolean", int: "integer", float: "number"}
_SIZES = {int: "int64", float: "float64"}
_TYPE_META = frozenset(("apiVersion", "kind"))


class Result:
    """Errors by their whole text, in order and each once, and how much matched. at: where the whole value stands."""

    __slots__ = ("at", "errors", "matched")

    def __init__(self, at: Path = ()) -> None:
        self.at = at
        self.errors: dict[str, FieldError] = {}
        self.matched = 0

    def merge(self, other: Result) -> None:
        """Take over another result."""
        for text, error in other.errors.items():
            self.errors.setdefault(text, error)
        self.matched += other.matched

    def plain(self, text: str) -> None:
        """An error that a real server ties to no field."""
        self.errors.setdefault(text, field.invalid(self.at or "<nil>", "", text))

    def where(self, path: Path) -> At:
        """The field of an error at a path."""
        if self.at and path and path[0].__class__ is int:  # a real server joins the two with a dot
            return f"{field.text(self.at)}.{field.text(path)}"
        rest = path[1:] if path and path[0] == "" else path
        return (*self.at, *(() if rest == ("",) else rest)) or "<nil>"

    def typed(self, path: Path, wanted: str, value: str) -> None:
        """The value has the wrong type; value is a type name, or the text that has not the format."""
        text = f"{field.text(path)} in body must be of type {wanted}: {gotext.quote(value)}"
        self.errors.setdefault(text, field.type_invalid(self.where(path), value, text))

    def invalid(self, path: Path, value: Any, rule: str) -> None:
        """The value breaks a rule."""
        text = f"{field.text(path)} {rule}"
        self.errors.setdefault(text, field.invalid(self.where(path), value, text))

    def add(self, text: str, error: FieldError) -> None:
        """An error with a text of its own, which tells it from others."""
        self.errors.setdefault(text, error)


def validate(value: Any, node: Node, at: Path = (), pair: Pair | None = None) -> list[FieldError]:
    """All that is wrong with a value.

    at: the field the value stands at, for the errors' fields only, as a real server has it for status and defaults.
    pair: value and old value, to ratchet an update.
    """
    result = Result(at)
    _ratcheted(value, node, (), result, pair)
    return list(result.errors.values())


def _ratcheted(value: Any, node: Node, path: Path, into: Result, pair: Pair | None) -> None:
    result = _check(value, node, path, into.at, pair)
    if result.errors and pair is not None and pair.unchanged():
        result.errors.clear()
    into.merge(result)


def _check(value: Any, node: Node, path: Path, at: Path, pair: Pair | None) -> Result:
    result = Result(at)
    charge(1)
    if value is None:
        if node.types and not node.nullable:
            result.typed(path, ",".join(node.types), "null")
        else:
            result.matched += 1
        _enum(value, node, path, result)
        return result
    if value.__class__ is int:
        value = numbers.narrow(value)
    if node.types or node.format:
        _type(value, node, path, result)
        result.matched += 1
    _logic(value, node, path, result)
    kind = value.__class__
    if kind is str:
        _string(value, node, path, result)
    elif kind is int or kind is float:
        _number(value, node, path, result)
    elif kind is list:
        _list(value, node, path, result, pair)
    elif kind is dict:
        _object(value, node, path, result, pair)
    _enum(value, node, path, result)
    # the common, the logic and the value's own validator, and the node itself
    result.matched += 3 + (kind is not bool)
    return result


def _type(value: Any, node: Node, path: Path, result: Result) -> None:
    types, kind = node.types, value.__class__
    name = _TYPES[kind]
    fits = (
        name in types
        or (kind is float and "integer" in types and numbers.integral(value))
        or (kind is int and "number" in types)
    )
    sized = kind is not str and kind is not list
    if node.format and sized and not fits and _SIZES.get(kind, "") != node.format:
        result.typed(path, node.format, _SIZES.get(kind, ""))
    elif node.format and not sized and "number" not in types and "integer" not in types:
        result.matched += 1  # the format's check stands for the type's
    elif fits:
        result.matched += 1
    else:
        result.typed(path, ",".join(types), name)


def _logic(value: Any, node: Node, path: Path, result: Result) -> None:
    """The alternatives; nothing below them is ratcheted."""
    raw = node.raw
    if raw.get("anyOf"):
        _any(value, node, path, result)
    if raw.get("oneOf"):
        _one(value, node, path, result)
    if raw.get("allOf"):
        parts = [_check(value, part, path, result.at, None) for part in node.branches("allOf")]
        for part in each(parts):
            result.merge(part)
        valid = sum(not part.errors for part in each(parts))
        if valid != len(parts):
            none = "" if valid else ". None validated"
            result.plain(f"{gotext.quote(field.text(path))} must validate all the schemas (allOf){none}")
    refused = node.refused
    if refused is not None and not _check(value, refused, path, result.at, None).errors:
        result.plain(f"{gotext.quote(field.text(path))} must not validate the schema (not)")
    result.matched += 1


def _any(value: Any, node: Node, path: Path, result: Result) -> None:
    best: Result | None = None
    for branch in node.branches("anyOf"):
        part = _check(value, branch, path, result.at, None)
        if not part.errors:
            result.merge(part)
            return
        if best is None or part.matched > best.matched:
            best = part
    result.plain(f"{gotext.quote(field.text(path))} must validate at least one schema (anyOf)")
    if best is not None:
        result.merge(best)


def _one(value: Any, node: Node, path: Path, result: Result) -> None:
    parts = [_check(value, branch, path, result.at, None) for branch in node.branches("oneOf")]
    valid = [part for part in each(parts) if not part.errors]
    if len(valid) == 1:
        result.merge(valid[0])
        return
    found = f"Found {len(valid)} valid alternatives" if valid else "Found none valid"
    result.plain(f"{gotext.quote(field.text(path))} must validate one and only one schema (oneOf). {found}")
    if not valid:
        result.merge(max(parts, key=lambda part: part.matched))


def _string(value: str, node: Node, path: Path, result: Result) -> None:
    raw = node.raw
    most, least, pattern = raw.get("maxLength"), raw.get("minLength"), raw.get("pattern")
    if most is not None and len(value) > most:
        text = f"{field.text(path)} in body should be at most {most} chars long"
        result.add(text, field.too_long(result.where(path), most))
    elif least is not None and len(value) < least:
        result.invalid(path, value, f"in body should be at least {least} chars long")
    elif pattern:
        compiled = regex.compile(pattern)
        if compiled is None:
            said = f"{pattern}, but pattern is invalid: {regex.problem(pattern)}"
            result.invalid(path, value, f"in body should match '{said}'")
        elif len(value) > (limit := regex.longest(compiled)):
            result.add(f"{field.text(path)} is too long: {pattern}", field.too_long(result.where(path), limit))
        elif compiled.search(value) is None:
            result.invalid(path, value, f"in body should match '{pattern}'")
    if node.format:
        known = formats.check(node.format)
        if known is not None:
            if not known(value):
                result.typed(path, node.format, value)
            result.matched += 1


def _number(value: float, node: Node, path: Path, result: Result) -> None:
    raw = node.raw
    kind = node.types[0] if len(node.types) == 1 else ""
    kind = kind if kind in ("integer", "number") else ""
    form = node.format if formats.known(node.format, (kind,)) and kind else ""
    type_text = f"{kind} with format {form}" if form else f"{kind} (default format)"

    def fits(number: float, what: str) -> bool:
        if numbers.in_range(number, kind, form):
            return True
        result.plain(f"{what} value must be of type {type_text} in {field.text(path)}")
        return False

    fits(value, "Checked")
    exact = value.__class__ is int
    factor, most, least = raw.get("multipleOf"), raw.get("maximum"), raw.get("minimum")
    if factor is not None:
        _multiple(value, float(factor), path, result, fits(float(factor), "MultipleOf") and exact)
    if most is not None:
        over = _bound(most, fits(float(most), "Maximum boundary") and exact)
        strict = raw.get("exclusiveMaximum")
        if value > over or (strict and value == over):
            than = "less than" if strict else "less than or equal to"
            result.invalid(path, value, f"in body should be {than} {numbers.show(over)}")
    if least is not None:
        under = _bound(least, fits(float(least), "Minimum boundary") and exact)
        strict = raw.get("exclusiveMinimum")
        if value < under or (strict and value == under):
            than = "greater than" if strict else "greater than or equal to"
            result.invalid(path, value, f"in body should be {than} {numbers.show(under)}")
    result.matched += 1


def _bound(bound: float, exact: bool) -> float:
    return numbers.truncate(float(bound)) if exact else float(bound)


def _multiple(value: float, factor: float, path: Path, result: Result, exact: bool) -> None:
    if exact:
        factor = numbers.truncate(factor)
    if factor <= 0:
        # the text names the factor, the value shown is the factor too
        text = f"factor MultipleOf declared for {field.text(path)} must be positive: {numbers.show(factor)}"
        result.add(text, field.invalid(result.where(path), factor, text))
    elif (value % factor != 0) if exact else not numbers.multiple(float(value), factor):
        shown = value if exact else float(value)
        result.invalid(path, shown, f"in body should be a multiple of {numbers.show(factor)}")


def _list(value: list[Any], node: Node, path: Path, result: Result, pair: Pair | None) -> None:
    raw = node.raw
    if node.items is not None:
        for place, item in enumerate(each(value)):
            if len(result.errors) >= MOST:
                break
            inner = pair.index(place) if pair is not None else None
            _ratcheted(item, node.items, (*path, place), result, inner)
    most, least = raw.get("maxItems"), raw.get("minItems")
    if least is not None and len(value) < least:
        result.invalid(path, len(value), f"in body should have at least {least} items")
    if most is not None and len(value) > most:
        text = f"{field.text(path)} in body should have at most {most} items"
        result.add(text, field.too_many(result.where(path), len(value), most))
    if raw.get("uniqueItems") and lists.repeated(value, exact=True):
        result.invalid(path, "", "in body shouldn't contain duplicates")
    result.matched += 1


def _object(value: dict[str, Any], node: Node, path: Path, result: Result, pair: Pair | None) -> None:
    raw = node.raw
    most, least = raw.get("maxProperties"), raw.get("minProperties")
    if least is not None and len(value) < least:
        result.invalid(path, len(value), f"in body should have at least {least} properties")
    if most is not None and len(value) > most:
        text = f"{field.text(path)} in body should have at most {most} properties"
        result.add(text, field.too_many(result.where(path), len(value), most))
    if node.closed:
        for name in each(value):
            if name not in node.properties and len(result.errors) < MOST:
                text = f"{field.text(path)}.{name} in body is a forbidden property"
                result.add(text, field.invalid(result.where(path), name, text))
    elif node.additional is not None:
        for name, item in each(value).items():
            if name not in node.properties and len(result.errors) < MOST:
                at = (*path, name) if path else ("", name)  # a real server writes .name there
                _ratcheted(item, node.additional, at, result, _inner(pair, name, path))
    for name in node.properties:
        if name in value:
            child = node.child(name)
            assert child is not None
            _ratcheted(value[name], child, (*path, name), result, _inner(pair, name, path))
    for name in each(raw.get("required") or ()):
        if name not in value:
            text = f"{field.text(path)}.{name} in body is required"
            result.add(text, field.required(result.where((*path, name))))


def _inner(pair: Pair | None, name: str, path: Path) -> Pair | None:
    if pair is None or (not path and name in _TYPE_META):
        return None
    return pair.key(name)


def _enum(value: Any, node: Node, path: Path, result: Result) -> None:
    allowed = node.raw.get("enum")
    if not allowed or (value is not None and any(numbers.same(value, item) for item in each(allowed))):
        return
    listed = [item if isinstance(item, str) else gotext.json(shown(item)) for item in each(allowed)]
    text = f"{field.text(path)} in body should be one of {listed}"
    result.add(text, field.not_supported(result.where(path), shown(value), listed))


def scalar(value: float, node: Node) -> bool:
    """Whether the number checks alone find anything wrong."""
    result = Result()
    value = numbers.narrow(value)
    if node.types or node.format:
        _type(value, node, (), result)
    _number(value, node, (), result)
    return bool(result.errors)
