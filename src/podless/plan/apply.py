"""Applies a saved plan to its API, object by object, and rejects objects that have changed since the plan was made."""

from __future__ import annotations

import asyncio
from dataclasses import field
from pathlib import Path

from podless.check.sources import CannotCheck, find_sources
from podless.plan import planfile, writes
from podless.plan.applyset import is_written, label_member, write_parent
from podless.plan.baseline import Say
from podless.plan.manifests import read_set
from podless.plan.options import CannotPlan, PlanOptions
from podless.plan.prune import delete_object
from podless.plan.requests import ActingUser, SendRequest, make_sender
from podless.plan.result import Action
from podless.plan.run import place_object
from podless.remote.cluster import Refused, RemoteCluster, retry_call
from podless.remote.resources import APIResource
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object

_PATIENCE = 60.0  # seconds to wait until a definition is established
_POLL_DELAY = 0.2
_ESTABLISHED = {"type": "Established", "status": "True"}


class _NotEstablished(Exception):
    """A definition is not established yet."""


class _ObjectChanged(Exception):
    """An object is not in the state that the plan has read; the text names the difference."""


@dataclass(slots=True)
class ApplyResult:
    """The result of an apply. refused: labels of objects with the reasons. skipped: objects that were done before."""

    created: int = 0
    updated: int = 0
    deleted: int = 0
    skipped: int = 0
    refused: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def format_summary(self) -> str:
        """Return the numbers, in one line."""
        summary = f"{self.created} created, {self.updated} changed, {self.deleted} deleted"
        summary += f", {self.skipped} done before" if self.skipped else ""
        return f"{summary}, {len(self.refused)} rejected."


async def apply_plan(path: Path, cluster: RemoteCluster, url: str, say: Say) -> ApplyResult:
    """Apply the plan in a file, and continue after an interruption. say: called with a line for each object.

    url: of the API. Raises CannotPlan, OSError, and RemoteError if the API does not answer.
    """
    plan = planfile.read_plan(path)
    await _check_api(plan["api"], make_sender(cluster), url)
    planned = plan.get("as")
    acting = ActingUser(planned["user"], planned["groups"], planned["uid"]) if planned else None
    applier = _StepApplier(plan, make_sender(cluster, acting))
    journal, result = planfile.read_journal(path), applier.result
    for text in plan["refused"]:
        result.refused.append(text)
        say(f"! {text} (rejected by the plan)")
    for number, step in enumerate(plan["steps"]):
        if number in journal:
            result.skipped += 1
            continue
        label = _describe_step(step)
        try:
            if step.get("parent") == "after" and result.refused:
                raise _ObjectChanged("it still lists all kinds and namespaces, because objects were rejected")
            outcome = await applier.apply_step(step)
        except (_ObjectChanged, Refused, writes.Unwritable) as refused:
            # an error of the API about a Secret may contain its values
            hides = step["kind"] == "Secret" and isinstance(refused, Refused)
            outcome = "the API rejects it" if hides else str(refused)
            result.refused.append(f"{label}: {outcome}")
            say(f"! {label}: {outcome}")
            if step.get("parent") == "before":
                break  # without its parent, a member would never be pruned
            continue
        planfile.note_done(path, number)
        say(f"{outcome} {label}")
    return result


async def _check_api(planned: Object, send: SendRequest, url: str) -> None:
    """Raise CannotPlan if the plan is for another API."""
    try:
        uid = (await send("GET", "/api/v1/namespaces/kube-system")).obj["metadata"]["uid"]
    except Refused:
        uid = ""
    is_same = uid == planned["uid"] if uid and planned.get("uid") else url == planned.get("url")
    if not is_same:
        raise CannotPlan(f"the plan is for {planned.get('url')}, and {url} is another API")


def _describe_step(step: Object) -> str:
    prefix = f"{step['namespace']}/" if step["namespace"] else ""
    return f"{step['kind']} {prefix}{step['name']}"


class _StepApplier:
    """Applies steps and returns their signs. Methods raise _ObjectChanged, Refused, Unwritable."""

    def __init__(self, plan: Object, send: SendRequest) -> None:
        self.result = ApplyResult()
        self._plan = plan
        self._options = PlanOptions(mode=plan["mode"], manager=plan["fieldManager"], force=plan["force"])
        self._send = send

    async def apply_step(self, step: Object) -> str:
        resource = APIResource(step["apiVersion"], step["plural"], step["kind"], step["namespaced"])
        live = None
        if step["name"] and not step["name"].endswith("*"):
            live = await writes.read_object(self._send, resource, step["namespace"], step["name"])
        if step["action"] == Action.DELETE:
            return await self._delete_object(step, resource, live)
        if "parent" in step:
            return await self._write_parent(step, resource, live)
        body = self._read_body(step, resource)
        if _is_done(step, live):
            self.result.skipped += 1
            return "="
        _check_state(step, live)
        written = await writes.write_object(self._send, resource, body, live, self._options, guarded=True)
        if step["kind"] != "Secret":  # a warning may contain a value, too
            self.result.warnings += [f"{_describe_step(step)}: {text}" for text in written.warnings]
        if step["kind"] == "CustomResourceDefinition":
            await self._await_definition(resource, step["name"])
        if live is None:
            self.result.created += 1
            return "+"
        self.result.updated += 1
        return "~"

    async def _write_parent(self, step: Object, resource: APIResource, live: Object | None) -> str:
        """Write the parent of an ApplySet."""
        if is_written(live, step["body"]):
            return "="
        if step["parent"] == "before":
            _check_state(step, live)
        await write_parent(self._send, resource.path(step["namespace"], step["name"]), step["body"])
        self.result.created += live is None
        self.result.updated += live is not None and step["parent"] == "before"
        return "+" if live is None else "~"

    async def _delete_object(self, step: Object, resource: APIResource, live: Object | None) -> str:
        if live is None or live["metadata"]["uid"] != step["uid"] or live["metadata"].get("deletionTimestamp"):
            self.result.skipped += 1
            return "="
        _check_state(step, live)
        await delete_object(self._send, resource, live, guarded=True)
        self.result.deleted += 1
        return "-"

    def _read_body(self, step: Object, resource: APIResource) -> Object:
        """Return the object to write; a Secret is read from its file again."""
        if "sealed" not in step:
            return dict(step["body"])
        try:
            items, _ = read_set(find_sources([step["file"]]))
        except CannotCheck as error:
            raise _ObjectChanged(f"its manifest cannot be read again: {error}") from None
        applyset = self._plan.get("applyset") or ""
        for item in items:
            if item.obj.get("kind") == "Secret":
                obj = label_member(item.obj, applyset) if applyset else item.obj
                placed = place_object(obj, resource, step["namespace"])
                if planfile.seal_object(placed, self._plan["salt"]) == step["sealed"]:
                    return placed
        raise _ObjectChanged(f"its manifest in {step['file']} has changed since the plan was made")

    async def _await_definition(self, resource: APIResource, name: str) -> None:
        """Wait until the kind of a definition is served, for `_PATIENCE` seconds."""

        async def check_established() -> None:
            obj = await writes.read_object(self._send, resource, "", name) or {}
            conditions = (obj.get("status") or {}).get("conditions") or ()
            if not any(condition.items() >= _ESTABLISHED.items() for condition in conditions):
                raise _NotEstablished

        try:
            await asyncio.wait_for(retry_call(check_established, _NotEstablished, pause=_POLL_DELAY), _PATIENCE)
        except TimeoutError:
            raise _ObjectChanged(f"it is not established after {_PATIENCE:g} s") from None


def _is_done(step: Object, live: Object | None) -> bool:
    """Return whether the object already has the planned state, after an interruption before the journal was written."""
    if live is None or not step["after"] or step["after"] == step["before"]:
        return False
    changed = bool(live["metadata"].get("resourceVersion") != step["resourceVersion"])
    return changed and bool(planfile.make_digest(live) == step["after"])


def _check_state(step: Object, live: Object | None) -> None:
    """Raise _ObjectChanged if an object is not in the planned state. Its status may have changed."""
    planned = step["resourceVersion"]
    if not planned:
        if live is not None:
            raise _ObjectChanged("it has been created since the plan was made")
        return
    if live is None:
        raise _ObjectChanged("it has been deleted since the plan was made")
    revision = live["metadata"]["resourceVersion"]
    if revision != planned and (not step["before"] or planfile.make_digest(live) != step["before"]):
        raise _ObjectChanged(f"it has changed since the plan was made (resourceVersion {planned}, now {revision})")
