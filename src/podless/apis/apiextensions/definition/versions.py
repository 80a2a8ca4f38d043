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
from podless.structs.structfiles import load_struct

if TYPE_CHECKING:
    from podless.schema import internal
else:  # it imports CEL, which a start does not need
    internal = lazy.LateModule("podless.schema.internal")

_Fields = tuple[tuple[str, str, Any], ...]


# types of pointer fields, for their addresses in Go's syntax
_POINTERS = {
    "DeprecationWarning": "string",
    "Schema": "apiextensions.CustomResourceValidation",
    "Subresources": "apiextensions.CustomResourceSubresources",
}
_LISTS = {"AdditionalPrinterColumns": "CustomResourceColumnDefinition", "SelectableFields": "SelectableField"}
_VERSION = "CustomResourceDefinitionVersion"
_ADDRESS = "0xc000000000"


def show_versions(versions: list[Object] | None) -> Any:
    """Return versions as errors show them: the internal structs as JSON, or in Go's syntax for older releases."""
    if has("ValuesAsJSON"):
        return None if versions is None else [_print_version(version) for version in each(versions)]
    return Literal(_write_list(_VERSION, versions))


def _write_list(kind: str, value: list[Object] | None) -> str:
    named = f"[]apiextensions.{kind}"
    if value is None:
        return f"{named}(nil)"
    items = (f"apiextensions.{kind}{{{', '.join(_write_fields(_fields_of(kind), item))}}}" for item in each(value))
    return f"{named}{{{', '.join(items)}}}"


def _write_fields(fields: _Fields, obj: Object) -> Iterator[str]:
    for name, key, zero in fields:
        value = obj.get(key, zero)
        if name in _LISTS:
            text = _write_list(_LISTS[name], value)
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
        scale = None if scale is None else _fill_zeros("CustomResourceSubresourceScale", scale)
        printed["Subresources"] = {"Status": printed["Subresources"].get("status"), "Scale": scale}
    for name, struct in _LISTS.items():
        if printed[name] is not None:
            printed[name] = [_fill_zeros(struct, item) for item in each(printed[name])]
    return printed


def _fill_zeros(struct: str, obj: Object) -> Object:
    return {name: obj.get(key, zero) for name, key, zero in _fields_of(struct)}


def _fields_of(struct: str) -> _Fields:
    """Return Go name, JSON name and zero value of each field."""
    return tuple(
        (
            "JSONPath" if field.name == "jsonPath" else field.name[0].upper() + field.name[1:],
            field.name,
            None if field.pointer else field.type.make_zero(),
        )
        for field in load_struct("apiextensions/v1", struct)
    )
