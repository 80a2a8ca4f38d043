"""Every verb on every kind, in every form of body, with objects that are almost right; some steps in a row."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.apis.catalog import ALL
from podless.runtime.jsonobject import Object
from podless.structs import protobuf, structs
from tests.fuzz.objects import OBJECTS
from tests.fuzz.values import JSON, mutations
from tests.fuzz.wire import Wire, many

pytestmark = pytest.mark.slow

STRUCTS = {kind.kind: kind for kind in ALL}
PATCHES = ["merge-patch+json", "strategic-merge-patch+json", "json-patch+json", "apply-patch+yaml", "apply-patch+cbor"]
BELOW = ["", "/status", "/scale", "/finalize", "/token", "/eviction", "/binding", "/log", "/exec", "/proxy", "/proxy/x"]
BELOW += ["/ephemeralcontainers", "/resize", "/approval", "/attach", "/portforward", "/nothing"]
QUERIES = ["", "dryRun=All", "fieldValidation=Strict", "fieldManager=m", "fieldManager=n&force=true", "pretty=1"]
QUERIES += ["limit=1", "labelSelector=app%3Da", "fieldSelector=metadata.name%3Da", "propagationPolicy=Foreground"]
QUERIES += ["gracePeriodSeconds=0", "propagationPolicy=Orphan&dryRun=All", "timeout=30s", "resourceVersion=0"]
ACCEPTS = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf,application/json"]
ACCEPTS += [
    "application/json;as=Table;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
]
OPTIONS: Object = {
    "apiVersion": "v1",
    "kind": "DeleteOptions",
    "gracePeriodSeconds": 0,
    "preconditions": {"uid": "u", "resourceVersion": "1"},
    "propagationPolicy": "Background",
    "dryRun": ["All"],
}


def as_json(value: Any) -> bytes:
    return json.dumps(value).encode()


def as_yaml(value: Any, depth: int = 0) -> str:
    """Block style, with scalars as JSON has them."""
    lead = "\n" + "  " * depth
    if isinstance(value, dict) and value:
        return "".join(f"{lead}{json.dumps(key)}: {as_yaml(item, depth + 1)}" for key, item in value.items())
    if isinstance(value, list) and value:
        return "".join(f"{lead}- {as_yaml(item, depth + 1)}" for item in value)
    return json.dumps(value)


def as_protobuf(value: Any) -> bytes:
    """A message, or what is none."""
    kind = STRUCTS.get(str(value.get("kind"))) if isinstance(value, dict) else None
    if kind is None or kind.struct is None:
        return protobuf.PREFIX + as_json(value)
    try:
        return protobuf.write_object(kind.struct, structs.decode_struct(kind.struct, value))
    except ValueError:
        return protobuf.PREFIX + as_json(value)[:100]


FORMS: dict[str, Callable[[Any], bytes]] = {
    "application/json": as_json,
    "application/yaml": lambda value: as_yaml(value).encode(),
    "application/vnd.kubernetes.protobuf": as_protobuf,
}


@st.composite
def spoiled(draw: st.DrawFn, raw: bytes) -> bytes:
    """Bytes of which some are others now and then."""
    if not raw or draw(st.integers(0, 3)):
        return raw
    at, more = draw(st.integers(0, len(raw) - 1)), draw(st.binary(max_size=3))
    return raw[:at] + more + raw[at + draw(st.integers(0, 3)) :]


@st.composite
def steps(draw: st.DrawFn, path: str) -> tuple[str, str, bytes | None, dict[str, str]]:
    """A request about a kind: what is asked, and with which body."""
    sound = OBJECTS[path]
    verb = draw(st.sampled_from(["POST", "GET", "PUT", "PATCH", "DELETE", "WATCH", "COLLECTION"]))
    query = "&".join(draw(st.lists(st.sampled_from(QUERIES), max_size=2)))
    one = f"{path}/{sound['metadata']['name']}"
    if verb == "PATCH":
        kind = draw(st.sampled_from(PATCHES))
        document = draw(st.just(sound) | mutations(sound) | JSON)
        if kind == "json-patch+json" and draw(st.booleans()):
            fields = document if isinstance(document, dict) else sound
            document = [{"op": "replace", "path": f"/{name}", "value": value} for name, value in fields.items()]
        form = as_json if kind != "apply-patch+yaml" or draw(st.booleans()) else FORMS["application/yaml"]
        below = draw(st.sampled_from(BELOW))
        query = query or "fieldManager=m"
        return "PATCH", f"{one}{below}?{query}", draw(spoiled(form(document))), {"Content_Type": f"application/{kind}"}
    if verb in ("GET", "WATCH"):
        target = draw(st.sampled_from([path, one + draw(st.sampled_from(BELOW))]))
        return verb, f"{target}?{query}", None, {"Accept": draw(st.sampled_from(ACCEPTS))}
    media = draw(st.sampled_from(list(FORMS)))
    given_ = draw(
        st.just(OPTIONS) | mutations(OPTIONS) if verb in ("DELETE", "COLLECTION") else mutations(sound) | st.just(sound)
    )
    body = draw(spoiled(FORMS[media](given_)))
    headers = {"Content_Type": media, "Accept": draw(st.sampled_from(ACCEPTS))}
    if verb == "COLLECTION":
        keep = "" if "namespaces/" in path or "fuzz" in path else "&dryRun=All"  # what all share stays
        return "DELETE", f"{path}?{query}{keep}", draw(st.sampled_from([None, body])), headers
    below = draw(st.sampled_from(BELOW))
    target = f"{path}?{query}" if verb == "POST" and not below else f"{one}{below}?{query}"
    return verb, target, body if verb != "DELETE" else draw(st.sampled_from([None, body])), headers


@pytest.mark.parametrize("path", OBJECTS, ids=lambda path: path.rpartition("/")[2])
@given(data=st.data())
@many
def test_every_verb(wire: Wire, path: str, data: st.DataObject) -> None:
    name = OBJECTS[path]["metadata"]["name"]
    wire.json("POST", path, OBJECTS[path])
    for method, target, body, headers in data.draw(st.lists(steps(path), min_size=1, max_size=4)):
        if method == "WATCH":
            wire.watch(f"{target}&watch=1&timeoutSeconds=1", **headers)
        else:
            wire.send(method, target, body, **headers)
    wire.json(
        "PATCH", f"{path}/{name}", {"metadata": {"finalizers": None}}, Content_Type="application/merge-patch+json"
    )
    wire.send("DELETE", f"{path}/{name}?gracePeriodSeconds=0")
