"""Decodes lists of structs in annotations, in which older servers kept fields.

Source: the helpers for tolerations and taints of Kubernetes' pkg/apis/core/helper. They decode into internal types,
whose fields have no names of their own for JSON.
"""

from __future__ import annotations

from typing import Any, Final

from podless.codec import serializer
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.structs.gotypes import JSON_NAMES

# struct: name in JSON: field and type in Go
_FIELDS: Final = {
    "Taint": {"key": ("Key", "string"), "value": ("Value", "string"), "effect": ("Effect", "core.TaintEffect")},
    "Toleration": {
        "key": ("Key", "string"),
        "operator": ("Operator", "core.TolerationOperator"),
        "value": ("Value", "string"),
        "effect": ("Effect", "core.TaintEffect"),
        "tolerationSeconds": ("TolerationSeconds", "int64"),
    },
}


def read_structs(text: str, struct: str) -> tuple[list[Object], str]:
    """Return the structs in a JSON text, and the error of Go's decoder, or "". struct: "Taint" or "Toleration"."""
    try:
        decoded = serializer.decode_json(text.encode())
    except serializer.JSONError as error:
        return [], str(error)
    if decoded is None:
        return [], ""
    if not isinstance(decoded, list):
        return [], _mismatch_text(decoded, f"value of type []core.{struct}")
    named = {name.lower(): name for name in _FIELDS[struct]}
    read: list[Object] = []
    for item in each(decoded):
        if item is not None and not isinstance(item, dict):
            return [], _mismatch_text(item, f"value of type core.{struct}")
        item_read = {named[name.lower()]: value for name, value in each(item or {}).items() if name.lower() in named}
        for name, value in item_read.items():
            field, go = _FIELDS[struct][name]
            if value is not None and type(value) is not (int if go == "int64" else str):
                return [], _mismatch_text(value, f"struct field {struct}.{field} of type {go}")
        read.append(item_read)
    return read, ""


def _mismatch_text(value: Any, target: str) -> str:
    return f"json: cannot unmarshal {describe_json(value)} into Go {target}"


def describe_json(value: Any) -> str:
    """Return the JSON type of a value, as Go's decoder names it; of a number that is not an integer, its value too."""
    return f"number {value!r}" if isinstance(value, float) else JSON_NAMES[type(value)]
