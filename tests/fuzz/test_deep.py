"""What is nested deeply is taken or refused, and never too much for a walk."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conftest import CRDS, definition
from tests.fuzz.objects import ADMISSION, OBJECTS
from tests.fuzz.wire import GROUP, Wire

pytestmark = pytest.mark.slow

GADGETS = f"/apis/{GROUP}/v1/namespaces/default/gadgets"
DEPTHS = [50, 120, 160, 200, 235, 240, 245, 249, 251, 300, 1100, 20_000]


def nested(kind: str, depth: int) -> str:
    opened, closed = {"list": ("[", "]"), "map": ('{"a":', "}"), "both": ('[{"a":', "}]")}[kind]
    count = depth // 2 if kind == "both" else depth
    return opened * count + "1" + closed * count


def patch(op: str, text: str) -> str:
    return f'[{{"op":"{op}","path":"/spec/any","value":{{"y":{text}}}}}]'


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("kind", ["list", "map", "both"])
def test_values(wire: Wire, kind: str, depth: int) -> None:
    for name in ("deep", "deeper"):
        wire.send("DELETE", f"{GADGETS}/{name}")
    wire.json("POST", GADGETS, OBJECTS[GADGETS] | {"metadata": {"name": "deep"}})
    text = nested(kind, depth)
    body = f'{{"apiVersion":"{GROUP}/v1","kind":"Gadget","metadata":{{"name":"deep"}},"spec":{{"any":{{"x":{text}}}}}}}'
    other = body.replace('"deep"', '"deeper"')
    code, _ = wire.send("POST", GADGETS, other.encode())
    assert code in (201, 400) if depth < 300 else code == 400
    for method, path, media, sent in (
        ("PUT", "deeper", "application/json", other),
        ("POST", "", "application/yaml", other),
        ("PATCH", "deep", "application/merge-patch+json", body),
        ("PATCH", "deep?fieldManager=m", "application/apply-patch+yaml", body),
        (
            "PATCH",
            "deep?fieldManager=m",
            "application/apply-patch+yaml",
            body.replace("1}", "2}").replace("[1]", "[2]"),
        ),
        ("PATCH", "deep", "application/json-patch+json", f'[{{"op":"add","path":"/spec/any","value":{{"y":{text}}}}}]'),
        (
            "PATCH",
            "deep",
            "application/json-patch+json",
            f'[{{"op":"test","path":"/spec/any","value":{{"y":{text}}}}}]',
        ),
        ("PATCH", "deep/status", "application/merge-patch+json", f'{{"status":{{"x":{text}}}}}'),
    ):
        wire.send(method, f"{GADGETS}/{path}".rstrip("/"), sent.encode(), Content_Type=media)
    for accept in ("application/json", "application/yaml", "application/json;as=Table;v=v1;g=meta.k8s.io"):
        assert wire.send("GET", GADGETS, Accept=accept)[0] == 200
    wire.send("DELETE", f"{GADGETS}/deeper")


@pytest.mark.parametrize("depth", [10, 60, 100, 140, 150, 160, 240])
@pytest.mark.parametrize("kind", ["properties", "items", "additionalProperties", "not", "allOf"])
def test_schemas(wire: Wire, kind: str, depth: int) -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        if kind == "items":
            schema = {"type": "array", "items": schema}
        elif kind == "properties":
            schema = {"type": "object", "properties": {"a": schema}}
        elif kind == "additionalProperties":
            schema = {"type": "object", "additionalProperties": schema}
        else:
            schema = {"not": schema} if kind == "not" else {"allOf": [schema]}
    schema.pop("type", None) if kind in ("not", "allOf") else None
    name = f"deep.{GROUP}"
    whole = {
        "type": "object",
        "properties": {"spec": {"type": "object"} | schema if kind in ("not", "allOf") else schema},
    }
    code, _ = wire.json("POST", CRDS, definition(name, schema={"openAPIV3Schema": whole}))
    if code == 201:
        where = f"/apis/{name}/v1/namespaces/default/gadgets"
        steps = min(depth, 200)
        value = json.loads("[" * steps + "]" * steps if kind == "items" else '{"a":' * steps + "1" + "}" * steps)
        obj = {"apiVersion": f"{name}/v1", "kind": "Gadget", "metadata": {"name": "a"}, "spec": value}
        wire.json("POST", where, obj)
        wire.json(
            "PATCH",
            f"{where}/b?fieldManager=m",
            obj | {"metadata": {"name": "b"}},
            Content_Type="application/apply-patch+yaml",
        )
        assert wire.send("GET", f"/openapi/v3/apis/{name}/v1")[0] == 200
        assert wire.send("GET", "/openapi/v2")[0] == 200
        wire.send("DELETE", f"{CRDS}/gadgets.{name}")


DEEP_RULES = ["(" * 3000 + "1" + ")" * 3000, "!" * 3000 + "true", "-" * 3000 + "1", "[" * 3000, "1" + "+1" * 5000]
DEEP_RULES += ["self" + ".x" * 3000, "self" + "[0]" * 3000, "true" + "?true:false" * 2000, "true" + "&&true" * 5000]
DEEP_RULES += ["{'a':" * 1000 + "1" + "}" * 1000, "[1].map(x," * 200 + "1" + ")" * 200, "'" + "a" * 100_000 + "'"]


@pytest.mark.parametrize("rule", DEEP_RULES, ids=range(len(DEEP_RULES)))
def test_rules(wire: Wire, rule: str) -> None:
    spec = {"type": "object", "x-kubernetes-validations": [{"rule": rule}]}
    schema = {"type": "object", "properties": {"spec": spec}}
    name = f"deeprules.{GROUP}"
    if wire.json("POST", CRDS, definition(name, schema={"openAPIV3Schema": schema}))[0] == 201:
        where = f"/apis/{name}/v1/namespaces/default/gadgets"
        wire.json("POST", where, {"apiVersion": f"{name}/v1", "kind": "Gadget", "metadata": {"name": "a"}, "spec": {}})
        wire.send("DELETE", f"{CRDS}/gadgets.{name}")
    policy = OBJECTS[f"{ADMISSION}/validatingadmissionpolicies"]
    changed = policy["spec"] | {"validations": [{"expression": rule}]}
    wire.json("POST", f"{ADMISSION}/validatingadmissionpolicies?dryRun=All", policy | {"spec": changed})


@pytest.mark.parametrize("path", [".a" * 3000, "[0]" * 3000, "[?(@.a==1)]" * 500, "{" * 3000, "[" * 3000, "(" * 3000])
def test_paths_of_columns(wire: Wire, path: str) -> None:
    columns = [{"name": "C", "type": "string", "jsonPath": path}]
    wire.json("POST", f"{CRDS}?dryRun=All", definition(f"x.{GROUP}", additionalPrinterColumns=columns))
    wire.send("GET", f"{GADGETS}?labelSelector={'(' * 3000}&fieldSelector={'a=b,' * 3000}")
