"""The fields of a validation rule, which error texts show in the form that they have in Go."""

from __future__ import annotations

# name in Go, name in JSON, what Go shows of one that is not given
RULE = (
    ("Rule", "rule", ""),
    ("Message", "message", ""),
    ("MessageExpression", "messageExpression", ""),
    ("Reason", "reason", None),
    ("FieldPath", "fieldPath", ""),
    ("OptionalOldSelf", "optionalOldSelf", None),
)

# the types of those that are pointers
RULE_POINTERS = {"Reason": "apiextensions.FieldValueErrorReason", "OptionalOldSelf": "bool"}
