"""Cells of the printer columns of apps."""

from __future__ import annotations

from podless.apis.shared.columns import NONE, Object, at, format_selector
from podless.runtime.meter import each


def owning_controller(obj: Object) -> str:
    for owner in each(at(obj, "metadata", "ownerReferences", default=())):
        if owner.get("controller"):
            group = owner["apiVersion"].rpartition("/")[0]
            kind = owner["kind"].lower()
            return f"{f'{kind}.{group}' if group else kind}/{owner['name']}"
    return NONE


def deployment_selector(obj: Object) -> str:
    return format_selector(at(obj, "spec", "selector", default=None), "")
