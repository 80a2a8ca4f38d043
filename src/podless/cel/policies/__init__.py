"""Expressions of admission policies and of match conditions of webhooks.

`Environment` declares variables and compiles expressions; `Activation` evaluates them for one request, within its
budget. Objects are plain decoded JSON. Source: k8s.io/apiserver pkg/admission/plugin/cel, and recorded answers.
"""

from podless.cel.policies.activation import BUDGET, Activation, ExpressionFailure, OutOfBudget
from podless.cel.policies.authorizer import AccessCheck, AccessDecision, AuthorizerValue
from podless.cel.policies.environment import (
    BOOL,
    JSON_PATCHES,
    OBJECT,
    STRING,
    TEXT_OR_NULL,
    Environment,
    Expression,
    TypedEnvironment,
)
from podless.cel.policies.mutation import TypeMismatch, apply_message, collect_container_ids, make_patch_operations

__all__ = [
    "BOOL",
    "BUDGET",
    "JSON_PATCHES",
    "OBJECT",
    "STRING",
    "TEXT_OR_NULL",
    "AccessCheck",
    "AccessDecision",
    "Activation",
    "AuthorizerValue",
    "Environment",
    "Expression",
    "ExpressionFailure",
    "OutOfBudget",
    "TypeMismatch",
    "TypedEnvironment",
    "apply_message",
    "collect_container_ids",
    "make_patch_operations",
]
