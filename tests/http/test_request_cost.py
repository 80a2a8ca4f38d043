"""What a whole request costs, from its head to its answer: no more than n log n, whatever it carries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from podless.runtime.jsonobject import Object
from podless.verbs.list import ContinueToken, read_token, write_token
from tests.conftest import CRDS, definition
from tests.cost import assert_linear
from tests.inside import Ask, Inside, applied, merge, operations, strategic

pytestmark = pytest.mark.slow

CORE = "/api/v1/namespaces/default"
MAPS = f"{CORE}/configmaps"
GROUP = "cost.example.com"
GADGETS = f"/apis/{GROUP}/v1/namespaces/default/gadgets"
ITEM = {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}, "v": {"type": "integer"}}}
KEYED = {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": ITEM}
SPEC = {
    "type": "object",
    "properties": {
        "map": KEYED,
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "list": {"type": "array", "items": {"type": "object", "properties": {"d": {"type": "integer", "default": 1}}}},
        "names": {"type": "object", "additionalProperties": {"type": "string", "pattern": "^[a-z0-9]+$"}},
        "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "either": {"type": "array", "items": {"x-kubernetes-int-or-string": True}},
        "text": {"type": "string", "maxLength": 9},
    },
}
SCHEMA = {"type": "object", "properties": {"spec": SPEC, "status": {"type": "object"}}}


@pytest.fixture(scope="module")
def gadgets(inside: Inside) -> Inside:
    """A kind with lists and maps of every kind."""
    columns = [
        {"name": "K", "type": "string", "jsonPath": ".spec.map[*].k"},
        {"name": "V", "type": "integer", "jsonPath": ".spec.map[?(@.k=='k1')].v"},
    ]
    crd = definition(GROUP, schema={"openAPIV3Schema": SCHEMA}, additionalPrinterColumns=columns)
    assert inside.send(Ask("POST", CRDS, crd))[0] == 201
    return inside


def named(obj: Object, **metadata: Any) -> Object:
    return {**obj, "metadata": {"name": "x", **metadata}}


def gadget(spec: Object, **metadata: Any) -> Object:
    return named({"apiVersion": f"{GROUP}/v1", "kind": "Gadget", "spec": spec}, **metadata)


def numbers(size: int, stem: str, start: int = 0) -> list[str]:
    return [f"{stem}{number}" for number in range(start, start + size)]


SPECS: dict[str, Callable[[int], Object]] = {
    "map": lambda size: {"map": [{"k": name, "v": 1} for name in numbers(size, "k")]},
    "set": lambda size: {"set": numbers(size, "s")},
    "list": lambda size: {"list": [{}] * size},
    "names": lambda size: {"names": dict.fromkeys(numbers(size, "n"), "a1")},
    "any": lambda size: {"any": {name: {name: [1, None, 1.5]} for name in numbers(size, "a")}},
    "either": lambda size: {"either": [1, "x"] * size},
}
GENERATED = ("set", "list", "names", "either")  # whose loops are in the code that is made of a schema
METADATA: dict[str, Callable[[int], Object]] = {
    "labels": lambda size: {"labels": dict.fromkeys(numbers(size, "l"), "v")},
    "annotations": lambda size: {"annotations": dict.fromkeys(numbers(size, "a"), "v" * 20)},
    "finalizers": lambda size: {"finalizers": numbers(size, "example.com/f")},
    "owners": lambda size: {
        "ownerReferences": [
            {"apiVersion": "v1", "kind": "K", "name": name, "uid": name, "blockOwnerDeletion": True}
            for name in numbers(size, "o")
        ]
    },
}


def life(obj: Object, changed: Object) -> list[Ask]:
    """All that is written to an object, and what it is read by."""
    path = f"{GADGETS}/x"
    return [
        Ask("POST", GADGETS, obj),
        Ask("PUT", path, changed),
        merge(path, obj),
        applied(path, obj),
        applied(path, changed, "other"),
        operations(path, [{"op": "replace", "path": "/spec", "value": changed["spec"]}]),
        merge(f"{path}/status", {"status": {}}),
        Ask("GET", path),
        Ask("GET", path, None, {"accept": "application/yaml"}),
        Ask("GET", f"{GADGETS}?limit=5", None, {"accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}),
        merge(path, {"metadata": {"finalizers": None}}),
        Ask("DELETE", path),
    ]


CODES = [201, 200, 200, 200, 200, 200, 404, 200, 200, 200, 200, 200]


@pytest.mark.parametrize("form", SPECS)
def test_specs(gadgets: Inside, form: str) -> None:
    make = SPECS[form]
    gadgets.assert_linear(
        lambda size: life(gadget(make(size)), gadget({**make(size), "text": "y"})), CODES, charged=form not in GENERATED
    )


@pytest.mark.parametrize("form", METADATA)
def test_metadata(gadgets: Inside, form: str) -> None:
    make = METADATA[form]
    gadgets.assert_linear(lambda size: life(gadget({}, **make(size)), gadget({"text": "y"}, **make(size))), CODES)


WRONG: dict[str, Callable[[int], Object]] = {
    "types": lambda size: {"names": dict.fromkeys(numbers(size, "n"), 1)},
    "patterns": lambda size: {"names": dict.fromkeys(numbers(size, "n"), "A!")},
    "keys": lambda size: {"map": [{"k": "same"}] * size},
    "set": lambda size: {"set": ["same"] * size},
    "missing": lambda size: {"map": [{"v": 1}] * size},
    "long": lambda size: {"text": "x" * size * 20},
    "either": lambda size: {"either": [1.5] * size},
}


@pytest.mark.parametrize("form", WRONG)
def test_what_does_not_fit(gadgets: Inside, form: str) -> None:
    def make(size: int) -> list[Ask]:
        obj = gadget(WRONG[form](size))
        return [Ask("POST", GADGETS, obj), applied(f"{GADGETS}/none", obj)]

    assert {gadgets.send(ask)[0] for ask in make(50)} <= {400, 422, 500}
    gadgets.assert_linear(make, [gadgets.send(ask)[0] for ask in make(50)])


def test_unknown_fields_are_told(gadgets: Inside) -> None:
    for query in ("Warn", "Strict"):
        gadgets.assert_linear(
            lambda size, query=query: [  # type: ignore[misc]
                Ask(
                    "POST",
                    f"{GADGETS}?dryRun=All&fieldValidation={query}",
                    gadget(dict.fromkeys(numbers(size, "unknown"), 1)),
                )
            ],
            [201 if query == "Warn" else 400],
        )


def config(size: int, value: str = "v", start: int = 0, **metadata: Any) -> Object:
    data = dict.fromkeys(numbers(size, "k", start), value)
    return named({"apiVersion": "v1", "kind": "ConfigMap", "data": data}, **metadata)


def test_objects_of_a_built_in_kind(inside: Inside) -> None:
    path = f"{MAPS}/x"
    finalizers = METADATA["finalizers"]
    inside.assert_linear(
        lambda size: [
            Ask("POST", MAPS, config(size, **finalizers(size))),
            Ask("PUT", path, config(size, "w", 5, **finalizers(size))),
            merge(path, {"data": dict.fromkeys(numbers(size, "k"))}),
            strategic(path, config(size, "u", **finalizers(size))),
            strategic(
                path,
                {
                    "metadata": {
                        "$setElementOrder/finalizers": finalizers(size)["finalizers"][::-1],
                        "$deleteFromPrimitiveList/finalizers": finalizers(size)["finalizers"],
                    }
                },
            ),
            operations(path, [{"op": "remove", "path": f"/data/{name}"} for name in numbers(size, "k")]),
            applied(path, config(size)),
            applied(path, config(1)),
            Ask("GET", path, None, {"accept": "application/vnd.kubernetes.protobuf"}),
            Ask("DELETE", path),
        ],
        [201, 200, 200, 200, 200, 200, 200, 200, 200, 200],
    )


def test_many_managers(inside: Inside) -> None:
    """Each owns a field of its own; then all are taken over."""
    path = f"{MAPS}/managed"

    def entries(size: int) -> list[Object]:
        return [
            {
                "manager": f"m{number}",
                "operation": "Apply",
                "apiVersion": "v1",
                "time": "2026-01-01T00:00:00Z",
                "fieldsType": "FieldsV1",
                "fieldsV1": {"f:data": {f"f:k{number}": {}}},
            }
            for number in range(size)
        ]

    def make(size: int) -> list[Ask]:
        held = config(size, managedFields=entries(size)) | {
            "metadata": {"name": "managed", "managedFields": entries(size)}
        }
        mine = config(size, "w") | {"metadata": {"name": "managed"}}
        conflicting = applied(path, mine)._replace(target=f"{path}?fieldManager=m")
        return [Ask("POST", MAPS, held), conflicting, applied(path, mine), Ask("PUT", path, held), Ask("DELETE", path)]

    inside.assert_linear(make, [201, 409, 200, 200, 200])


def test_ports_of_a_service(inside: Inside) -> None:
    services = f"{CORE}/services"
    path = f"{services}/x"

    def ports(size: int, **more: Any) -> list[Object]:
        return [{"name": f"p{number}", "port": number + 1, **more} for number in range(size)]

    def spec(given: Any) -> Object:
        return {"spec": given}

    inside.assert_linear(
        lambda size: [
            Ask("POST", services, named({"apiVersion": "v1", "kind": "Service"} | spec({"ports": ports(size)}))),
            strategic(path, spec({"ports": ports(size, targetPort=5)})),
            strategic(path, spec({"$setElementOrder/ports": [{"port": n} for n in range(size, 0, -1)]})),
            strategic(path, spec({"ports": [{"port": n + 1, "$patch": "delete"} for n in range(1, size)]})),
            applied(path, named({"apiVersion": "v1", "kind": "Service"} | spec({"ports": ports(size)}))),
            Ask("DELETE", path),
        ],
        [201, 200, 200, 200, 200, 200],
    )


def test_roles(inside: Inside) -> None:
    """Of everything many."""
    roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles"

    def make(size: int) -> list[Ask]:
        rule = {"verbs": numbers(size, "v"), "apiGroups": numbers(size, "g"), "resources": numbers(size, "r")}
        many = [{"verbs": [name], "apiGroups": [name], "resources": [name]} for name in numbers(size, "x")]
        obj = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "rules": [rule, *many]}
        return [Ask("POST", roles, named(obj)), Ask("PUT", f"{roles}/x", named(obj)), Ask("DELETE", f"{roles}/x")]

    inside.assert_linear(make, [201, 200, 200])


def test_reviews(inside: Inside) -> None:
    about = {"verb": "get", "resource": "pods", "namespace": "n"}

    def review(group: str, kind: str, spec: Object) -> Ask:
        return Ask(
            "POST",
            f"/apis/{group}/v1/{kind.lower()}s",
            {"apiVersion": f"{group}/v1", "kind": kind, "metadata": {}, "spec": spec},
        )

    def make(size: int) -> list[Ask]:
        names = numbers(size, "g")
        extra = dict.fromkeys(names, names[:3])
        whole = {"user": "u", "groups": names, "extra": extra, "resourceAttributes": about}
        return [
            review("authorization.k8s.io", "SubjectAccessReview", whole),
            review("authentication.k8s.io", "TokenReview", {"token": "a." * size, "audiences": names}),
        ]

    inside.assert_linear(make, [201, 201])


def test_queries(inside: Inside) -> None:
    def make(size: int) -> list[Ask]:
        names = ",".join(numbers(size, "n"))
        pairs = ",".join(f"{name}=v" for name in numbers(size, "n"))
        long = "x" * size * 50
        return [
            Ask("GET", f"{MAPS}?labelSelector=a+in+({names}),{pairs}"),
            Ask("GET", f"{MAPS}?fieldSelector={'metadata.name!=x,' * size}metadata.name=y"),
            Ask("GET", f"{MAPS}?{'&'.join(f'{name}=1' for name in numbers(size, 'p'))}"),
            Ask("GET", f"{MAPS}?{'limit=1&' * size}"),
            Ask("GET", f"{MAPS}?labelSelector={long}"),
            Ask("GET", f"{MAPS}?resourceVersion={'1' * size * 50}"),
            Ask("GET", f"{MAPS}?continue={long}"),
            Ask("GET", f"{MAPS}?timeout={'1h' * size}"),
            Ask("GET", f"{MAPS}/{'a' * size}"),
            Ask("GET", f"{MAPS}{'/a' * size}"),
            Ask("GET", f"{MAPS}?labelSelector={'%61%3d%62,' * size}"),
            Ask("POST", f"{MAPS}?dryRun={long}&fieldManager={long}&fieldValidation={long}", config(1)),
        ]

    inside.assert_linear(make, size=300, charged=False)  # they are read on the loop


def test_heads(inside: Inside) -> None:
    def make(size: int) -> list[Ask]:
        names = numbers(size, "n")
        said = [
            {"accept": ",".join(f"a/{name};q=0.{index}" for index, name in enumerate(names)) + ",*/*"},
            {"accept": "application/json" + ";a=b" * size},
            {"accept-encoding": ",".join(names)},
            {"authorization": "Bearer " + "a." * size},
            {"authorization": "Bearer " + "x" * size * 50},
            {"user-agent": "x/" * size},
            {"impersonate-user": "u", "impersonate-group": "\n".join(names)},
            {"impersonate-user": "u", **{f"impersonate-extra-{name}": "%41" * 5 for name in names}},
            {"x-forwarded-for": ", ".join(names)},
            dict.fromkeys(names, "v"),
        ]
        return [Ask("GET", MAPS, None, headers) for headers in said]

    inside.assert_linear(make)


@pytest.mark.parametrize(
    "media", ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "text/x"]
)
@pytest.mark.parametrize(
    "part", [b"[", b'{"a":', b"\\u0041", b'"', b"1", b"a: ", b"- ", b"&a *a ", b"\x0a\x02", b"\xff"]
)
def test_bodies_that_are_none(inside: Inside, media: str, part: bytes) -> None:
    def make(size: int) -> list[Ask]:
        headers = {"content-type": media}
        raw = part * size
        return [
            Ask("POST", MAPS, raw, headers),
            Ask("POST", MAPS, b'{"metadata":{"name":"x"},"data":' + raw, headers),
            Ask("DELETE", f"{MAPS}/none", b"k8s\x00" + raw, headers),
        ]

    inside.assert_linear(make, size=400)  # so long that no number fits a float, and all take the same way


def test_continue_tokens() -> None:
    assert_linear(read_token, lambda size: write_token(ContinueToken(1, "default/" + "x" * size)), 500, charged=False)
    assert_linear(read_token, lambda size: "A" * size, 500, (Exception,), charged=False)


def test_collections(inside: Inside) -> None:
    """Of many objects: listed, in pages, as tables, selected and deleted."""
    secrets = f"{CORE}/secrets"

    def make(size: int) -> list[Ask]:
        table = {"accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
        asked = [
            Ask("POST", secrets, named({"apiVersion": "v1", "kind": "Secret"}, name=name, labels={"cost": "list"}))
            for name in numbers(size, "listed-")
        ]
        for ask in asked:
            assert inside.send(ask)[0] == 201
        query = f"{secrets}?labelSelector=cost%3Dlist"
        return [
            Ask("GET", query),
            Ask("GET", query, None, table),
            Ask("GET", query, None, {"accept": "application/yaml"}),
            Ask("GET", query, None, {"accept": "application/vnd.kubernetes.protobuf"}),
            Ask("GET", f"{query}&limit={size // 2}"),
            Ask("GET", f"{secrets}?fieldSelector=type%3DOpaque"),
            Ask("DELETE", query),
        ]

    inside.assert_linear(make, [200] * 7, 20)


@pytest.mark.parametrize("body", ['"a":1e999', '"a":1e999}', f'"a":{"1" * 400},"b":"\xff"}}', f'"a":{"1" * 400}]'])
def test_a_number_that_is_too_large_is_the_clients_fault(inside: Inside, body: str) -> None:
    raw = b'{"kind":"ConfigMap","apiVersion":"v1",' + body.encode("latin-1")
    assert inside.ask(Ask("POST", MAPS, raw))[0] == 400
    assert inside.ask(Ask("DELETE", f"{MAPS}/none", raw))[0] in (400, 404)
