"""Evaluates the rules of a schema for an object: which rules run, in which order, and their error texts."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from podless.cel.convert import convert_container, convert_value
from podless.cel.correlation import ItemsByKey, ValuePair, list_map_keys
from podless.cel.errors import CostExceeded, EvaluationError, NoOverload
from podless.cel.program import LIMIT
from podless.cel.rules.rule import RULES, RuleError, ValidationRule, compile_rule
from podless.cel.schematypes import SchemaTypes
from podless.cel.values import NONE, Optional
from podless.codec import gotext
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Schema
from podless.runtime.lazy import compile_late
from podless.runtime.memo import fill_attribute
from podless.runtime.meter import charge
from podless.runtime.release import has

# maximum cost of all rules for one object
BUDGET = 10_000_000
_STEP_COST = 16  # units of cost per step
_FREE_STEPS = 64  # steps that need no charge: a charge takes as long as some of them
_LONGEST_MESSAGE = 5 * 1024
_COMPILE_STEPS = 2000  # steps for compiling a rule: it takes as long as walking this many items
_NO_MORE_RULES = "no further validation rules will be run"
_BUDGET_MESSAGE = f"validation failed due to running out of cost budget, {_NO_MORE_RULES}"
_MESSAGE_BUDGET = f"messageExpression evaluation failed due to running out of cost budget, {_NO_MORE_RULES}"
_NO_FIELDS: Schema = {}
_PATH_STEP = compile_late(r"\[\s*'((?:[^'\\]|\\.)*)'\s*\]|\.([^.\[\]]+)")
_CLASSES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}
_ALL_CLASSES = (str, int, float, bool, list, dict)
_ABSENT = object()  # the value of a variable that has none


class _BudgetSpent(Exception):
    """The budget is used up, and no further rule runs."""


class NodeRules:
    """The rules of one schema node and its descendants. Compiled at first use.

    has_rules: the node itself has rules. has_rules_below: a descendant has rules. has_any: either is true.
    """

    __slots__ = (
        "_compiled", "_plain", "additional", "classes", "has_any", "has_rules", "has_rules_below", "items", "kind",
        "properties", "resource", "schema", "with_floats",
    )  # fmt: skip

    def __init__(self, schema: Schema, resource: bool, with_floats: bool = False) -> None:
        self.schema = schema
        self.has_rules = bool(schema.get(RULES))
        self.kind = gotext.quote(schema.get("type") or "")
        # the Python classes of values that match this node's type
        is_mixed = schema.get("x-kubernetes-int-or-string")
        self.classes = (int, str) if is_mixed else _CLASSES.get(schema.get("type") or "", _ALL_CLASSES)
        self.resource = resource
        self.with_floats = with_floats
        self._compiled: list[tuple[ValidationRule, str]] | None = None
        self._plain: bool | None = None
        self.items = _make_node(schema.get("items"), with_floats)
        self.additional = _make_node(schema.get("additionalProperties"), with_floats)
        children = (schema.get("properties") or {}).items()
        self.properties = {
            name: node for name, child in children if (node := _make_node(child, with_floats)) is not None
        }
        self.has_rules_below = bool(self.items or self.additional or self.properties)
        self.has_any = self.has_rules or self.has_rules_below

    @classmethod
    def compile(cls, schema: Schema, *, resource: bool = True, with_floats: bool = False) -> NodeRules:
        """Return the rules of an openAPIV3Schema. resource: it is the schema of a whole object.

        with_floats: objects can have floats such as 1.0 for 1; rules fail to read such a field.
        """
        return cls(schema, resource, with_floats)

    def validate(
        self,
        obj: Any,
        old: Any = None,
        *,
        path: str = "",
        ratchet: bool | None = None,
        warnings: list[str] | None = None,
        budget: int = BUDGET,
    ) -> list[FieldError]:
        """Return the errors of the rules that a decoded, pruned and defaulted object violates.

        old: the object before the update, for transition rules. ratchet: errors of unchanged parts become warnings
        (default: on an update of a whole object). warnings: such warnings are added to it. path: of the value. budget:
        the maximum cost of all rules together.
        """
        if not self.has_any:
            return []
        if ratchet is None:
            ratchet = old is not None and not path
        pair = ValuePair(obj, old, self.schema) if ratchet and old is not None else None
        evaluation = _RuleEvaluation(budget, path, pair, warnings)
        try:
            if obj is not None:
                evaluation.evaluate_node(self, obj, old, None)
        except _BudgetSpent:
            pass
        return evaluation.errors

    def compile_rules(self) -> list[tuple[ValidationRule, str]]:
        """Return the rules of this node, each with the field name of its errors."""
        return self._compiled if self._compiled is not None else fill_attribute(self, "_compiled", self._compile_rules)

    def are_plain(self) -> bool:
        """Return whether all rules of this node look only at the new value."""
        if self._plain is not None:
            return self._plain
        return fill_attribute(self, "_plain", lambda: all(rule.is_plain for rule, _ in self.compile_rules()))

    def _compile_rules(self) -> list[tuple[ValidationRule, str]]:
        rules = self.schema.get(RULES) or ()
        declared = SchemaTypes(self.schema, resource=self.resource, with_floats=self.with_floats) if rules else None
        if declared is None or declared.root is None:
            return []
        result = []
        for rule in rules:
            charge(_COMPILE_STEPS)
            result.append((compile_rule(rule, declared), format_field_path(rule.get("fieldPath") or "", self.schema)))
        return result

    def compile_all(self) -> None:
        """Compile the rules of this node and of all its descendants."""
        todo = [self]
        while todo:
            node_rules = todo.pop()
            for rule, _ in node_rules.compile_rules():
                for program in (rule.program, rule.message):
                    if program is not None:
                        program.complete()
            todo.extend(node_rules.properties.values())
            todo.extend(node for node in (node_rules.items, node_rules.additional) if node is not None)

    def fits_type(self, value: Any) -> bool:
        """Return whether the Python class of a value matches this node's type."""
        return value.__class__ in self.classes

    @property
    def uses_old(self) -> bool:
        """Whether a rule of this node uses oldSelf."""
        return any(rule.uses_old_self for rule, _ in self.compile_rules())


def _make_node(schema: Any, with_floats: bool) -> NodeRules | None:
    """Return the rules at and below a node, or None."""
    if not isinstance(schema, dict):
        return None
    if RULES in schema or "properties" in schema or "items" in schema or "additionalProperties" in schema:
        rules = NodeRules(schema, bool(schema.get("x-kubernetes-embedded-resource")), with_floats)
        return rules if rules.has_any else None
    return None


# where a value is: the location of its parent, its name or index, and whether it is a declared field; None for the root
_Location = tuple["_Location", str | int, bool] | None


class _RuleEvaluation:
    """The evaluation of all rules for one object. path: of the object. pair: the object with its former state.

    uncharged: steps since the last charge.
    """

    __slots__ = ("budget", "errors", "pair", "path", "uncharged", "warnings")

    def __init__(self, budget: int, path: str, pair: ValuePair | None, warnings: list[str] | None) -> None:
        self.budget = budget
        self.uncharged = 0
        self.path = path
        self.pair = pair
        self.errors: list[FieldError] = []
        self.warnings = warnings

    def evaluate_node(self, rules: NodeRules, obj: Any, old: Any, location: _Location) -> None:
        """Evaluate the rules of a node, then those of its children."""
        if rules.has_rules:
            self.evaluate_rules(rules, obj, old, location)
        if not rules.has_rules_below:
            return
        if isinstance(obj, dict):
            before = old if isinstance(old, dict) else _NO_FIELDS
            if rules.additional is not None:
                charge(len(obj))
                for name, item in obj.items():
                    if item is not None:
                        self.evaluate_node(rules.additional, item, before.get(name), (location, name, False))
            for name, child_rules in rules.properties.items():
                if (item := obj.get(name)) is not None:
                    self.evaluate_node(child_rules, item, before.get(name), (location, name, True))
        elif isinstance(obj, list) and rules.items is not None:
            old_items = ItemsByKey(list_map_keys(rules.schema), old)
            charge(len(obj))
            for index, item in enumerate(obj):
                if item is not None:
                    self.evaluate_node(rules.items, item, old_items.get(item), (location, index, False))

    def evaluate_rules(self, rules: NodeRules, obj: Any, old: Any, location: _Location) -> None:
        compiled = rules.compile_rules()
        budget_before = self.budget
        if budget_before <= 0:
            self.errors.append(RuleError("FieldValueInvalid", self.find_path(location), rules.kind, _BUDGET_MESSAGE))
            raise _BudgetSpent
        runs_plain = obj.__class__ in rules.classes and rules.are_plain()
        for rule, field_path in compiled:
            if rule.error:
                text = f"rule compile error: {rule.error}"
                self.errors.append(RuleError("FieldValueInvalid", self.find_path(location), rules.kind, text))
            elif runs_plain and rule.program is not None:
                if not self.run_rule(rule, rule.program.run, obj, _ABSENT, location, rules.kind):
                    self.report_violation(rule, rules, obj, old, location, field_path)
            elif (
                rule.program is not None
                and (old is not None or rule.has_optional_old or not rule.uses_old_self)
                and not self.evaluate_rule(rule, rules, obj, old, location)
            ):
                self.report_violation(rule, rules, obj, old, location, field_path)
        uncharged = self.uncharged + len(compiled) + (budget_before - self.budget) // _STEP_COST
        if uncharged > _FREE_STEPS:
            charge(uncharged)
            uncharged = 0
        self.uncharged = uncharged

    def find_path(self, location: _Location) -> str:
        """Return the path of a value for error texts."""
        if location is None:
            return self.path or "<nil>"
        parent, name, is_field = location
        path = self.find_path(parent) if parent is not None else self.path
        if not is_field:
            return f"{path}[{name}]"
        return f"{path}.{name}" if path else str(name)

    def find_pair(self, location: _Location) -> ValuePair | None:
        """Return the pair of a value, or the closest one above it."""
        steps = []
        while location is not None:
            steps.append(location)
            location = location[0]
        pair = nearest = self.pair
        for parent, name, is_field in reversed(steps):
            if parent is None and is_field and name in ("apiVersion", "kind"):
                return None
            if pair is not None:
                pair = pair.pair_item(name) if isinstance(name, int) else pair.pair_field(name)
                nearest = pair or nearest
        return nearest

    def evaluate_rule(self, rule: ValidationRule, rules: NodeRules, obj: Any, old: Any, location: _Location) -> bool:
        """Evaluate a rule. Return True if it holds, or if its failed evaluation has been reported."""
        old_self: Any = old if old is not None else _ABSENT
        assert rule.program is not None
        run = rule.program.run
        if not rules.fits_type(obj) or (rule.uses_old_self and old is not None and not rules.fits_type(old)):
            run = rule.program.run_exact  # a ratcheted value can have a type from before a change of the schema
        if rule.has_optional_old:
            try:
                old_self = self.make_old_self(rule, rules, obj, old)
            except EvaluationError as error:
                self.report_failure(error, rule, location, rules.kind)
                return True
            if old is not None and not rules.are_plain():
                run = rule.program.run_exact
        return self.run_rule(rule, run, obj, old_self, location, rules.kind)

    def run_rule(
        self,
        rule: ValidationRule,
        run: Callable[..., tuple[Any, int]],
        obj: Any,
        old_self: Any,
        location: _Location,
        kind: str,
    ) -> bool:
        """Evaluate a rule as `evaluate_rule` does, with `old_self` as oldSelf."""
        try:
            result, cost = run(obj, old_self, limit=LIMIT)
        except EvaluationError as error:
            self.report_failure(error, rule, location, kind)
            return True
        if cost > self.budget:
            self.spend_cost(cost, location, kind)
        self.budget -= cost
        return result is True

    def report_failure(self, error: EvaluationError, rule: ValidationRule, location: _Location, kind: str) -> None:
        """Report a failed evaluation. Raises _BudgetSpent if no further rule may run."""
        exceeded = isinstance(error, CostExceeded)
        if not exceeded or error.cost > self.budget:
            self.spend_cost(error.cost, location, kind)
        if isinstance(error, NoOverload):
            reason = "call arguments did not match a supported operator, function or macro signature for rule"
            text = f"'{error}': {reason}: {rule.text}"
        elif exceeded:
            text = f"'{error}': {_NO_MORE_RULES} due to call cost exceeds limit for rule: {rule.text}"
        else:
            text = f"{error} evaluating rule: {rule.text}"
        self.errors.append(RuleError("FieldValueInvalid", self.find_path(location), kind, text))
        if exceeded:
            raise _BudgetSpent from None

    def make_old_self(self, rule: ValidationRule, rules: NodeRules, obj: Any, old: Any) -> Optional:
        """Return the old value as an optional.

        Raises EvaluationError if it has another type and the rule would use it.
        """
        if old is None:
            return NONE
        try:
            return Optional(_unwrap_old(rules, old))
        except EvaluationError as error:
            if not rule.uses_old_self or not rules.fits_type(obj):
                return NONE  # no rule uses it, or an earlier part of the rule fails anyway
            raise EvaluationError(f"unsupported conversion to ref.Val: (*errors.errorString){error}") from None

    def spend_cost(self, cost: int, location: _Location, kind: str) -> None:
        """Subtract a cost from the budget. Raises _BudgetSpent if that is used up."""
        if cost > self.budget:
            self.errors.append(RuleError("FieldValueInvalid", self.find_path(location), kind, _BUDGET_MESSAGE))
            raise _BudgetSpent
        self.budget -= cost

    def report_violation(
        self, rule: ValidationRule, rules: NodeRules, obj: Any, old: Any, location: _Location, field_path: str
    ) -> None:
        """Report a rule that is violated. field_path: the field of the value that it is about."""
        kind, nearest, path = rules.kind, self.find_pair(location), self.find_path(location)
        if field_path:
            path = f"{path}.{field_path}" if location is not None or self.path else field_path
        forgiven = not rule.uses_old_self and nearest is not None and nearest.is_unchanged()
        detail, fatal = self.evaluate_message(rule, rules, obj, old)
        if fatal:
            self.add_error(RuleError("FieldValueInvalid", path, kind, fatal), forgiven)
            raise _BudgetSpent
        value: str | None = kind
        if has("CELShownValues"):
            value = None if rules.schema.get("type") in ("object", "array") else gotext.format_value(obj)
        reason = rule.spec.get("reason") or "FieldValueInvalid"
        if reason == "FieldValueDuplicate":
            detail = ""
        self.add_error(RuleError(reason, path, value, detail), forgiven)

    def add_error(self, error: FieldError, forgiven: bool) -> None:
        if not forgiven:
            self.errors.append(error)
        elif self.warnings is not None:
            self.warnings.append(str(error))

    def evaluate_message(self, rule: ValidationRule, rules: NodeRules, obj: Any, old: Any) -> tuple[str, str]:
        """Return the message of a violated rule, and why no further rule may run, "" if one may."""
        if rule.message is None:
            return rule.failure_text, ""
        old_self = old if rules.uses_old and old is not None else _ABSENT
        try:
            text, cost = rule.message.run(obj, old_self, limit=LIMIT)
        except EvaluationError as error:
            if error.cost > self.budget:
                return "", _MESSAGE_BUDGET
            if isinstance(error, CostExceeded):
                source = gotext.quote(rule.spec["messageExpression"])
                return "", f"{_NO_MORE_RULES} due to call cost exceeds limit for messageExpression: {source}"
            self.budget -= error.cost
            return rule.failure_text, ""
        if cost > self.budget:
            return "", _MESSAGE_BUDGET
        self.budget -= cost
        return (_clean_message(text) or rule.failure_text), ""


def _clean_message(text: Any) -> str:
    """Return a message if it is usable, or ""."""
    if not isinstance(text, str):
        return ""
    text = text.strip(gotext.SPACE)
    return "" if "\n" in text or len(text.encode("utf-8", "replace")) > _LONGEST_MESSAGE else text


def _unwrap_old(rules: NodeRules, value: Any) -> Any:
    """Return the CEL value in an optional oldSelf. cel-go unwraps it to JSON: parts of a list or map have no schema."""
    root = SchemaTypes(rules.schema, resource=rules.resource).root
    assert root is not None
    return convert_container(root, value) if root.kind in ("list", "map", "object") else convert_value(root, value)


def format_field_path(text: str, schema: Schema) -> str:
    """Return a fieldPath as error texts show it: .a.b as a.b, ['k'] in a map as [k]; "" for none."""
    path = ""
    node: Any = schema
    for step in _PATH_STEP.finditer(text):
        name = step[2] if step[2] is not None else re.sub(r"\\(.)", r"\1", step[1])
        properties = node.get("properties") if isinstance(node, dict) else None
        if properties is not None:
            path = f"{path}.{name}" if path else name
            node = properties.get(name)
        else:
            path = f"{path}[{name}]"
            node = node.get("additionalProperties") if isinstance(node, dict) else None
    return path
