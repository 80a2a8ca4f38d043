"""The messages of etcd's gRPC interface that podless uses.

Source: rpc.proto and kv.proto of etcd 3.4; the numbers of fields are part of the protocol.
"""

from __future__ import annotations

from typing import Any

from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError as DecodeError
from google.protobuf.message_factory import GetMessageClass

_PACKAGE = "etcdserverpb"
_SCALARS = {
    "bytes": FieldDescriptorProto.TYPE_BYTES,
    "string": FieldDescriptorProto.TYPE_STRING,
    "int": FieldDescriptorProto.TYPE_INT64,
    "enum": FieldDescriptorProto.TYPE_INT32,  # has the same wire format
    "bool": FieldDescriptorProto.TYPE_BOOL,
}
# message: fields as "name type number"; a type with * is repeated
_MESSAGES = {
    "Header": "revision int 3",
    "KeyValue": "key bytes 1, create_revision int 2, mod_revision int 3, version int 4, value bytes 5, lease int 6",
    "Event": "type enum 1, kv KeyValue 2, prev_kv KeyValue 3",
    "RangeRequest": (
        "key bytes 1, range_end bytes 2, limit int 3, revision int 4, sort_order enum 5, sort_target enum 6, "
        "serializable bool 7, keys_only bool 8, count_only bool 9, min_mod_revision int 10"
    ),
    "RangeResponse": "header Header 1, kvs KeyValue* 2, more bool 3",
    "PutRequest": "key bytes 1, value bytes 2, lease int 3",
    "PutResponse": "header Header 1",
    "DeleteRequest": "key bytes 1, range_end bytes 2",
    "Request": "request_range RangeRequest 1, request_put PutRequest 2, request_delete_range DeleteRequest 3",
    "Answer": "response_range RangeResponse 1",
    "Compare": (
        "result enum 1, target enum 2, key bytes 3, version int 4, create_revision int 5, mod_revision int 6, "
        "range_end bytes 64"
    ),
    "TxnRequest": "compare Compare* 1, success Request* 2, failure Request* 3",
    "TxnResponse": "header Header 1, succeeded bool 2, responses Answer* 3",
    "CompactionRequest": "revision int 1, physical bool 2",
    "CompactionResponse": "header Header 1",
    "WatchCreate": "key bytes 1, range_end bytes 2, start_revision int 3, progress_notify bool 4, prev_kv bool 6",
    "WatchProgress": "",
    "WatchRequest": "create_request WatchCreate 1, progress_request WatchProgress 3",
    "WatchResponse": (
        "header Header 1, watch_id int 2, created bool 3, canceled bool 4, compact_revision int 5, "
        "cancel_reason string 6, events Event* 11"
    ),
    "LeaseGrantRequest": "TTL int 1, ID int 2",
    "LeaseGrantResponse": "header Header 1, ID int 2, TTL int 3, error string 4",
    "StatusRequest": "",
    "StatusResponse": "header Header 1, version string 2, dbSize int 3, leader int 4",
}


def _describe_file() -> FileDescriptorProto:
    file = FileDescriptorProto(name="podless/etcd.proto", package=_PACKAGE, syntax="proto3")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field_text in filter(None, fields.split(", ")):
            name_of_field, of, number = field_text.split()
            field_label = (
                FieldDescriptorProto.LABEL_REPEATED if of.endswith("*") else FieldDescriptorProto.LABEL_OPTIONAL
            )
            field = message.field.add(name=name_of_field, number=int(number), label=field_label)
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
DeleteRequest = _CLASSES["DeleteRequest"]
Request = _CLASSES["Request"]
Compare = _CLASSES["Compare"]
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

EQUAL, LESS = 0, 2  # results of a Compare
VERSION, CREATE, MOD = 0, 1, 2  # targets of a Compare: version (number of writes), create revision, mod revision
DELETE = 1  # type of an Event
ASCEND, BY_MOD = 1, 3  # sort order and target of a Range: ascending, by mod revision
