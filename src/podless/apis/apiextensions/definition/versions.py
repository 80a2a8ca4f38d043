"""Formats versions as the internal Go structs print: some error texts contain them.

All fields are shown, in the order of the internal structs, under their Go names. Source: apis/apiextensions of
apiextensions-apiserver, and recorded answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from podless.codec import gotext
from podless.codec.gotext import Literal
from podless.runtime import lazy
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.runtime.release import has

if TYPE_CHECKING:
    from podless.schema import internal
else:  # it imports CEL, which a start does not need
    internal = lazy.LateModule("podless.schema.internal")

_Fields = tuple[tuple[str, str, Any], ...]
# Go name, JSON name and zero value of each field
_SCALE = (
    ("SpecReplicasPath", "specReplicasPath", ""),
    ("StatusReplicasPath", "statusReplicasPath", ""),
    ("LabelSelectorPath", "labelSelectorPath", None),
)
_COLUMN = (
    ("Name", "name", ""),
    ("Type", "type", ""),
    ("Format", "format", ""),
    ("Description", "description", ""),
    ("Priority", "priority", 0),
    ("JSONPath", "jsonPath", ""),
)
_FIELD = (("JSONPath", "jsonPath", ""),)
_VERSION = (
    ("Name", "name", ""),
    ("Served", "served", False),
    ("Storage", "storage", False),
    ("Deprecated", "deprecated", False),
    ("DeprecationWarning", "deprecationWarning", None),
    ("Schema", "schema", None),
    ("Subresources", "subresources", None),
    ("AdditionalPrinterColumns", "additionalPrinterColumns", None),
    ("SelectableFields", "selectableFields", None),
)


# types of pointer fields, for their addresses in Go's syntax
_POINTERS = {
    "DeprecationWarning": "string",
    "Schema": "apiextensions.CustomResourceValidation",
    "Subresources": "apiextensions.CustomResourceSubresources",
}
_LISTS = {
    "AdditionalPrinterColumns": ("CustomResourceColumnDefinition", _COLUMN),
    "SelectableFields": ("SelectableField", _FIELD),
}
_ADDRESS = "0xc000000000"


def show_versions(versions: list[Object] | None) -> Any:
    """Return versions as errors show them: the internal structs as JSON, or in Go's syntax for older releases."""
    if has("ValuesAsJSON"):
        return None if versions is None else [_print_version(version) for version in each(versions)]
    return Literal(_write_list("CustomResourceDefinitionVersion", _VERSION, versions))


def _write_list(kind: str, fields: _Fields, value: list[Object] | None) -> str:
    named = f"[]apiextensions.{kind}"
    if value is None:
        return f"{named}(nil)"
    items = (f"apiextensions.{kind}{{{', '.join(_write_fields(fields, item))}}}" for item in each(value))
    return f"{named}{{{', '.join(items)}}}"


def _write_fields(fields: _Fields, obj: Object) -> Iterator[str]:
    for name, key, zero in fields:
        value = obj.get(key, zero)
        if name in _LISTS:
            text = _write_list(*_LISTS[name], value)
        elif name in _POINTERS:
            text = f"(*{_POINTERS[name]})({'nil' if value is None else _ADDRESS})"
        else:
            text = gotext.format_syntax(value)
        yield f"{name}:{text}"


def _print_version(version: Object) -> Object:
    """Return a version as the internal Go struct prints."""
    printed = _fill_zeros(_VERSION, version)
    if printed["Schema"] is not None:
        schema = printed["Schema"].get("openAPIV3Schema")
        printed["Schema"] = {"OpenAPIV3Schema": None if schema is None else internal.dump_schema(schema)}
    if printed["Subresources"] is not None:
        scale = printed["Subresources"].get("scale")
        scale = None if scale is None else _fill_zeros(_SCALE, scale)
        printed["Subresources"] = {"Status": printed["Subresources"].get("status"), "Scale": scale}
    for name, (_, fields) in _LISTS.items():
        if printed[name] is not None:
            printed[name] = [_fill_zeros(fields, item) for item in each(printed[name])]
    return printed


def _fill_zeros(fields: _Fields, obj: Object) -> Object:
    return {name: obj.get(key, zero) for name, key, zero in fields}
