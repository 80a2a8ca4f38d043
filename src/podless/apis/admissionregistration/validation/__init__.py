"""Defaults and validation of the kinds of admissionregistration.k8s.io.

All functions take objects that were decoded by the structs of admissionregistration.k8s.io.
"""

from podless.apis.admissionregistration.validation.policies import (
    check_binding,
    check_mutating,
    check_status,
    check_validating,
)
from podless.apis.admissionregistration.validation.rules import load_expressions
from podless.apis.admissionregistration.validation.webhooks import check_webhooks, fill_webhooks

__all__ = [
    "check_binding",
    "check_mutating",
    "check_status",
    "check_validating",
    "check_webhooks",
    "fill_webhooks",
    "load_expressions",
]
