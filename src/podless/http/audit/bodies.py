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
STEPS = 4096  # one or two for each decoded value: at most 20 ms of the event loop
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
    message = media.startswith(protobuf.MEDIA)
    if not message:
        try:
            return orjson.loads(raw)
        except orjson.JSONDecodeError:
            if "yaml" not in media:
                return None
    if len(raw) > MOST:
        return None
    outer = METER.set(_Allowance())  # a few bytes of protobuf can decode to an object with many fields
    try:
        return _read_message(raw, asked, find_struct) if message else serializer.decode_yaml(raw)
    except (protobuf.ProtobufError, serializer.YAMLError, Timeout):
        return None
    finally:
        METER.reset(outer)


def _read_message(raw: bytes, asked: Attributes, find_struct: FindStruct) -> Any:
    kind = protobuf.open_envelope(raw).kind
    if kind in _UNVERSIONED:
        struct: Struct | None = load_struct("meta/v1", kind)
    else:
        struct = find_struct(asked.group, asked.version, asked.resource, kind)
    return protobuf.read_object(raw, struct) if struct is not None else None
