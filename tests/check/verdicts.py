"""What a recorded server said of objects, and what a check says of the same as files."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from podless.check.catalog import Catalog, make_kind
from podless.check.documents import DocumentChecker, ObjectIdentity, Strictness, identify_object
from podless.check.findings import Severity
from podless.codec import serializer
from podless.codec.documents import Document
from podless.fields import jsonpatch, patches
from podless.runtime.jsonobject import Object
from tests.conformance.recorded import Recording

Step = dict[str, Any]

_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_VALIDATIONS = ("Strict", "Warn", "Ignore")
# what is said by policies, of uids that were not recorded, and of addresses and ports that a server gives
_APART = (" denied request", '"?"', "failed to allocate IP", "provided port is ")
_UNKNOWN = ("unknown field ", "duplicate field ")
_STRICT = re.compile("strict decoding error: ")
_FINDING = re.compile(r'(?:unknown|duplicate) field "(?:[^"\\]|\\.)*"')
_UID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_NUMBERED = re.compile(r"UID(\d)")
# what is said of an update by comparison with what only a server has
_OF_SERVERS = ("metadata.resourceVersion", "metadata.uid", "metadata.creationTimestamp")


class Verdict(NamedTuple):
    """A step, what was recorded of it, and what a check finds: fields with messages, or a refusal."""

    step: int
    wanted: set[tuple[str, str]]
    found: set[tuple[str, str]]


class Conversation:
    """Follows a recording: which definitions are in force, and what objects are."""

    def __init__(self, scenario: Recording) -> None:
        self._steps: list[Step] = scenario["steps"]
        self._catalog = Catalog()
        self._objects: dict[tuple[str, str], Object] = {}  # by path of the collection, and name
        self._definitions: dict[str, Object] = {}  # as they were given, by name
        self._doubtful: set[tuple[str, str]] = set()  # kinds whose definition is not known any more

    def verdicts(self) -> Iterator[Verdict]:
        """The verdicts on all creates and updates that depend on nothing but the object and its definition."""
        for number, step in enumerate(self._steps):
            expect = step.get("expect") or {}
            verdict = self._verdict(number, step)
            if verdict is not None:
                yield verdict
            self._follow(step, expect)

    def _verdict(self, number: int, step: Step) -> Verdict | None:
        method, body = step.get("method"), step.get("body")
        if method not in ("POST", "PUT") or not isinstance(body, dict) or "{{" in json.dumps(body):
            return None
        place = _place(step["path"], method)
        named = identify_object(body, *_group_kind(body))
        if place is None or (named.group, named.kind) in self._doubtful or not _plain(step):
            return None
        group, _, version = str(body.get("apiVersion") or "").rpartition("/")
        known = self._catalog.find(group, version, named.kind)
        if known is None or place[0] != f"{_base(group, version)}/{known[0].plural}":
            return None
        wanted = _wanted(step, body)
        old = self._objects.get((place[0], place[1])) if method == "PUT" else None
        if wanted is None or (method == "PUT" and old is None):
            return None
        before = {named: serializer.encode_json(old)} if old is not None else None
        validation = (step.get("query") or {}).get("fieldValidation", "Warn").lower()
        rules = Strictness(validation if validation in ("strict", "ignore") else "warn")
        found = _found(self._catalog, rules, before, body)
        if any(message.startswith(_UNKNOWN) for _, message in wanted):  # a server says no more than that
            found = {(field, message) for field, message in found if message.startswith(_UNKNOWN)}
        return Verdict(number, wanted, found)

    def _follow(self, step: Step, expect: Step) -> None:
        """Note what became of definitions and objects."""
        method, path = step.get("method"), step.get("path", "")
        if method in (None, "GET", "HEAD") or (step.get("query") or {}).get("dryRun"):
            return
        answer = expect.get("body")
        body = answer if isinstance(answer, dict) and "spec" in answer else step.get("body")
        place = _place(path, method)
        good = expect.get("status") in (200, 201)
        if path.startswith("/apis/apiextensions.k8s.io/"):
            if good and not path.endswith("/status"):
                self._define(_patched(self._definitions.get(path.rpartition("/")[2]), step) or body)
            return
        if place is None:
            return
        name = place[1] or (str((step.get("body") or {}).get("metadata", {}).get("name")) if good else "")
        whole = isinstance(answer, dict) and "metadata" in answer and "only" not in step
        if good and (whole or (method in ("POST", "PUT") and step.get("body_free"))):
            now: Object = answer if isinstance(answer, dict) and whole else step["body"]
            self._objects[place[0], name] = json.loads(json.dumps(now).replace('"TIME"', '"2024-01-01T00:00:00Z"'))
        else:
            self._objects.pop((place[0], name), None)

    def _define(self, definition: Any) -> None:
        if not isinstance(definition, dict) or "spec" not in definition:
            return
        outcome = DocumentChecker(self._catalog, Strictness("ignore")).check_document(
            _document(definition), definitions=True
        )
        for sound in outcome.definitions:
            self._catalog.add_kind(make_kind(sound))
            self._definitions[sound["metadata"]["name"]] = definition
        self._doubtful -= {(entry["spec"]["group"], entry["spec"]["names"]["kind"]) for entry in outcome.definitions}
        self._doubtful |= outcome.unsound


def _patched(definition: Object | None, step: Step) -> Object | None:
    """A definition after the patch in a step; None where it is none, or the definition is not known."""
    if step["method"] != "PATCH" or definition is None:
        return None
    media, body = (step.get("headers") or {}).get("Content-Type", ""), step.get("body")
    if media.startswith("application/json-patch") and isinstance(body, list):
        made: Object = jsonpatch.apply_json_patch(copy.deepcopy(definition), json.dumps(body).encode())
        return made
    return patches.apply_merge_patch(definition, body) if media.startswith("application/merge-patch") and body else None


def _found(
    catalog: Catalog, rules: Strictness, old: dict[ObjectIdentity, bytes] | None, body: Object
) -> set[tuple[str, str]]:
    """What a check says."""
    judge = DocumentChecker(catalog, rules, old)
    defines = body.get("kind") == "CustomResourceDefinition"
    outcome = judge.check_document(_document(body), definitions=defines)
    return {
        (finding.path or "<nil>" * (finding.rule.startswith("FieldValue")), finding.message)
        for finding in outcome.report.findings
        if finding.severity is Severity.ERROR
    }


def _wanted(step: Step, body: Object) -> set[tuple[str, str]] | None:
    """What the server said; None where it was about more than the object, or was not recorded."""
    expected = step.get("expect", {})
    status, answer = expected.get("status"), expected.get("body")
    if status in (200, 201):
        return set()
    if not isinstance(answer, dict) or "MASKED" in json.dumps(answer):
        return None
    if status == 422 and answer.get("reason") == "Invalid":
        causes = (answer.get("details") or {}).get("causes") or answer.get("details.causes") or []
        found = {(cause.get("field", ""), _with_uids(cause["message"], body)) for cause in causes}
        said = {message for _, message in found}
        apart = any(field in _OF_SERVERS for field, _ in found)
        apart = apart or any(field_name in one for field_name in _APART for one in said)
        return None if apart or not found else found
    message = answer.get("message", "")
    if status == 400 and (strict := _STRICT.search(message)):
        return {("", finding[0]) for finding in _FINDING.finditer(message, strict.end())}
    return {("", message)} if status == 400 and "cannot be handled as a" in message else None


def _with_uids(message: str, body: Object) -> str:
    """The message with the uids of the body, whose place recordings keep by number."""
    if "UID" not in message:
        return message
    uids = dict.fromkeys(_UID.findall(json.dumps(body)))
    return _NUMBERED.sub(lambda found: [*uids, *"?" * 9][int(found[1]) - 1] if uids else found[0], message)


def _document(value: Object) -> Document:
    return Document("recorded.json", 0, json.dumps(value).encode(), yaml=False)


def _group_kind(body: Object) -> tuple[str, str]:
    return str(body.get("apiVersion") or "").rpartition("/")[0], str(body.get("kind"))


def _base(group: str, version: str) -> str:
    return f"/apis/{group}/{version}" if group else f"/api/{version}"


def _place(path: str, method: str | None) -> tuple[str, str] | None:
    """The collection behind a path, without its namespace, and the name in it; None for anything else."""
    parts = path.strip("/").split("/")
    head = 2 if parts[0] == "api" else 3
    rest = parts[head:]
    if len(rest) > 2 and rest[0] == "namespaces":
        rest = rest[2:]
    if not rest or len(rest) != (1 if method == "POST" else 2):
        return None
    return "/" + "/".join([*parts[:head], rest[0]]), rest[1] if len(rest) == 2 else ""


def _plain(step: Step) -> bool:
    """Whether the request is that of a person who is allowed everything, and sends JSON with options that exist."""
    query = step.get("query") or {}
    if "fieldManager" in query:
        return False
    if query.get("dryRun", "All") not in ("All", ["All"]) or query.get("fieldValidation", "Warn") not in _VALIDATIONS:
        return False
    headers = {name.lower(): value for name, value in (step.get("headers") or {}).items()}
    return "json" in headers.get("content-type", "json") and not any(name.startswith("impersonate") for name in headers)
