"""Evaluates one rule on one object, and each part of the rule; for loops with each item."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from podless.cel import gotimes, library, macros, program, types
from podless.cel.errors import CelError
from podless.cel.formatter import find_optional_bind, format_expression
from podless.cel.program import LIMIT, Program
from podless.cel.schematypes import Decl, SchemaTypes
from podless.cel.syntax import CallExpr, Comprehension, Expr, Ident, LiteralExpr, Select
from podless.cel.types import Type
from podless.cel.values import Duration, Optional, Timestamp
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object
from podless.runtime.release import ALL_ON, Release

_MAX_ITEMS = 5  # maximum items of a loop to show
_MAX_VALUE_TEXT = 200  # maximum characters of a value to show
_LOGIC = ("_&&_", "_||_")


@dataclass(frozen=True, slots=True)
class EvaluationStep:
    """A part of the expression. depth: levels of nesting. value: as text. error: why there is no value, or ""."""

    depth: int
    text: str
    value: str
    error: str = ""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The result of a rule. type: of its value. cost: actual. estimate: the maximum. steps: its parts."""

    value: Any
    error: str
    type: str
    cost: int
    estimate: int
    steps: tuple[EvaluationStep, ...]


def evaluate_rule(
    rule: str,
    obj: Any,
    old: Any = None,
    schema: Object | None = None,
    *,
    complete: bool = True,
    new: Release = ALL_ON,
) -> Evaluation:
    """Evaluate a rule with an object as self, and the old object as oldSelf.

    schema: the openAPIV3Schema of the object; without one, types are not checked. complete: the object has metadata.
    new: the release for a new rule. Raises CompileError or ProgramError for an invalid rule.
    """
    declared = SchemaTypes(schema or {}, resource=schema is not None and complete)
    root = declared.root
    names: dict[str, Type] = {"self": root.type if root is not None else types.DYN}
    values: dict[str, Any] = {"self": obj}
    if old is not None:
        names["oldSelf"], values["oldSelf"] = names["self"], old
    decls: dict[str, Decl | None] = dict.fromkeys(names, root)
    new = library.reduce_release(new)
    tree = program.analyze_source(rule, names, library.kubernetes_libraries(new), declared, macros.select_macros(new))
    compiled = Program(rule, tree, library.kubernetes_libraries(), decls)
    compiled.check_constants()
    steps = tuple(_StepCollector(_EvaluationScope(decls, values)).collect_steps(tree, 0))
    value, cost, error = None, 0, ""
    try:
        value, cost = compiled.run(*values.values(), limit=LIMIT)
    except CelError as failed:
        cost, error = getattr(failed, "cost", 0), str(failed)
    return Evaluation(value, error, str(tree.type), cost, compiled.estimate().high, steps)


@dataclass(frozen=True, slots=True)
class _EvaluationScope:
    """The variables that are in scope for a part of the expression."""

    decls: Mapping[str, Decl | None]
    values: Mapping[str, Any]

    def evaluate_node(self, node: Expr) -> Any:
        """Evaluate a part. Raises CelError."""
        program = Program("", node, library.kubernetes_libraries(), self.decls)
        return program.run(*self.values.values(), limit=LIMIT)[0]

    def with_variable(self, name: str, value: Any) -> _EvaluationScope:
        """Return the scope with one more variable. value: a CEL value."""
        return _EvaluationScope({**self.decls, name: None}, {**self.values, name: value})


class _StepCollector:
    """Collects the parts of an expression, each before its own parts and only once."""

    def __init__(self, scope: _EvaluationScope, seen: frozenset[str] = frozenset()) -> None:
        self.scope = scope
        self.seen = set(seen)

    def collect_steps(self, node: Expr, depth: int) -> Iterator[EvaluationStep]:
        """Yield an expression and its parts."""
        text = format_expression(node)
        if isinstance(node, LiteralExpr) or text in self.seen:
            return
        self.seen.add(text)
        step = self.evaluate_step(text, node, depth)
        yield step
        if isinstance(node, Comprehension):
            yield from self.collect_loop(node, depth)
        elif isinstance(node, CallExpr) and (bound := find_optional_bind(node)) is not None:
            yield from self.collect_loop(bound, depth)
        elif step.error or not _is_field_path(node):
            for child in _list_operands(node, node) if isinstance(node, CallExpr) else node.list_children():
                yield from self.collect_steps(child, depth + 1)

    def collect_loop(self, node: Comprehension, depth: int) -> Iterator[EvaluationStep]:
        """Yield the range of a loop, then its body for each item; for cel.bind, the value, then the result."""
        source = node.init if node.macro == "bind" else node.iter_range
        yield from self.collect_steps(source, depth + 1)
        try:
            range_value = self.scope.evaluate_node(source)
        except CelError:
            return
        if node.macro == "bind":
            scope = self.scope.with_variable(node.accu, range_value)
            yield from _StepCollector(scope, frozenset(self.seen)).collect_steps(node.result, depth + 1)
            return
        for index, item in enumerate(range_value):
            if index == _MAX_ITEMS:
                yield EvaluationStep(depth + 1, "...", f"{len(range_value) - _MAX_ITEMS} more")
                return
            scope = self.scope
            for name, value in _bind_loop_variables(node, range_value, index, item):
                scope = scope.with_variable(name, value)
                yield EvaluationStep(depth + 1, name, format_value(value))
            body_collector = _StepCollector(scope, frozenset(self.seen) | {node.var, node.var2})
            if node.filter is not None:
                yield from body_collector.collect_steps(node.filter, depth + 2)
            yield from body_collector.collect_steps(node.body, depth + 2)

    def evaluate_step(self, text: str, node: Expr, depth: int) -> EvaluationStep:
        try:
            return EvaluationStep(depth, text, format_value(self.scope.evaluate_node(node)))
        except CelError as error:
            return EvaluationStep(depth, text, "", str(error))


def _is_field_path(node: Expr) -> bool:
    """Return whether an expression is only a path of fields, so that its parts need not be shown."""
    while isinstance(node, Select):
        node = node.operand
    return isinstance(node, Ident)


def _list_operands(node: Expr, chain: CallExpr) -> Iterator[Expr]:
    """Yield the operands of an operation; for a chain of && or ||, those of all its operations."""
    if isinstance(node, CallExpr) and (node is chain or (node.function == chain.function and chain.function in _LOGIC)):
        for child in node.list_children():
            yield from _list_operands(child, chain)
    else:
        yield node


def _bind_loop_variables(node: Comprehension, range_value: Any, index: int, item: Any) -> list[tuple[str, Any]]:
    """Return the variables of a loop for one item: names and values."""
    if not node.var2:
        return [(node.var, item)]
    if isinstance(range_value, dict):
        return [(node.var, item), (node.var2, range_value[item])]
    return [(node.var, index), (node.var2, item)]


def format_value(value: Any) -> str:
    """Format a value as JSON, shortened; values without a JSON form as CEL."""
    text = _format_written(value)
    return text if len(text) <= _MAX_VALUE_TEXT else text[: _MAX_VALUE_TEXT - 3] + "..."


def _format_written(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_format_written(key)}: {_format_written(item)}' for key, item in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_format_written, value))}]"
    if isinstance(value, Optional):
        return f"optional.of({_format_written(value.value)})" if value.present else "optional.none()"
    if isinstance(value, Timestamp):
        return f'timestamp("{gotimes.format_timestamp(value)}")'
    if isinstance(value, Duration):
        return f'duration("{gotimes.format_duration(value)}")'
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str | int | float | None) else repr(value)
