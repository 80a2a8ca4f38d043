r"""Kubernetes protobuf: the k8s envelope, messages of the Struct tables, lists and watch frames.

A body is the four bytes k8s\0 and a runtime.Unknown, which has the apiVersion and kind and contains the object's own
message. Code for that message is in structs/protobuf_messages.py, imported at the first message, because most servers
never need the protobuf package, which takes time and memory. Stored objects stay JSON. Source: the generated.proto
files of k8s.io/apimachinery and its serializer/protobuf.
"""

from __future__ import annotations

import struct as binary
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from podless.runtime.jsonobject import Object
from podless.structs.structfiles import load_struct
from podless.structs.structs import Struct
from podless.structs.wire import ProtobufError as ProtobufError
from podless.structs.wire import encode_field, encode_varint

if TYPE_CHECKING:
    from podless.structs.protobuf_messages import Messages

LIST_META = load_struct("meta/v1", "ListMeta")

B = TypeVar("B", bytes, memoryview)

MEDIA = "application/vnd.kubernetes.protobuf"
STREAM = f"{MEDIA};stream=watch"
PREFIX = b"k8s\0"

# a runtime.Unknown: typeMeta is field 1, raw is 2; contentEncoding and contentType (3 and 4) are written empty
_TAIL = b"\x1a\x00\x22\x00"
# the only list with items as field 1 and metadata as field 2
_ITEMS_FIRST = ("meta.k8s.io/v1beta1", "PartialObjectMetadataList")


class Envelope(NamedTuple):
    """The content of an envelope. Missing apiVersion or kind are "". raw: the object's own message."""

    api_version: str
    kind: str
    raw: bytes


def open_envelope(body: bytes) -> Envelope:
    """Open the envelope. Raises ProtobufError, with a Go server's text if it is no envelope."""
    if not body:
        raise ProtobufError("empty data")
    if not body.startswith(PREFIX):
        expected = " ".join(str(byte) for byte in PREFIX)
        raise ProtobufError(f"provided data does not appear to be a protobuf message, expected prefix [{expected}]")
    if len(body) == len(PREFIX):
        raise ProtobufError("empty body")
    api_version, kind, raw = _get_messages().unwrap_envelope(body[len(PREFIX) :])
    # Go's serializer ignores a malformed apiVersion
    return Envelope("" if api_version.count("/") > 1 else api_version, kind, raw)


def wrap_message(api_version: str, kind: str, raw: bytes) -> bytes:
    """Return an object's message, from `encode_message`, in an envelope."""
    return b"".join(_wrap_pieces(api_version, kind, [raw]))


def decode_message(struct: Struct, raw: bytes) -> Object:
    """Return the object of a message as `structs.decode_struct` would return it from JSON.

    It has no kind and apiVersion. Fields that the struct does not know are skipped, as in a real server. Raises
    ProtobufError for a message that is truncated, malformed, of the wrong wire type, too deep or too large.
    """
    return _get_messages().decode(struct, raw)


def encode_message(struct: Struct, obj: Object) -> bytes:
    """Return the message of an object from `structs.decode_struct`, without kind and apiVersion.

    As in Go, fields that are not pointers are written even if they are zero, in the order of their numbers, maps by
    their keys. Raises ProtobufError for an object that does not fit the struct.
    """
    return _get_messages().encode(struct, obj)


def read_object(body: bytes, struct: Struct) -> Object:
    """Return the object in an envelope, with kind and apiVersion if they are given. Raises ProtobufError."""
    api_version, kind, raw = open_envelope(body)
    head = {name: text for name, text in (("kind", kind), ("apiVersion", api_version)) if text}
    return head | decode_message(struct, raw)


def write_object(struct: Struct, obj: Object) -> bytes:
    """Return an object with kind and apiVersion in its envelope. Raises ProtobufError."""
    return wrap_message(obj.get("apiVersion", ""), obj.get("kind", ""), encode_message(struct, obj))


def pack_list(api_version: str, kind: str, meta: Object, items: Iterable[bytes]) -> list[bytes]:
    """Return a list in its envelope, in pieces.

    meta: the list's metadata. items: the messages of the objects, from `encode_message`.
    """
    first = (api_version, kind) == _ITEMS_FIRST
    tag = b"\x0a" if first else b"\x12"
    listed = [piece for item in items for piece in (tag + encode_varint(len(item)), item)]
    head = encode_message(LIST_META, meta)
    if first:
        return _wrap_pieces(api_version, kind, [*listed, b"\x12" + encode_varint(len(head)) + head])
    return _wrap_pieces(api_version, kind, [b"\x0a" + encode_varint(len(head)) + head, *listed])


def frame_event(type_: str, obj: bytes) -> bytes:
    """Return an event of a watch: its length in four bytes, big-endian, and a bare metav1.WatchEvent.

    obj: the object in its envelope; the event itself has none (the raw serializer of a Go server).
    """
    name = type_.encode()
    content = encode_field(b"\x0a", obj)
    event = encode_field(b"\x0a", name) + b"\x12" + encode_varint(len(content)) + content
    return binary.pack(">I", len(event)) + event


def split_frames(events: B) -> Iterator[B]:
    """Yield consecutive events of `frame_event`, each with its length."""
    offset = 0
    while offset < len(events):
        end = offset + 4 + int.from_bytes(events[offset : offset + 4], "big")
        yield events[offset:end]
        offset = end


def _wrap_pieces(api_version: str, kind: str, pieces: list[bytes]) -> list[bytes]:
    meta = encode_field(b"\x0a", api_version.encode()) + encode_field(b"\x12", kind.encode())
    size = encode_varint(sum(map(len, pieces)))
    return [b"%b%b\x12%b" % (PREFIX, encode_field(b"\x0a", meta), size), *pieces, _TAIL]


_messages: Messages | None = None


def _get_messages() -> Messages:
    """Return the compiled messages of this process."""
    global _messages
    if _messages is None:
        from podless.structs.protobuf_messages import Messages

        _messages = Messages()
    return _messages
