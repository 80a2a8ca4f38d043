"""podless log: show the changes of an object, a kind, a namespace or the whole server."""

from __future__ import annotations

import argparse
import json
import re
import sys
from typing import Any

from podless.cli.history.sources import (
    HistoryServer,
    HistorySource,
    InvalidArguments,
    choose_paint,
    log_path,
    query_of_moment,
    read_time,
    run_command,
    run_with_server,
)
from podless.history.difference import ABSENT
from podless.history.moments import parse_moment
from podless.history.story import format_author, format_change, format_fields, format_value
from podless.remote.resources import APIResource
from podless.runtime import clock
from podless.runtime.jsonobject import Object

# the steps of a path: a plain name, ["a name"], [key=value], [index]
_STEPS = re.compile(r"""\.?([^.\[\]"]+)(?![^\[]*\])|\["([^"]*)"\]|\[([A-Za-z]+)=([^\]]*)\]|\[(\d{1,9})\]""")
_SECONDS = 50  # duration of one watch; the client's timeout is 60 s


def run(args: argparse.Namespace) -> int:
    """Show the changes. Returns the exit code."""
    if args.follow:
        return run_with_server(args, _follow_changes)
    return run_command(args, _run)


async def _choose_resource(args: argparse.Namespace, source: HistorySource) -> tuple[APIResource | None, str]:
    """Return the selected resource and namespace, "" for all namespaces."""
    resource = await source.find_resource(args.kind) if args.kind else None
    namespace = args.namespace or ("default" if args.kind else "")
    if args.all_namespaces or (resource is not None and not resource.namespaced):
        namespace = ""
    return resource, namespace


async def _run(args: argparse.Namespace, source: HistorySource) -> int:
    args.field, args.why = _read_path("--field", args.field), _read_path("--why", args.why)
    resource, namespace = await _choose_resource(args, source)
    if args.why:
        if resource is None or not args.name:
            raise InvalidArguments("--why needs KIND and NAME")
        return await _explain_field(args, source, resource, namespace)
    show = _Printer(args)
    since = _read_since(args.since)
    async for change in source.list_changes(resource, namespace, args.name, by=args.by, states=args.state):
        if read_time(change) < since:
            break
        if show(change) and args.limit and show.count >= args.limit:
            break
    if not show.count and args.output == "text":
        print("podless: no changes", file=sys.stderr)
    return 0


def _read_path(option: str, text: str) -> str:
    """Return a path in the form of `format_path`. Raises InvalidArguments for an invalid one."""
    offset, text = 0, text.removeprefix(".")
    while offset < len(text):
        step = _STEPS.match(text, offset)
        if step is None:
            raise InvalidArguments(f"{option}: {text!r} is not a path such as spec.containers[name=app].image")
        offset = step.end()
    return text


def _read_since(text: str | None) -> float:
    if text is None:
        return 0.0
    try:
        return parse_moment(text, clock.time()) / 1000
    except ValueError as error:
        raise InvalidArguments(f"--since: {error}") from None


class _Printer:
    """Prints the selected changes. count: the number of printed ones."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.count = 0
        self._options = args
        self._paint = choose_paint()

    def __call__(self, change: Object) -> bool:
        options = self._options
        if options.field and not any(touches(field["path"], options.field) for field in change.get("fields", ())):
            return False
        if not options.kind and options.output == "text" and _is_renewal(change):
            return False
        self.count += 1
        if options.output == "json":
            print(json.dumps(change))
            return True
        print(format_change(change, self._paint))
        if options.diff:
            for line in format_fields(change.get("fields", ()), self._paint):
                print(line)
        return True


def _is_renewal(change: Object) -> bool:
    """Return whether a change is the renewal of a Lease, which each leader makes every few seconds."""
    fields = change.get("fields", ())
    return change["object"]["resource"] == "leases" and [field["path"] for field in fields] == ["spec.renewTime"]


def touches(path: str, field: str) -> bool:
    """Return whether a changed path concerns a field: it is the same, inside it, or contains it."""
    return path == field or any(
        full.startswith(head) and full[len(head)] in ".[" for head, full in ((path, field), (field, path)) if head
    )


async def _follow_changes(args: argparse.Namespace, server: HistoryServer) -> int:
    if args.since is not None or args.why or args.limit or args.state:
        raise InvalidArguments("--follow shows new changes only: leave out --since, --why, --limit and --state")
    args.field = _read_path("--field", args.field)
    resource, namespace = await _choose_resource(args, server)
    show = _Printer(args)
    query = server.make_query(resource, args.name, by=args.by)
    revision = (await server.cluster.send("GET", log_path(namespace, {"limit": "1"})))["metadata"]["resourceVersion"]
    while True:
        watch_query = {**query, "watch": "true", "resourceVersion": revision, "timeoutSeconds": str(_SECONDS)}
        async for event in server.cluster.watch(log_path(namespace, watch_query)):
            if event["type"] == "ERROR":
                raise InvalidArguments(event["object"].get("message", "the watch failed"))
            revision = event["object"]["metadata"]["resourceVersion"]
            show(event["object"])
            sys.stdout.flush()


async def _explain_field(args: argparse.Namespace, source: HistorySource, resource: APIResource, namespace: str) -> int:
    """Show the changes of a field's value, newest first."""
    is_known = False
    async for change in source.list_changes(resource, namespace, args.name):
        head = f"{change['time'][:23]}Z  {change['revision']:>8}  {format_author(change['author'])}"
        if change["operation"] == "create":
            at = query_of_moment(str(change["revision"]))
            obj = await source.read_state(resource, namespace, args.name, at)
            value = find_field(obj, args.why)
            text = f"without {args.why}" if value is ABSENT else f"with {args.why} = {format_value(value)}"
            print(f"{head}  created it {text}")
            return 0
        for field in change.get("fields", ()):
            if touches(field["path"], args.why):
                line = next(iter(format_fields([field]))).strip()
                print(f"{head}  {line}")
                is_known = True
    if not is_known:
        print("podless: no changes", file=sys.stderr)
    return 0


def find_field(obj: Object | None, field: str) -> Any:
    """Return the value at a path in the form of `format_path`, ABSENT if there is none."""
    result: Any = obj
    for plain, quoted, key, expected, index in _STEPS.findall(field):
        if plain or quoted:
            result = result.get(plain or quoted, ABSENT) if isinstance(result, dict) else ABSENT
        elif not isinstance(result, list):
            return ABSENT
        elif key:
            items = [item for item in result if isinstance(item, dict) and str(item.get(key)) == expected]
            result = items[0] if items else ABSENT
        else:
            result = result[int(index)] if int(index) < len(result) else ABSENT
    return result
