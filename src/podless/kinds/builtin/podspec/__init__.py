"""PodSpec, the part that pods and all that makes pods share: its defaults."""

from __future__ import annotations

from podless.kinds.builtin.podspec.defaults import (
    default_claim_spec,
    default_pod,
    default_pod_spec,
    default_pod_template,
)

__all__ = ["default_claim_spec", "default_pod", "default_pod_spec", "default_pod_template"]
