"""Documents in protobuf: the OpenAPI.v2 and OpenAPI.v3 messages of gnostic-models.

A message is a table of fields (v2.messages, v3.messages), and a field is a number and a function that writes it. Zero
values are left out, as in proto3. Values of any type (examples, enums, extensions) are YAML texts, as gnostic-models
writes them: block style, keys sorted, indented by four columns for each level and by two after a dash, lines of any
length. Source: the documents of a real server.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from podless.codec import serializer
from podless.runtime.bounded import bounded_cache
from podless.runtime.datafiles import read_blocks
from podless.runtime.lazy import compile_late
from podless.runtime.memo import made_once
from podless.runtime.meter import charge
from podless.structs.wire import encode_varint

Write = Callable[[int, Any], bytes]

_LEVEL = 4
_DASH = 2
_LONG = 64
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")  # needs no quotes, except _WORDS; matches nearly all texts
_WORDS = frozenset(("true", "false", "null"))
# texts with another meaning in YAML 1.1, which are written without quotes nevertheless
_OLD = compile_late(r"[yY]|[nN]|yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF|[-+]?[0-9_]+(?::[0-5]?[0-9])+(?:\.[0-9_]*)?")


@bounded_cache(1024)
def format_block(encoded: str) -> str:
    """Return a value, given as JSON, as YAML with a final line break; cached.

    A very deeply nested value stays JSON, which is valid YAML.
    """
    lines: list[str] = []
    try:
        _write_value(lines, serializer.decode_own(encoded.encode()), 0)
    except RecursionError:
        return f"{encoded}\n"
    return "".join(lines)


def _write_value(lines: list[str], value: Any, indent: int) -> None:
    """Write a value whose first line starts at its column already; further lines are indented."""
    lead = ""
    charge(1)
    if isinstance(value, dict) and value:
        for key in sorted(value):
            lines.append(f"{lead}{_format_key(key)}:")
            _write_below(lines, value[key], indent)
            lead = " " * indent
    elif isinstance(value, list) and value:
        for item in value:
            lines.append(f"{lead}- ")
            _write_value(lines, item, indent + _DASH)
            lead = " " * indent
    else:
        lines.append(_format_scalar(value, indent))


def _write_below(lines: list[str], value: Any, indent: int) -> None:
    """Write the value of a key: on the same line, or on its own lines."""
    if isinstance(value, (dict, list)) and value:
        inner_indent = _choose_continuation_indent(indent)
        lines.append("\n" + " " * inner_indent)
        _write_value(lines, value, inner_indent)
    else:
        lines.append(f" {_format_scalar(value, indent)}")


def _format_key(key: str) -> str:
    scalar = _format_scalar(key, 0)[:-1]
    return serializer.encode_unescaped(key) if "\n" in scalar else scalar


def _choose_continuation_indent(indent: int) -> int:
    return (indent // _LEVEL + 1) * _LEVEL


@bounded_cache(1024)
def _needs_no_quotes(text: str) -> bool:
    """Return whether a text certainly needs no quotes."""
    if _PLAIN.fullmatch(text):
        return text.lower() not in _WORDS
    return len(text) < _LONG and _OLD.fullmatch(text) is not None


def _format_scalar(value: Any, indent: int) -> str:
    """Return a scalar, or an empty list or object, with its line break; multi-line text is indented below."""
    if not isinstance(value, str):
        return serializer.encode_yaml(value).decode()
    if _needs_no_quotes(value):
        return f"{value}\n"
    scalar = serializer.encode_yaml(value).decode()
    if scalar.count("\n") == 1:
        return scalar
    head, *lines = scalar[:-1].split("\n")
    if not head.startswith("|"):  # the YAML writer has folded a long line
        return " ".join([head, *(line.strip(" ") for line in lines)]) + "\n"
    if "2" in head:  # the first line is indented or empty
        return f"{serializer.encode_unescaped(value)}\n"
    lead = " " * _choose_continuation_indent(indent)
    return "\n".join([head, *(lead + line[_DASH:] if line else "" for line in lines), ""])


def write_block(number: int, value: bytes) -> bytes:
    """Return a length-delimited field: bytes or a message."""
    return encode_varint(number << 3 | 2) + encode_varint(len(value)) + value


def begin_field(number: int, size: int) -> bytes:
    """Return the head of a length-delimited field."""
    return encode_varint(number << 3 | 2) + encode_varint(size)


def write_any(number: int, value: Any) -> bytes:
    """Encode any value as a YAML text."""
    return write_block(number, _write_text(2, format_block(serializer.encode_unescaped(value))))


def _write_text(number: int, value: str) -> bytes:
    return write_block(number, value.encode(errors="replace")) if value else b""


def _write_texts(number: int, value: list[str]) -> bytes:
    return b"".join(write_block(number, item.encode(errors="replace")) for item in value)


def _write_bool(number: int, value: bool) -> bytes:
    return _write_set_bool(number, value) if value else b""


def _write_set_bool(number: int, value: bool) -> bytes:
    """Return a bool in a oneof, which is sent even if it is false."""
    return encode_varint(number << 3) + (b"\x01" if value else b"\x00")


def _write_integer(number: int, value: int) -> bytes:
    return encode_varint(number << 3) + encode_varint(value) if value else b""


def _write_double(number: int, value: float) -> bytes:
    return _write_set_double(number, value) if value else b""


def _write_set_double(number: int, value: float) -> bytes:
    return encode_varint(number << 3 | 1) + struct.pack("<d", value)


def _write_default(number: int, value: Any) -> bytes:
    """Write a oneof: a set value is sent even if it is zero. A value that is not a scalar is sent empty."""
    if isinstance(value, bool):
        chosen = _write_set_bool(2, value)
    elif isinstance(value, (int, float)):
        chosen = _write_set_double(1, value)
    else:
        chosen = write_block(3, value.encode()) if isinstance(value, str) else b""
    return write_block(number, chosen)


def _write_many(write: Write) -> Write:
    return lambda number, value: b"".join(write(number, item) for item in value)


def _write_within(inner_number: int, write: Write) -> Write:
    """Return a writer for a message with one field of this number."""
    return lambda number, value: write_block(number, write(inner_number, value))


def _write_bool_or(write: Write) -> Write:
    """Return a writer for a oneof of a message and a bool."""
    return lambda number, value: write_block(
        number, _write_set_bool(2, value) if isinstance(value, bool) else write(1, value)
    )


def _write_entry(number: int, key: str, value: bytes) -> bytes:
    """Return an entry of a map. value: written as field 2."""
    return write_block(number, _write_text(1, key) + value)


def _write_map(write: Write) -> Write:
    """Return a writer for a map: a message of entries, each with its name and value."""
    return lambda number, value: write_block(
        number, b"".join(_write_entry(1, key, write(2, item)) for key, item in value.items())
    )


class WireMessages:
    """The messages of a document. file: their fields, as key, form and number. writers: by the name of their form.

    Forms: a name in _FORMS or of `writers`, or a message; [FORM] a repeated field; {FORM} a map; N:FORM a message with
    FORM as its field N; REF|MESSAGE a message, or a reference to one; BOOL|FORM a bool or FORM. In a message, the key
    "x-" stands for extensions and "*" for all other keys; both are repeated entries.
    """

    def __init__(self, file: str, writers: Mapping[str, Write]) -> None:
        self._file = Path(__file__).with_name(file)
        self._writers = writers

    @made_once
    def _fields(self) -> Mapping[str, Mapping[str, tuple[int, Write]]]:
        return {
            name: {key: (int(number), self.find_writer(form)) for key, form, number in fields}
            for name, fields in read_blocks(self._file).items()
        }

    def encode(self, name: str, value: Mapping[str, Any]) -> bytes:
        """Return a whole message."""
        fields = self._fields[name]
        encoded = []
        charge(len(value))
        for key, item in value.items():
            if key in fields:
                number, write = fields[key]
                encoded.append(write(number, item))
            else:
                number, write = fields["x-" if key.startswith("x-") else "*"]
                encoded.append(_write_entry(number, key, write(2, item)))
        return b"".join(encoded)

    def find_writer(self, text: str) -> Write:
        """Return the writer for a form."""
        if text[0] in "[{":
            return (_write_many if text[0] == "[" else _write_map)(self.find_writer(text[1:-1]))
        if text[0].isdigit():
            number, _, form = text.partition(":")
            return _write_within(int(number), self.find_writer(form))
        if text.startswith("BOOL|"):
            return _write_bool_or(self.find_writer(text.removeprefix("BOOL|")))
        if text.startswith("REF|"):
            return self._make_reference_writer(text.removeprefix("REF|"))
        return self._make_message_writer(text) if text[0].isupper() else self._writers.get(text) or _FORMS[text]

    def _make_message_writer(self, name: str) -> Write:
        return lambda number, value: write_block(number, self.encode(name, value))

    def _make_reference_writer(self, name: str) -> Write:
        def write_reference(number: int, value: Mapping[str, Any]) -> bytes:
            if "$ref" in value:
                return write_block(number, write_block(2, _write_text(1, value["$ref"])))
            return write_block(number, write_block(1, self.encode(name, value)))

        return write_reference


_FORMS: Mapping[str, Write] = {
    "text": _write_text,
    "texts": _write_texts,
    "bool": _write_bool,
    "int": _write_integer,
    "double": _write_double,
    "any": write_any,
    "default": _write_default,
}


def _write_parameter(number: int, value: dict[str, Any]) -> bytes:
    """Write a body, query or path parameter, or a reference to one in the document's head."""
    if "$ref" in value:
        return write_block(number, write_block(2, _write_text(1, value["$ref"])))
    return write_block(number, _write_shared_parameter(1, value))


def _write_shared_parameter(number: int, value: dict[str, Any]) -> bytes:
    if value["in"] == "body":
        return write_block(number, write_block(1, V2.encode("BodyParameter", value)))
    member, name = (4, "PathParameter") if value["in"] == "path" else (3, "QueryParameter")
    return write_block(number, write_block(2, write_block(member, V2.encode(name, value))))


V2 = WireMessages("v2.messages", {"parameter": _write_parameter, "given": _write_shared_parameter})
V3 = WireMessages("v3.messages", {})  # has no place for a minimum of 0, which is lost


def _make_entry_writer(number: int, messages: WireMessages, form: str) -> Callable[[str, Any], bytes]:
    """Return a function that encodes an entry of a map, given its name and value."""
    write = messages.find_writer(form)
    return lambda name, value: _write_entry(number, name, write(2, value))


# the entries of the areas of a document, and the field numbers of the areas
encode_v2_path, encode_definition = _make_entry_writer(2, V2, "PathItem"), _make_entry_writer(1, V2, "Schema")
encode_v3_path, encode_schema = _make_entry_writer(1, V3, "PathItem"), _make_entry_writer(1, V3, "REF|Schema")
V2_PATHS, DEFINITIONS = 8, 9
V3_PATHS, COMPONENTS, SCHEMAS = 4, 5, 1  # SCHEMAS: of the components
