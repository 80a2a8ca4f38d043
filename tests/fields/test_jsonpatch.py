"""JSON patch."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.codec import serializer
from podless.fields import jsonpatch
from podless.meta.errors import APIError, BadRequest, TooLarge, Unprocessable

DOCUMENT = {"a": {"b": 1, "l": ["x", "y", "z"], "n": None}, "s": "text", "x~y/z": 1}


def patch(document: Any, *operations: dict[str, Any]) -> Any:
    before = copy.deepcopy(document)
    try:
        return jsonpatch.apply_json_patch(document, json.dumps(operations).encode())
    finally:
        assert document == before


def op(name: str, path: str, *value: Any, **more: Any) -> dict[str, Any]:
    return {"op": name, "path": path} | ({"value": value[0]} if value else {}) | more


@pytest.mark.parametrize(
    ("operation", "where", "found"),
    [
        (op("add", "/a/new", {"deep": [1]}), "a", DOCUMENT["a"] | {"new": {"deep": [1]}}),  # type: ignore[operator]
        (op("add", "/a/new"), "a", DOCUMENT["a"] | {"new": None}),  # type: ignore[operator]
        (op("add", "/a/l/-", "d"), "a.l", ["x", "y", "z", "d"]),
        (op("add", "/a/l/0", "d"), "a.l", ["d", "x", "y", "z"]),
        (op("add", "/a/l/3", "d"), "a.l", ["x", "y", "z", "d"]),
        (op("add", "/a/l/-1", "d"), "a.l", ["x", "y", "z", "d"]),
        (op("add", "/a/l/-4", "d"), "a.l", ["d", "x", "y", "z"]),
        (op("add", "/a/l/+1", "d"), "a.l", ["x", "d", "y", "z"]),
        (op("remove", "/a/l/1"), "a.l", ["x", "z"]),
        (op("remove", "/a/l/-1"), "a.l", ["x", "y"]),
        (op("replace", "/a/l/-1", "d"), "a.l", ["x", "y", "d"]),
        (op("replace", "/a/none", 1), "a.none", 1),
        (op("replace", "/x~0y~1z", 2), "x~y/z", 2),
        (op("add", "/a/", "e"), "a.", "e"),
        (op("add", "ignored/a/b", 2), "a.b", 2),
        (op("move", "/a/l/0", **{"from": "/a/l/2"}), "a.l", ["z", "x", "y"]),
        (op("move", "/a/m", **{"from": "/a/l"}), "a.m", ["x", "y", "z"]),
        (op("copy", "/a/c", **{"from": "/a/l/0"}), "a.c", "x"),
        (op("copy", "/a/c", **{"from": "/a/none"}), "a.c", None),
        (op("replace", "", {"whole": 1}), "whole", 1),
    ],
)
def test_operations(operation: dict[str, Any], where: str, found: Any) -> None:
    value = patch(DOCUMENT, operation)
    for key in where.split("."):
        value = value[key]
    assert value == found


@pytest.mark.parametrize(
    "operation",
    [
        op("add", "/a/l/99", 1),
        op("add", "/a/l/-5", 1),
        op("add", "/a/l/x", 1),
        op("add", "/no/such", 1),
        op("add", "/s/x", 1),
        op("add", "/a/n/x", 1),
        op("add", "no-slash", 1),
        op("remove", "/a/l/-"),
        op("remove", "/a/none"),
        op("remove", ""),
        op("replace", "/a/l/3", 1),
        op("replace", "", 5),
        op("move", "/a/x"),
        op("move", "/a/b/x", **{"from": "/a"}),
        op("copy", "/no/such", **{"from": "/a"}),
        op("jump", "/a"),
        {"op": "add"},
        {"path": "/a", "value": 1},
        {"op": None, "path": "/a"},
        op("test", "/a/b", 2),
        op("test", "/a/b", "1"),
        op("test", "/a/b", True),
        op("test", "/a/b", 1.0),
        op("test", "/a/b"),
        op("test", "/a/none", 1),
        op("test", "/a/l", ["y", "x", "z"]),
        op("test", "/a/l/7", None),
    ],
)
def test_what_cannot_be_carried_out(operation: dict[str, Any]) -> None:
    with pytest.raises(Unprocessable) as caught:
        patch(DOCUMENT, op("add", "/a/first", 1), operation)
    assert caught.value.status() == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": "the server rejected our request due to an error in our request",
        "reason": "Invalid",
        "details": {},
        "code": 422,
    }


def test_tests_hold() -> None:
    held = [op("test", "/a/l", ["x", "y", "z"]), op("test", "/a", {"n": None, "l": ["x", "y", "z"], "b": 1})]
    held += [op("test", "/a/none", None), op("test", "/a/none"), op("test", "/a/n", None), op("test", "", DOCUMENT)]
    assert patch(DOCUMENT, *held) == DOCUMENT


def test_what_is_copied_is_not_shared() -> None:
    both = patch({"a": {"l": [1]}}, op("copy", "/b", **{"from": "/a"}), op("add", "/b/l/-", 2))
    assert both == {"a": {"l": [1]}, "b": {"l": [1, 2]}}


def test_what_does_not_change_is_shared() -> None:
    document = {"big": {"x": 1}, "small": {"y": 1}}
    assert patch(document, op("add", "/small/z", 1))["big"] is document["big"]


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "error decoding patch: unexpected end of JSON input"),
        (b"[} ", "error decoding patch: invalid character '}' looking for beginning of value"),
        (b"{}", "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"),
        (b'"x"', "error decoding patch: json: cannot unmarshal string into Go value of type []handlers.jsonPatchOp"),
        (b"[1]", "error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp"),
        (
            b'[{"op":5}]',
            "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string",
        ),
    ],
)
def test_what_is_no_patch(raw: bytes, message: str) -> None:
    with pytest.raises(BadRequest) as caught:
        jsonpatch.apply_json_patch({}, raw)
    assert caught.value.message == message


def test_unchecked_patches_have_other_errors() -> None:
    with pytest.raises(BadRequest, match=r"^json: cannot unmarshal object into Go value of type jsonpatch\.Patch$"):
        jsonpatch.apply_json_patch({}, b"{}", checked=False)
    with pytest.raises(Unprocessable):
        jsonpatch.apply_json_patch({}, b'[{"op":5}]', checked=False)


@pytest.mark.parametrize("raw", [b"null", b"[]"])
def test_nothing_to_do(raw: bytes) -> None:
    assert jsonpatch.apply_json_patch(DOCUMENT, raw) is DOCUMENT


def test_limits() -> None:
    with pytest.raises(TooLarge) as caught:
        jsonpatch.apply_json_patch({}, b"[" + b"{}," * 10000 + b"{}]")
    text = "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001"
    assert caught.value.message == text
    with pytest.raises(Unprocessable):
        patch({"a": "x" * 1000}, *[op("copy", "/a", **{"from": ""})] * 5)
    with pytest.raises(Unprocessable):
        patch({"a": {"x": "y" * 1000}}, *[op("copy", f"/a/{i}", **{"from": "/a"}) for i in range(20)])


def test_findings_of_a_strict_decoder() -> None:
    raw = b'[{"op":"add","op":"add","path":"/a","Value":1},null,{"op":"test","path":"/b","from":"","x":1}]'
    assert jsonpatch.find_unknown_fields(raw) == [
        'json patch duplicate field "[0].op"',
        'json patch unknown field "[0].Value"',
        'json patch unknown field "[2].x"',
    ]


KEYS = st.sampled_from(["a", "b", "0", "1", "-", "-1", ""])
VALUES = st.recursive(
    st.none() | st.integers(0, 2), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3)
)
PATHS = st.lists(KEYS, min_size=1, max_size=3).map(lambda keys: "".join(f"/{key}" for key in keys))
OPERATIONS = st.fixed_dictionaries(
    {"op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test"]), "path": PATHS, "from": PATHS},
    optional={"value": VALUES},
)


def naive(document: Any, operation: dict[str, Any]) -> Any:
    """The same on a deep copy, the plain way."""
    document = copy.deepcopy(document)

    def place(path: str) -> tuple[Any, Any]:
        *way, last = path.split("/")[1:]
        holder = document
        for part in way:
            holder = holder[int(part)] if isinstance(holder, list) else holder[part]
        if isinstance(holder, list) and last != "-":
            return holder, int(last)
        if not isinstance(holder, list | dict):
            raise LookupError
        return holder, last

    def get(path: str, default: Any = None) -> Any:
        holder, key = place(path)
        return holder[key] if isinstance(holder, list) else holder.get(key, default)

    def add(path: str, value: Any) -> None:
        holder, key = place(path)
        if isinstance(holder, dict):
            holder[key] = value
        elif key == "-":
            holder.append(value)
        elif not -len(holder) - 1 <= key <= len(holder):
            raise LookupError
        else:
            holder.insert(key + len(holder) + 1 if key < 0 else key, value)

    def remove(path: str) -> Any:
        holder, key = place(path)
        return holder.pop(key)

    path, value = operation["path"], copy.deepcopy(operation.get("value"))
    match operation["op"]:
        case "add":
            add(path, value)
        case "remove":
            remove(path)
        case "replace":
            get(path)
            holder, key = place(path)
            holder[key] = value
        case "move":
            add(path, remove(operation["from"]))
        case "copy":
            add(path, copy.deepcopy(get(operation["from"])))
        case "test" if json.dumps(get(path), sort_keys=True) != json.dumps(value, sort_keys=True):
            raise LookupError
    return document


@given(st.dictionaries(KEYS, VALUES, max_size=3), st.lists(OPERATIONS, max_size=4))
def test_patches_do_what_a_naive_model_does(document: dict[str, Any], operations: list[dict[str, Any]]) -> None:
    wanted: Any = document
    try:
        for operation in operations:
            wanted = naive(wanted, operation)
    except (LookupError, TypeError, ValueError, AttributeError):
        with pytest.raises(Unprocessable):
            patch(document, *operations)
        return
    assert patch(document, *operations) == wanted


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=3) | PATHS,
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["op", "path", "from", "value", "q"]), inner, max_size=4)
        ),
    )
)
def test_hostile_patches_raise_only_declared_errors(value: Any) -> None:
    try:
        jsonpatch.apply_json_patch(DOCUMENT, json.dumps(value).encode())
        jsonpatch.find_unknown_fields(json.dumps(value).encode())
    except APIError as refusal:
        refused = refusal.code
    else:
        refused = 0
    assert refused in (0, 400, 413, 422)


@pytest.mark.parametrize(("document", "untrue"), [({"a": {"b": 2}}, True), ({"a": {}}, True), ({}, False)])
def test_a_test_that_has_nothing_to_look_at_is_no_untrue_one(document: dict[str, Any], untrue: bool) -> None:
    with pytest.raises(jsonpatch.OperationRejected) as rejected:
        jsonpatch.apply_json_patch(document, b'[{"op": "test", "path": "/a/b", "value": 1}]')
    assert rejected.value.untrue == untrue


@pytest.mark.parametrize(
    ("operations", "wanted"),
    [
        ('[{"op": "add", "path": "/x", "value": 1.50}]', '{"a":1,"x":1.50}'),
        (
            '[ {"value" : { "b" : 1e3, "a": "\\u00e9 x" }, "path":"/x", "op":"add"} ]',
            '{"a":1,"x":{"b":1e3,"a":"\\u00e9 x"}}',
        ),
        (
            '[{"op": "add", "path": "/x", "value": {"b": 1.0}}, {"op": "add", "path": "/x/a", "value": 2.0}]',
            '{"a":1,"x":{"a":2.0,"b":1.0}}',
        ),
        (
            '[{"op": "add", "path": "/x", "value": [1.0]}, {"op": "copy", "from": "/x", "path": "/y"}]',
            '{"a":1,"x":[1.0],"y":[1.0]}',
        ),
        ('[{"op": "replace", "path": "", "value": [2.0]}]', "[2.0]"),
    ],
)
def test_what_is_shown_is_as_it_was_written(operations: str, wanted: str) -> None:
    assert (
        serializer.encode_json(jsonpatch.apply_json_patch({"a": 1}, operations.encode(), for_error=True)).decode()
        == wanted
    )


@pytest.mark.parametrize(
    ("operation", "why"),
    [
        (
            {"op": "add", "path": "/l/x", "value": 1},
            "error in add for path: '/l/x': value was not a proper array index: 'x'",
        ),
        ({"op": "add", "path": "/l/9/x", "value": 1}, 'add operation does not apply: doc is missing path: "/l/9/x": '),
        (
            {"op": "remove", "path": "/l/x"},
            "error in remove for path: '/l/x': strconv.Atoi: parsing \"x\": invalid syntax",
        ),
        ({"op": "replace", "path": "/l/9", "value": 1}, "replace operation does not apply: doc is missing key: /l/9: "),
        (
            {"op": "move", "from": "/a~1b", "path": "/c"},
            "error in move for path: 'a/b': Unable to remove nonexistent key: ",
        ),
        (
            {"op": "move", "from": "/l", "path": "/c/d"},
            "move operation does not apply: doc is missing destination path: /c/d: ",
        ),
        (
            {"op": "copy", "from": "/l/9", "path": "/c"},
            "error in copy for from: '/l/9': Unable to access invalid index: 9: ",
        ),
        (
            {"op": "copy", "from": "/l", "path": "/l/9"},
            "error while adding value during copy: Unable to access invalid index: 9",
        ),
        ({"op": "test", "path": "/l/9"}, "error in test for path: '/l/9': Unable to access invalid index: 9: "),
        ({"op": "test", "path": "/l"}, "testing value /l failed: test failed"),
        (
            {"op": "move", "path": "/l"},
            "move operation failed to decode from: operation, missing from field: missing value",
        ),
        (
            {"op": "test", "path": 1},
            "test operation failed to decode path: json: cannot unmarshal number into Go value of type",
        ),
        ({"op": "remove"}, "remove operation failed to decode path: missing value"),
        ({"op": 1}, "Unexpected kind: unknown"),
    ],
)
def test_who_made_a_patch_is_told_why_it_cannot_be_carried_out(operation: dict[str, Any], why: str) -> None:
    with pytest.raises(jsonpatch.OperationRejected) as rejected:
        jsonpatch.apply_json_patch({"l": [1]}, json.dumps([operation]).encode(), checked=False)
    assert rejected.value.why.startswith(why)
