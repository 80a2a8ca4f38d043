"""The kinds of admissionregistration.k8s.io: what the server fills in, and what they must obey.

All functions take objects that were decoded by the structs of admissionregistration.k8s.io.
"""

from podless.kinds.admission.bindings import check_binding
from podless.kinds.admission.policies import check_mutating, check_status, check_validating
from podless.kinds.admission.rules import load_expressions
from podless.kinds.admission.webhooks import check_webhooks, fill_webhooks

__all__ = [
    "check_binding",
    "check_mutating",
    "check_status",
    "check_validating",
    "check_webhooks",
    "fill_webhooks",
    "load_expressions",
]
