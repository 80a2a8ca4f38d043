"""Sets that recorded sessions with kubectl write: planned before each command, and compared with what it printed."""

from __future__ import annotations

import asyncio
import re
import shlex
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from podless import Server
from podless.check.sources import CannotCheck, find_sources
from podless.plan import Action, CannotPlan, Change, Plan
from podless.plan.fetch import RunningAPI
from podless.plan.manifests import read_set
from podless.plan.options import CLIENT_SIDE, CREATE, REPLACE, SERVER_SIDE, PlanOptions
from podless.plan.run import make_plan
from podless.plan.secrecy import HIDDEN
from podless.remote.kubeconfig import read_kubeconfig
from tests.conformance import sessions
from tests.conformance.recorded import Recording
from tests.conformance.sessions import normalise

_LINE = re.compile(
    r"^([\w.-]+)/(\S+) (created|configured|unchanged|serverside-applied|replaced|pruned)\b", re.MULTILINE
)
_SHELL = set("|;&><$`")
_MODES = {"apply": CLIENT_SIDE, "create": CREATE, "replace": REPLACE}
_FITS = {
    "created": {Action.CREATE},
    "unchanged": {Action.UNCHANGED},
    "configured": {Action.UPDATE, Action.UNCHANGED},  # a patch that changes nothing
    "replaced": {Action.UPDATE, Action.UNCHANGED},
    "serverside-applied": {Action.CREATE, Action.UPDATE, Action.UNCHANGED},
    "pruned": {Action.DELETE},
}


def parse_command(text: str) -> tuple[list[str], PlanOptions] | None:
    """Return the files and options of a command that writes a set; None for any other. Raises CannotPlan."""
    if _SHELL & {*text}:
        return None
    words = shlex.split(text)
    if words[0] != "kubectl" or len(words) < 3 or words[1] not in _MODES:
        return None
    files: list[str] = []
    found: dict[str, Any] = {"mode": _MODES[words[1]], "order": "as-given"}
    rest = iter(words[2:])
    for word in rest:
        name, is_set, value = word.partition("=")
        if name in ("-f", "-n", "-l", "-o", "--filename", "--namespace", "--selector") and not is_set:
            value = next(rest, "")
        if name in ("-f", "--filename"):
            files.append(value)
        elif name in ("-n", "--namespace"):
            found["namespace"] = value
        elif name == "--server-side":
            found["mode"] = SERVER_SIDE
        elif name == "--force-conflicts":
            found["force"] = True
        elif name == "--field-manager":
            found["manager"] = value
        elif name in ("-l", "--selector"):
            found["prune"] = value
        elif name == "--as":
            found["user"] = value
        elif name not in ("--prune", "--dry-run", "--save-config"):
            return None
    if not files or ("prune" in found) != ("--prune" in words) or "client" in text:
        return None
    return files, PlanOptions(**found)


def compare_session(server: Server, session: Recording) -> tuple[int, list[str]]:
    """Run a session; return how many of its commands a plan foretold, and what it did not foretell."""
    equal, wrong = 0, []
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        sessions.lay_out(session, server.url, server.token, home)
        try:
            for command in session["commands"]:
                parsed = parse_command(command["run"]) if "expect" in command else None
                plan = _plan(home, *parsed) if parsed is not None else None
                if plan is not None:
                    faults = compare_output(plan, command["expect"])
                    equal += not faults
                    wrong += [f"{session['name']}: $ {command['run']}\n   {fault}" for fault in faults]
                sessions.run_command(command, home, server.url)
        finally:
            sessions.tidy(session, home)
    return equal, wrong


def _plan(home: Path, files: list[str], options: PlanOptions) -> Plan | None:
    try:
        items, faults = read_set(find_sources([str(home / name) for name in files]))
    except CannotCheck:
        return None
    try:
        return asyncio.run(make_plan(items, faults, RunningAPI(read_kubeconfig(home / "kubeconfig")), options))
    except CannotPlan:
        return None


def compare_output(plan: Plan, want: Mapping[str, Any]) -> list[str]:
    """Return where a plan differs from what kubectl printed."""
    refused = [change for change in plan.changes if change.action is Action.REFUSED]
    if bool(refused) != bool(want["rc"]):
        return [f"plan rejects {[change.message for change in refused]}, kubectl ends with {want['rc']}: {want['err']}"]
    wrong = []
    for change in refused:
        told = [cause.message for cause in change.causes] if change.code == 422 else change.message.splitlines()
        missing = [line for line in map(normalise, told) if HIDDEN not in line and line not in want["err"]]
        wrong += [f"plan: {line}\n   kubectl: {want['err']}" for line in missing if "no matches for kind" not in line]
    for resource, name, verb in _LINE.findall(want["out"]):
        found = _find(plan, resource, name)
        if found is None or found.action not in _FITS[verb]:
            wrong.append(f"kubectl: {resource}/{name} {verb}, plan: {found and found.action}")
    return wrong


def _find(plan: Plan, resource: str, name: str) -> Change | None:
    kind, _, group = resource.partition(".")
    for change in plan.changes:
        identity = change.identity
        if (identity.kind.lower(), identity.group, identity.name) == (kind, group, name):
            return change
    return None
