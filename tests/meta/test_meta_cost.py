"""What metadata, names and selectors cost: no more than n log n, whatever is sent."""

from __future__ import annotations

import base64
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.codec import quantity
from podless.meta import gvk, names, objectmeta, selectors, validation
from podless.meta.errors import BadRequest
from podless.structs import gotypes, protobuf, structs
from podless.structs.structfiles import load_struct
from tests.cost import assert_linear

OBJECT_META = load_struct("meta/v1", "ObjectMeta")

pytestmark = pytest.mark.slow


def owners(size: int, *, controller: bool = False) -> dict[str, Any]:
    reference = {"apiVersion": "v1", "kind": "K", "uid": "u"}
    return {"ownerReferences": [{**reference, "name": f"n{n}", "controller": controller} for n in range(size)]}


@pytest.mark.parametrize("controller", [False, True])
def test_owner_references(controller: bool) -> None:
    def check(meta: dict[str, Any]) -> None:
        decoded = objectmeta.coerce_metadata(meta)
        objectmeta.dedupe_owners(decoded)
        for error in objectmeta.check_owners(decoded["ownerReferences"], "metadata.ownerReferences"):
            assert error.body

    assert_linear(check, lambda size: owners(size, controller=controller))


def test_every_controller_beyond_the_first_is_told_where_they_are_few() -> None:
    found = objectmeta.check_owners(owners(5, controller=True)["ownerReferences"], "o")
    assert [error.detail.rpartition(" and ")[2] for error in found] == ["K/n1", "K/n2", "K/n3", "K/n4"]
    many = owners(20_000, controller=True)["ownerReferences"]
    assert len(objectmeta.check_owners(many, "o")) == 1


def test_finalizers_of_core_kinds_are_qualified() -> None:
    found = objectmeta.check_qualified(["orphan", "a/b", "c", "kubernetes"], "metadata.finalizers")
    assert [(error.field, error.value) for error in found] == [("metadata.finalizers[2]", "c")]
    assert found[0].detail == "name is neither a standard finalizer name nor is it fully qualified"


def test_owners_that_are_there_twice_are_dropped() -> None:
    meta = owners(3)
    meta["ownerReferences"] *= 2
    (warning,) = objectmeta.dedupe_owners(meta)
    assert warning.endswith("duplicate UID(s) observed: u, u, u")
    assert meta == owners(3)


def test_names_of_managers() -> None:
    assert_linear(lambda name: objectmeta.check_field_manager(name, "m"), lambda size: "\x00" * size)
    assert len(objectmeta.check_field_manager("\x00" * 50, "m")) == 50
    assert len(objectmeta.check_field_manager("\x00" * 1_000_000, "m")) == 2  # too long, and one of the characters


@pytest.mark.parametrize(
    "text", ["a in ({})", "a notin ({})", "{}", "a=b,{}", "a in ({}", "{}=b", "a>{}", "!a,{}", "a,,{}", "a in (,{})"]
)
def test_selectors(text: str) -> None:
    for part in ("x{},", "x,", ",", "((", "a=b,", "1", "\\,", "\x00", " "):

        def make(size: int, part: str = part) -> str:
            return text.format("".join(part.format(n) for n in range(size)))

        assert_linear(selectors.parse_labels, make, refused=(BadRequest,))
        assert_linear(selectors.parse_fields, make, refused=(BadRequest,))


def test_a_selector_of_many_values_costs_little_for_each_object() -> None:
    requirement = {"key": "a", "operator": "In", "values": [f"v{n}" for n in range(100_000)]}
    selector = selectors.from_object({"matchExpressions": [requirement]})
    assert sum(selector.matches({"a": f"v{n * 2}"}) for n in range(100_000)) == 50_000
    assert str(selectors.parse_labels("a in (z,y,x,w,v)")) == "a in (v,w,x,y,z)"


def test_faults_count_values_as_they_are_kept() -> None:
    with pytest.raises(BadRequest) as error:
        selectors.parse_labels("a in (z,b_,z,a)")
    assert 'values[1][a]: Invalid value: "b_"' in error.value.message


def test_label_selectors_of_objects() -> None:
    assert_linear(
        lambda selector: validation.validate_selector(selector, "s"),
        lambda size: {
            "matchLabels": {f"k{n}": "_" for n in range(size)},
            "matchExpressions": [{"key": "_", "operator": "In", "values": ["_"] * size}],
        },
    )


SYNTAXES = [value for value in vars(names).values() if isinstance(value, names.Syntax)]


@given(st.text("aZ0-._", max_size=12))
def test_a_scan_takes_what_its_pattern_takes(text: str) -> None:
    for syntax in SYNTAXES:
        assert bool(syntax.matches(text)) == bool(re.fullmatch(syntax.pattern, text)), syntax.rule


@pytest.mark.parametrize(
    "text", ["-" * 1_000_000, "a" + "-" * 1_000_000, "a." * 500_000, "a-" * 500_000, "a" * 1_000_000]
)
def test_long_names_are_looked_at_once(text: str) -> None:
    for check in (
        names.check_label_name,
        names.check_subdomain,
        names.check_label_1035,
        names.check_qualified_name,
        names.check_label_value,
    ):
        assert check(text)


def test_numbers_of_any_length() -> None:
    digits = "1" * 5000
    assert gvk.rank_version(f"v{digits}")[0] == gvk.rank_version(f"v1beta{digits}")[0] == 1
    with pytest.raises(quantity.QuantityError):
        quantity.canonicalize_quantity(digits)
    with pytest.raises(quantity.QuantityError):
        quantity.canonicalize_quantity(f"1e{digits}")
    assert selectors.parse_labels("a=b").matches({"a": "b"})
    with pytest.raises(BadRequest):
        selectors.parse_labels(f"a>{digits}")


def test_only_so_many_unknown_fields_are_named() -> None:
    unknown: list[str] = []
    structs.decode_struct(OBJECT_META, {f"x{n}": 1 for n in range(1000)}, unknown)
    assert unknown == [f"x{n}" for n in range(structs.MAX_UNKNOWN)]


BYTES = structs.Struct("T", (structs.Field("b", gotypes.BYTES),))


@pytest.mark.parametrize(
    ("given", "wanted"),
    [([104, 105], "aGk="), ([None], "AA=="), ("aGk=", "aGk="), ("aG\nk=", "aGk="), ([], "")],
)
def test_bytes_are_a_text_or_numbers(given: Any, wanted: str) -> None:
    assert structs.decode_struct(BYTES, {"b": given}) == ({"b": wanted} if wanted else {})


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ([256], "json: cannot unmarshal number 256 into Go struct field T.b of type uint8"),
        (["a"], "json: cannot unmarshal string into Go struct field T.b of type uint8"),
        ({}, "json: cannot unmarshal object into Go struct field T.b of type []uint8"),
    ],
)
def test_what_is_no_bytes(given: Any, fault: str) -> None:
    with pytest.raises(structs.DecodeError) as error:
        structs.decode_struct(BYTES, {"b": given})
    assert str(error.value) == fault


@given(st.binary(max_size=60), st.integers(0, 300))
def test_any_bytes_are_a_message_or_none(raw: bytes, repeats: int) -> None:
    for body in (raw, b"k8s\0" + raw, raw * repeats, b"\x62\x02\x0a\x00" * repeats + raw):
        try:
            protobuf.decode_message(OBJECT_META, body)
            protobuf.open_envelope(body)
        except protobuf.ProtobufError:
            pass


def test_messages_cost_their_length() -> None:
    def message(size: int) -> bytes:
        return protobuf.encode_message(
            OBJECT_META, objectmeta.coerce_metadata({**owners(size), "labels": {f"k{n}": "v" for n in range(size)}})
        )

    assert_linear(lambda raw: protobuf.decode_message(OBJECT_META, raw), message)
    assert_linear(
        lambda meta: protobuf.encode_message(OBJECT_META, meta), lambda size: objectmeta.coerce_metadata(owners(size))
    )
    assert base64.b64encode(message(1))
