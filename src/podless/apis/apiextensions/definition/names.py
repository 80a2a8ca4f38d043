"""Validates the names in a CustomResourceDefinition."""

from __future__ import annotations

from podless.meta import field, names
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each

_MIXED = "may have mixed case, but should otherwise match: "
# names that are required in the spec, but not in the status
_REQUIRED = ("plural", "singular", "kind", "listKind")


def check_object_name(crd: Object) -> list[FieldError]:
    """Require the object's name to be PLURAL.GROUP."""
    spec, metadata = crd["spec"], crd["metadata"]
    expected = f"{spec['names']['plural']}.{spec['group']}"
    text = 'must be spec.names.plural+"."+spec.group'
    return [
        field.invalid(f"metadata.{key}", metadata[key], text)
        for key in ("generateName", "name")
        if metadata.get(key) and metadata[key] != expected
    ]


def check_required(required: Object, path: str) -> list[FieldError]:
    """Return an error for each required name that is missing."""
    return [field.required(f"{path}.{name}") for name in _REQUIRED if not required.get(name)]


def check_names(names: Object, path: str) -> list[FieldError]:
    """Validate the syntax of the names."""
    errors: list[FieldError] = []
    for name in ("plural", "singular"):
        errors += _validate_label(f"{path}.{name}", names.get(name, ""), names.get(name, ""))
    for name in ("kind", "listKind"):
        errors += _validate_label(f"{path}.{name}", names.get(name, ""), names.get(name, "").lower(), _MIXED)
    for index, short_name in enumerate(each(names.get("shortNames") or [])):
        errors += _validate_label(f"{path}.shortNames[{index}]", short_name, short_name, required=True)
    if names.get("kind") and names["kind"] == names.get("listKind"):
        errors.append(field.invalid(f"{path}.listKind", names["listKind"], "kind and listKind may not be the same"))
    for index, category in enumerate(each(names.get("categories") or [])):
        errors += _validate_label(f"{path}.categories[{index}]", category, category, required=True)
    return errors


def _validate_label(path: str, value: str, checked: str, before: str = "", required: bool = False) -> list[FieldError]:
    """Return one error with all faults of a label. required: report an empty label."""
    faults = names.check_label_1035(checked) if value or required else []
    return [field.invalid(path, value, before + ",".join(faults))] if faults else []
