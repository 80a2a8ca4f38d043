"""The messages of etcd's gRPC interface that podless uses.

Source: rpc.proto and kv.proto of etcd 3.4; the numbers of fields are part of the protocol.

The parts of a TxnRequest are made as bytes: conditions, writes, and reads if a condition fails. A message is the
concatenation of its fields, which takes a quarter of the time that message classes take. Field 1 of a Compare is the
result (0 equal, 2 less), field 2 the target (0 the version, 1 the create revision, 2 the mod revision).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError as DecodeError
from google.protobuf.message_factory import GetMessageClass

from podless.runtime.datafiles import read_blocks
from podless.structs.wire import encode_field, encode_varint

_PACKAGE = "etcdserverpb"
_SCALARS = {
    "bytes": FieldDescriptorProto.TYPE_BYTES,
    "string": FieldDescriptorProto.TYPE_STRING,
    "int": FieldDescriptorProto.TYPE_INT64,
    "enum": FieldDescriptorProto.TYPE_INT32,  # has the same wire format
    "bool": FieldDescriptorProto.TYPE_BOOL,
}
_LABELS = FieldDescriptorProto.LABEL_OPTIONAL, FieldDescriptorProto.LABEL_REPEATED
_MESSAGES = read_blocks(Path(__file__).with_name("etcd.messages"))


def _describe_file() -> FileDescriptorProto:
    file = FileDescriptorProto(name="podless/etcd.proto", package=_PACKAGE, syntax="proto3")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for name_of_field, of, number in fields:
            field = message.field.add(name=name_of_field, number=int(number), label=_LABELS[of.endswith("*")])
            name_of_type = of.rstrip("*")
            if name_of_type in _SCALARS:
                field.type = _SCALARS[name_of_type]
            else:
                field.type, field.type_name = FieldDescriptorProto.TYPE_MESSAGE, f".{_PACKAGE}.{name_of_type}"
    return file


def _make_messages() -> dict[str, Any]:
    pool = DescriptorPool()
    pool.Add(_describe_file())
    return {name: GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}")) for name in _MESSAGES}


_CLASSES = _make_messages()
KeyValue = _CLASSES["KeyValue"]
RangeRequest = _CLASSES["RangeRequest"]
RangeResponse = _CLASSES["RangeResponse"]
PutRequest = _CLASSES["PutRequest"]
PutResponse = _CLASSES["PutResponse"]
Request = _CLASSES["Request"]
TxnRequest = _CLASSES["TxnRequest"]
TxnResponse = _CLASSES["TxnResponse"]
CompactionRequest = _CLASSES["CompactionRequest"]
CompactionResponse = _CLASSES["CompactionResponse"]
WatchCreate = _CLASSES["WatchCreate"]
WatchRequest = _CLASSES["WatchRequest"]
WatchResponse = _CLASSES["WatchResponse"]
LeaseGrantRequest = _CLASSES["LeaseGrantRequest"]
LeaseGrantResponse = _CLASSES["LeaseGrantResponse"]
StatusRequest = _CLASSES["StatusRequest"]
StatusResponse = _CLASSES["StatusResponse"]

DELETE = 1  # type of an Event
ASCEND, BY_MOD = 1, 3  # sort order and target of a Range: ascending, by mod revision


def compare_revision(key: bytes, revision: int, *, lower: bool = False) -> bytes:
    """Return the condition that a key's last revision is this one (0: absent). lower: that it is lower."""
    result = b"\x08\x02\x10\x02" if lower else b"\x10\x02"
    return encode_field(b"\x0a", result + encode_field(b"\x1a", key) + b"\x30" + encode_varint(revision))


def compare_created(key: bytes, revision: int, end: bytes = b"") -> bytes:
    """Return the condition that a key was created at a revision (0: absent). end: of a range, for all its keys."""
    condition = b"\x10\x01" + encode_field(b"\x1a", key) + b"\x28" + encode_varint(revision)
    return encode_field(b"\x0a", condition + encode_field(b"\x82\x04", end) if end else condition)


def compare_version(key: bytes, version: int) -> bytes:
    """Return the condition that a key was written this many times since its creation (0: absent)."""
    return encode_field(b"\x0a", encode_field(b"\x1a", key) + b"\x20" + encode_varint(version))


def put_key(key: bytes, value: bytes = b"", lease: int = 0) -> bytes:
    """Return the request to write a key."""
    content = encode_field(b"\x0a", key) + encode_field(b"\x12", value)
    return encode_field(b"\x12", encode_field(b"\x12", content + b"\x18" + encode_varint(lease) if lease else content))


def delete_key(key: bytes, end: bytes = b"") -> bytes:
    """Return the request to delete a key. end: of a range, to delete all its keys."""
    return encode_field(b"\x12", encode_field(b"\x1a", _encode_range(key, end)))


def read_otherwise(key: bytes, end: bytes = b"") -> bytes:
    """Return the request to read a key if a condition fails. end: of a range, to read all its keys."""
    return encode_field(b"\x1a", encode_field(b"\x0a", _encode_range(key, end)))


def _encode_range(key: bytes, end: bytes) -> bytes:
    start = encode_field(b"\x0a", key)
    return start + encode_field(b"\x12", end) if end else start
