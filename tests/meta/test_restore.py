"""Faults of patched documents, in the words of Go's converter."""

from __future__ import annotations

from typing import Any

import pytest

from podless.kinds.types import CONFIG_MAP, CUSTOM_RESOURCE_DEFINITION, LEASE, SECRET
from podless.meta import structs
from podless.meta.restore import fault
from podless.meta.structs import Struct


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
        (LEASE, {"spec": {"renewTime": 1}}, "json: cannot unmarshal number into Go value of type string"),
        (CUSTOM_RESOURCE_DEFINITION, {"spec": {"versions": {}}}, "cannot restore slice from map"),
    ],
)
def test_the_first_fault_is_told(struct: Struct, value: dict[str, Any], expected: str) -> None:
    assert fault(struct, value) == expected
    if expected:
        with pytest.raises(structs.DecodeError):
            structs.decode(struct, value)
