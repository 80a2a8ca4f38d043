"""The fields of a validation rule in Go, for error texts."""

from __future__ import annotations

# name in Go, name in JSON, and how Go formats a missing value
RULE = (
    ("Rule", "rule", ""),
    ("Message", "message", ""),
    ("MessageExpression", "messageExpression", ""),
    ("Reason", "reason", None),
    ("FieldPath", "fieldPath", ""),
    ("OptionalOldSelf", "optionalOldSelf", None),
)

# fields that are pointers in Go, with their types
RULE_POINTERS = {"Reason": "apiextensions.FieldValueErrorReason", "OptionalOldSelf": "bool"}
