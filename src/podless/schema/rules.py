"""x-kubernetes-validations: the form of rules, and the protocol of the language that compiles them (CEL)."""

from __future__ import annotations

import re
from typing import Any, Protocol

from podless.meta import field
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Schema
from podless.runtime.meter import each
from podless.schema import fieldpath
from podless.schema.node import Node

_REASONS = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")


class Expressions(Protocol):
    """Compiles rules. Without it, only their form is checked."""

    def declared(self, schema: Schema, path: str, above: tuple[Schema, ...]) -> list[FieldError]:
        """Return the errors of the rules of one node of a valid schema. above: its ancestors, the root first."""
        ...

    def default(self, schema: Schema, path: str, value: Any) -> list[FieldError]:
        """Return the errors of the rules that a default value breaks, at a node and below."""
        ...

    def total(self, schema: Schema, path: str) -> list[FieldError]:
        """Return the errors of all rules of the schema together, such as their total cost."""
        ...


def validate_rules(schema: Schema, path: str) -> list[FieldError]:
    """Validate the form of a node's rules."""
    errors: list[FieldError] = []
    for index, item in enumerate(each(schema.get("x-kubernetes-validations") or ())):
        errors += _rule(schema, item, f"{path}.x-kubernetes-validations[{index}]")
    return errors


def _rule(schema: Schema, item: Schema, path: str) -> list[FieldError]:
    errors = _texts(item, path)
    expression = item.get("messageExpression") or ""
    if expression and not expression.strip():
        text = "messageExpression must be non-empty if specified"
        errors.append(field.required(f"{path}.messageExpression", text))
    if item.get("reason") is not None and item["reason"] not in _REASONS:
        errors.append(field.not_supported(f"{path}.reason", item["reason"], _REASONS))
    where = item.get("fieldPath") or ""
    at = f"{path}.fieldPath"
    if where and not where.strip():
        errors.append(field.invalid(at, where, "must be non-empty if specified"))
    if _broken(where):
        errors.append(field.invalid(at, where, "must not contain line breaks"))
    if where:
        try:
            fieldpath.parse_fieldpath(where, Node(schema))
        except ValueError:
            errors.append(field.invalid(at, where, "must be a valid path"))
    return errors


def _texts(item: Schema, path: str) -> list[FieldError]:
    rule, message = (item.get("rule") or "").strip(), item.get("message") or ""
    at = f"{path}.message"
    if not rule:
        return [field.required(f"{path}.rule", "rule is not specified")]
    if message and not message.strip():
        return [field.invalid(at, message, "must be non-empty if specified")]
    if _broken(message.strip()):
        return [field.invalid(at, message, "must not contain line breaks")]
    if _broken(rule) and not message.strip():
        return [field.required(at, "message must be specified if rule contains line breaks")]
    return []


def _broken(text: str) -> bool:
    return re.search(r"[\n\r]", text) is not None
