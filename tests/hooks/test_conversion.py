"""Hooks convert objects in the place of conversion webhooks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from podless import Server, hooks
from podless.remote.cluster import Refused
from podless.runtime.jsonobject import Object

SPEC = {"type": "object", "properties": {"spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}


def definition(plural: str = "widgets", **annotations: str) -> Object:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.example.com", "annotations": annotations},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": plural.title()[:-1], "singular": plural[:-1]},
            "versions": [
                {"name": name, "served": True, "storage": name == "v1", "schema": {"openAPIV3Schema": SPEC}}
                for name in ("v1", "v2")
            ],
        },
    }


@hooks.convert("widgets.example.com", "v1", "v2")
def up(obj: Object) -> None:
    obj["spec"] = {"replicas": obj["spec"]["size"]}


@hooks.convert("widgets.example.com", "v2", "v1")
async def down(obj: Object) -> Object:
    return {**obj, "spec": {"size": obj["spec"]["replicas"]}}


@hooks.convert("*", name="named")
def by_annotation(obj: Object, version: str) -> None:
    obj["spec"] = {"version": version}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    @hooks.convert("gadgets.example.com")
    def broken(obj: Object) -> None:
        raise RuntimeError("secret")

    with Server(hooks=[up, down, by_annotation, broken]) as server:
        annotated = definition("gizmos", **{"podless.dev/conversion-hook": "named"})
        nobody = definition("things", **{"podless.dev/conversion-hook": "nobody"})
        server.apply([definition(), annotated, nobody, definition("gadgets")])
        yield server


def make(server: Server, kind: str, name: str, version: str = "v1", **spec: int) -> Object:
    head = {"apiVersion": f"example.com/{version}", "kind": kind, "metadata": {"name": name}}
    return server.create({**head, "spec": spec})


def test_objects_are_converted_both_ways(server: Server) -> None:
    assert make(server, "Widget", "a", size=3)["spec"] == {"size": 3}
    assert make(server, "Widget", "b", "v2", replicas=4)["spec"] == {"replicas": 4}
    shown = {one["metadata"]["name"]: one["spec"] for one in server.list("widgets")}
    assert shown == {"a": {"replicas": 3}, "b": {"replicas": 4}}
    changed = server.apply(
        {"apiVersion": "example.com/v2", "kind": "Widget", "metadata": {"name": "a"}, "spec": {"replicas": 5}}
    )
    assert changed[0]["spec"] == {"replicas": 5}


def test_an_annotation_of_the_definition_names_the_hook(server: Server) -> None:
    make(server, "Gizmo", "a", size=3)
    shown = server.get("gizmos", "a")
    assert shown is not None
    assert shown["spec"] == {"version": "v2"}


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("Thing", "conversion hook for example.com/v2, Kind=Thing failed: no hook 'nobody' converts example.com/v2"),
        ("Gadget", "conversion hook for example.com/v2, Kind=Gadget failed: it raised an exception"),
    ],
)
def test_a_conversion_that_fails_is_told_without_a_place(server: Server, kind: str, said: str) -> None:
    with pytest.raises(Refused) as found:
        make(server, kind, "x", "v2")
    assert said in str(found.value)
    assert "secret" not in str(found.value)
    assert ".py" not in str(found.value)
