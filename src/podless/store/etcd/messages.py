"""The messages of etcd's gRPC interface that podless uses.

Source: rpc.proto and kv.proto of etcd 3.4; the numbers of fields are part of the protocol.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError as DecodeError
from google.protobuf.message_factory import GetMessageClass

from podless.runtime.datafiles import read_blocks

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
