"""Reads apiVersion and kind of a body before it is decoded.

Source: the meta factory of k8s.io/apimachinery.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from podless.structs import gotypes

_STRUCT = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'

# the error for a custom object whose apiVersion is null
NULL_VERSION = ".apiVersion accessor error: <nil> is of the type <nil>, expected string"
_TEXT = (str, type(None))


class TypeMeta(NamedTuple):
    """apiVersion and kind; "" if missing."""

    api_version: str
    kind: str


def read_type_meta(value: Any) -> TypeMeta:
    """Return apiVersion and kind of decoded JSON. Raises ValueError with Go's text."""
    if value is None:
        return TypeMeta("", "")
    if not isinstance(value, dict):
        raise unreadable_error(gotypes.explain_unmarshal(value, f"value of type {_STRUCT}"))
    kind, api_version = value.get("kind") or "", value.get("apiVersion") or ""
    if type(kind) is not str or type(api_version) is not str or not (kind and api_version):
        for name in ("kind", "apiVersion"):
            if not isinstance(value.get(name, ""), _TEXT):
                target = f"struct field .{name} of type string"
                raise unreadable_error(gotypes.explain_unmarshal(value[name], target))
    if api_version.count("/") > 1:
        raise ValueError(f"unexpected GroupVersion string: {api_version}")
    return TypeMeta(api_version, kind)


def unreadable_error(reason: object) -> ValueError:
    """Return the error for a body that is not a JSON object."""
    return ValueError(f"couldn't get version/kind; json parse error: {reason}")
