"""Scale of autoscaling/v1: how many replicas an object of another kind has; it is no object of its own."""

from __future__ import annotations

from podless.apis.shared import checks
from podless.apis.shared.declared import declare
from podless.apis.shared.typed import TypedStrategy
from podless.meta import names, objectmeta
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.structs.structfiles import load_struct

SCALE = load_struct("autoscaling/v1", "Scale")


class ScaleStrategy(TypedStrategy):
    """Nothing is said of it but how many replicas there are to be."""


def faults(scale: Object) -> list[FieldError]:
    """What is wrong with a Scale."""
    found = objectmeta.validate_metadata(scale["metadata"], namespaced=True, name_check=_name_errors)
    return [*found, *checks.nonnegative("spec.replicas", (scale.get("spec") or {}).get("replicas"))]


def _name_errors(name: str, prefix: bool) -> list[str]:
    return names.subdomain_prefix(name) if prefix else names.check_subdomain(name)


SCALES = declare("autoscaling", "Scale", "scales", strategy=ScaleStrategy(), struct=SCALE, virtual=True)
