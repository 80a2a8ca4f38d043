"""Objects as protobuf; the known bytes are those that kubectl 1.32 sent and that it read."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from podless.apis.features import NAMES, choose_release
from podless.structs import protobuf, structs
from podless.structs.gotypes import BYTES, FLOAT64, INT64, MICRO_TIME, STRING, TIME, ListOf, MapOf, String, Union
from podless.structs.protobuf_messages import Messages
from podless.structs.structfiles import load_struct
from podless.structs.structs import Field, Struct
from podless.structs.wire import ProtobufError, encode_varint
from tests.conformance import recorded
from tests.cost import assert_linear

CONFIG_MAP = load_struct("core/v1", "ConfigMap")
CUSTOM_RESOURCE_DEFINITION = load_struct("apiextensions/v1", "CustomResourceDefinition")
DELETE_OPTIONS = load_struct("meta/v1", "DeleteOptions")
LIST_META = load_struct("meta/v1", "ListMeta")
NAMESPACE = load_struct("core/v1", "Namespace")
OBJECT_META = load_struct("meta/v1", "ObjectMeta")
PARTIAL_OBJECT_METADATA = load_struct("meta/v1", "PartialObjectMetadata")
SCALE = load_struct("autoscaling/v1", "Scale")
STATUS = load_struct("meta/v1", "Status")

NAMESPACE_Y = bytes.fromhex(
    "6b3873000a0f0a02763112094e616d65737061636512190a110a017912001a0022002a0032003800420012001a020a001a002200"
)
CONFIG_MAP_K = bytes.fromhex(
    "6b3873000a0f0a0276311209436f6e6669674d6170122e0a110a016b12001a0022002a0032003800420012060a01611201311205"
    "0a016212001a0a0a0362696e1203fffe001a002200"
)


def schema(properties: dict[str, Any]) -> dict[str, Any]:
    """A definition with these properties at the top of its one schema."""
    version = {"name": "v1", "schema": {"openAPIV3Schema": {"type": "object", "properties": properties}}}
    spec = {"group": "g", "names": {"plural": "as", "kind": "A"}, "scope": "Cluster", "versions": [version]}
    return structs.decode_struct(CUSTOM_RESOURCE_DEFINITION, {"metadata": {"name": "as.g"}, "spec": spec})


def refusal(struct: Struct, raw: bytes) -> str:
    with pytest.raises(ProtobufError) as caught:
        protobuf.decode_message(struct, raw)
    return str(caught.value)


def test_a_namespace_as_kubectl_sends_it() -> None:
    head = protobuf.open_envelope(NAMESPACE_Y)
    assert (head.api_version, head.kind) == ("v1", "Namespace")
    obj = protobuf.read_object(NAMESPACE_Y, NAMESPACE)
    assert obj == {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "y"}, "spec": {}, "status": {}}
    assert protobuf.write_object(NAMESPACE, obj) == NAMESPACE_Y


def test_a_config_map_as_kubectl_sends_it() -> None:
    obj = protobuf.read_object(CONFIG_MAP_K, CONFIG_MAP)
    assert obj["metadata"] == {"name": "k"}
    assert obj["data"] == {"a": "1", "b": ""}
    assert obj["binaryData"] == {"bin": "//4A"}
    assert protobuf.write_object(CONFIG_MAP, obj) == CONFIG_MAP_K


def test_a_status_that_kubectl_reads() -> None:
    details = {"name": "k", "kind": "configmaps"}
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": 'configmaps "k" already exists',
        "reason": "AlreadyExists",
        "details": details,
        "code": 409,
    }
    assert protobuf.write_object(STATUS, status).hex() == (
        "6b3873000a0c0a027631120653746174757312590a060a0012001a0012074661696c7572651a1d636f6e6669676d61707320"
        "226b2220616c726561647920657869737473220d416c72656164794578697374732a150a016b12001a0a636f6e6669676d61"
        "7073280032003099031a002200"
    )
    assert protobuf.read_object(protobuf.write_object(STATUS, status), STATUS) == status


def test_zeros_are_written_and_pointers_only_when_set() -> None:
    assert protobuf.encode_message(SCALE, {"spec": {}}).endswith(b"\x12\x02\x08\x00\x1a\x04\x08\x00\x12\x00")
    assert protobuf.encode_message(DELETE_OPTIONS, {}) == b""
    assert (
        protobuf.encode_message(DELETE_OPTIONS, {"gracePeriodSeconds": 0, "orphanDependents": False})
        == b"\x08\x00\x18\x00"
    )
    assert protobuf.decode_message(DELETE_OPTIONS, b"\x08\x00\x18\x00") == {
        "gracePeriodSeconds": 0,
        "orphanDependents": False,
    }
    # to a Go client an empty deletionTimestamp would be a deletion
    assert b"\x42\x00" in protobuf.encode_message(OBJECT_META, {})
    assert b"\x4a" not in protobuf.encode_message(OBJECT_META, {})


def test_an_object_s_own_kind_is_in_the_envelope_and_that_of_a_reference_is_not() -> None:
    reference = Struct("ObjectReference", (Field("kind", STRING, 1), Field("name", STRING, 3)))
    assert protobuf.encode_message(reference, {"kind": "A", "name": "b"}) == b"\x0a\x01A\x1a\x01b"


@pytest.mark.parametrize(
    ("text", "seconds", "nanos"),
    [
        ("1970-01-01T00:00:00Z", 0, 0),
        ("1969-12-31T23:59:59Z", -1, 0),
        ("2024-02-29T12:34:56Z", 1709210096, 0),
        ("0000-01-01T00:00:00Z", -62167219200, 0),
        ("9999-12-31T23:59:59Z", 253402300799, 0),
        ("2024-02-29T12:34:56.000123Z", 1709210096, 123000),
        ("1969-12-31T23:59:59.500000Z", -1, 500000000),
    ],
)
def test_times(text: str, seconds: int, nanos: int) -> None:
    type_ = MICRO_TIME if "." in text else TIME
    struct = Struct("Timed", (Field("at", type_, 1),))
    stamp = b"\x08" + encode_varint(seconds % (1 << 64)) + b"\x10" + encode_varint(nanos)
    raw = b"\x0a" + encode_varint(len(stamp)) + stamp
    assert protobuf.encode_message(struct, {"at": text}) == raw
    assert protobuf.decode_message(struct, raw) == {"at": text}


def test_times_that_json_cannot_say() -> None:
    struct = Struct("Timed", (Field("at", TIME, 1, always=True), Field("exactly", MICRO_TIME, 2)))
    assert protobuf.decode_message(struct, b"\x0a\x00\x12\x00") == {"at": None}
    late = b"\x08" + encode_varint(253402300800)
    assert "years 0 to 9999" in refusal(struct, b"\x0a" + encode_varint(len(late)) + late)
    # whole seconds only, and microseconds at most
    assert protobuf.decode_message(struct, b"\x0a\x04\x08\x01\x10\x05") == {"at": "1970-01-01T00:00:01Z"}
    nanos = b"\x08\x01\x10" + encode_varint(1_999_999)
    found = protobuf.decode_message(struct, b"\x12" + encode_varint(len(nanos)) + nanos)
    assert found["exactly"] == "1970-01-01T00:00:01.001999Z"


def test_quantities_and_integers_or_strings() -> None:
    either = Union("intstr.IntOrString", lambda: {int: None, str: None})
    fields = (Field("port", either, 1), Field("size", String("resource.Quantity"), 2))
    struct = Struct("Mixed", (*fields, Field("sizes", MapOf(fields[1].type), 3)))
    assert protobuf.encode_message(struct, {"port": 80}) == b"\x0a\x06\x08\x00\x10\x50\x1a\x00"
    assert (
        protobuf.encode_message(struct, {"port": "a", "size": "1Gi"})
        == b"\x0a\x07\x08\x01\x10\x00\x1a\x01a\x12\x05\x0a\x031Gi"
    )
    for obj in ({"port": 80}, {"port": "a", "size": "1Gi", "sizes": {"cpu": "1"}}):
        assert protobuf.decode_message(struct, protobuf.encode_message(struct, obj)) == obj


def test_json_inside_a_schema() -> None:
    properties = {
        "a": {"default": {"b": [1, 2.5, None], "a": "é"}, "enum": ["x", None, 1, {"z": 1}]},
        "b": {"items": {"type": "string"}, "additionalProperties": False},
        "c": {"items": [{"type": "string"}, {}], "additionalProperties": {}, "additionalItems": True},
        "d": {"dependencies": {"x": ["y"], "z": {"type": "string"}}, "minimum": 0, "maximum": -1.5e300, "not": {}},
    }
    obj = schema(properties)
    assert json.dumps(
        protobuf.decode_message(CUSTOM_RESOURCE_DEFINITION, protobuf.encode_message(CUSTOM_RESOURCE_DEFINITION, obj))
    ) == (json.dumps({name: value for name, value in obj.items() if name not in ("kind", "apiVersion")}))


def test_fields_of_newer_clients_are_skipped() -> None:
    raw = protobuf.encode_message(NAMESPACE, {"metadata": {"name": "a"}})
    for more in (b"\xf8\x07\x05", b"\xfa\x07\x02hi", b"\xfb\x07\x08\x01\xfc\x07", b"\xfd\x07\x00\x00\x00\x00"):
        assert protobuf.decode_message(NAMESPACE, raw + more) == protobuf.decode_message(NAMESPACE, raw)
    assert protobuf.decode_message(NAMESPACE, b"\xf8\x07\x05" * 100_000) == protobuf.decode_message(NAMESPACE, b"")


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"\x0a", "unexpected EOF"),
        (b"\x0a\x05a", "unexpected EOF"),
        (b"\x0a\xff\xff\xff\xff\x7f", "unexpected EOF"),
        (b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "proto: negative length found during unmarshaling"),
        (b"\x0a" + b"\xff" * 10, "proto: integer overflow"),
        (b"\x0c", "proto: Namespace: wiretype end group for non-group"),
        (b"\x00\x00", "proto: Namespace: illegal tag 0 (wire type 0)"),
        (b"\x08\x01", "proto: wrong wireType = 0 for field ObjectMeta"),
        (b"\x0a\x02\x08\x01", "proto: wrong wireType = 0 for field Name"),
        (b"\x0a\x04\x5a\x02\x08\x01", "unexpected EOF"),
        (b"\x0a\x05\x5a\x03\x12\x05a", "unexpected EOF"),
        (b"\x0a\x02\x38\x80", "unexpected EOF"),
        (b"\xfb\x07\x0f", "proto: illegal wireType 7"),
        (b"\xfb\x07\x09\x00", "unexpected EOF"),
        (b"\xfc\x07", "proto: Namespace: wiretype end group for non-group"),
    ],
)
def test_malformed_messages(raw: bytes, text: str) -> None:
    assert refusal(NAMESPACE, raw) == text


@pytest.mark.parametrize("raw", [b"\x0a\x03\x0a\x01\xff", b"\x0a\x05\x5a\x03\x12\x01\xff"])
def test_invalid_utf8_is_replaced(raw: bytes) -> None:
    assert "\ufffd" in json.dumps(protobuf.decode_message(NAMESPACE, raw), ensure_ascii=False)


def test_packed_and_single_numbers_are_read() -> None:
    numbers = Struct("Numbers", (Field("n", ListOf(INT64), 1), Field("d", FLOAT64, 2)))
    assert protobuf.decode_message(numbers, b"\x0a\x02\x01\x02\x08\x03")["n"] == [1, 2, 3]
    assert refusal(numbers, b"\x0a\x02\x01\x80") == "unexpected EOF"
    assert refusal(numbers, b"\x11\0") == "unexpected EOF"
    assert refusal(numbers, b"\x0d\0\0\0\0") == "proto: wrong wireType = 5 for field N"


def test_the_search_for_a_fault_among_packed_numbers_is_charged() -> None:
    numbers = Struct("Numbers", (Field("n", ListOf(INT64), 1),))

    def message(size: int) -> bytes:
        return b"\x0a" + encode_varint(size + 1) + b"\x01" * size + b"\x80"

    assert_linear(lambda raw: refusal(numbers, raw), message, 2000)


def test_malformed_contents() -> None:
    number = Struct("Number", (Field("n", FLOAT64, 1),))
    assert "number that JSON cannot hold" in refusal(number, b"\x09\x00\x00\x00\x00\x00\x00\xf0\x7f")
    read = protobuf.decode_message(OBJECT_META, b"\x8a\x01\x05\x3a\x03\x0a\x01{")
    assert read["managedFields"][0]["fieldsV1"] == "{"  # no set of fields, which field managers ignore


def test_deep_and_many_messages() -> None:
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(200):
        deep = {"items": deep}
    raw = protobuf.encode_message(CUSTOM_RESOURCE_DEFINITION, schema({"a": deep}))
    assert "nested too deep" in refusal(CUSTOM_RESOURCE_DEFINITION, raw)
    for _ in range(1000):
        deep = {"items": deep}
    with pytest.raises(ProtobufError, match="nested too deep"):
        protobuf.encode_message(
            CUSTOM_RESOURCE_DEFINITION, {"spec": {"versions": [{"schema": {"openAPIV3Schema": deep}}]}}
        )
    many = b"\x3a\x00" * 150_000
    assert "more than 100000 messages" in refusal(CUSTOM_RESOURCE_DEFINITION, b"\x12" + encode_varint(len(many)) + many)


def test_what_is_no_envelope() -> None:
    for body, text in (
        (b"", "empty data"),
        (b"k8s\0", "empty body"),
        (b"{}", "expected prefix [107 56 115 0]"),
        (b"k8s\0\x0a\x05", "unexpected EOF"),
    ):
        with pytest.raises(ProtobufError) as caught:
            protobuf.open_envelope(body)
        assert text in str(caught.value)
    assert protobuf.open_envelope(b"k8s\0\x12\x00") == ("", "", b"")


def test_an_object_that_does_not_fit() -> None:
    for obj in ({"metadata": 1}, {"metadata": {"generation": 1 << 70}}, {"metadata": {"creationTimestamp": "now"}}):
        with pytest.raises(ProtobufError, match="cannot be written as protobuf"):
            protobuf.encode_message(NAMESPACE, obj)


def test_lists_are_joined_from_items() -> None:
    items = [protobuf.encode_message(NAMESPACE, {"metadata": {"name": name * 50}}) for name in "abc"]
    namespaces = Struct("NamespaceList", (Field("metadata", LIST_META, 1), Field("items", ListOf(NAMESPACE), 2)))
    whole = b"".join(
        protobuf.pack_list("v1", "NamespaceList", {"resourceVersion": "7", "remainingItemCount": 0}, items)
    )
    found = protobuf.read_object(whole, namespaces)
    assert found["metadata"] == {"resourceVersion": "7", "remainingItemCount": 0}
    assert [item["metadata"]["name"][0] for item in found["items"]] == ["a", "b", "c"]
    assert protobuf.write_object(namespaces, found) == whole


def test_the_list_that_has_its_items_first() -> None:
    fields = (Field("items", ListOf(PARTIAL_OBJECT_METADATA), 1), Field("metadata", LIST_META, 2))
    struct = Struct("PartialObjectMetadataList", fields)
    item = protobuf.encode_message(PARTIAL_OBJECT_METADATA, {"metadata": {"name": "a"}})
    head = ("meta.k8s.io/v1beta1", "PartialObjectMetadataList")
    whole = b"".join(protobuf.pack_list(*head, {"resourceVersion": "7"}, [item]))
    found = protobuf.read_object(whole, struct)
    assert (found["metadata"], found["items"]) == ({"resourceVersion": "7"}, [{"metadata": {"name": "a"}}])
    assert protobuf.write_object(struct, found) == whole


def test_watch_frames() -> None:
    assert protobuf.frame_event("ADDED", b"xx") == b"\x00\x00\x00\x0d\x0a\x05ADDED\x12\x04\x0a\x02xx"
    long = protobuf.frame_event("MODIFIED", b"x" * 1000)
    assert int.from_bytes(long[:4], "big") == len(long) - 4
    event = Struct(
        "WatchEvent", (Field("type", STRING, 1), Field("object", Struct("Raw", (Field("raw", BYTES, 1),)), 2))
    )
    assert protobuf.decode_message(event, long[4:])["type"] == "MODIFIED"


def test_the_package_is_imported_with_the_first_message_only() -> None:
    code = (
        "import sys, podless.app, podless.structs.protobuf as p, podless.structs.structfiles as t;"
        "assert 'google.protobuf' not in sys.modules; p.encode_message(t.load_struct('core/v1', 'Namespace'), {});"
        "assert 'google.protobuf' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_many_threads_may_begin_at_once() -> None:
    messages = Messages()
    bodies = [(NAMESPACE, NAMESPACE_Y), (CONFIG_MAP, CONFIG_MAP_K)] * 8
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda one: messages.decode(one[0], protobuf.open_envelope(one[1]).raw), bodies))
    assert {one["metadata"]["name"] for one in found} == {"y", "k"}


def test_definitions_of_the_real_world_lose_nothing() -> None:
    bodies = recorded.real_definitions()
    for body in bodies:
        given = structs.decode_struct(CUSTOM_RESOURCE_DEFINITION, body)
        found = protobuf.read_object(
            protobuf.write_object(CUSTOM_RESOURCE_DEFINITION, given), CUSTOM_RESOURCE_DEFINITION
        )
        assert json.dumps(found) == json.dumps(given), body["metadata"]["name"]
    assert len(bodies) >= 64


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("home", "kind"), [("apps/v1", "Deployment"), ("batch/v1", "Job"), ("core/v1", "Service")])
def test_messages_have_fields_whose_gate_is_off(name: str, home: str, kind: str) -> None:
    assert protobuf.decode_message(load_struct(home, kind, choose_release(name)), b"") is not None
