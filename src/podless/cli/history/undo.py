"""podless undo: restore an earlier state of an object or a namespace, with ordinary writes."""

from __future__ import annotations

import argparse
import sys
from typing import NamedTuple
from urllib.parse import urlencode

from podless.cli.history.sources import HistoryServer, InvalidArguments, query_of_moment, run_with_server
from podless.history.difference import ABSENT, compare_objects
from podless.history.story import format_value
from podless.meta.objectmeta import SERVER_METADATA
from podless.remote.cluster import Refused
from podless.remote.resources import APIResource
from podless.runtime.jsonobject import Object

_LEFT_OUT = (*SERVER_METADATA, "deletionTimestamp", "deletionGracePeriodSeconds")
_FIELDS = 5  # maximum fields to name in one line


class Undo(NamedTuple):
    """One object, its current state and the wanted one; None if it does not exist."""

    resource: APIResource
    namespace: str
    name: str
    now: Object | None
    target: Object | None

    @property
    def verb(self) -> str:
        """The verb of the write that restores it."""
        return "delete" if self.target is None else "create" if self.now is None else "update"


def run(args: argparse.Namespace) -> int:
    """Run the command. Returns the exit code."""
    return run_with_server(args, _run)


async def _run(args: argparse.Namespace, server: HistoryServer) -> int:
    if args.name:
        return await _undo_object(args, server)
    if args.kind or not args.namespace or not args.since:
        raise InvalidArguments("undo needs KIND and NAME, or --namespace and --since")
    return await _undo_namespace(args, server)


async def _undo_object(args: argparse.Namespace, server: HistoryServer) -> int:
    resource = await server.find_resource(args.kind)
    namespace = (args.namespace or "default") if resource.namespaced else ""
    if args.to:
        target = await server.read_state(resource, namespace, args.name, query_of_moment(args.to))
    else:
        target = await _before_last(server, resource, namespace, args.name)
    now = await server.read_state(resource, namespace, args.name, {})
    undo = plan_undo(resource, namespace, args.name, now, target)
    if undo is None:
        print(f"{resource.full_name} {args.name}: unchanged")
        return 0
    await _carry_out(server, undo, dry_run=args.dry_run)
    return 0


async def _before_last(server: HistoryServer, resource: APIResource, namespace: str, name: str) -> Object | None:
    async for change in server.list_changes(resource, namespace, name):
        if change["operation"] == "create":
            return None
        if "previousRevision" not in change:
            break
        return await server.read_state(resource, namespace, name, query_of_moment(str(change["previousRevision"])))
    else:
        raise InvalidArguments(f"{resource.full_name} {name}: the log has no change of it")
    raise InvalidArguments(f"{resource.full_name} {name}: the log has no state before its last change")


async def _undo_namespace(args: argparse.Namespace, server: HistoryServer) -> int:
    namespace, failed, undone = args.namespace, 0, 0
    at = query_of_moment(args.since)
    for resource in await server.list_resources():
        if not resource.namespaced or resource.plural == "events":
            continue
        path = resource.path(namespace)
        try:
            before = await server.cluster.send("GET", f"{path}?{urlencode(at)}")
            after = await server.cluster.send("GET", path)
        except Refused as refused:
            if refused.code != 405:
                raise
            continue
        states = [{item["metadata"]["name"]: item for item in listed.get("items") or ()} for listed in (before, after)]
        kind = {"kind": resource.kind, "apiVersion": resource.api_version}
        for name in sorted({*states[0], *states[1]}):
            target, now = (kind | state[name] if name in state else None for state in states)
            undo = plan_undo(resource, namespace, name, now, target)
            if undo is None or is_owned(target or now):
                continue
            undone += 1
            try:
                await _carry_out(server, undo, dry_run=args.dry_run)
            except Refused as refused:
                failed += 1
                print(f"{resource.full_name} {name}: {undo.verb} failed: {refused}")
    if not undone:
        print("podless: no changes", file=sys.stderr)
    return 1 if failed else 0


def is_owned(obj: Object | None) -> bool:
    """Return whether a controller owns an object, and so would recreate it."""
    references = (obj or {}).get("metadata", {}).get("ownerReferences") or ()
    return any(reference.get("controller") for reference in references)


def plan_undo(
    resource: APIResource, namespace: str, name: str, now: Object | None, target: Object | None
) -> Undo | None:
    """Return the undo that restores an object's state, None if nothing has to change."""
    undo = Undo(resource, namespace, name, now, target)
    if now is None or target is None:
        return None if now is target else undo
    return undo if describe_undo(undo) else None


def _select_comparable(resource: APIResource, obj: Object) -> Object:
    """Return the part of an object that an undo restores."""
    metadata = {name: value for name, value in obj["metadata"].items() if name not in _LEFT_OUT}
    left_out = ("metadata", "status") if resource.has_status else ("metadata",)
    return {**{name: value for name, value in obj.items() if name not in left_out}, "metadata": metadata}


def describe_undo(undo: Undo) -> list[str]:
    """Return the changes of an update, one line a field."""
    assert undo.now is not None
    assert undo.target is not None
    now, target = (_select_comparable(undo.resource, obj) for obj in (undo.now, undo.target))
    return [
        f"{difference.field}: {'absent' if difference.before is ABSENT else format_value(difference.before)} -> "
        f"{'absent' if difference.after is ABSENT else format_value(difference.after)}"
        for difference in compare_objects(now, target)
    ]


async def _carry_out(server: HistoryServer, undo: Undo, *, dry_run: bool) -> None:
    query = "?" + urlencode({"fieldManager": "podless-undo"} | ({"dryRun": "All"} if dry_run else {}))
    label, suffix = f"{undo.resource.full_name} {undo.name}", " (dry run)" if dry_run else ""
    path = undo.resource.path(undo.namespace, undo.name)
    if undo.target is None:
        assert undo.now is not None
        body: Object = {"preconditions": {"uid": undo.now["metadata"]["uid"]}}
        if dry_run:  # the server ignores the query parameter if there is a body
            body["dryRun"] = ["All"]
        await server.cluster.send("DELETE", path, body)
        print(f"{label}: deleted{suffix}")
        return
    body = _select_comparable(undo.resource, undo.target)
    if undo.now is None:
        created = await server.cluster.send("POST", undo.resource.path(undo.namespace) + query, body)
        print(f"{label}: created again with the new uid {created['metadata']['uid']}{suffix}")
        return
    body["metadata"] |= {name: undo.now["metadata"][name] for name in ("uid", "resourceVersion")}
    lines = describe_undo(undo)
    await server.cluster.send("PUT", path + query, body)
    print(f"{label}: restored{suffix}")
    for line in lines[:_FIELDS]:
        print(f"    {line}")
    if len(lines) > _FIELDS:
        print(f"    and {len(lines) - _FIELDS} more")
