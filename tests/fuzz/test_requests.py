"""Requests that are almost right: paths, queries, selectors, headers, tokens, JSONPaths and rules."""

from __future__ import annotations

import base64
import json
import urllib.parse
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import CRDS, definition
from tests.fuzz.objects import ADMISSION, OBJECTS
from tests.fuzz.values import JSON, NAMES, TEXT, language
from tests.fuzz.wire import GROUP, Wire, many

GADGETS = f"/apis/{GROUP}/v1/namespaces/default/gadgets"


def quoted(text: str) -> str:
    return urllib.parse.quote(text, safe="")


SELECTORS = language(
    "a",
    "=",
    "==",
    "!=",
    ",",
    "!",
    " in ",
    " notin ",
    "(",
    ")",
    "(a,b)",
    " exists",
    "a/b",
    ">",
    "<",
    "1",
    "é",
    "x" * 70,
    "metadata.name",
    "metadata.namespace",
    "spec.n",
    "\\",
    "\\,",
)


@given(SELECTORS, SELECTORS, st.sampled_from([GADGETS, *OBJECTS]))
@many
def test_selectors(wire: Wire, labels: str, fields: str, path: str) -> None:
    query = f"?labelSelector={quoted(labels)}&fieldSelector={quoted(fields)}"
    for more in ("", "&watch=1&timeoutSeconds=0&resourceVersion=x", "&limit=1"):
        wire.send("GET", path + query + more)
    wire.send("DELETE", f"{path}{query}&dryRun=All")


OPTIONS = [
    "limit",
    "continue",
    "resourceVersion",
    "resourceVersionMatch",
    "timeoutSeconds",
    "allowWatchBookmarks",
    "pretty",
    "sendInitialEvents",
    "watch",
    "dryRun",
    "fieldManager",
    "fieldValidation",
    "force",
    "propagationPolicy",
    "gracePeriodSeconds",
    "orphanDependents",
    "includeObject",
    "timeout",
]
VALUES = st.sampled_from(
    ["", "0", "-1", "1", "true", "False", "All", "Exact", "NotOlderThan", "Strict", "x" * 200, "é"]
)
VALUES |= TEXT | st.integers().map(str)


@given(
    st.dictionaries(st.sampled_from(OPTIONS), VALUES, max_size=4),
    st.sampled_from(["GET", "POST", "PUT", "PATCH", "DELETE"]),
)
@many
def test_options(wire: Wire, options: dict[str, str], method: str) -> None:
    if "watch" in options:  # it ends at once, if it is one
        options["timeoutSeconds"] = "1"
        options["resourceVersion"] = "x"
    query = "&".join(f"{name}={quoted(value)}" for name, value in options.items())
    body = json.dumps(OBJECTS[GADGETS]).encode() if method != "GET" else None
    path = GADGETS if method in ("GET", "POST") else f"{GADGETS}/a"
    wire.send(
        method,
        f"{path}?{query}",
        body,
        Content_Type="application/merge-patch+json" if method == "PATCH" else "application/json",
    )


@given(JSON | TEXT)
@many
def test_continue(wire: Wire, token: object) -> None:
    text = token if isinstance(token, str) else json.dumps(token)
    for given_ in (text, base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")):
        code, _ = wire.send("GET", f"{GADGETS}?limit=1&continue={quoted(given_)}")
        assert code == 400 or not given_


PARTS = st.sampled_from(
    [
        "api",
        "apis",
        "v1",
        GROUP,
        "namespaces",
        "default",
        "gadgets",
        "a",
        "status",
        "scale",
        "watch",
        "proxy",
        "",
        "..",
        "%2f",
        "%00",
        "%",
        "openapi",
        "v2",
        "v3",
        "healthz",
        "version",
        "metrics",
        "configmaps",
        "finalize",
        "token",
        "apps",
        "é",
    ]
)


@given(
    st.lists(PARTS | TEXT.map(quoted), max_size=9), st.sampled_from(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"])
)
@many
def test_paths(wire: Wire, parts: list[str], method: str) -> None:
    if "watch" in parts:
        parts = [*parts[:-1], f"{parts[-1]}?resourceVersion=x"]
    target = "/" + "/".join(parts)
    if target.isascii():
        wire.send(method, target, b"{}" if method in ("POST", "PUT") else None)


ACCEPT = language(
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
    "*/*",
    "text/html",
    ";as=Table",
    ";v=v1",
    ";v=v1beta1",
    ";g=meta.k8s.io",
    ";as=PartialObjectMetadataList",
    ";q=",
    "0.5",
    "x",
    ",",
    ";",
    "=",
    '"',
    " ",
    "/",
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
    "application/json;g=apidiscovery.k8s.io;v=v2",
    ";as=APIGroupDiscoveryList",
)


def header(text: str) -> str:
    return "".join(char for char in text if char.isprintable())


@given(
    ACCEPT.map(header),
    st.sampled_from([GADGETS, f"{GADGETS}/a", "/api", "/apis", "/openapi/v2", "/openapi/v3", "/version", "/x"]),
)
@many
def test_accept(wire: Wire, accept: str, path: str) -> None:
    wire.send("GET", path, Accept=accept, Accept_Encoding=accept)
    wire.send("POST", GADGETS, b"{}", Accept=accept, Content_Type=accept)
    wire.send("PATCH", f"{GADGETS}/a", b"{}", Content_Type=accept)


CLAIMS = st.dictionaries(
    st.sampled_from(["iss", "aud", "exp", "nbf", "iat", "sub", "kubernetes.io", "jti"]),
    JSON | st.sampled_from(["https://kubernetes.default.svc", "kubernetes/serviceaccount"]),
)
HEADS = st.dictionaries(
    st.sampled_from(["alg", "kid", "typ", "jwk", "jku", "crit"]),
    JSON | st.sampled_from(["none", "HS256", "RS256", "ES256"]),
)


def packed(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


JWTS = st.builds(
    lambda head, claims, sign: f"{packed(head)}.{packed(claims)}.{sign}",
    HEADS,
    CLAIMS,
    st.sampled_from(["", "AA", "é"]),
)
BEARERS = JWTS | language(
    "a", ".", "..", "=", "Bearer ", "Basic ", "eyJ", packed({"alg": "none"}), packed({}), "é"
).map(header)


@given(BEARERS, st.sampled_from(["Bearer ", "bearer ", "Basic ", "Bearer", ""]))
@many
def test_tokens(wire: Wire, token: str, scheme: str) -> None:
    code, _ = wire.send("GET", GADGETS, Authorization=f"{scheme}{token}")
    assert code in (401, 403)
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}}
    assert b'"authenticated":true' not in wire.json("POST", "/apis/authentication.k8s.io/v1/tokenreviews", review)[1]


@given(NAMES.map(header) | TEXT.map(header), st.lists(TEXT.map(header), max_size=2), TEXT.map(header))
@many
def test_impersonation(wire: Wire, user: str, groups: list[str], extra: str) -> None:
    more: dict[str, Any] = {"Impersonate-Extra-" + quoted(extra).replace("%", "p"): extra} if extra else {}
    wire.send("GET", GADGETS, Impersonate_User=user, Impersonate_Group=",".join(groups), **more)
    wire.send("GET", GADGETS, Impersonate_Uid=user)


PATHS = language(
    ".spec",
    ".n",
    "[0]",
    "[*]",
    "[?(@.k=='a')]",
    "..",
    ".l",
    "['a']",
    "\\.",
    "[-1:]",
    "[1:2:0]",
    "$",
    "@",
    "{",
    "}",
    "*",
    "(",
    "'",
)


@given(PATHS, st.sampled_from(["integer", "string", "date", "number", "boolean"]))
@many
def test_paths_of_columns(wire: Wire, path: str, kind: str) -> None:
    name = f"columns.{GROUP}"
    schema = {
        "type": "object",
        "properties": {"spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
    }
    columns = [{"name": "C", "type": kind, "jsonPath": path}]
    scale = {"specReplicasPath": path, "statusReplicasPath": path, "labelSelectorPath": path}
    more: dict[str, Any] = {"schema": {"openAPIV3Schema": schema}, "additionalPrinterColumns": columns}
    wire.json("POST", f"{CRDS}?dryRun=All", definition(name, subresources={"scale": scale}, **more))
    wire.json("POST", f"{CRDS}?dryRun=All", definition(name, selectableFields=[{"jsonPath": path}], **more))
    crd = definition(name, **more)
    if wire.json("POST", CRDS, crd)[0] == 201:
        spec = {"n": 1, "l": [{"k": "a"}, {"k": [1, {"x": None}]}, 3, None]}
        where = f"/apis/{name}/v1/namespaces/default/gadgets"
        wire.json(
            "POST", where, {"apiVersion": f"{name}/v1", "kind": "Gadget", "metadata": {"name": "a"}, "spec": spec}
        )
        wire.send("GET", where, Accept="application/json;as=Table;v=v1;g=meta.k8s.io")
        wire.send("DELETE", f"{CRDS}/gadgets.{name}")


RULES = language(
    "self",
    ".n",
    ".s",
    ".l",
    ".m",
    "[0]",
    "['a']",
    " + ",
    " - ",
    " * ",
    " / ",
    " % ",
    " == ",
    " < ",
    " && ",
    " || ",
    "!",
    "-",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ", ",
    ":",
    "?",
    ".all(x, ",
    ".map(x, ",
    ".filter(x, ",
    "x",
    "has(",
    "size(",
    "1",
    "0",
    "9223372036854775807",
    "1.5",
    "1u",
    "'a'",
    "b'a'",
    "true",
    "null",
    "string(",
    "int(",
    "duration(",
    "timestamp(",
    "'1h'",
    ".matches('",
    ".format([",
    "quantity('",
    "'",
    ".split('')",
    ".?n",
    "optional.of(",
    ".orValue(",
    "oldSelf",
    "dyn(",
    "type(",
    "in",
    ".sort()",
    ".sum()",
    "url(",
    "ip(",
    "cel.bind(y, ",
)


@given(RULES, RULES)
@many
def test_rules(wire: Wire, rule: str, message: str) -> None:
    name = f"rules.{GROUP}"
    properties = {
        "n": {"type": "integer"},
        "s": {"type": "string"},
        "m": {"type": "object", "additionalProperties": {"type": "string"}},
        "l": {"type": "array", "items": {"type": "string"}},
    }
    rules = [{"rule": rule, "messageExpression": message}]
    spec = {"type": "object", "properties": properties, "x-kubernetes-validations": rules}
    crd = definition(name, schema={"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}})
    if wire.json("POST", CRDS, crd)[0] == 201:
        where, given_ = (
            f"/apis/{name}/v1/namespaces/default/gadgets",
            {"n": 1, "s": "a", "l": ["a", ""], "m": {"a": "b"}},
        )
        wire.json(
            "POST", where, {"apiVersion": f"{name}/v1", "kind": "Gadget", "metadata": {"name": "a"}, "spec": given_}
        )
        wire.send("DELETE", f"{CRDS}/gadgets.{name}")
    policy = OBJECTS[f"{ADMISSION}/validatingadmissionpolicies"]
    changed = policy["spec"] | {"validations": [{"expression": rule, "messageExpression": message}]}
    wire.json("POST", f"{ADMISSION}/validatingadmissionpolicies?dryRun=All", policy | {"spec": changed})
    wire.send("GET", GADGETS)
