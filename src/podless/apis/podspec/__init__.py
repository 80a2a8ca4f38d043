"""PodSpec, common to pods and workloads: defaults, validation and warnings."""

from __future__ import annotations

from podless.apis.podspec.claims import validate_claim_spec as claim_errors
from podless.apis.podspec.defaults import default_claim_spec, default_pod, default_pod_spec, default_pod_template
from podless.apis.podspec.disabled import drop_disabled
from podless.apis.podspec.template import validate_pod_template, validate_template_marks
from podless.apis.podspec.warnings import claim_spec as claim_spec_warnings
from podless.apis.podspec.warnings import warn_of_template as pod_template_warnings

__all__ = [
    "claim_errors",
    "claim_spec_warnings",
    "default_claim_spec",
    "default_pod",
    "default_pod_spec",
    "default_pod_template",
    "drop_disabled",
    "pod_template_warnings",
    "validate_pod_template",
    "validate_template_marks",
]
