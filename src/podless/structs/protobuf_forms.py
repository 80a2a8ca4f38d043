"""The protobuf form of field types: scalars, and messages that are not objects in JSON.

Times, JSON texts, unions and similar types are each a small struct with a conversion on either side, listed in
`_FORMS`. Source: the generated.proto files of Kubernetes and the marshal code beside them.
"""

from __future__ import annotations

import base64
import datetime
import math
import re
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from google.protobuf.descriptor_pb2 import FieldDescriptorProto

from podless.codec import jsontext, quantity, serializer
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object
from podless.structs import gotypes
from podless.structs.gotypes import BOOL, INT32, INT64, STRING, GoType, ListOf, Raw, Time, Union
from podless.structs.structs import Field, Struct
from podless.structs.wire import ProtobufError

# converts JSON to an argument of a message's constructor
Encoder = Callable[[Any], Any]
# converts a set field to JSON
Decoder = Callable[[Any, "Budget"], Any]

# Maximum messages in one body. The smallest schema of a Go client has 31 bytes, so a valid body of 3 MiB has no more;
# but an empty message takes only two bytes.
MAX_MESSAGES = 100_000

_EPOCH = datetime.date(1970, 1, 1).toordinal()
_DAY = 86_400
_CYCLE = 146_097  # days in 400 years, after which the calendar repeats
_ZERO_TIME = -62_135_596_800  # 0001-01-01T00:00:00Z, Go's zero time
_FIRST, _LAST = -62_167_219_200, 253_402_300_799  # the years 0 to 9999, which JSON can express


class Budget:
    """Counts the messages of one body."""

    __slots__ = ("remaining",)

    def __init__(self) -> None:
        self.remaining = MAX_MESSAGES

    def count_message(self) -> None:
        """Count a message. Raises ProtobufError."""
        self.remaining -= 1
        if self.remaining < 0:
            raise ProtobufError(f"the protobuf message holds more than {MAX_MESSAGES} messages")


class Blob(GoType):
    """Bytes that stay bytes."""


class Scalar(NamedTuple):
    """A type that is not a message. zero: the value of an unset field, None for types that can be nil.

    encode, decode: conversions, None if the value is the same on both sides.
    """

    wire: FieldDescriptorProto.Type.ValueType
    zero: Any
    encode: Encoder | None
    decode: Decoder | None


@dataclass(frozen=True, slots=True)
class Form:
    """A message that is no object in JSON. encode: from JSON. decode: to JSON, None for nothing."""

    struct: Struct
    encode: Callable[[Any], Object]
    decode: Callable[[Object], Any]


def check_text(value: Any, budget: Budget) -> str:
    """Return a received string as Go writes it into JSON; the protobuf package returns invalid UTF-8 as bytes."""
    return value if type(value) is str else jsontext.decode_utf8(value)


def _decode_number(value: float, budget: Budget) -> Any:
    if not math.isfinite(value):
        raise ProtobufError("the protobuf message has a number that JSON cannot hold")
    return gotypes.FLOAT64.read_value(value, [])


def _to_base64(value: bytes, budget: Budget) -> str:
    return base64.b64encode(value).decode()


_SCALARS: dict[type[GoType], Scalar] = {
    gotypes.String: Scalar(FieldDescriptorProto.TYPE_STRING, "", None, check_text),
    gotypes.Bool: Scalar(FieldDescriptorProto.TYPE_BOOL, False, None, None),
    gotypes.Float: Scalar(FieldDescriptorProto.TYPE_DOUBLE, 0.0, None, _decode_number),
    gotypes.Bytes: Scalar(FieldDescriptorProto.TYPE_BYTES, None, base64.b64decode, _to_base64),
    Blob: Scalar(FieldDescriptorProto.TYPE_BYTES, None, None, None),
}
_INTEGERS = {
    "int32": Scalar(FieldDescriptorProto.TYPE_INT32, 0, None, None),
    "int64": Scalar(FieldDescriptorProto.TYPE_INT64, 0, None, None),
}


def find_scalar(type_: GoType) -> Scalar | None:
    """Return the scalar of a type, None for a message."""
    if type_.go in _FORMS:
        return None
    return _INTEGERS.get(type_.go) or _SCALARS.get(type(type_))


_TIMESTAMP = Struct("Timestamp", (Field("seconds", INT64, 1, pointer=True), Field("nanos", INT32, 2, pointer=True)))
_RAW = Struct("Raw", (Field("raw", Blob(), 1, pointer=True),))
_QUANTITY = Struct("Quantity", (Field("string", STRING, 1, pointer=True),))
_INT_OR_STRING = Struct("IntOrString", (Field("type", INT64, 1), Field("intVal", INT32, 2), Field("strVal", STRING, 3)))
_PLAIN_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{6})?Z", re.ASCII)


def _encode_time(text: str | None) -> Object:
    if not text:
        return {}
    if not _PLAIN_TIME.fullmatch(text):
        raise ValueError(f"{text!r} is no time in UTC")
    year, shift = int(text[:4]), 0
    if not year:  # datetime starts with year 1
        year, shift = 400, _CYCLE
    days = datetime.date(year, int(text[5:7]), int(text[8:10])).toordinal() - shift - _EPOCH
    seconds = days * _DAY + int(text[11:13]) * 3600 + int(text[14:16]) * 60 + int(text[17:19])
    return {"seconds": seconds, "nanos": int(text[20:26]) * 1000 if len(text) > 20 else 0}


def _make_time_decoder(digits: int) -> Callable[[Object], str | None]:
    def decode_time(fields: Object) -> str | None:
        if not fields:
            return None
        seconds, micros = fields.get("seconds", 0), 0
        if digits:
            nanos = fields.get("nanos", 0)
            # Go truncates towards zero, and carries nanoseconds over into seconds
            carried, micros = divmod(int(nanos / 1000), 1_000_000)
            seconds += carried
        if seconds == _ZERO_TIME and not micros:
            return None
        if not _FIRST <= seconds <= _LAST:
            raise ProtobufError("the protobuf message has a time outside the years 0 to 9999")
        days, second = divmod(seconds, _DAY)
        shift = _CYCLE if days + _EPOCH < 1 else 0
        date = datetime.date.fromordinal(days + _EPOCH + shift)
        year = 0 if shift else date.year
        fraction = f".{micros:06d}" if digits else ""
        clock = f"{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}"
        return f"{year:04d}-{date.month:02d}-{date.day:02d}T{clock}{fraction}Z"

    return decode_time


def _decode_raw(fields: Object) -> Any:
    try:
        return serializer.decode_json(fields["raw"]) if fields.get("raw") else None
    except serializer.JSONError as error:
        raise ProtobufError(f"the protobuf message has a JSON text that is none: {error}") from None


def _decode_owned(fields: Object) -> Any:
    """Return a set of fields; a text that is no JSON as a string, which field managers do not take as a set either."""
    try:
        return _decode_raw(fields)
    except ProtobufError:
        return jsontext.decode_utf8(fields["raw"])


def _decode_canonical(fields: Object) -> Any:
    return gotypes.canonical_json(_decode_raw(fields))


def _make_time(type_: GoType) -> Form:
    return Form(_TIMESTAMP, _encode_time, _make_time_decoder(type_.digits if isinstance(type_, Time) else 0))


def _make_raw(type_: GoType) -> Form:
    decode = _decode_canonical if isinstance(type_, gotypes.Canonical) else _decode_raw
    if type_.go == "v1.FieldsV1":
        decode = _decode_owned
    return Form(_RAW, lambda value: {} if value is None else {"raw": serializer.encode_json(value)}, decode)


def _make_quantity(type_: GoType) -> Form:
    return Form(_QUANTITY, lambda text: {"string": text}, _decode_quantity)


def _decode_quantity(fields: Object) -> str:
    try:
        return quantity.canonicalize_quantity(fields.get("string") or "0")
    except quantity.QuantityError as error:
        raise ProtobufError(str(error)) from None


def _make_int_or_string(type_: GoType) -> Form:
    return Form(
        _INT_OR_STRING,
        lambda value: {"type": 1, "strVal": value} if isinstance(value, str) else {"type": 0, "intVal": value},
        lambda fields: fields.get("strVal", "") if fields.get("type") else fields.get("intVal", 0),
    )


def _union_type(type_: GoType, form: type) -> GoType:
    """Return the type as which a union reads a dict or list."""
    result = type_.forms[form] if isinstance(type_, Union) else None
    assert result is not None
    return result


def _make_or_list(name: str, type_: GoType) -> Form:
    """Return the message for a schema or a list. name: of its field for the list."""
    schema = Field("schema", _union_type(type_, dict), 1, pointer=True)
    struct = Struct(type_.go.rpartition(".")[2], (schema, Field(name, _union_type(type_, list), 2)))
    return Form(
        struct,
        lambda value: {name: value} if type(value) is list else {"schema": value},
        lambda fields: fields.get(name) or fields.get("schema"),
    )


def _make_or_bool(type_: GoType) -> Form:
    schema = Field("schema", _union_type(type_, dict), 2, pointer=True)
    return Form(
        Struct("JSONSchemaPropsOrBool", (Field("allows", BOOL, 1), schema)),
        lambda value: {"allows": value} if type(value) is bool else {"allows": True, "schema": value},
        lambda fields: fields.get("schema", fields.get("allows", False)),
    )


def _make_string_list(type_: GoType) -> Form:
    """Return the message around a list that is the value of a map, which protobuf needs."""
    struct = Struct(type_.go.rpartition(".")[2], (Field("items", ListOf(STRING), 1),))
    return Form(struct, lambda items: {"items": items}, lambda fields: fields.get("items") or [])


# by the Go name of the type (with or without package), else by its class
_FORMS: dict[str | type[GoType], Callable[[GoType], Form]] = {
    "AttestationValue": _make_string_list,
    "ExtraValue": _make_string_list,
    "JSONSchemaPropsOrArray": partial(_make_or_list, "jSONSchemas"),
    "JSONSchemaPropsOrBool": _make_or_bool,
    "JSONSchemaPropsOrStringArray": partial(_make_or_list, "property"),
    "resource.Quantity": _make_quantity,
    "intstr.IntOrString": _make_int_or_string,
    Time: _make_time,
    Raw: _make_raw,
    gotypes.Canonical: _make_raw,
}


def find_form(type_: GoType) -> Form | None:
    """Return the form of a type that is a message, but not a struct."""
    make = _FORMS.get(type_.go) or _FORMS.get(type_.go.rpartition(".")[2]) or _FORMS.get(type(type_))
    return make(type_) if make is not None else None
