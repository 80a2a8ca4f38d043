"""Bodies that are almost right: objects of all kinds, patches of all kinds, in JSON, YAML and protobuf."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import CRDS, definition
from tests.fuzz.objects import OBJECTS
from tests.fuzz.values import JSON, TEXT, language, mutations
from tests.fuzz.wire import GROUP, Wire, many

pytestmark = pytest.mark.slow

GADGETS = f"/apis/{GROUP}/v1/namespaces/default/gadgets"
GADGET = OBJECTS[GADGETS]
MEDIA = st.sampled_from(
    ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "text/plain", ""]
)


@pytest.mark.parametrize("path", OBJECTS, ids=lambda path: path.rpartition("/")[2])
@given(data=st.data())
@many
def test_objects(wire: Wire, path: str, data: st.DataObject) -> None:
    body = data.draw(mutations(OBJECTS[path]))
    query = data.draw(
        st.sampled_from(["", "?dryRun=All", "?fieldValidation=Strict", "?dryRun=All&fieldValidation=Strict"])
    )
    code, _ = wire.json("POST", path + query, body)
    name = OBJECTS[path]["metadata"]["name"]
    if code == 201 or code == 409:
        wire.json("PUT", f"{path}/{name}{query}", body)
        wire.send("GET", f"{path}/{name}", Accept="application/json;as=Table;v=v1;g=meta.k8s.io")
        wire.send("GET", path, Accept="application/vnd.kubernetes.protobuf,application/json")
        wire.send("DELETE", f"{path}/{name}")


@given(JSON)
@many
def test_definitions_of_anything(wire: Wire, schema: Any) -> None:
    crd = definition(f"any.{GROUP}", "anys", "Any", schema={"openAPIV3Schema": schema})
    wire.json("POST", f"{CRDS}?dryRun=All", crd)


RAW = language(
    *'{}[],:"', "\\u12", "\\ud800", "null", "true", "1e9", "0.1", "-", '"a"', '"kind":"Gadget"', "\n", "\x00"
)


@given(RAW.map(str.encode) | st.binary(max_size=40), MEDIA)
@many
def test_bytes(wire: Wire, raw: bytes, media: str) -> None:
    code, _ = wire.send("POST", GADGETS, raw, Content_Type=media)
    assert 400 <= code < 500
    wire.send("DELETE", f"{GADGETS}/none", raw, Content_Type=media)


YAML = language(
    "a: ",
    "- ",
    "\n",
    "  ",
    "&x ",
    "*x",
    "!!int ",
    "!!binary ",
    "? ",
    "|\n",
    ">-\n",
    "{",
    "}",
    "[",
    "]",
    ",",
    "'",
    '"',
    "<<: ",
    "---\n",
    "...\n",
    "%YAML 1.1\n",
    "0x1f",
    "1_000",
    "1:30",
    ".inf",
    "~",
    "yes",
    "2001-01-01",
    "#c\n",
    "\t",
)


@given(YAML, st.sampled_from(["application/yaml", "application/apply-patch+yaml"]))
@many
def test_yaml(wire: Wire, text: str, media: str) -> None:
    raw = f"apiVersion: {GROUP}/v1\nkind: Gadget\nmetadata: {{name: y}}\nspec:\n  any:\n    x: {text}\n".encode()
    if media == "application/yaml":
        wire.send("POST", f"{GADGETS}?dryRun=All", raw, Content_Type=media)
        wire.send("POST", f"{GADGETS}?dryRun=All", text.encode(), Content_Type=media)
    else:
        wire.send("PATCH", f"{GADGETS}/y?fieldManager=m&dryRun=All", raw, Content_Type=media)


POINTERS = language("/spec", "/n", "/l", "/0", "/-", "/~0", "/~1", "/metadata", "/name", "/any", "/")
OPERATIONS = st.lists(
    st.fixed_dictionaries(
        {
            "op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test", "x"]) | TEXT,
            "path": POINTERS | JSON,
        },
        optional={"value": JSON, "from": POINTERS | JSON},
    )
    | JSON,
    max_size=4,
)


@given(OPERATIONS | JSON)
@many
def test_json_patches(wire: Wire, operations: Any) -> None:
    wire.json("POST", GADGETS, GADGET)
    for path in (f"{GADGETS}/a", f"{GADGETS}/a/status", f"{GADGETS}/a/scale", "/api/v1/namespaces/default"):
        wire.json("PATCH", f"{path}?dryRun=All", operations, Content_Type="application/json-patch+json")


@given(
    mutations(GADGET) | JSON, st.sampled_from(["merge-patch+json", "apply-patch+yaml", "strategic-merge-patch+json"])
)
@many
def test_patches(wire: Wire, patch: Any, kind: str) -> None:
    wire.json("POST", GADGETS, GADGET)
    for path in (f"{GADGETS}/a", f"{GADGETS}/a/status", f"{GADGETS}/a/scale"):
        wire.json("PATCH", f"{path}?fieldManager=m&dryRun=All", patch, Content_Type=f"application/{kind}")


@pytest.mark.parametrize("path", [path for path in OBJECTS if path.startswith("/api/v1/")])
@given(data=st.data())
@many
def test_strategic_patches(wire: Wire, path: str, data: st.DataObject) -> None:
    wire.json("POST", path, OBJECTS[path])
    patch = data.draw(mutations({**OBJECTS[path], "$patch": "merge", "$setElementOrder/finalizers": ["a"]}))
    name = OBJECTS[path]["metadata"]["name"]
    kind = data.draw(st.sampled_from(["application/strategic-merge-patch+json", "application/apply-patch+yaml"]))
    wire.json("PATCH", f"{path}/{name}?fieldManager=m&dryRun=All", patch, Content_Type=kind)


FIELDS = st.recursive(
    st.just({}) | JSON,
    lambda inner: st.dictionaries(
        language("f:", "k:", "v:", "i:", ".", '{"k":"a"}', '{"k":', "spec", "l", "0", "-1", '"a"', "{}", "[1]"),
        inner,
        max_size=3,
    ),
    max_leaves=8,
)


@given(FIELDS, st.sampled_from(["Apply", "Update", "x", ""]))
@many
def test_field_sets(wire: Wire, fields: Any, operation: str) -> None:
    entry = {
        "manager": "m",
        "operation": operation,
        "apiVersion": f"{GROUP}/v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
    }
    body = {**GADGET, "metadata": {"name": "fields", "managedFields": [entry]}}
    wire.json("POST", GADGETS, body)
    wire.json("PUT", f"{GADGETS}/fields", body)
    wire.json(
        "PATCH",
        f"{GADGETS}/fields?fieldManager=m",
        GADGET | {"metadata": {"name": "fields"}},
        Content_Type="application/apply-patch+yaml",
    )
    wire.send("DELETE", f"{GADGETS}/fields")


@given(st.data())
@many
def test_protobuf(wire: Wire, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from([path for path in OBJECTS if GROUP not in path]))
    _, raw = wire.send(
        "POST", f"{path}?dryRun=All", json.dumps(OBJECTS[path]).encode(), Accept="application/vnd.kubernetes.protobuf"
    )
    changed = bytearray(raw)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(changed)))
        changed[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    sent = data.draw(st.sampled_from([bytes(changed), b"k8s\x00" + bytes(changed), b"k8s\x00" + raw[:20]]))
    wire.send("POST", f"{path}?dryRun=All", sent, Content_Type="application/vnd.kubernetes.protobuf")
    wire.send("DELETE", f"{path}/none", sent, Content_Type="application/vnd.kubernetes.protobuf")
