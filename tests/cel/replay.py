"""Recorded conversations, replayed through the rules alone: definitions that are refused, objects that break rules."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from podless.cel.rules import DefinitionRules, NodeRules
from podless.codec import sentfloats, serializer
from podless.fields import jsonpatch
from podless.meta.errors import APIError
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.schema import Schema, structural
from podless.structs import structs
from podless.structs.structfiles import load_struct
from tests.conformance.recorded import Recording
from tests.schema.replay import merged

OBJECT_META = load_struct("meta/v1", "ObjectMeta")

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
OBJECT = re.compile(
    r"^/apis/(?P<group>[^/]+)/(?P<version>[^/]+)(?:/namespaces/[^/]+)?"
    r"/(?P<plural>[^/]+)(?:/(?P<name>[^/]+))?(?P<sub>/status)?$"
)
BLOCKING = frozenset(
    ("FieldValueNotSupported", "FieldValueRequired", "FieldValueTooLong", "FieldValueTooMany", "FieldValueTypeInvalid")
)
Causes = set[tuple[str, str, str]]


@dataclass(frozen=True)
class Kind:
    """A defined kind, its schemas and rules by version."""

    crd: Object
    schemas: dict[str, Schema]
    rules: dict[str, NodeRules]

    @classmethod
    def of(cls, crd: Object) -> Kind:
        versions = {
            version["name"]: (version.get("schema") or {}).get("openAPIV3Schema") or {}
            for version in crd["spec"]["versions"]
        }
        return cls(
            crd,
            {name: Schema.compile(schema) for name, schema in versions.items()},
            {name: NodeRules.compile(schema) for name, schema in versions.items()},
        )


@dataclass
class World:
    """What is stored so far."""

    kinds: dict[str, Kind] = field(default_factory=dict)
    objects: dict[tuple[str, str], Object] = field(default_factory=dict)


def causes(body: Object) -> Causes:
    details = body.get("details")
    found = body.get("details.causes") or (details.get("causes") if isinstance(details, dict) else None) or []
    found = [] if found == "MISSING" else found
    return {(cause.get("reason", ""), cause.get("field", ""), cause.get("message", "")) for cause in found}


def steps(recording: Recording) -> Iterator[tuple[int, Causes, Causes]]:
    """For each write: its number, the causes that are found, the causes that were recorded."""
    world = World()
    for number, step in enumerate(recording["steps"]):
        answer = step.get("expect")
        if not isinstance(answer, dict) or "status" not in answer or "method" not in step or "raw" in step:
            continue
        try:
            found = definition(step, world) if step["path"].startswith(CRDS) else written(step, world)
        except APIError:  # a patch that cannot be carried out
            continue
        if found is not None:
            yield number, *found


def definition(step: Object, world: World) -> tuple[Causes, Causes] | None:
    """A definition that is created or replaced."""
    answer, body = step["expect"], step.get("body")
    name = step["path"].removeprefix(CRDS).strip("/")
    kind = (step.get("headers") or {}).get("Content-Type", "")
    if step["method"] == "PATCH" and name in world.kinds:
        body = patched(world.kinds[name].crd, body, kind)
    elif (
        step["method"] not in ("POST", "PUT")
        or not isinstance(body, dict)
        or "versions" not in (body.get("spec") or {})
    ):
        return None
    if not isinstance(body, dict) or "versions" not in (body.get("spec") or {}):
        return None
    body = serializer.decode_json(json.dumps(body).encode())
    status = answer["status"]
    old = world.kinds[name].crd["spec"] if name in world.kinds else None
    if status in (200, 201) and not (step.get("query") or {}).get("dryRun"):
        world.kinds[body["metadata"]["name"]] = Kind.of(body)
    if status not in (200, 201, 422):
        return None
    wanted = causes(answer["body"]) if isinstance(answer.get("body"), dict) else set()
    wanted = {cause for cause in wanted if "openAPIV3Schema." in cause[1]}
    got = {cause for cause in texts(judged(body["spec"], old)) if "openAPIV3Schema." in cause[1]}
    if status == 422 and any(key.startswith("details.causes.") for key in answer["body"]):
        wanted |= part(answer["body"], got)
    return got, wanted if status == 422 else set()


def part(body: Object, got: Causes) -> Causes:
    """Where only parts of the causes were recorded: all that was found, if those are among it."""
    names = ("reason", "field", "message")
    told = [body.get(f"details.causes.0.{name}") for name in names]
    if "openAPIV3Schema" not in (told[1] or "openAPIV3Schema"):
        return set()
    fits = [cause for cause in got if all(one in (None, two) for one, two in zip(told, cause, strict=True))]
    return got if fits else {(str(told[0]), str(told[1]), str(told[2]))}


def judged(spec: Object, old: Object | None) -> list[FieldError]:
    versions = spec["versions"]
    schemas = [(version.get("schema") or {}).get("openAPIV3Schema") for version in versions]
    status = ["status" in (version.get("subresources") or {}) for version in versions]
    stored = [(version.get("schema") or {}).get("openAPIV3Schema") for version in (old or {}).get("versions") or ()]
    rules = DefinitionRules(schema for schema in stored if schema is not None)
    if versions and all(schema is not None and schema == schemas[0] for schema in schemas):
        return structural(schemas[0] or {}, "spec.validation.openAPIV3Schema", status=any(status), rules=rules)
    found = []
    for index, schema in enumerate(schemas):
        if schema is not None:
            path = f"spec.versions[{index}].schema.openAPIV3Schema"
            found += structural(schema, path, status=status[index], rules=rules)
    return found


def written(step: Object, world: World) -> tuple[Causes, Causes] | None:
    """An object that is created or changed."""
    match = OBJECT.match(step["path"])
    kind = world.kinds.get(f"{match['plural']}.{match['group']}") if match else None
    answer = step["expect"]
    if match is None or kind is None or match["version"] not in kind.schemas:
        return None
    old = world.objects.get((match["plural"], match["name"] or ""))
    floats: serializer.Floats = []
    obj = given(step, old, floats)
    schema, rules = kind.schemas[match["version"]], kind.rules[match["version"]]
    if obj is None or answer["status"] not in (200, 201, 422):
        return None
    creates = step["method"] == "POST"
    if step["method"] == "PATCH":
        obj["apiVersion"] = f"{match['group']}/{match['version']}"
    name = (obj.get("metadata") or {}).get("generateName")
    if creates and name:
        obj["metadata"].setdefault("name", f"{name}12345")
    try:
        obj["metadata"] = structs.decode_struct(OBJECT_META, obj.get("metadata"))
    except structs.DecodeError:
        return None
    schema.prune(obj)
    schema.default(obj)
    obj = apart(obj, old, kind, match, creates)
    before = None if creates else copy.deepcopy(old)
    warnings: list[str] = []
    with sentfloats.as_sent(obj, floats):
        errors = schema.status(obj, before) if match["sub"] else schema.validate(obj, before)
        if not any(error.reason in BLOCKING for error in errors):
            errors = [*errors, *rules.validate(obj, before, warnings=warnings)]
    if answer["status"] in (200, 201) and not (step.get("query") or {}).get("dryRun"):
        world.objects[match["plural"], obj["metadata"].get("name", "")] = obj
    if not rules.has_any:
        return None
    wanted = causes(answer["body"]) if answer["status"] == 422 and isinstance(answer.get("body"), dict) else set()
    wanted = {cause for cause in wanted if not cause[1].startswith(("metadata.", "patch")) or "rule" in cause[2]}
    told = {("warning", "", json.loads(text.removeprefix("299 - "))) for text in answer.get("warnings") or ()}
    told = {warning for warning in told if re.search("(Invalid|Duplicate|Required) value|Forbidden", warning[2])}
    return texts(errors) | {("warning", "", text) for text in warnings}, wanted | told


def apart(obj: Object, old: Object | None, kind: Kind, match: re.Match[str], creates: bool) -> Object:
    """The object with what this endpoint may change."""
    versions = {version["name"]: version for version in kind.crd["spec"]["versions"]}
    if "status" not in (versions[match["version"]].get("subresources") or {}):
        return obj
    if match["sub"]:
        assert old is not None
        rest = {name: item for name, item in old.items() if name != "status"}
        return rest | ({"status": obj["status"]} if "status" in obj else {})
    obj.pop("status", None)
    if not creates and old is not None and "status" in old:
        obj["status"] = old["status"]
    return obj


def given(step: Object, old: Object | None, floats: serializer.Floats) -> Object | None:
    """The object that a request asks for; floats: takes the whole numbers that it has as floats."""
    body = step.get("body")
    kind = (step.get("headers") or {}).get("Content-Type", "application/json")
    if step["method"] == "PATCH":
        if old is None:
            return None
        body = patched(old, body, kind)
    elif step["method"] not in ("POST", "PUT") or kind != "application/json" or not isinstance(body, dict):
        return None
    found: Object = serializer.decode_json(json.dumps(body).encode(), floats=floats)
    return found


def patched(target: Object, patch: Any, kind: str) -> Object:
    """A patch of some kind; applied objects are merged, which is the same for those that are recorded here."""
    if kind == "application/json-patch+json":
        found: Object = jsonpatch.apply_json_patch(copy.deepcopy(target), json.dumps(patch).encode())
    else:
        found = merged(target, patch)
    return found


def texts(errors: list[FieldError]) -> Causes:
    return {(error.reason, error.field, error.body) for error in errors}
