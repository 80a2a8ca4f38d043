"""Plan files: the writes of a plan, the states that they expect, and the steps that are done.

A plan file has no data of Secrets. It keeps a keyed digest of each Secret's manifest, and the manifest is read again.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from podless.codec import serializer
from podless.meta.objectmeta import SERVER_METADATA
from podless.plan.manifests import Identity, Key, ObjectPosition
from podless.plan.options import CannotPlan, PlanOptions
from podless.plan.result import Action, Change, Plan
from podless.remote.resources import APIResource
from podless.runtime.files import write_file
from podless.runtime.jsonobject import Object

FORMAT = 1
_STDIN = "<stdin>"
_ADDRESSES = ("clusterIP", "clusterIPs", "healthCheckNodePort")


def index_revisions(objects: Iterable[Object]) -> dict[Key, str]:
    """Return the resourceVersions of objects as an API has them."""
    revisions: dict[Key, str] = {}
    for obj in objects:
        revisions.setdefault(Identity.of(obj).key, str(obj["metadata"].get("resourceVersion") or ""))
    return revisions


def make_digest(obj: Object | None) -> str:
    """Return a digest of an object's state, "" for no object.

    The digest ignores the status, the managers, and fields that a server chooses.
    """
    if obj is None:
        return ""
    content = {key: value for key, value in obj.items() if key not in ("status", "metadata")}
    content["metadata"] = {key: value for key, value in obj["metadata"].items() if key not in SERVER_METADATA}
    if obj.get("kind") == "Service" and isinstance(content.get("spec"), dict):
        spec = {key: value for key, value in content["spec"].items() if key not in _ADDRESSES}
        ports = spec.get("ports") or ()
        spec["ports"] = [{key: value for key, value in port.items() if key != "nodePort"} for port in ports]
        content["spec"] = spec
    return hashlib.sha256(serializer.encode_sorted(content)).hexdigest()


def make_step(
    change: Change, resource: APIResource, obj: Object, place: ObjectPosition, revisions: Mapping[Key, str]
) -> Object:
    """Return the write of one object."""
    return {
        **_begin_step(change.action, resource, change.identity),
        "resourceVersion": revisions.get(change.identity.key, "") if change.action is Action.UPDATE else "",
        "before": make_digest(change.before),
        "after": make_digest(change.after),
        "file": place.file,
        "line": change.line,
        "body": obj,
    }


def make_parent_step(
    change: Change, resource: APIResource, patch: Object, revisions: Mapping[Key, str], *, latest: bool
) -> Object:
    """Return a write to the parent of an ApplySet. latest: the last such write, which accepts any state."""
    identity = change.identity
    return {
        **_begin_step(Action.CREATE if change.before is None else Action.UPDATE, resource, identity),
        "parent": "after" if latest else "before",
        "resourceVersion": revisions.get(identity.key, ""),
        "before": "" if identity.kind == "Secret" else make_digest(change.before),
        "body": patch,
    }


def make_deletion(resource: APIResource, obj: Object, revisions: Mapping[Key, str]) -> Object:
    """Return the deletion of one object. obj: the object in the plan."""
    identity = Identity.of(obj)
    return {
        **_begin_step(Action.DELETE, resource, identity),
        "resourceVersion": revisions.get(identity.key, ""),
        "uid": obj["metadata"]["uid"],
        "before": make_digest(obj),
    }


def _begin_step(action: Action, resource: APIResource, identity: Identity) -> Object:
    return {
        "apiVersion": identity.api_version,
        "kind": identity.kind,
        "plural": resource.plural,
        "namespaced": resource.namespaced,
        "namespace": identity.namespace,
        "name": identity.name,
        "action": str(action),
    }


def write_plan(path: Path, plan: Plan, options: PlanOptions) -> None:
    """Write a plan file that only its owner can read. Raises CannotPlan, OSError."""
    if not plan.api:
        raise CannotPlan("--out keeps plans for a running API; this one starts from files")
    salt = secrets.token_hex(32)
    document = {
        "podlessPlan": FORMAT,
        "api": plan.api,
        "mode": options.mode,
        "fieldManager": options.field_manager,
        "force": options.force,
        "as": {"user": options.user, "groups": [*options.groups], "uid": options.uid} if options.user else None,
        "summary": plan.summary(),
        "refused": [f"{change.place} {change.identity}: {change.message}" for change in plan.refused],
        "applyset": plan.applyset,
        "salt": salt,
        "steps": [_without_secrets(step, salt) for step in plan.steps],
    }
    write_file(path, json.dumps(document, indent=1).encode() + b"\n", 0o600)
    journal_of(path).unlink(missing_ok=True)


def _without_secrets(step: Object, salt: str) -> Object:
    """Return a step with a digest in place of the manifest of a Secret."""
    if step["kind"] != "Secret" or "/" in step["apiVersion"] or "parent" in step:
        return step
    # a Secret with few possible values could be guessed from a digest
    step = {**step, **dict.fromkeys(("before", "after"), "")}
    body = step.pop("body", None)
    if body is None:
        return step
    if step["file"] == _STDIN:
        raise CannotPlan(f"plan files keep no data of Secrets: give {step['name']} in a file, not on standard input")
    return {**step, "file": os.path.abspath(step["file"]), "sealed": seal_object(body, salt)}


def seal_object(obj: Object, salt: str) -> str:
    """Return a keyed digest of a manifest."""
    return hmac.new(bytes.fromhex(salt), serializer.encode_sorted(obj), "sha256").hexdigest()


def read_plan(path: Path) -> Object:
    """Return the plan in a file. Raises CannotPlan if it is not a plan, and OSError."""
    try:
        document: Any = json.loads(path.read_bytes())
    except ValueError:
        document = None
    if not isinstance(document, dict) or "podlessPlan" not in document:
        raise CannotPlan(f"{path}: not a plan; podless plan --out FILE writes one")
    if document["podlessPlan"] != FORMAT:
        raise CannotPlan(f"{path}: a plan of another release of podless")
    return document


def journal_of(path: Path) -> Path:
    """Return the path of a plan's journal, which lists the steps that are done."""
    return path.with_name(f"{path.name}.done")


def read_journal(path: Path) -> set[int]:
    """Return the numbers of the steps that are done."""
    try:
        lines = journal_of(path).read_text().split()
    except FileNotFoundError:
        return set()
    return {int(line) for line in lines if line.isdigit()}


def note_done(path: Path, number: int) -> None:
    """Add a done step to the journal."""
    with journal_of(path).open("a") as file:
        file.write(f"{number}\n")
