"""Defaults, validation and status of CustomResourceDefinitions.

All functions take definitions that were decoded by the CUSTOM_RESOURCE_DEFINITION struct; `beta` converts those of
v1beta1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from podless.runtime import lazy

if TYPE_CHECKING:
    from podless.apis.apiextensions.definition.conversions import warn_of_conversions
    from podless.apis.apiextensions.definition.fill import prepare_create, prepare_update, set_defaults
    from podless.apis.apiextensions.definition.schemas import warn_of_formats
    from podless.apis.apiextensions.definition.status import (
        accepted_names,
        find_condition,
        has_accepted_names,
        is_true,
        set_approval,
        set_condition,
        set_structural,
    )
    from podless.apis.apiextensions.definition.validate import validate_create, validate_status_update, validate_update
    from podless.apis.apiextensions.definition.webhook import bundle_fault
else:
    __getattr__ = lazy.lazy_names(
        __name__,
        dict.fromkeys(("set_defaults", "prepare_create", "prepare_update"), "fill")
        | dict.fromkeys(
            ("accepted_names", "find_condition", "is_true", "has_accepted_names", "set_approval", "set_condition"),
            "status",
        )
        | dict.fromkeys(("validate_create", "validate_status_update", "validate_update"), "validate")
        | {
            "set_structural": "status",
            "warn_of_formats": "schemas",
            "warn_of_conversions": "conversions",
            "bundle_fault": "webhook",
        },
    )

__all__ = [
    "accepted_names",
    "bundle_fault",
    "find_condition",
    "has_accepted_names",
    "is_true",
    "prepare_create",
    "prepare_update",
    "set_approval",
    "set_condition",
    "set_defaults",
    "set_structural",
    "validate_create",
    "validate_status_update",
    "validate_update",
    "warn_of_conversions",
    "warn_of_formats",
]
