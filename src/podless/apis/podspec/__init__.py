"""PodSpec, common to pods and workloads: defaults, validation and warnings."""

from __future__ import annotations

from podless.apis.podspec.claims import validate_claim_spec
from podless.apis.podspec.defaults import (
    default_claim_spec,
    default_pod,
    default_pod_spec,
    default_pod_template,
    default_requests,
)
from podless.apis.podspec.disabled import drop_disabled
from podless.apis.podspec.template import validate_pod_template, validate_template_marks
from podless.apis.podspec.warnings import warn_of_claim_spec, warn_of_template

__all__ = [
    "default_claim_spec",
    "default_pod",
    "default_pod_spec",
    "default_pod_template",
    "default_requests",
    "drop_disabled",
    "validate_claim_spec",
    "validate_pod_template",
    "validate_template_marks",
    "warn_of_claim_spec",
    "warn_of_template",
]
