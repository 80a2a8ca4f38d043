"""Validates values exactly: every OpenAPI keyword, with the errors of a real server in its order.

This walk runs only after the compiled one has found something wrong. The rules and texts are those of
k8s.io/kube-openapi's validation. A result counts matches, because of several failing alternatives the one that matched
most is reported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from podless.cel.correlation import ValuePair
from podless.codec import gotext
from podless.meta import field
from podless.meta.field import At, FieldError, Path
from podless.runtime.meter import charge, each
from podless.runtime.release import has
from podless.schema import formats, lists, numbers, regex
from podless.schema.errorvalues import MAX_ERRORS, show_value
from podless.schema.node import Node

_TYPES = {dict: "object", list: "array", str: "string", bool: "boolean", int: "integer", float: "number"}
_SIZES = {int: "int64", float: "float64"}
_TYPE_META = frozenset(("apiVersion", "kind"))


# steps on the meter for a value and for an error; and characters of an error text in one step
_VALUE, _ERROR, _PER_STEP = 4, 8, 1024
_MAX_ERROR_TEXT = 5 << 20  # maximum characters of all errors: a client gets fewer, so validation stops then


# results of alternatives, by the id of their node and the path of the value
BranchResults = dict[tuple[int, Path], "Result"]


class Result:
    """The errors of a value, in order and without duplicates, and how much of it matched.

    at: the path of the whole value. branch_results: of nested alternatives, by node and path, so that the errors of the
    best one are collected without counting again; None outside of alternatives.
    """

    __slots__ = ("at", "branch_results", "errors", "matched", "text_left")

    def __init__(self, at: Path = (), branch_results: BranchResults | None = None) -> None:
        self.at = at
        self.branch_results = branch_results
        self.errors: dict[Any, FieldError] = {}
        self.matched = 0
        self.text_left = _MAX_ERROR_TEXT

    def make_empty(self) -> Result:
        """Return an empty result of the same type."""
        return Result(self.at, self.branch_results)

    @property
    def has_errors(self) -> bool:
        """Whether there are errors."""
        return bool(self.errors)

    @property
    def is_full(self) -> bool:
        """Whether the number or size of errors has reached its limit."""
        return len(self.errors) >= MAX_ERRORS or self.text_left < 0

    def drop_errors(self) -> None:
        """Drop the errors, because the old value had them too."""
        self.errors.clear()
        self.text_left = _MAX_ERROR_TEXT

    def merge_result(self, other: Result) -> None:
        """Add the errors and matches of another result."""
        if other.errors:
            charge(len(other.errors))
            for key, error in other.errors.items():
                self.errors.setdefault(key, error)
            self.text_left -= _MAX_ERROR_TEXT - other.text_left
        self.matched += other.matched

    def locate_error(self, path: Path) -> At:
        """Return the field of an error at a path."""
        if self.at and path and path[0].__class__ is int:  # a real server joins these two with a dot
            return f"{field.format_path(self.at)}.{field.format_path(path)}"
        relative = path[1:] if path and path[0] == "" else path
        return (*self.at, *(() if relative == ("",) else relative)) or "<nil>"

    def add_logic_error(self, path: Path, rule: str) -> None:
        """Add an error without a field, as a real server does. rule: the part of the text after the field."""
        self.add_plain_error(lambda: f"{gotext.quote(field.format_path(path))} {rule}")

    def add_plain_error(self, write: Callable[[], str]) -> None:
        """Add an error without a field, as a real server does."""
        self.add_error(write, lambda text: field.invalid(self.at or "<nil>", "", text))

    def add_type_error(self, path: Path, expected: str, value: str) -> None:
        """Add the error of a wrong type. value: the type found, or a text that is not of the format."""
        self.add_error(
            lambda: f"{field.format_path(path)} in body must be of type {expected}: {gotext.quote(value)}",
            lambda text: field.type_invalid(self.locate_error(path), value, text),
        )

    def add_invalid(self, path: Path, value: Any, rule: str, bound: Any = "") -> None:
        """Add the error of a broken rule. bound: replaces %s in it."""
        self.add_error(
            lambda: f"{field.format_path(path)} {rule % bound if bound != '' else rule}",
            lambda text: field.invalid(self.locate_error(path), value, text),
        )

    def add_excess(self, path: Path, count: int, limit: int, noun: str) -> None:
        """Add the error of a list or object with too many parts."""
        self.add_error(
            lambda: f"{field.format_path(path)} in body should have at most {limit} {noun}",
            lambda text: field.too_many(self.locate_error(path), count, limit),
        )

    def add_error(self, write: Callable[[], str], make: Callable[[str], FieldError]) -> None:
        """Add an error that is identified by its text."""
        text = write()
        self.put_error(text, len(text), lambda: make(text))

    def put_error(self, key: Any, size: int, make: Callable[[], FieldError]) -> None:
        """Add an error unless the key has one. size: characters of its text."""
        charge(_ERROR + size // _PER_STEP)
        if key not in self.errors:
            self.errors[key] = make()
            self.text_left -= size


class _BranchTally(Result):
    """Counts errors and matches of alternatives. Only the errors of the best alternative are reported."""

    __slots__ = ("count",)

    def __init__(self, branch_results: BranchResults) -> None:
        self.count = self.matched = 0
        self.at, self.branch_results = (), branch_results

    def make_empty(self) -> Result:
        return _make_tally(self)

    @property
    def has_errors(self) -> bool:
        return self.count > 0

    @property
    def is_full(self) -> bool:
        return self.count >= MAX_ERRORS

    def drop_errors(self) -> None:
        self.count = 0

    def merge_result(self, other: Result) -> None:
        assert isinstance(other, _BranchTally)
        self.count += other.count
        self.matched += other.matched

    def count_error(self, *details: Any) -> None:
        """Count an error."""
        self.count += 1

    add_logic_error = add_plain_error = add_type_error = add_invalid = add_excess = add_error = put_error = count_error  # type: ignore[assignment]


def validate_value(value: Any, node: Node, at: Path = (), pair: ValuePair | None = None) -> list[FieldError]:
    """Return the errors of a value.

    at: the path of the value, only for the fields of errors, as a real server does for status and defaults. pair: value
    and old value, to ratchet an update.
    """
    result = Result(at)
    _check_ratcheted(value, node, (), result, pair)
    return list(result.errors.values())


def _check_ratcheted(value: Any, node: Node, path: Path, target: Result, pair: ValuePair | None) -> None:
    result = _check_value(value, node, path, target, pair)
    if pair is not None and result.has_errors and pair.is_unchanged():
        result.drop_errors()
    target.merge_result(result)


def _check_value(value: Any, node: Node, path: Path, parent: Result, pair: ValuePair | None = None) -> Result:
    """Check a value and everything below it. parent: a result of the type to return."""
    result = parent.make_empty()
    charge(_VALUE)
    if value is None:
        if node.types and not node.nullable:
            result.add_type_error(path, ",".join(node.types), "null")
        else:
            result.matched += 1
        _check_enum(value, node, path, result)
        return result
    if value.__class__ is int:
        value = numbers.narrow_integer(value)
    if node.types or node.format:
        _check_type(value, node, path, result)
        result.matched += 1
    _check_logic(value, node, path, result)
    kind = value.__class__
    if kind is str:
        _check_string(value, node, path, result)
    elif kind is int or kind is float:
        _check_number(value, node, path, result)
    elif kind is list:
        _check_list(value, node, path, result, pair)
    elif kind is dict:
        _check_object(value, node, path, result, pair)
    _check_enum(value, node, path, result)
    # the common, the logic and the value's own validator, and the node itself
    result.matched += 3 + (kind is not bool)
    return result


def _check_type(value: Any, node: Node, path: Path, result: Result) -> None:
    types, kind = node.types, value.__class__
    name = _TYPES[kind]
    fits = (
        name in types
        or (kind is float and "integer" in types and numbers.is_integral(value))
        or (kind is int and "number" in types)
    )
    has_size = kind is not str and kind is not list
    if node.format and has_size and not fits and _SIZES.get(kind, "") != node.format:
        result.add_type_error(path, node.format, _SIZES.get(kind, ""))
    elif node.format and not has_size and "number" not in types and "integer" not in types:
        result.matched += 1  # the check of the format replaces that of the type
    elif fits:
        result.matched += 1
    else:
        result.add_type_error(path, ",".join(types), name)


def _check_logic(value: Any, node: Node, path: Path, result: Result) -> None:
    """Check allOf, anyOf, oneOf and not. Nothing below them is ratcheted."""
    raw = node.raw
    if raw.get("anyOf"):
        _check_any_of(value, node, path, result)
    if raw.get("oneOf"):
        _check_one_of(value, node, path, result)
    if raw.get("allOf"):
        valid, branches = 0, node.list_branches("allOf")
        for branch in branches:
            branch_result = _check_value(value, branch, path, _BranchTally({}) if result.is_full else result)
            valid += not branch_result.has_errors
            if branch_result.__class__ is result.__class__:
                result.merge_result(branch_result)
        if valid != len(branches):
            suffix = "" if valid else ". None validated"
            result.add_logic_error(path, f"must validate all the schemas (allOf){suffix}")
    refused = node.not_node
    if refused is not None and not _check_branch(value, refused, path, _make_tally(result)).has_errors:
        result.add_logic_error(path, "must not validate the schema (not)")
    result.matched += 1


def _make_tally(result: Result) -> _BranchTally:
    """Return the tally that counts alternatives of a value."""
    return _BranchTally({} if result.branch_results is None else result.branch_results)


def _check_branch(value: Any, branch: Node, path: Path, tally: _BranchTally) -> Result:
    """Return the result of one alternative. A deep one is cached, so that it is checked once."""
    if not branch.deep:
        return _check_value(value, branch, path, tally)
    assert tally.branch_results is not None
    key = id(branch), path
    result = tally.branch_results.get(key)
    if result is None:
        result = _check_value(value, branch, path, tally)
        result.branch_results = None  # break a reference cycle, so that a large table is freed at once
        tally.branch_results[key] = result
    return result


def _check_any_of(value: Any, node: Node, path: Path, result: Result) -> None:
    best: tuple[Node, Result] | None = None
    tally = _make_tally(result)
    for branch in node.list_branches("anyOf"):
        branch_result = _check_branch(value, branch, path, tally)
        if not branch_result.has_errors:
            result.matched += branch_result.matched
            return
        if best is None or branch_result.matched > best[1].matched:
            best = branch, branch_result
    result.add_logic_error(path, "must validate at least one schema (anyOf)")
    if best is not None:
        _report_branch(value, *best, path, result, tally.branch_results)


def _check_one_of(value: Any, node: Node, path: Path, result: Result) -> None:
    tally = _make_tally(result)
    results = [(branch, _check_branch(value, branch, path, tally)) for branch in node.list_branches("oneOf")]
    valid = [branch_result for _, branch_result in results if not branch_result.has_errors]
    if len(valid) == 1:
        result.matched += valid[0].matched
        return
    verdict = f"Found {len(valid)} valid alternatives" if valid else "Found none valid"
    result.add_logic_error(path, f"must validate one and only one schema (oneOf). {verdict}")
    if not valid:
        best = max(results, key=lambda branch_result: branch_result[1].matched)
        _report_branch(value, *best, path, result, tally.branch_results)


def _report_branch(
    value: Any, branch: Node, branch_result: Result, path: Path, result: Result, branch_results: BranchResults | None
) -> None:
    """Add the errors of the best alternative, which a tally has counted. branch_results: of nested alternatives."""
    if not isinstance(result, _BranchTally):
        branch_result = _check_value(value, branch, path, Result(result.at, branch_results))
    result.merge_result(branch_result)


def _check_string(value: str, node: Node, path: Path, result: Result) -> None:
    raw = node.raw
    max_length, min_length, pattern = raw.get("maxLength"), raw.get("minLength"), node.pattern
    if max_length is not None and len(value) > max_length:
        result.add_error(
            lambda: f"{field.format_path(path)} in body should be at most {max_length} chars long",
            lambda text: field.too_long(result.locate_error(path), max_length),
        )
    elif min_length is not None and len(value) < min_length:
        result.add_invalid(path, value, "in body should be at least %s chars long", min_length)
    elif pattern is not None and not pattern.run(value):
        _add_mismatch(value, pattern, path, result)
    if node.format:
        check = formats.find_check(node.format)
        if check is not None:
            if not check(value):
                result.add_type_error(path, node.format, value)
            result.matched += 1


def _add_mismatch(value: str, pattern: regex.Matcher, path: Path, result: Result) -> None:
    """Add the error of a text that does not match its pattern."""
    text = pattern.pattern
    if pattern.problem:
        result.add_invalid(
            path, value, "in body should match '%s'", f"{text}, but pattern is invalid: {pattern.problem}"
        )
    elif len(value) > pattern.longest:
        result.add_error(
            lambda: f"{field.format_path(path)} is too long: {text}",
            lambda _: field.too_long(result.locate_error(path), pattern.longest),
        )
    else:
        result.add_invalid(path, value, "in body should match '%s'", text)


def _check_number(value: float, node: Node, path: Path, result: Result) -> None:
    raw = node.raw
    kind = node.types[0] if len(node.types) == 1 else ""
    kind = kind if kind in ("integer", "number") else ""
    form = node.format if formats.is_known(node.format, (kind,)) and kind else ""
    type_text = f"{kind} with format {form}" if form else f"{kind} (default format)"

    def check_range(number: float, subject: str) -> bool:
        if numbers.in_range(number, kind, form) or not has("NumericFormats"):
            return True
        result.add_plain_error(lambda: f"{subject} value must be of type {type_text} in {field.format_path(path)}")
        return False

    check_range(value, "Checked")
    exact = value.__class__ is int
    factor, maximum_keyword, minimum_keyword = raw.get("multipleOf"), raw.get("maximum"), raw.get("minimum")
    if factor is not None:
        _check_multiple(value, float(factor), path, result, check_range(float(factor), "MultipleOf") and exact)
    if maximum_keyword is not None:
        maximum = _read_bound(maximum_keyword, check_range(float(maximum_keyword), "Maximum boundary") and exact)
        strict = raw.get("exclusiveMaximum")
        if value > maximum or (strict and value == maximum):
            than = "less than" if strict else "less than or equal to"
            result.add_invalid(path, value, f"in body should be {than} %s", numbers.format_number(maximum))
    if minimum_keyword is not None:
        minimum = _read_bound(minimum_keyword, check_range(float(minimum_keyword), "Minimum boundary") and exact)
        strict = raw.get("exclusiveMinimum")
        if value < minimum or (strict and value == minimum):
            than = "greater than" if strict else "greater than or equal to"
            result.add_invalid(path, value, f"in body should be {than} %s", numbers.format_number(minimum))
    result.matched += 1


def _read_bound(bound: float, exact: bool) -> float:
    return numbers.truncate_float(float(bound)) if exact else float(bound)


def _check_multiple(value: float, factor: float, path: Path, result: Result, exact: bool) -> None:
    if exact:
        factor = numbers.truncate_float(factor)
    if factor <= 0:
        # the factor is in the text, and it is also the value shown
        result.add_error(
            lambda: (
                f"factor MultipleOf declared for {field.format_path(path)} must be positive: "
                f"{numbers.format_number(factor)}"
            ),
            lambda text: field.invalid(result.locate_error(path), factor, text),
        )
    elif (value % factor != 0) if exact else not numbers.is_multiple(float(value), factor):
        displayed = value if exact else float(value)
        result.add_invalid(path, displayed, "in body should be a multiple of %s", numbers.format_number(factor))


def _check_list(value: list[Any], node: Node, path: Path, result: Result, pair: ValuePair | None) -> None:
    raw = node.raw
    if node.items is not None:
        for index, item in enumerate(each(value)):
            if result.is_full:
                break
            item_pair = pair.pair_item(index) if pair is not None else None
            _check_ratcheted(item, node.items, (*path, index), result, item_pair)
    max_items, min_items = raw.get("maxItems"), raw.get("minItems")
    if min_items is not None and len(value) < min_items:
        result.add_invalid(path, len(value), "in body should have at least %s items", min_items)
    if max_items is not None and len(value) > max_items:
        result.add_excess(path, len(value), max_items, "items")
    if raw.get("uniqueItems") and lists.find_repeated(value, exact=True):
        result.add_invalid(path, "", "in body shouldn't contain duplicates")
    result.matched += 1


def _check_object(value: dict[str, Any], node: Node, path: Path, result: Result, pair: ValuePair | None) -> None:
    raw = node.raw
    max_properties, min_properties = raw.get("maxProperties"), raw.get("minProperties")
    if min_properties is not None and len(value) < min_properties:
        result.add_invalid(path, len(value), "in body should have at least %s properties", min_properties)
    if max_properties is not None and len(value) > max_properties:
        result.add_excess(path, len(value), max_properties, "properties")
    if node.closed:
        for name in each(value):
            if name not in node.properties and not result.is_full:
                _add_unknown(name, path, result)
    elif node.additional is not None:
        for name, item in each(value).items():
            if name not in node.properties and not result.is_full:
                at = (*path, name) if path else ("", name)  # a real server writes ".name" here
                _check_ratcheted(item, node.additional, at, result, _find_child_pair(pair, name, path))
    for name in node.list_declared(value):
        child = node.find_child(name)
        assert child is not None
        _check_ratcheted(value[name], child, (*path, name), result, _find_child_pair(pair, name, path))
    for name in each(raw.get("required") or ()):
        if name not in value:
            if result.is_full:
                break
            _add_missing(name, path, result)


def _add_unknown(name: str, path: Path, result: Result) -> None:
    result.add_error(
        lambda: f"{field.format_path(path)}.{name} in body is a forbidden property",
        lambda text: field.invalid(result.locate_error(path), name, text),
    )


def _add_missing(name: str, path: Path, result: Result) -> None:
    result.add_error(
        lambda: f"{field.format_path(path)}.{name} in body is required",
        lambda text: field.required(result.locate_error((*path, name)), ""),
    )


def _find_child_pair(pair: ValuePair | None, name: str, path: Path) -> ValuePair | None:
    if pair is None or (not path and name in _TYPE_META):
        return None
    return pair.pair_field(name)


def _check_enum(value: Any, node: Node, path: Path, result: Result) -> None:
    allowed = node.enum
    if allowed is None or allowed.allows(value):
        return
    if isinstance(result, _BranchTally):
        result.count_error()
        return
    entries_text = allowed.entries_text
    # the list of values is part of the text, and all errors share it
    result.put_error(
        (field.format_path(path), entries_text),
        len(entries_text),
        lambda: FieldError("FieldValueNotSupported", result.locate_error(path), show_value(value), entries_text),
    )


def checks_scalar(value: float, node: Node) -> bool:
    """Return whether the exact checks of a number find an error."""
    result = Result()
    value = numbers.narrow_integer(value)
    if node.types or node.format:
        _check_type(value, node, (), result)
    _check_number(value, node, (), result)
    return bool(result.errors)
