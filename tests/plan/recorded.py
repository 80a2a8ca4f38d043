"""`python -m tests.plan.recorded [AREA...]`: plans against what a real server answered.

Scenarios are replayed; each write that kubectl could send is planned first, and the plan is compared with the recorded
answer: accepted or rejected, HTTP status, message. The area `kubectl` is the sessions: each command that writes a set
is planned first.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from podless import Server
from podless.check.sources import SourceFile
from podless.codec import serializer
from podless.plan import Action, Change
from podless.plan.fetch import RunningAPI
from podless.plan.manifests import read_set
from podless.plan.options import CREATE, REPLACE, SERVER_SIDE, PlanOptions
from podless.plan.run import make_plan
from podless.plan.secrecy import HIDDEN
from podless.remote.kubeconfig import ClusterAccess
from tests.conformance import recorded, replay
from tests.conformance.normal import Names, normalise
from tests.conformance.servers import TOKEN, running, standing_clock
from tests.conformance.wire import Client
from tests.plan.sessions import compare_session

_MODES = {"POST": CREATE, "PUT": REPLACE, "PATCH": SERVER_SIDE}
_APPLY = "application/apply-patch+yaml"
_QUERY = {"fieldManager", "fieldValidation", "force"}  # a dry run allocates nothing, so it accepts more
_UID = re.compile(r"UID\d+")
_PATCHED = re.compile(r"patch object \([^/]*/")  # kubectl writes the namespace into the object
_BELOW = {"status", "scale", "binding", "eviction", "token", "approval", "finalize", "ephemeralcontainers", "resize"}


class Chance(NamedTuple):
    """Which writes are planned."""

    share: float
    source: random.Random


class Planned(NamedTuple):
    """What a plan says of one write. change: None where kubectl cannot send it."""

    method: str
    path: str
    change: Change | None


@dataclass
class Compared:
    """How plans compare with recorded answers."""

    equal: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


class PlanningClient(Client):
    """Plans writes before they are sent."""

    def __init__(self, server: Server, chance: Chance) -> None:
        super().__init__(server.url, TOKEN)
        self._server = server
        self._chance = chance
        self.planned: list[Planned] = []

    def send(self, method: str, path: str, body: Any = None, headers: Mapping[str, str | None] | None = None) -> Any:
        if method in _MODES:
            chosen = self._chance.source.random() < self._chance.share
            self.planned.append(
                Planned(method, path, self._plan(method, path, body, headers or {}) if chosen else None)
            )
        return super().send(method, path, body, headers)

    def _plan(self, method: str, path: str, body: Any, headers: Mapping[str, str | None]) -> Change | None:
        options = choose_options(method, path, body, headers)
        if options is None:
            return None
        text = serializer.encode_json(body)
        items, faults = read_set([SourceFile.of("step.json", text)])
        if faults or len(items) != 1:
            return None
        api = RunningAPI(ClusterAccess(self._server.url, TOKEN))
        plan = asyncio.run(make_plan(items, faults, api, options))
        if plan.webhooks:
            return None  # one that is not asked decides
        return plan.changes[0] if plan.changes else None


def choose_options(method: str, path: str, body: Any, headers: Mapping[str, str | None]) -> PlanOptions | None:
    """How kubectl would send a write; None for one that it never sends."""
    named = {key.lower(): value for key, value in headers.items()}
    parts = urlsplit(path)
    query = {key: values[-1] for key, values in parse_qs(parts.query, keep_blank_values=True).items()}
    if not isinstance(body, dict) or query.keys() - _QUERY or {"authorization", "impersonate-user"} & named.keys():
        return None
    if (method == "PATCH") != (named.get("content-type") == _APPLY) or (
        method == "PATCH" and "fieldManager" not in query
    ):
        return None
    metadata = body.get("metadata", {})
    if not isinstance(metadata, dict) or query.get("fieldValidation", "Strict") not in ("Strict", "Warn", "Ignore"):
        return None
    segments = [one for one in parts.path.split("/") if one]
    version = "/".join(segments[1:3]) if segments[0] == "apis" else segments[1]
    rest = segments[3:] if segments[0] == "apis" else segments[2:]
    namespace = rest[1] if rest[:1] == ["namespaces"] and len(rest) > 2 else ""
    rest = rest[2:] if namespace else rest
    if method == "PUT" and not metadata.get("resourceVersion"):
        return None  # kubectl reads it first
    if method != "PATCH" and named.get("content-type", "application/json") != "application/json":
        return None
    if body.get("apiVersion") != version or len(rest) != (1 if method == "POST" else 2) or rest[-1] in _BELOW:
        return None
    if method != "POST" and metadata.get("name") != rest[1]:
        return None
    if metadata.get("namespace") not in (None, namespace):
        return None
    return PlanOptions(
        mode=_MODES[method],
        manager=query.get("fieldManager", ""),
        force=query.get("force") == "true" and method == "PATCH",
        namespace=namespace,
        order="as-given",
    )


def compare_scenario(server: Server, scenario: recorded.Recording, chance: Chance, found: Compared) -> None:
    """Replay a scenario, and compare the plans of its writes with the recorded answers."""
    client = PlanningClient(server, chance)
    try:
        result = replay.replay(client, scenario, lambda seconds: server.clock.advance(seconds=seconds))
    finally:
        client.close()
    if result.failure:
        found.skipped[f"the replay of {scenario['name']} failed: {result.failure}"] += 1
        return
    at = 0
    for number, step in enumerate(scenario["steps"]):
        if step.get("method") not in _MODES or "expect" not in step:
            continue
        while at < len(client.planned) and client.planned[at].path.partition("?")[0] != step["path"]:
            at += 1
        if at == len(client.planned):
            return
        change = client.planned[at].change
        at += 1
        if change is not None:
            _compare(f"{scenario['area']}/{scenario['name']} step {number}", step, change, found)


def _compare(label: str, step: Mapping[str, Any], change: Change, found: Compared) -> None:
    want = step["expect"]
    if change.identity.kind.endswith("Review"):
        found.skipped["nothing of it is stored"] += 1
        return
    if want.get("type") == "text/plain" or "MASKED" in _message(want):
        found.skipped["there is no path or no text to compare with"] += 1
        return
    if "no matches for kind" in change.message and want["status"] in (400, 422):
        found.skipped["the path is that of another kind"] += 1
        return
    refused = change.action is Action.REFUSED
    strict = (step.get("query") or {}).get("fieldValidation") == "Strict"
    if (
        refused
        and not strict
        and (
            "unknown field" in change.message
            or "duplicate field" in change.message
            or "strict decoding" in change.message
        )
    ):
        found.skipped["kubectl asks for strict validation"] += 1
        return
    if not refused:
        made = change.action is Action.CREATE
        if want["status"] >= 400:
            found.wrong.append(f"{label}: plan says {change.action}, the server {want['status']} {_message(want)}")
        elif step["method"] == "PATCH" and made != (want["status"] == 201):
            found.wrong.append(f"{label}: plan says {change.action}, the server {want['status']}")
        else:
            found.equal += 1
        return
    told = {"message": change.message, "details": {"causes": [_cause(cause) for cause in change.causes]}}
    got, told_causes = _shorten(told)
    message, causes = _message(want), _causes(want)
    if want["status"] != change.code:
        found.wrong.append(f"{label}: plan says {change.code} {got}, the server {want['status']} {message}")
    elif message and HIDDEN not in got and (got, told_causes) != (message, causes):
        found.wrong.append(f"{label}:\n   plan:   {got} {told_causes}\n   server: {message} {causes}")
    else:
        found.equal += 1


def _cause(cause: Any) -> dict[str, Any]:
    return {"field": cause.field, "message": cause.message}


def _shorten(body: dict[str, Any]) -> tuple[str, list[tuple[str, str]]]:
    """The message of a Status and its causes, in an order of their own."""
    made = normalise({"kind": "Status", **body}, Names(), ())
    made["message"] = _PATCHED.sub("patch object (", _UID.sub("UID", str(made.get("message"))))
    details = made.get("details")  # of other kinds it may be a text
    causes = (details.get("causes") if isinstance(details, dict) else None) or ()
    found = sorted((str(cause.get("field") or ""), _UID.sub("UID", str(cause.get("message")))) for cause in causes)
    return str(made.get("message")), found


def _message(want: Mapping[str, Any]) -> str:
    body = want.get("body")
    return _shorten(body)[0] if isinstance(body, dict) and body.get("message") else ""


def _causes(want: Mapping[str, Any]) -> list[tuple[str, str]]:
    body = want.get("body")
    return _shorten(body)[1] if isinstance(body, dict) else []


def main(arguments: list[str] | None = None) -> int:
    """Compare, and print what differs. Returns 1 where something does."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("areas", nargs="*", help="areas of the scenarios (default: all)")
    parser.add_argument("--seed", type=int, default=1, help="chooses them")
    parser.add_argument("--share", type=float, default=1.0, help="share of the writes that are planned")
    options = parser.parse_args(arguments)
    found, chance = Compared(), Chance(options.share, random.Random(options.seed))
    areas = options.areas or [*recorded.areas(), "kubectl"]
    with standing_clock(), running(tls=False) as server:
        for scenario in recorded.scenarios(*areas):
            before = len(found.wrong)
            compare_scenario(server, scenario, chance, found)
            for line in found.wrong[before:]:
                print(line, flush=True)
    with running() as server:
        for session in recorded.sessions() if "kubectl" in areas else ():
            equal, wrong = compare_session(server, session)
            found.equal += equal
            found.wrong += wrong
            for line in wrong:
                print(line, flush=True)
    print(f"{found.equal} plans equal the recorded answer, {len(found.wrong)} do not; {dict(found.skipped)} left out")
    return 1 if found.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
