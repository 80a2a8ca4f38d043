"""Versions as the internal Go structs print: some messages show them whole.

Every field is there, in the order of the internal structs, under its Go name. Source: apis/apiextensions of
apiextensions-apiserver, as recorded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from podless.runtime import lazy
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each

if TYPE_CHECKING:
    from podless.schema import internal
else:  # it imports CEL, which a start does not need
    internal = lazy.Late("podless.schema.internal")

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


def dump_versions(given: list[Object] | None) -> list[Object] | None:
    """Return versions as Go prints the internal struct."""
    return None if given is None else [_version(one) for one in each(given)]


def _version(given: Object) -> Object:
    """Return a version as Go prints the internal struct."""
    out = _flat(_VERSION, given)
    if out["Schema"] is not None:
        inner = out["Schema"].get("openAPIV3Schema")
        out["Schema"] = {"OpenAPIV3Schema": None if inner is None else internal.dump_schema(inner)}
    if out["Subresources"] is not None:
        scale = out["Subresources"].get("scale")
        scale = None if scale is None else _flat(_SCALE, scale)
        out["Subresources"] = {"Status": out["Subresources"].get("status"), "Scale": scale}
    for name, fields in (("AdditionalPrinterColumns", _COLUMN), ("SelectableFields", _FIELD)):
        if out[name] is not None:
            out[name] = [_flat(fields, one) for one in each(out[name])]
    return out


def _flat(fields: tuple[tuple[str, str, Any], ...], given: Object) -> Object:
    return {name: given.get(key, zero) for name, key, zero in fields}
