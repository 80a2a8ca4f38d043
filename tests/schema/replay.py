"""Recorded conversations, replayed through Schema alone: what a server answers to creates and updates of objects."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from podless.schema import Malformed, Schema, structural
from podless.structs import structs
from podless.structs.structfiles import load_struct
from tests.conformance.recorded import Recording

OBJECT_META = load_struct("meta/v1", "ObjectMeta")

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
OBJECT = re.compile(
    r"^/apis/(?P<group>[^/]+)/(?P<version>[^/]+)(?:/namespaces/[^/]+)?/(?P<plural>[^/]+)(?:/(?P<name>[^/]+))?(?P<sub>/status)?$"
)
# the reasons that a rule in CEL may give
RULE = ("FieldValueInvalid", "FieldValueForbidden", "FieldValueDuplicate", "FieldValueRequired")
Cause = tuple[str, str, str]
# number of the step, what is compared, got, wanted
Comparison = tuple[int, str, Any, Any]


@dataclass
class World:
    """What was recorded as stored so far."""

    crds: dict[str, dict[str, Any]] = field(default_factory=dict)
    objects: dict[str, dict[str, Any]] = field(default_factory=dict)

    def define(self, step: dict[str, Any]) -> None:
        """Take over a definition from its request or answer; after a patch it is no longer known."""
        answer, name = step["expect"], step["path"].removeprefix(CRDS).strip("/")
        given = step.get("body") if step["method"] in ("POST", "PUT") else answer.get("body")
        if answer.get("status") not in (200, 201) or (step.get("query") or {}).get("dryRun"):
            return
        if isinstance(given, dict) and "spec" in given and "metadata" in given:
            self.crds[given["metadata"].get("name", name)] = given
        elif step["method"] != "GET":
            self.crds.pop(name, None)

    def store(self, step: dict[str, Any]) -> None:
        """Take over an object from an answer."""
        body = step["expect"]["body"]
        if step["expect"].get("status") not in (200, 201) or (step.get("query") or {}).get("dryRun"):
            return
        if "metadata" in body and body["metadata"].get("name") and "items" not in body:
            self.objects[body["metadata"]["name"]] = body


def causes(answer: dict[str, Any]) -> set[Cause]:
    found = (answer["body"].get("details") or {}).get("causes") or []
    return {(cause.get("reason", ""), cause.get("field", ""), cause.get("message", "")) for cause in found}


def warnings(answer: dict[str, Any]) -> list[str]:
    found = []
    for warning in answer.get("warnings") or ():
        text = json.loads('"' + warning.split('"', 1)[1])
        if text.startswith("unknown field "):
            found.append(json.loads(text[len("unknown field ") :]))
    return found


def masked(value: Any, like: Any) -> Any:
    """The value with the marks that recordings have for times and uids."""
    if isinstance(value, dict) and isinstance(like, dict):
        return {key: masked(item, like.get(key)) for key, item in value.items()}
    if isinstance(value, list) and isinstance(like, list) and len(value) == len(like):
        return [masked(item, other) for item, other in zip(value, like, strict=True)]
    if isinstance(value, str) and isinstance(like, str) and re.search(r"^TIME$|UID\d+", like):
        return like
    return value


def steps(recording: Recording) -> Iterator[Comparison]:
    """All that is compared for the objects of one scenario."""
    world = World()
    for number, step in enumerate(recording["steps"]):
        answer = step.get("expect")
        if not isinstance(answer, dict) or "method" not in step:
            continue
        if step["path"].startswith(CRDS):
            world.define(step)
            continue
        match = OBJECT.match(step["path"])
        crd = world.crds.get(f"{match['plural']}.{match['group']}") if match else None
        if match is None or crd is None or not isinstance(answer.get("body"), dict):
            continue
        if not step.get("only"):
            yield from ((number, *found) for found in Write(step, match, crd, world).compare())
        world.store(step)


class Write:
    """One recorded write of an object."""

    def __init__(self, step: dict[str, Any], match: re.Match[str], crd: dict[str, Any], world: World) -> None:
        self.step, self.match, self.crd = step, match, crd
        self.answer = step["expect"]
        self.old = world.objects.get(match["name"] or "")
        self.unknown: list[str] = []

    def compare(self) -> Iterator[tuple[str, Any, Any]]:
        obj = self.given()
        versions = {version["name"]: version for version in self.crd["spec"]["versions"]}
        version = versions.get(self.match["version"])
        if obj is None or version is None or not version["storage"] or obj.get("kind") != self.names["kind"]:
            return
        if self.answer["status"] not in (200, 201, 400, 422):
            return
        schema = Schema.from_crd(self.crd, version["name"])
        try:
            obj["metadata"] = structs.decode_struct(OBJECT_META, obj.get("metadata"))
        except structs.DecodeError:
            return
        message = self.answer["body"].get("message", "")
        try:
            schema.prune(obj, unknown=self.unknown)
        except Malformed as error:
            if message != "MASKED":
                yield "malformed", message.partition(" cannot be handled as a ")[2].partition(": ")[2], str(error)
            return
        schema.default(obj)
        if self.answer["status"] == 400:
            yield "refused", ": Invalid value: " in message, False
            return
        yield from self.judged(obj, schema, "status" in (version.get("subresources") or {}))

    @property
    def names(self) -> dict[str, Any]:
        found: dict[str, Any] = self.crd["spec"]["names"]
        return found

    def given(self) -> dict[str, Any] | None:
        """The object that the request asks for, numbers as a server's decoder gives them."""
        body, kind = self.step.get("body"), (self.step.get("headers") or {}).get("Content-Type", "")
        if not isinstance(body, dict) or "raw" in self.step:
            return None
        if self.step["method"] == "PATCH" and kind == "application/merge-patch+json" and self.old is not None:
            body = merged(self.old, body)
        elif self.step["method"] not in ("POST", "PUT") or (self.step["method"] == "PUT" and self.old is None):
            return None
        text = json.dumps(body)
        found: dict[str, Any] = json.loads(text, parse_float=lambda digits: whole(float(digits)))
        return found

    def judged(self, obj: dict[str, Any], schema: Schema, apart: bool) -> Iterator[tuple[str, Any, Any]]:
        """The errors, the object and the unknown fields."""
        old, creates = self.old, self.step["method"] == "POST"
        if self.match["sub"]:
            assert old is not None
            obj = {**old, "status": obj["status"]} if "status" in obj else old
            errors = schema.status(obj, old)
        else:
            if apart:
                obj.pop("status", None)
                obj |= {"status": old["status"]} if old and not creates and "status" in old else {}
            if creates:
                obj["metadata"].setdefault("namespace", "default")
            errors = schema.validate(obj, None if creates else old)
        got = {(error.reason, error.field, error.body) for error in errors}
        yield "causes", got, self.told(got, schema)
        if self.answer["status"] != 422:
            schema.default(obj)  # as on reading what was stored
            result = {key: item for key, item in self.answer["body"].items() if key != "metadata"}
            yield "object", masked({key: item for key, item in obj.items() if key != "metadata"}, result), result
        if (self.step.get("query") or {}).get("fieldValidation", "Warn") == "Warn":
            told = [name for name in warnings(self.answer) if not name.startswith("metadata.")]
            yield "unknown", self.unknown, told

    def told(self, got: set[Cause], schema: Schema) -> set[Cause]:
        """The recorded causes that a schema is answerable for."""
        if self.answer["status"] != 422:
            return set()
        others = ("metadata", ".", "fieldValidation")
        found = {cause for cause in causes(self.answer) if cause in got or not cause[1].startswith(others)}
        if schema.has_rules:
            found = {cause for cause in found if cause in got or cause[0] not in RULE or cause[1] == "<nil>"}
        return found


def whole(number: float) -> float:
    return int(number) if number.is_integer() and abs(number) < 2**63 else number


def merged(target: Any, patch: Any) -> Any:
    """A JSON merge patch."""
    if not isinstance(patch, dict):
        return patch
    out = dict(target) if isinstance(target, dict) else {}
    for key, item in patch.items():
        if item is None:
            out.pop(key, None)
        else:
            out[key] = merged(out.get(key), item)
    return out


def definitions(recording: Recording) -> Iterator[tuple[int, set[Cause], set[Cause]]]:
    """Each definition that was sent whole: what structural() says of its schemas, and what was recorded."""
    for number, step in enumerate(recording["steps"]):
        answer, body = step.get("expect"), step.get("body")
        if step.get("path") != CRDS or step.get("method") != "POST" or not isinstance(body, dict):
            continue
        if answer["status"] not in (201, 422) or not isinstance((body.get("spec") or {}).get("versions"), list):
            continue
        got = {(error.reason, error.field, error.body) for error in judge(body["spec"])}
        wanted = set()
        if answer["status"] == 422:
            wanted = {cause for cause in causes(answer) if "openAPIV3Schema" in cause[1]}
            wanted = {cause for cause in wanted if cause in got or "x-kubernetes-validations" not in cause[1]}
        yield number, got, wanted


def judge(spec: dict[str, Any]) -> list[Any]:
    versions = spec["versions"]
    schemas = [(version.get("schema") or {}).get("openAPIV3Schema") for version in versions]
    status = ["status" in (version.get("subresources") or {}) for version in versions]
    found = []
    if versions and all(schema is not None and schema == schemas[0] for schema in schemas):
        return structural(schemas[0] or {}, "spec.validation.openAPIV3Schema", status=any(status))
    for index, schema in enumerate(schemas):
        if schema is not None:
            path = f"spec.versions[{index}].schema.openAPIV3Schema"
            found += structural(schema, path, status=status[index])
    return found
