"""The lines of generated code: statements, loops with their charge, and checks of single values; and their names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from podless.runtime.meter import charge
from podless.schema import check, defaulting, embedded, formats, lists
from podless.schema.mode import Mode
from podless.schema.node import CLASSES, Node, count_nodes
from podless.schema.prune import CONTAINERS, has_unknown_container, holds_containers

_UNBOUNDED = {"string": ("str",), "boolean": ("bool",)}
_SCALARS = {**_UNBOUNDED, "integer": ("int",), "number": ("int", "float")}
_GENERAL_KEYWORDS = ("type", "format", "enum", "allOf", "anyOf", "oneOf", "not")
_CLASS_ORDER = {"int": 1, "whole": 2}  # order of the checks: classes of values that are tested after all others
_CLASSES: dict[str, type] = {"str": str, "bool": bool, "int": int, "float": float}
_SIZES = ("maxLength", "minLength", "pattern", "maximum", "minimum", "multipleOf")
_CONTAINER_KEYWORDS = ("properties", "additionalProperties", "items", "required", "maxItems", "minItems", "uniqueItems")
_OTHER_KEYWORDS = ("maxProperties", "minProperties", "x-kubernetes-int-or-string", "x-kubernetes-embedded-resource")
MAX_INLINE = 12  # names or alternatives that are written one by one; more of them use a table or a loop
# lines of code that take as long as matching a pattern, and as an exact check
_SEARCH_LINES, _EXACT_LINES = 24, 48
# maximum steps of a loop that the code around it charges
_FREE = 16
# steps: items are charged one by one from the first on, functions are charged from the second on
_CHARGED_ITEM, _CHARGED_FUNCTION = 4, 32
# items of a short loop that is charged to the code around it, if they take at most so many steps
_FEW_ITEMS, _AROUND = 8, 1024
UNDECIDED = "undecided()"  # in place of a default that is not certainly valid
# lines of code in a step, assuming that a third of them runs; and the lines that a function call takes as long as
PER_STEP, CALL = 16, 256
_BRANCHES_PER_CHARGE = 32  # branches of anyOf and the like between two charges
_RULES = frozenset((*_GENERAL_KEYWORDS, *_SIZES, *_CONTAINER_KEYWORDS, *_OTHER_KEYWORDS))
_MORE_THAN_TYPE = _RULES - {"type"}


def sets_any(node: Node, keywords: Iterable[str]) -> bool:
    """Return whether a node sets one of some keywords."""
    return any(node.raw.get(name) not in (None, "", [], {}) for name in keywords)


class StatementWriter:
    """Writes statements, and checks of single values."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.names = names  # names that the code can use
        self.lines: list[str] = []
        self.depth = 1  # levels of indentation
        self.weight = 0  # estimated run time of the written lines, in lines
        self.used = 0
        self.loops = 0
        self.default_bytes = 0  # bytes of defaults that the written lines fill in each time they run

    def add_constant(self, prefix: str, value: Any) -> str:
        name = f"{prefix}{len(self.names)}"
        self.names[name] = value
        return name

    def put_line(self, text: str) -> None:
        self.lines.append(" " * self.depth + text)
        self.weight += 1

    def list_first_lines(self, mode: Mode) -> list[str]:
        """Return the first lines of the function, which charge its fixed cost."""
        steps = self.weight // PER_STEP
        lines = [f" charge({steps})"] if steps >= _CHARGED_FUNCTION else []
        if self.default_bytes and (not mode.root or self.default_bytes > defaulting.MAX_DEFAULT_BYTES):
            lines.append(f" take({self.default_bytes})")
        return lines

    def block(self, head: str) -> StatementWriter:
        """Begin a compound statement, whose body is written in a `with` statement. An empty body becomes `pass`."""
        self.put_line(head)
        self.depth += 1
        return self

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        if self.lines[-1].endswith(":"):
            self.put_line("pass")
        self.depth -= 1

    @contextmanager
    def loop(self, var: str, head: str, idle: Sequence[str], items: str) -> Iterator[None]:
        """Begin a loop over a list or object, whose body is written in a `with` statement, and write its charge.

        Items are charged one by one, or together if they cost little.

        A short loop is charged to the code around it, because a charge takes as long as some lines. idle: classes of
        items that need no work; the loop is skipped if all items have them. items: the expression of the items.
        """
        if idle:
            constant = self.add_constant("C", frozenset(_CLASSES[name] for name in idle))
            self.put_line(f"if not {constant}.issuperset(map(type, {items})):")
            self.depth += 1
        position, space = len(self.lines), " " * self.depth
        saved = self.weight, self.default_bytes
        self.weight = self.default_bytes = 0
        self.loops += 1
        with self.block(head):
            yield
        self.loops -= 1
        steps, default_bytes = max(self.weight // PER_STEP, 1), self.default_bytes
        self.weight, self.default_bytes = saved
        lines = []
        if steps < _CHARGED_ITEM:
            lines.append(f"{space}if len({var}) > {_FREE // steps}: charge(len({var}) * {steps})")
            self.weight += _FREE * PER_STEP
        elif steps * _FEW_ITEMS > _AROUND:
            self.lines.insert(position + 1, f"{space} charge({steps})")
            self.weight += 1
        else:
            is_long = self.make_name()
            lines.append(f"{space}{is_long} = len({var}) > {_FEW_ITEMS}")
            self.lines.insert(position + 1, f"{space} if {is_long}: charge({steps})")
            self.weight += _FEW_ITEMS * steps * PER_STEP
        if default_bytes:
            lines.append(f"{space}if len({var}) > {_FEW_ITEMS}: take(len({var}) * {default_bytes})")
            self.default_bytes += _FEW_ITEMS * default_bytes
        self.lines[position:position] = lines
        if idle:
            self.depth -= 1

    def write_failure(self, condition: str, lines: int = 1) -> None:
        """Write a return of False if the condition holds."""
        self.put_line(f"if {condition}: return False")
        self.weight += lines - 1

    def put_lines(self, lines: list[str]) -> None:
        for line in lines:
            self.put_line(line)

    def make_name(self) -> str:
        """Return the name of a new variable."""
        self.used += 1
        return f"x{self.used}"

    def replaces_null(self, node: Node, mode: Mode) -> bool:
        """Return whether an absent value or a null of this node can change: it is dropped or gets a default."""
        return mode.fill and (not node.nullable or node.has_default)

    def needs_no_code(self, node: Node, mode: Mode) -> bool:
        """Return whether a value of this node, null or not, needs no work."""
        if node.embedded and not mode.nested and (mode.prune or mode.check):
            return False
        if mode.prune and not (
            node.preserve and not node.properties and not node.has_additional and node.items is None
        ):
            return False
        if (mode.fill or mode.prune) and (node.properties or node.has_additional or node.items is not None):
            return False
        return not mode.check or not sets_any(node, _RULES)

    def list_classes(self, node: Node, mode: Mode) -> dict[str, bool]:
        """Return the classes of values that need separate code. "any": whether all other classes are allowed."""
        if not mode.check:
            return {"dict": True, "list": True} | ({} if mode.prune and not node.preserve else {"any": False})
        types = node.types
        if not types and not node.format:
            return {"dict": True, "list": True, "str": True, "number": True, "any": True}
        format_decides = bool(node.format) and "number" not in types and "integer" not in types
        classes = {CLASSES[name]: True for name in types if name in CLASSES}
        if "number" in classes:
            classes.pop("int", None)
        if "int" in classes:
            classes["whole"] = True
        if format_decides and not mode.fill:
            # the format replaces the type here: strings and lists are checked by the format only (`Schema.accepts` asks
            # for the type, too, because managed fields do)
            classes |= {"str": True, "list": True}
        return dict(sorted(classes.items(), key=lambda pair: _CLASS_ORDER.get(pair[0], 0)))

    def list_idle_classes(self, node: Node, mode: Mode) -> list[str]:
        """Return the classes that need no code; [] if the node also allows a class that does."""
        if mode.check and (node.format or sets_any(node, _MORE_THAN_TYPE)):
            return []
        classes = _UNBOUNDED if mode.check else _SCALARS
        return [name for kind in node.types for name in classes[kind]] if classes.keys() >= set(node.types) else []

    def test_class(self, var: str, kind: str) -> str:
        """Return the condition that a value is of a class."""
        if kind == "number":
            return f"{var}.__class__ is int or {var}.__class__ is float"
        if kind == "whole":
            return f"{var}.__class__ is float and {var} == {var} // 1"
        if kind == "any":
            return f"{var} is not None"
        return f"{var}.__class__ is {kind}"

    def write_scalar(self, node: Node, var: str, kind: str) -> None:
        """Write the checks of a string or number."""
        if kind == "str":
            self.write_string(node, var)
        elif kind == "whole":
            self.write_exact_check(node, var)
        elif kind in ("int", "number"):
            self.write_number(node, var, kind)

    def write_string(self, node: Node, var: str) -> None:
        """Emit the checks of length, pattern and format."""
        raw = node.raw
        if raw.get("maxLength") is not None:
            self.write_failure(f"len({var}) > {int(raw['maxLength'])}")
        if raw.get("minLength"):
            self.write_failure(f"len({var}) < {int(raw['minLength'])}")
        if node.pattern is not None:
            self.write_failure(f"not {self.add_constant('P', node.pattern)}.run({var})", _SEARCH_LINES)
        format_check = formats.find_check(node.format) if node.format else None
        if format_check is not None:
            self.write_failure(f"not {self.add_constant('F', format_check)}({var})", _SEARCH_LINES)

    def write_number(self, node: Node, var: str, kind: str) -> None:
        """Write the checks of a number's bounds if they are simple, else a call of the exact check."""
        raw = node.raw
        bounds = [raw.get("maximum"), raw.get("minimum")]
        are_whole = all(bound is None or (float(bound).is_integer() and abs(bound) < 2**53) for bound in bounds)
        limits = self.find_range(node)
        if raw.get("multipleOf") is not None or not are_whole or limits is None:
            self.write_exact_check(node, var)
            return
        for bound, strict, sign in ((bounds[0], "exclusiveMaximum", ">"), (bounds[1], "exclusiveMinimum", "<")):
            if bound is not None:
                self.write_failure(f"{var} {sign}{'=' if raw.get(strict) else ''} {int(bound)}")
        if kind == "int" and (None in bounds or limits[1] < 2**53):
            self.write_failure(f"not {limits[0]} <= {var} <= {limits[1]}")

    def find_range(self, node: Node) -> tuple[int, int] | None:
        """Return the range of the number's format, None if a bound of the schema is outside of it."""
        if node.format == "float":
            return None
        bits = 31 if node.format == "int32" else 63
        bounds = [node.raw.get("maximum"), node.raw.get("minimum")]
        if "integer" in node.types and any(
            bound is not None and not -(1 << bits) <= bound < 1 << bits for bound in bounds
        ):
            return None
        return -(1 << bits), (1 << bits) - 1

    def write_exact_check(self, node: Node, var: str) -> None:
        """Write a call of the exact check of a number."""

        def is_valid(value: Any) -> bool:
            return not check.checks_scalar(value, node)

        self.write_failure(f"not {self.add_constant('G', is_valid)}({var})", _EXACT_LINES)

    def write_sizes(self, node: Node, var: str) -> None:
        """Write the checks of the number of fields, and of required fields that are not declared."""
        raw = node.raw
        self.write_required([name for name in raw.get("required") or () if name not in node.properties], var)
        if raw.get("maxProperties") is not None:
            self.write_failure(f"len({var}) > {int(raw['maxProperties'])}")
        if raw.get("minProperties"):
            self.write_failure(f"len({var}) < {int(raw['minProperties'])}")

    def write_enum(self, node: Node, var: str, kind: str) -> None:
        """Write the check of an enum: strings against a set of strings, other values by Go's conversions."""
        allowed = node.enum
        if allowed is None:
            return
        texts = allowed.texts if kind == "str" else None
        if texts is not None:
            self.write_failure(f"{var} not in {self.add_constant('E', texts)}")
        else:
            self.write_failure(f"not {self.add_constant('G', allowed.allows)}({var})", _EXACT_LINES)

    def write_required(self, names: list[str], var: str) -> None:
        """Write the check of required fields."""
        if len(names) > MAX_INLINE:
            self.write_failure(f"not {self.add_constant('N', frozenset(names))} <= {var}.keys()", len(names))
            return
        for name in names:
            self.write_failure(f"{name!r} not in {var}")

    def reads_metadata(self, node: Node) -> bool:
        """Return whether rules of a whole object can depend on its metadata."""
        metadata = node.find_child("metadata") if "metadata" in node.properties else None
        return self.has_logic(node) or (metadata is not None and sets_any(metadata, _MORE_THAN_TYPE))

    def has_logic(self, node: Node) -> bool:
        """Return whether the node has enum, allOf, anyOf, oneOf or not."""
        return any(node.raw.get(name) for name in ("enum", "allOf", "anyOf", "oneOf")) or node.not_node is not None

    def is_plain_int_or_string(self, node: Node, kind: str) -> bool:
        """Return whether the only logic is the anyOf of int-or-string, which the check of the class covers."""
        raw = node.raw
        int_or_string = [{"type": "integer"}, {"type": "string"}]
        other_logic = any(raw.get(name) for name in ("allOf", "oneOf")) or node.not_node is not None
        return node.int_or_string and bool(node.types) and raw.get("anyOf") == int_or_string and not other_logic

    def test_fields(self, node: Node, var: str, kind: str) -> str:
        """Return an alternative that only requires fields as an expression; "" if it does more."""
        raw = node.raw
        rules = {name for name in _RULES if raw.get(name) not in (None, "", [], {})}
        if kind != "dict":
            return ""
        if rules == {"required"} and len(raw["required"]) <= MAX_INLINE:
            return "(" + " and ".join(f"{name!r} in {var}" for name in raw["required"]) + ")"
        if rules == {"not"}:
            forbidden = node.not_node
            condition = (
                self.test_fields(forbidden, var, kind)
                if forbidden is not None and count_nodes(raw, MAX_INLINE) <= MAX_INLINE
                else ""
            )
            return f"(not {condition})" if condition else ""
        if rules in ({"anyOf"}, {"allOf"}) and count_nodes(raw, MAX_INLINE) <= MAX_INLINE:
            name = rules.pop()
            conditions = [self.test_fields(branch, var, kind) for branch in node.list_branches(name)]
            return "(" + (" or " if name == "anyOf" else " and ").join(conditions) + ")" if all(conditions) else ""
        return ""


class _Compiled(Protocol):
    """A compiled node: compile.NodeFunction."""

    run: Callable[[Any], bool]


def _count_valid(functions: tuple[_Compiled, ...], value: Any, limit: int) -> int:
    """Return how many functions accept a value; stops at `limit`."""
    result = 0
    for index, function in enumerate(functions):
        if not index % _BRANCHES_PER_CHARGE:
            charge(_BRANCHES_PER_CHARGE * CALL // PER_STEP)
        if function.run(value):
            result += 1
            if result == limit:
                break
    return result


def _are_all_valid(functions: tuple[_Compiled, ...], value: Any) -> bool:
    for index, function in enumerate(functions):
        if not index % _BRANCHES_PER_CHARGE:
            charge(_BRANCHES_PER_CHARGE * CALL // PER_STEP)
        if not function.run(value):
            return False
    return True


# the names that generated code can use
NAMES: dict[str, Any] = {
    "CONTAINERS": CONTAINERS,
    "holds_containers": holds_containers,
    "has_unknown": has_unknown_container,
    "unique": lists.are_unique,
    "resource": embedded.is_clean,
    "inf": float("inf"),
    "different": lambda items: not lists.find_repeated(items, exact=True),
    "charge": charge,
    "take": defaulting.take_bytes,
    "undecided": defaulting.leave_undecided,
    "add": defaulting.add_defaults,
    "holds": _count_valid,
    "every": _are_all_valid,
}
