"""Reads the bodies of requests and answers for the audit log, which shows them as JSON whatever their media type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from podless.auth.attributes import Attributes
from podless.codec import serializer
from podless.runtime.apierror import Timeout
from podless.runtime.meter import LATE, METER, CPUMeter
from podless.structs import protobuf
from podless.structs.structfiles import load_struct
from podless.structs.structs import Struct

MOST = 64 * 1024  # bytes; longer YAML and protobuf bodies are not decoded, because that takes long
STEPS = 4096  # about one for each decoded protobuf value: at most 15 ms of the event loop
_UNVERSIONED = ("DeleteOptions", "Status")  # kinds of bodies that requests for any resource can have

FindStruct = Callable[[str, str, str, str], Struct | None]
"""Returns the struct for a group, version, resource and kind; None if it is unknown or not loaded."""


class _Allowance(CPUMeter):
    """A meter that ends the work after some steps, whatever time they take."""

    __slots__ = ()

    def __init__(self) -> None:
        self.left = STEPS

    def check_time(self) -> None:
        raise Timeout(LATE, {})


def read_body(raw: bytes, media: str, asked: Attributes, find_struct: FindStruct) -> Any:
    """Return a body as JSON; None for an empty or malformed body, a long one in YAML or protobuf, and other media."""
    if not raw:
        return None
    if media.startswith(protobuf.MEDIA):
        return _read_message(raw, asked, find_struct) if len(raw) <= MOST else None
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        pass
    if "yaml" not in media or len(raw) > MOST:
        return None
    try:
        return serializer.decode_yaml(raw)
    except serializer.YAMLError:
        return None


def _read_message(raw: bytes, asked: Attributes, find_struct: FindStruct) -> Any:
    outer = METER.set(_Allowance())  # a few bytes of protobuf can decode to an object with many fields
    try:
        kind = protobuf.open_envelope(raw).kind
        if kind in _UNVERSIONED:
            struct: Struct | None = load_struct("meta/v1", kind)
        else:
            struct = find_struct(asked.group, asked.version, asked.resource, kind)
        return protobuf.read_object(raw, struct) if struct is not None else None
    except (protobuf.ProtobufError, Timeout):
        return None
    finally:
        METER.reset(outer)
