"""Path elements: one step from a value into it, in the text form of managed fields.

f:name is a field, k:{"name":"x"} the item of a list with these keys, v:"x" the item of a set, i:0 an index. Source:
sigs.k8s.io/structured-merge-diff fieldpath, the FieldsV1 format of the API's documentation.
"""

from __future__ import annotations

from typing import Any

from podless.codec import gotext, serializer
from podless.runtime.meter import each

_FIELD, _KEY, _VALUE, _INDEX, _UNKNOWN = range(5)
_KINDS = {"f:": _FIELD, "k:": _KEY, "v:": _VALUE, "i:": _INDEX}


class UnknownElement(ValueError):
    """An element of a kind that this version of the format lacks; such elements are dropped."""


def make_key_element(keys: dict[str, Any]) -> str:
    """Return the element of a list item with these key fields."""
    return f"k:{encode_compact(keys)}"


def make_value_element(value: Any) -> str:
    """Return the element of an item of a set."""
    return f"v:{encode_compact(value)}"


def encode_compact(value: Any) -> str:
    """Return compact JSON with sorted keys."""
    return serializer.encode_sorted(value).decode()


def parse_element(text: str) -> str:
    """Return an element in canonical form: keys sorted, numbers as Go prints them. Raises ValueError."""
    kind = _KINDS.get(text[:2])
    if kind == _FIELD:
        return text
    if len(text) < 2 or text[1] != ":":
        raise ValueError(f"not a path element: {text}")
    if kind is None:
        raise UnknownElement(text)
    if kind == _INDEX:
        return f"i:{gotext.parse_int(text[2:], name='Atoi')}"
    try:
        value = serializer.decode_json(text[2:].encode())
    except serializer.JSONError as error:
        raise ValueError(str(error)) from None
    if kind == _VALUE:
        return make_value_element(value)
    if not isinstance(value, dict):
        raise ValueError(f"not a path element: {text}")
    return make_key_element(value)


def rank_element(text: str) -> tuple[Any, ...]:
    """Return the sort key of an element: fields, then keys, values and indices, each by its content."""
    kind = _KINDS.get(text[:2], _UNKNOWN)
    if kind == _FIELD:
        return _FIELD, text
    if kind == _INDEX:
        return _INDEX, gotext.parse_natural(text[2:]) if text[2:].isdecimal() else 0
    value = serializer.decode_json(text[2:].encode())
    if kind == _KEY:
        return _KEY, tuple((name, _sort_key(item)) for name, item in sorted(value.items()))
    return kind, _sort_key(value)


def _sort_key(value: Any) -> tuple[Any, ...]:
    """Return a sort key: numbers, texts, booleans, lists, objects, null."""
    if isinstance(value, bool):
        return 2, value
    if isinstance(value, (int, float)):
        return 0, value
    if isinstance(value, str):
        return 1, value
    if isinstance(value, list):
        return 3, tuple(map(_sort_key, each(value)))
    if isinstance(value, dict):
        return 4, tuple((name, _sort_key(item)) for name, item in sorted(each(value).items()))
    return (5,)


def format_element_path(path: tuple[str, ...]) -> str:
    """Return a path as messages show it: .spec.ports[name="http"].port."""
    return "".join(map(_show_element, path))


def _show_element(text: str) -> str:
    kind = _KINDS.get(text[:2])
    if kind == _FIELD:
        return f".{text[2:]}"
    if kind == _INDEX:
        return f"[{text[2:]}]"
    value = serializer.decode_json(text[2:].encode())
    if kind == _VALUE:
        return f"[={_print_value(value)}]"
    return "[" + ",".join(f"{name}={_print_value(item)}" for name, item in value.items()) + "]"


def _print_value(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ",".join(map(_print_value, each(value))) + "]"
    if isinstance(value, dict):
        return "".join(f"{name}={_print_value(item)}" for name, item in each(value).items())
    return gotext.format_value(value)
