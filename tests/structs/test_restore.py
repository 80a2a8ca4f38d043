"""Faults of patched documents, in the words of Go's converter."""

from __future__ import annotations

from typing import Any

import pytest

from podless.structs import structs
from podless.structs.restore import Misfit, restore_value
from podless.structs.structfiles import load_struct
from podless.structs.structs import Struct

CONFIG_MAP = load_struct("core/v1", "ConfigMap")
CUSTOM_RESOURCE_DEFINITION = load_struct("apiextensions/v1", "CustomResourceDefinition")
DEPLOYMENT = load_struct("apps/v1", "Deployment")
LEASE = load_struct("coordination/v1", "Lease")
SECRET = load_struct("core/v1", "Secret")


@pytest.mark.parametrize(
    ("struct", "value", "expected"),
    [
        (CONFIG_MAP, {"data": "text"}, "cannot restore map from string"),
        (CONFIG_MAP, {"data": [1]}, "cannot restore map from slice"),
        (CONFIG_MAP, {"data": {"a": 1}}, "cannot convert int64 to string"),
        (CONFIG_MAP, {"data": {"a": True}}, "unrecognized type: string"),
        (CONFIG_MAP, {"data": {"a": None}, "immutable": None}, ""),
        (CONFIG_MAP, {"immutable": "yes"}, "unrecognized type: bool"),
        (CONFIG_MAP, {"binaryData": {"a": 1}}, "cannot restore slice from int64"),
        (CONFIG_MAP, {"binaryData": {"a": "!"}}, "error decoding from json: illegal base64 data at input byte 0"),
        (CONFIG_MAP, {"metadata": [], "data": 1}, "cannot restore struct from: slice"),
        (SECRET, {"type": 1}, "cannot convert int64 to v1.SecretType"),
        (LEASE, {"spec": {"leaseTransitions": 1.5}}, "cannot convert float64 to int32"),
        (LEASE, {"spec": {"leaseTransitions": "1"}}, "unrecognized type: int32"),
        (LEASE, {"spec": 1.0}, "cannot restore struct from: float64"),
        (LEASE, {"spec": {"renewTime": 1}}, "json: cannot unmarshal number into Go value of type string"),
        (CUSTOM_RESOURCE_DEFINITION, {"spec": {"versions": {}}}, "cannot restore slice from map"),
    ],
)
def test_the_first_fault_is_told(struct: Struct, value: dict[str, Any], expected: str) -> None:
    if not expected:
        assert restore_value(struct, value) is value
        return
    with pytest.raises(Misfit) as caught:
        restore_value(struct, value)
    assert str(caught.value) == expected
    with pytest.raises(structs.DecodeError):
        structs.decode_struct(struct, value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1 << 31, -1 << 31),
        (-(1 << 31) - 1, (1 << 31) - 1),
        ((1 << 32) + 5, 5),
        (7.0, 7),
        (1 << 63, 0),  # a double, of which no integer can be made
        (1e300, 0),
    ],
)
def test_integers_are_cut_to_their_size(value: float, expected: int) -> None:
    assert restore_value(LEASE, {"spec": {"leaseTransitions": value}}) == {"spec": {"leaseTransitions": expected}}


def test_bytes_are_lists_of_numbers_too() -> None:
    assert restore_value(SECRET, {"data": {"a": [None, 1, 257, -1, 65.0]}}) == {"data": {"a": "AAEB/0E="}}
    with pytest.raises(Misfit, match="unrecognized type: uint8"):
        restore_value(SECRET, {"data": {"a": ["a"]}})


def test_what_decodes_itself_is_given_numbers_as_go_writes_them() -> None:
    def surge(value: float) -> dict[str, Any]:
        return {"spec": {"strategy": {"rollingUpdate": {"maxSurge": value}}}}

    assert str(restore_value(DEPLOYMENT, surge(1.0))) == str(surge(1))
