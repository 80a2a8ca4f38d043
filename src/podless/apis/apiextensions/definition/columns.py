"""Validates printer columns, subresources and selectable fields of a CustomResourceDefinition's versions."""

from __future__ import annotations

from podless.apis.apiextensions.definition import shared
from podless.codec.gotext import Named
from podless.meta import field
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.schema import fieldpath
from podless.schema.definition import find_unsupported, walk_nodes
from podless.schema.node import Node

MAX_SELECTABLE = 8
_TYPES = ("boolean", "date", "integer", "number", "string")
_FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
_SELECTABLE_TYPES = ("string", "boolean", "integer")
_SELECTABLE = (
    "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed."
)
# field: whether it is required, prefixes of its path, and their description in errors
_SCALE = (
    ("specReplicasPath", True, (".spec.",), "should be a json path under .spec"),
    ("statusReplicasPath", True, (".status.",), "should be a json path under .status"),
    ("labelSelectorPath", False, (".spec.", ".status."), "should be a json path under either .spec or .status"),
)


def check_columns(columns: list[Object], path: str) -> field.Errors:
    """Validate additionalPrinterColumns."""
    for index, column in enumerate(each(columns)):
        yield from _validate_column(column, f"{path}[{index}]")


def check_subresources(subresources: Object | None, path: str) -> field.Errors:
    """Validate the paths of the scale subresource."""
    scale = (subresources or {}).get("scale")
    if scale is None:
        return
    for name, required, prefixes, text in _SCALE:
        value, at = scale.get(name), f"{path}.scale.{name}"
        if not value:
            yield from [field.required(at)] if required else []
        elif not value.startswith("."):
            yield from _simple_path(value, at)
        elif not value.startswith(prefixes):
            yield field.invalid(at, value if required else Named(value), text)


def check_selectable(
    fields: list[Object], schema: Object | None, path: str, *, too_many: bool = False
) -> list[FieldError]:
    """Validate selectableFields against the schema. too_many: accept more than the limit, as the old definition had."""
    errors: list[FieldError] = []
    if fields and schema is not None and (trouble := find_unsupported(walk_nodes(schema))):
        errors.append(field.invalid(f"{path.removesuffix('.selectableFields')}.schema.openAPIV3Schema", "", trouble))
    seen = set()
    node = Node(schema or {})
    for index, entry in enumerate(each(fields)):
        at, value = f"{path}[{index}].jsonPath", entry["jsonPath"]
        if not value:
            errors.append(field.required(at))
            continue
        try:
            target, fault = fieldpath.parse_fieldpath(value, node, arrays=False)
        except ValueError as error:
            errors.append(field.invalid(at, value, f"is an invalid path: {error}"))
            continue
        if target[0] == "metadata":
            errors.append(field.invalid(at, value, "must not point to fields in metadata"))
        if fault is None or fault.raw.get("type") not in _SELECTABLE_TYPES:
            errors.append(field.invalid(at, value, _SELECTABLE))
        if target in seen:
            errors.append(field.duplicate(at, value))
        seen.add(target)
    if len(seen) > MAX_SELECTABLE and not too_many:
        errors.append(field.too_many(path, len(seen), MAX_SELECTABLE))
    return errors


def kept_selectable(new: shared.Layout, old: shared.Layout | None, version: Object | None) -> bool:
    """Return whether a version (None: the spec) has too many selectable fields, and the same ones as before."""
    if old is None:
        return False
    now, before = _selectable_fields(new, version), _selectable_fields(old, version)
    return len(before) > MAX_SELECTABLE and now == before


def _selectable_fields(layout: shared.Layout, version: Object | None) -> list[Object]:
    if version is None:
        return layout.common.get("selectableFields") or []
    return layout.named.get(version["name"], {}).get("selectableFields") or []


def _validate_column(column: Object, path: str) -> list[FieldError]:
    errors = [] if column["name"] else [field.required(f"{path}.name")]
    kind, form = column["type"], column.get("format")
    if not kind:
        errors.append(field.required(f"{path}.type", f"must be one of {','.join(_TYPES)}"))
    elif kind not in _TYPES:
        errors.append(field.invalid(f"{path}.type", kind, f"must be one of {','.join(_TYPES)}"))
    if form and form not in _FORMATS:
        errors.append(field.invalid(f"{path}.format", form, f"must be one of {','.join(_FORMATS)}"))
    if not column["jsonPath"]:
        return [*errors, field.required(f"{path}.JSONPath")]
    return errors + _simple_path(column["jsonPath"], f"{path}.JSONPath")


def _simple_path(value: str, path: str) -> list[FieldError]:
    text = "must be a simple json path starting with ."
    return [] if value.startswith(".") else [field.invalid(path, value, text)]
