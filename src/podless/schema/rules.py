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

    def declared(self, schema: Schema, path: str, ancestors: tuple[Schema, ...]) -> list[FieldError]:
        """Return the errors of the rules of one node of a valid schema. ancestors: its ancestors, the root first."""
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
        errors += _validate_rule(schema, item, f"{path}.x-kubernetes-validations[{index}]")
    return errors


def _validate_rule(schema: Schema, item: Schema, path: str) -> list[FieldError]:
    errors = _validate_texts(item, path)
    expression = item.get("messageExpression") or ""
    if expression and not expression.strip():
        text = "messageExpression must be non-empty if specified"
        errors.append(field.required(f"{path}.messageExpression", text))
    if item.get("reason") is not None and item["reason"] not in _REASONS:
        errors.append(field.not_supported(f"{path}.reason", item["reason"], _REASONS))
    field_path = item.get("fieldPath") or ""
    error_path = f"{path}.fieldPath"
    if field_path and not field_path.strip():
        errors.append(field.invalid(error_path, field_path, "must be non-empty if specified"))
    if _has_line_break(field_path):
        errors.append(field.invalid(error_path, field_path, "must not contain line breaks"))
    if field_path:
        try:
            fieldpath.parse_fieldpath(field_path, Node(schema))
        except ValueError:
            errors.append(field.invalid(error_path, field_path, "must be a valid path"))
    return errors


def _validate_texts(item: Schema, path: str) -> list[FieldError]:
    rule, message = (item.get("rule") or "").strip(), item.get("message") or ""
    at = f"{path}.message"
    if not rule:
        return [field.required(f"{path}.rule", "rule is not specified")]
    if message and not message.strip():
        return [field.invalid(at, message, "must be non-empty if specified")]
    if _has_line_break(message.strip()):
        return [field.invalid(at, message, "must not contain line breaks")]
    if _has_line_break(rule) and not message.strip():
        return [field.required(at, "message must be specified if rule contains line breaks")]
    return []


def _has_line_break(text: str) -> bool:
    return re.search(r"[\n\r]", text) is not None
