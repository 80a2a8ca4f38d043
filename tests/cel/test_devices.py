"""Selectors of devices: what they may name, give and cost, as recorded."""

from __future__ import annotations

import pytest

from podless.cel import devices


@pytest.mark.parametrize(
    "source",
    [
        'device.driver == "gpu.example.com"',
        'device.attributes["gpu.example.com"].cores > 3',
        'device.attributes["gpu.example.com"].fast',
        "device.allowMultipleAllocations",
        'device.capacity["gpu.example.com"].memory.compareTo(quantity("1Gi")) >= 0',
        'cel.bind(gpu, device.attributes["gpu.example.com"], gpu.fast && gpu.cores > 3)',
        'device.attributes["a"].name.matches("[a-z]+")',
        "device.attributes.all(k, device.attributes[k].size() > 1)",
    ],
)
def test_sound(source: str) -> None:
    assert not devices.validate_device_selector(source, "x")


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("1", "must evaluate to bool or the unknown type, not int"),
        ('device.attributes["a"]', "must evaluate to bool or the unknown type, not map(string, google.protobuf.Any)"),
        ("device.name", "compilation failed: ERROR: <input>:1:7: undefined field 'name'\n | device.name\n | ......^"),
        (
            'device.attributes["a"].includes("b")',
            "compilation failed: ERROR: <input>:1:32: undeclared reference to 'includes' (in container '')\n"
            ' | device.attributes["a"].includes("b")\n | ...............................^',
        ),
        ("device.attributes.all(a, " * 4 + "a == 'b'" + ")" * 4, "too complex, exceeds cost limit"),
        ("x" * 10241, "may not be more than 10240 bytes"),
    ],
)
def test_wrong(source: str, wanted: str) -> None:
    (error,) = devices.validate_device_selector(source, "x")
    assert error.detail == wanted


def test_of_an_empty_text_no_line_is_shown() -> None:
    (error,) = devices.validate_device_selector("", "x")
    assert error.detail.startswith("compilation failed: ERROR: <input>:1:0: Syntax error: mismatched input '<EOF>'")
    assert "\n" not in error.detail


def test_the_names_of_attributes_have_a_known_length() -> None:
    known = 'device.attributes.all(d, device.attributes[d].all(n, d == "{}" || n.matches("{}")))'
    assert not devices.validate_device_selector(known.format("a", "b"), "x")
    assert devices.validate_device_selector(known.format("a", "b" * 3000), "x")
