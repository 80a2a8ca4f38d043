"""Work that takes too long ends at its next charge: how far it got depends on its time, and not on what was sent."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import pytest
import yaml

from podless.apis.catalog import ALL
from podless.apis.core.group import PODS
from podless.cel.rules import NodeRules
from podless.codec import serializer
from podless.fields import jsonpatch, managers, patches, strategic
from podless.fields.merge import WriteTarget
from podless.fields.typed import schema_shape, struct_shape
from podless.kinds import bodies, validation, view
from podless.kinds.bodies import Body
from podless.kinds.fromdefinition import compile_kind
from podless.kinds.kind import Kind
from podless.meta import jsonpath, selectors
from podless.meta.errors import Timeout
from podless.publish.openapi import v2, v3
from podless.publish.table import get_layout, make_row
from podless.runtime.jsonobject import Object
from podless.schema import check, defaulting, embedded, prune
from podless.schema.node import Node
from podless.structs import protobuf
from podless.structs.structfiles import load_struct
from podless.virtual import review
from tests.conftest import definition
from tests.cost import Allowance, metered

SERVICE = load_struct("core/v1", "Service")

Work = Callable[[], object]

STEPS = 500  # that a walk may be charged
SIZE = 2500  # items of what it walks, far more than it is allowed to see
SLACK = 1.2
KINDS = {f"{kind.plural}.{kind.group}": kind for kind in ALL if kind.home is None}
MAPS, DEFINITIONS = KINDS["configmaps."], KINDS["customresourcedefinitions.apiextensions.k8s.io"]
SETS = KINDS["replicasets.apps"]
NOW = "2026-01-01T00:00:00Z"
SET: Object = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "x", "creationTimestamp": NOW}}
GROUP = "deadlines.example.com"


class Place(NamedTuple):
    """A kind, and how objects of it are read."""

    kind: Kind

    @property
    def version(self) -> Any:
        return self.kind.by_version[self.kind.storage_version]

    @property
    def head(self) -> Object:
        return {"apiVersion": self.kind.api_version(self.version.name), "kind": self.kind.kind}

    @property
    def endpoint(self) -> WriteTarget:
        given = self.kind.api_version(self.version.name)
        struct = self.kind.struct_of(self.version)
        shape = struct_shape(struct) if struct is not None else schema_shape(self.kind.structural_schema(self.version))
        return WriteTarget(version=given, shapes={given: shape}.get, blank={**self.head, "metadata": {}}, custom=False)

    def read(self, raw: bytes, media: str = "application/json") -> Object:
        return bodies.read_body(Body(self.kind, self.version, raw, media))

    def stored(self, **fields: Any) -> Object:
        """An object as it is after decoding."""
        obj = self.read(json.dumps({**self.head, "metadata": {"name": "x", "namespace": "default"}, **fields}).encode())
        obj["metadata"] |= {"uid": "u", "creationTimestamp": NOW, "resourceVersion": "1"}
        return obj


POD, MAP, CRD = Place(PODS), Place(MAPS), Place(DEFINITIONS)


def data(size: int) -> Object:
    return {"data": {f"k{number}": "v" for number in range(size)}}


def pod(size: int, part: str = "env") -> Object:
    container: Object = {"name": "c", "image": "i"}
    spec: Object = {"containers": [container]}
    if part == "env":
        container["env"] = [{"name": f"E{number}", "value": "v"} for number in range(size)]
    elif part == "containers":
        spec["containers"] = [{"name": f"c{number}", "image": "i"} for number in range(size)]
    else:
        spec["volumes"] = [{"name": f"v{number}", "emptyDir": {}} for number in range(size)]
    return {"spec": spec}


def encoded(place: Place, size: int, fields: Object) -> bytes:
    return json.dumps({**place.head, "metadata": {"name": "x"}, **fields}).encode()


def properties(size: int) -> Object:
    return {f"p{number}": {"type": "string", "maxLength": 9} for number in range(size)}


def crd(size: int) -> Object:
    spec = {"type": "object", "properties": {"spec": {"type": "object", "properties": properties(size)}}}
    return definition(GROUP, schema={"openAPIV3Schema": spec})


def tree(depth: int) -> Any:
    return {"a": tree(depth - 1), "b": tree(depth - 1)} if depth else {"c": 1}


def grown(size: int) -> Any:
    """A tree without wide places, of about so many nodes."""
    return tree(max(size.bit_length() - 1, 1))


LISTED = {"type": "object", "properties": {"l": {"type": "array", "items": {"type": "integer"}}}}
RULED = {
    "type": "object",
    "properties": {
        "l": {
            "type": "array",
            "items": {"type": "string", "x-kubernetes-validations": [{"rule": "self != 'x'"}], "maxLength": 9},
        }
    },
}
PORTS = strategic.make_merge_table(SERVICE)


def reading(place: Place, make: Callable[[int], Object], media: str = "application/json") -> Callable[[int], Work]:
    def prepare(size: int) -> Work:
        obj = {**place.head, "metadata": {"name": "x"}, **make(size)}
        raw = yaml.safe_dump(obj).encode() if "yaml" in media else json.dumps(obj).encode()
        return lambda: place.read(raw, media)

    return prepare


def message(size: int) -> Work:
    struct = PODS.struct_of(POD.version)
    assert struct is not None
    raw = protobuf.encode_message(struct, POD.stored(**pod(size)))
    return lambda: protobuf.decode_message(struct, raw)


def unmessage(size: int) -> Work:
    struct = PODS.struct_of(POD.version)
    assert struct is not None
    obj = POD.stored(**pod(size))
    return lambda: protobuf.encode_message(struct, obj)


def twice(size: int) -> Work:
    """A body in which keys are there twice."""
    raw = encoded(MAP, size, data(size))[:-1] + b',"data":{"k1":"v","k1":"w"}}'
    return lambda: MAP.read(raw)


def judged(part: str) -> Callable[[int], Work]:
    def prepare(size: int) -> Work:
        obj = POD.stored(**pod(size, part))
        return lambda: validation.validate_new(PODS, POD.version, obj, [])

    return prepare


def changed(size: int) -> Work:
    old, new = POD.stored(**pod(size)), POD.stored(**pod(size))
    return lambda: validation.validate_change(PODS, POD.version, new, old, [], [])


def warned(size: int) -> Work:
    obj = POD.stored(**pod(size))
    return lambda: PODS.strategy.list_warnings(POD.version, obj, None)


def filled(size: int) -> Work:
    obj = POD.stored(**pod(size, "containers"))
    return lambda: PODS.strategy.prepare_create(POD.version, obj)


def owned(place: Place, make: Callable[[int], Object], *, new: bool) -> Callable[[int], Work]:
    def prepare(size: int) -> Work:
        old, obj = None if new else place.stored(**make(size // 2)), place.stored(**make(size))
        if old is not None:
            old["metadata"]["managedFields"] = managers.update_managed_fields(
                place.endpoint, None, place.stored(**make(1)), "a", NOW
            )
        return lambda: managers.update_managed_fields(place.endpoint, old, obj, "m", NOW)

    return prepare


def applied(size: int) -> Work:
    live, given = ({**MAP.head, "metadata": {"name": "x"}, **data(count)} for count in (size // 2, size))
    return lambda: managers.apply_object(MAP.endpoint, live, given, "m", True, NOW)


FREE = WriteTarget(
    version="g/v1", shapes={"g/v1": schema_shape(None)}.get, blank={"apiVersion": "g/v1", "kind": "T", "metadata": {}}
)


def free(tree: Any) -> Object:
    """An object of a kind that takes everything."""
    return {"apiVersion": "g/v1", "kind": "T", "metadata": {"name": "x"}, "spec": tree}


def branched(size: int) -> Work:
    """Fields that are nested, and few everywhere, of a changed object."""
    old, new = free(grown(size)), free({"a": grown(size)})
    old["metadata"]["managedFields"] = managers.update_managed_fields(FREE, None, free(grown(size)), "a", NOW)
    return lambda: managers.update_managed_fields(FREE, old, new, "m", NOW)


def entered(size: int) -> Work:
    """The same as a client says that they are owned."""
    new = free(1)
    new["metadata"]["managedFields"] = managers.update_managed_fields(FREE, None, free(grown(size)), "a", NOW)
    return lambda: managers.update_managed_fields(FREE, free(1), new, "m", NOW)


def operated(size: int) -> Work:
    steps = json.dumps([{"op": "test", "path": "/data/k1", "value": "v"}] * min(size, 9_999)).encode()
    return lambda: jsonpatch.apply_json_patch({**data(2)}, steps)


def declared(size: int) -> Work:
    obj = CRD.read(json.dumps(crd(size)).encode())
    obj["metadata"] |= {"uid": "u", "creationTimestamp": NOW}
    return lambda: validation.validate_new(DEFINITIONS, CRD.version, obj, [])


def published(write: Callable[..., object]) -> Callable[[int], Work]:
    def prepare(size: int) -> Work:
        raw = json.dumps(crd(size)).encode()
        kind = compile_kind(CRD.read(raw), raw)
        return lambda: write(kind, kind.versions[0])

    return prepare


def coerced(size: int) -> Work:
    part = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    node = Node({"type": "object", "properties": {"l": {"type": "array", "items": part}}})
    return partial(embedded.coerce_embedded, listed({})(size), node)


def of(work: Callable[..., object], *makes: Callable[[int], Any]) -> Callable[[int], Work]:
    """Some work on values of a size, which are made beforehand."""
    return lambda size: partial(work, *(make(size) for make in makes))


def ports(size: int, **more: Any) -> Object:
    return {"spec": {"ports": [{"port": number, **more} for number in range(size)]}}


def listed(*items: Any) -> Callable[[int], Object]:
    return lambda size: {"l": [*items] * size}


WALKS: dict[str, Callable[[int], Work]] = {
    "a body of a map": reading(MAP, data),
    "a body of a list": reading(POD, pod),
    "a body of YAML": reading(MAP, data, "application/yaml"),
    "a body of a definition": reading(CRD, lambda size: {"spec": crd(size)["spec"]}),
    "a body with repeated keys": twice,
    "a body with unknown fields": reading(MAP, lambda size: {f"u{number}": 1 for number in range(size)}),
    "a message": message,
    "an object to a message": unmessage,
    "floats": of(serializer.decode_json, lambda size: b"[" + b"1.0," * size + b"1.0]"),
    "repeated keys": of(serializer.decode_json, lambda size: b"[" + b'{"a":1,"a":2},' * size + b"{}]", lambda _: []),
    "a copy": of(view.copy_object, data),
    "a copy of a tree": of(view.copy_object, grown),
    "YAML": of(serializer.encode_yaml, data),
    "containers": judged("containers"),
    "variables": judged("env"),
    "volumes": judged("volumes"),
    "a changed pod": changed,
    "warnings": warned,
    "defaults of pods": filled,
    "fields of a new map": owned(MAP, data, new=True),
    "fields of a new list": owned(POD, pod, new=True),
    "fields of a changed map": owned(MAP, data, new=False),
    "fields of a changed list": owned(POD, pod, new=False),
    "fields of a tree": branched,
    "fields of a tree that a client sends": entered,
    "an apply": applied,
    "an apply of a tree": lambda size: partial(managers.apply_object, FREE, None, free(grown(size)), "m", False, NOW),
    "an apply to a tree": lambda size: partial(
        managers.apply_object, FREE, free(grown(size)), free({"z": 1}), "m", False, NOW
    ),
    "a JSON patch": operated,
    "a merge patch": of(patches.apply_merge_patch, data, data),
    "a merge patch of a tree": of(patches.apply_merge_patch, lambda _: {}, grown),
    "a strategic merge patch": of(strategic.apply_strategic_patch, ports, partial(ports, name="x"), lambda _: PORTS),
    "wrong values": of(check.validate_value, listed("x"), lambda _: Node(LISTED)),
    "unknown fields": of(prune.prune_value, lambda size: data(size)["data"], lambda _: Node(LISTED)),
    "unknown lists": of(
        prune.prune_value, listed([{}]), lambda _: Node({"type": "object", "properties": {"l": {"type": "array"}}})
    ),
    "default values": of(defaulting.fill_value, listed([]), lambda _: Node(LISTED)),
    "embedded objects": coerced,
    "a definition": declared,
    "OpenAPI v3": published(v3.make_part),
    "OpenAPI v2": published(lambda kind, _: v2.make_swagger_parts(kind)),
    "a selector": of(selectors.parse_labels, lambda size: ",".join(f"k{number}" for number in range(size))),
    "a selector of an object": of(selectors.from_object, lambda size: {"matchLabels": data(size)["data"]}),
    "a column": of(jsonpath.parse_path("..a").find, grown),
    "a row": of(
        partial(make_row, get_layout(SETS, SETS.versions[0])),
        lambda size: {**SET, "spec": {"template": pod(size, "containers")}},
    ),
    "a subject": of(review._make_subject, lambda size: {"extra": {key: ["a"] for key in data(size)["data"]}}),
    "many rules": of(review._format_rules, lambda size: [{"verbs": ["get"], "resources": ["pods"]}] * size),
    "rules of a schema": of(NodeRules.compile(RULED).validate, listed("a")),
}


def cut(work: Work) -> int:
    """The lines that some work executes until it is cut off, as it is done off the event loop."""

    def ended(_: None) -> None:
        serializer.in_steps.set(True)
        with pytest.raises(Timeout):
            work()

    return metered(Allowance(STEPS), ended, None)


@pytest.mark.parametrize("name", WALKS)
def test_what_is_done_until_the_end_does_not_depend_on_what_is_left(name: str) -> None:
    make = WALKS[name]
    make(2)()  # what is only done once
    first, second = (cut(make(size)) for size in (SIZE, 4 * SIZE))
    assert second <= first * SLACK + STEPS
