"""Any object of every kind through protobuf and back, and hostile bytes: nothing is lost, nothing else is raised."""

from __future__ import annotations

import base64
import contextlib
import datetime
import json
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from podless.apis.catalog import ALL
from podless.codec import serializer
from podless.structs import protobuf, structs
from podless.structs.gotypes import Bool, Bytes, Float, GoType, Int, ListOf, MapOf, Quantity, Raw, String, Time, Union
from podless.structs.structfiles import load_struct
from podless.structs.structs import Struct
from podless.structs.wire import ProtobufError, encode_varint
from tests.conftest import tries

DELETE_OPTIONS = load_struct("meta/v1", "DeleteOptions")
JSON_SCHEMA_PROPS = load_struct("apiextensions/v1", "JSONSchemaProps")
LIST_META = load_struct("meta/v1", "ListMeta")
PARTIAL_OBJECT_METADATA = load_struct("meta/v1", "PartialObjectMetadata")
SCALE = load_struct("autoscaling/v1", "Scale")
STATUS = load_struct("meta/v1", "Status")

OTHERS = (STATUS, DELETE_OPTIONS, SCALE, PARTIAL_OBJECT_METADATA, LIST_META, JSON_SCHEMA_PROPS)
SERVED = dict.fromkeys(
    struct for kind in ALL for version in kind.versions if (struct := kind.struct_of(version)) is not None
)
KINDS = (*SERVED, *OTHERS)
DEPTH = 2
_LARGE = ("Container", "Volume", "PersistentVolumeSpec", "ContainerStatus")

TEXTS = st.text(st.characters(codec="utf-8"), max_size=6)
NUMBERS = st.integers(-(1 << 63), (1 << 63) - 1) | st.floats(allow_nan=False, allow_infinity=False)
ANYTHING = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
).map(lambda value: serializer.decode_json(serializer.encode_json(value)))
MOMENTS = st.datetimes(datetime.datetime(1, 1, 2), datetime.datetime(9999, 12, 31))


def values(type_: GoType, depth: int = DEPTH) -> SearchStrategy[Any]:
    """JSON values that fit the type; depth: how many schemas may be inside each other."""
    if isinstance(type_, Struct):
        return objects(type_, depth)
    if isinstance(type_, ListOf):
        return st.lists(values(type_.item, depth), max_size=2)
    if isinstance(type_, MapOf):
        return st.dictionaries(TEXTS, values(type_.item, depth), max_size=2)
    if isinstance(type_, Union):
        forms = type_.forms.items()
        return st.one_of([values(form, depth) if form is not None else st.from_type(kind) for kind, form in forms])
    if isinstance(type_, Int):
        return st.integers(-type_.limit, type_.limit - 1)
    if isinstance(type_, Time):
        pattern = "%Y-%m-%dT%H:%M:%S.%fZ" if type_.digits else "%Y-%m-%dT%H:%M:%SZ"
        return MOMENTS.map(lambda moment: moment.strftime(pattern).rjust(27 if type_.digits else 20, "0"))
    simple: dict[type[GoType], SearchStrategy[Any]] = {
        String: TEXTS,
        Bool: st.booleans(),
        Float: st.floats(allow_nan=False, allow_infinity=False),
        Quantity: st.sampled_from(["0", "1", "1500m", "-3", "2Gi", "1e21", "10M"]),
        Bytes: st.binary(max_size=4).map(lambda raw: base64.b64encode(raw).decode()),
    }
    return ANYTHING if isinstance(type_, Raw) else simple[type(type_)]


def objects(struct: Struct, depth: int = DEPTH) -> SearchStrategy[dict[str, Any]]:
    if struct.name == JSON_SCHEMA_PROPS.name:
        depth -= 1
    fields = [field for field in struct if depth or not _holds_schemas(field.type)]
    fields = [field for field in fields if field.name not in ("kind", "apiVersion")]
    if _holds_pods(struct):  # of which a part is enough at a time
        of_names = {field.name: field for field in fields}
        return st.lists(st.sampled_from(sorted(of_names)), max_size=4, unique=True).flatmap(
            lambda names: st.fixed_dictionaries({name: values(of_names[name].type, depth) for name in names})
        )
    known = {field.name: values(field.type, depth) for field in fields}
    return st.deferred(lambda: st.fixed_dictionaries({}, optional=known))


@cache
def _holds_pods(struct: Struct) -> bool:
    """Whether a pod or one of its parts is in the struct, which take long to draw as a whole."""
    inner = [field.type.item if isinstance(field.type, ListOf | MapOf) else field.type for field in struct]
    return struct.name in _LARGE or any(
        isinstance(one, Struct) and one.name != JSON_SCHEMA_PROPS.name and _holds_pods(one) for one in inner
    )


def _holds_schemas(type_: GoType) -> bool:
    item = type_.item if isinstance(type_, ListOf | MapOf) else type_
    return (isinstance(item, Struct) and item.name == JSON_SCHEMA_PROPS.name) or isinstance(item, Union)


def settled(struct: Struct, obj: Any) -> Any:
    """The object as a Go server holds it when it came as protobuf: nil and empty are one there."""
    return _settle(struct, structs.decode_struct(struct, obj))


def _settle(type_: GoType, value: Any) -> Any:
    if isinstance(type_, Struct) and value is not None:
        fields = {field.name: field for field in type_}
        found = {name: _settle(fields[name].type, item) for name, item in value.items()}
        for name, item in list(found.items()):
            field = fields[name]
            if isinstance(field.type, ListOf | MapOf | Union) and item in ([], {}, None) and item is not False:
                keep = isinstance(field.type, Union) and item == {}
                found[name] = item if keep else None
            if found[name] is None and not field.always:
                del found[name]
        return found
    if isinstance(type_, ListOf) and value:
        return [_settle(type_.item, item) for item in value]
    if isinstance(type_, MapOf) and value:
        # a null in a map of bytes is the empty bytes
        return {key: _settle(type_.item, item) for key, item in value.items()}
    if isinstance(type_, Union) and isinstance(value, dict | list):
        form = type_.forms[type(value)]
        return _settle(form, value) if form is not None else value
    return value


@pytest.mark.parametrize("struct", KINDS, ids=lambda struct: struct.name)
@settings(max_examples=tries(25), deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_json_to_protobuf_and_back(struct: Struct, data: st.DataObject) -> None:
    obj = structs.decode_struct(struct, data.draw(objects(struct)))
    raw = protobuf.encode_message(struct, obj)
    found = protobuf.decode_message(struct, raw)
    assert json.dumps(found) == json.dumps(settled(struct, obj))
    # what was read is what a server would hold, and it is written as it came
    assert json.dumps(settled(struct, found)) == json.dumps(found)
    assert protobuf.encode_message(struct, found) == raw


BODIES = {kind.kind: kind.struct for kind in ALL if kind.struct is not None and kind.home is None}
BODIES |= {struct.name: struct for struct in OTHERS}
SAMPLES = {
    "Namespace": {"metadata": {"name": "a", "labels": {"b": "c"}, "creationTimestamp": "2024-01-01T00:00:00Z"}},
    "ConfigMap": {"metadata": {"name": "a", "managedFields": [{"fieldsV1": {"f:a": {}}}]}, "binaryData": {"a": "AA=="}},
    "Status": {"status": "Failure", "details": {"causes": [{"field": "a", "message": "b"}], "name": "c"}, "code": 400},
    "DeleteOptions": {"gracePeriodSeconds": 0, "preconditions": {"uid": "u"}, "dryRun": ["All"]},
    "Scale": {"metadata": {"name": "a"}, "spec": {"replicas": 3}, "status": {"replicas": 1, "selector": "a=b"}},
    "Event": {
        "metadata": {"name": "a"},
        "involvedObject": {"kind": "X"},
        "eventTime": "2024-01-01T00:00:00.000001Z",
        "series": {"count": 2},
    },
    "ResourceQuota": {"metadata": {"name": "a"}, "spec": {"hard": {"pods": "1k"}, "scopes": ["BestEffort"]}},
    "JSONSchemaProps": {
        "type": "object",
        "minimum": 1.5,
        "default": {"a": [1]},
        "properties": {"a": {"items": [{"type": "string"}], "additionalProperties": True}, "b": {"enum": [1, None]}},
        "x-kubernetes-validations": [{"rule": "true", "optionalOldSelf": False}],
    },
}


@st.composite
def mutated(draw: st.DrawFn) -> tuple[Struct, bytes]:
    """A valid message with a few bytes changed, taken out, doubled or put in."""
    name = draw(st.sampled_from(sorted(SAMPLES)))
    struct = BODIES[name]
    raw = bytearray(protobuf.encode_message(struct, structs.decode_struct(struct, SAMPLES[name])))
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(raw)))
        end = min(start + draw(st.integers(0, 8)), len(raw))
        raw[start:end] = draw(st.binary(max_size=6) | st.just(bytes(raw[start:end]) * 2))
    return struct, bytes(raw)


@settings(max_examples=tries(700), deadline=None)
@given(mutated())
def test_hostile_bytes_are_read_or_refused(case: tuple[Struct, bytes]) -> None:
    struct, raw = case
    with contextlib.suppress(ProtobufError):
        found = protobuf.decode_message(struct, raw)
        written = protobuf.encode_message(struct, found)
        assert protobuf.decode_message(struct, written) == found
        serializer.encode_json(found)


@pytest.mark.parametrize("unknown", [b"", b"\xf8\x7f\x01"])
def test_a_key_that_is_no_text_is_refused(unknown: bytes) -> None:
    given = {"properties": {"key": {"type": "string"}}}
    raw = protobuf.encode_message(JSON_SCHEMA_PROPS, structs.decode_struct(JSON_SCHEMA_PROPS, given))
    with pytest.raises(ProtobufError):
        protobuf.decode_message(JSON_SCHEMA_PROPS, raw.replace(b"key", b"k\x90y") + unknown)


@settings(max_examples=tries(300), deadline=None)
@given(st.sampled_from(KINDS), st.binary(max_size=60))
def test_random_bytes_are_read_or_refused(struct: Struct, raw: bytes) -> None:
    for body in (raw, b"k8s\0" + raw, b"k8s\0" + b"\x12" + encode_varint(len(raw)) + raw):
        with contextlib.suppress(ProtobufError):
            serializer.encode_json(protobuf.read_object(body, struct))


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_every_truncation_is_read_or_refused(name: str) -> None:
    struct = BODIES[name]
    raw = protobuf.encode_message(struct, structs.decode_struct(struct, SAMPLES[name]))
    for end in range(len(raw)):
        with contextlib.suppress(ProtobufError):
            protobuf.decode_message(struct, raw[:end])
