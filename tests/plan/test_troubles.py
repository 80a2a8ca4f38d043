"""APIs that change, die, close connections or answer nonsense while a plan reads them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from podless import Server
from podless.check.sources import SourceFile
from podless.plan import Action, CannotPlan, Plan, fetch, reader
from podless.plan.fetch import RunningAPI
from podless.plan.manifests import read_set
from podless.plan.options import PlanOptions
from podless.plan.output import FORMS, render_plan
from podless.plan.run import make_plan
from podless.remote.kubeconfig import ClusterAccess
from tests.plan.standin import CLOSE, PASS, Choose, make_answer, stand_in
from tests.plan.test_fetch import SET

BUSY = b'{"kind":"Status","apiVersion":"v1","code":429,"message":"slow down","details":{"retryAfterSeconds":3600}}'


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server(tls=False) as running:
        running.apply(SET, manager="kubectl")
        yield running


def plan_through(server: Server, choose: Choose, dies_after: int = 0, seconds: float = 30.0, text: str = SET) -> Plan:
    async def run() -> Plan:
        items, faults = read_set([SourceFile.of("set.yaml", text.encode())])
        async with stand_in(server.url, choose, dies_after) as url:
            api = RunningAPI(ClusterAccess(url, server.token), seconds=seconds)
            return await make_plan(items, faults, api, PlanOptions())

    return asyncio.run(run())


def answer(word: str, with_this: bytes) -> Choose:
    return lambda number, line: with_this if word in line else PASS


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (CLOSE, "the server closed the connection without an answer; it may expect https"),
        (make_answer(b'{"kind":', length=500), "the answer was cut off"),
        (make_answer(b"<p>Please log in", "text/html"), "the answer is none of a Kubernetes API"),
        (make_answer(b"[]"), "the answer is none of a Kubernetes API"),
        (make_answer(b"null"), "the answer is none of a Kubernetes API"),
        (make_answer(b'{"kind":'), "the answer is none of a Kubernetes API"),
        (make_answer(BUSY, status=429), "no answer within 3 s"),
    ],
)
def test_an_object_that_cannot_be_read_is_unknown_and_the_rest_is_planned(
    server: Server, given: bytes, why: str
) -> None:
    plan = plan_through(server, answer("/configmaps/", given), seconds=1.0, text=SET.replace("opensesame", "other"))
    assert plan.exit_code == 1
    found = plan.find("ConfigMap", "settings")
    assert found.action is Action.UNKNOWN
    assert found.message.startswith("it could not be read: ")
    assert found.message.endswith(why)
    assert plan.find("Secret", "door").action is Action.UPDATE
    for form in FORMS:
        assert "settings" in render_plan(plan, form)


def test_connections_that_end_once_are_no_matter(server: Server) -> None:
    ended: set[str] = set()

    def choose(number: int, line: str) -> bytes | None:
        first = line not in ended
        ended.add(line)
        return CLOSE if first else PASS

    plan = plan_through(server, choose)
    assert (plan.exit_code, len(plan.unchanged)) == (0, 3)


def test_an_api_that_dies_in_the_middle_makes_a_partial_plan(server: Server) -> None:
    plan = plan_through(server, lambda number, line: PASS, dies_after=5)
    assert plan.exit_code == 1
    assert plan.unknown or plan.missing
    text = render_plan(plan, "text")
    assert "cannot connect: connection refused" in text
    # one line for all that is missing for the same reason
    assert len([line for line in text.splitlines() if line.endswith("is not in the plan")]) <= 3


def test_an_api_that_is_none_is_told(server: Server) -> None:
    page = make_answer(b"<p>Please log in", "text/html")
    with pytest.raises(CannotPlan, match="the answer is none of a Kubernetes API"):
        plan_through(server, lambda number, line: page)


def test_definitions_that_cannot_be_read_are_told(server: Server) -> None:
    text = "apiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: a}\n"
    plan = plan_through(server, answer("/apis/example.com/v1", CLOSE), text=text)
    [missing] = plan.missing
    assert (missing.what, missing.effect) == ("/apis/example.com/v1", "kinds of it are taken for not served")


def test_a_set_that_changes_while_the_api_is_read_is_told(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "_RECHECK_SECONDS", 0.0)
    settings: dict[str, Any] = {"apiVersion": "v1", "kind": "ConfigMap"}
    settings["metadata"] = {"name": "settings", "namespace": "web"}
    with Server(tls=False) as changing:
        changing.apply(SET, manager="kubectl")

        def choose(number: int, line: str) -> bytes | None:
            if "/limitranges" in line:  # after the objects of the set
                changing.apply({**settings, "data": {"more": f"{number}"}}, manager="other")
            return PASS

        plan = plan_through(changing, choose)
    [missing] = plan.missing
    assert str(missing) == (
        "ConfigMap web/settings: it changed while podless read the API; the plan is for its earlier state"
    )
    assert plan.exit_code == 1


def test_a_list_that_expires_between_two_pages_is_told(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "_PAGE", 5)
    one = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%02d}\n"
    text = "---\n".join(one % number for number in range(12))
    expired = (
        b'{"kind":"Status","apiVersion":"v1","code":410,"reason":"Expired","message":"too old","metadata":'
        b'{"continue":"%s"}}'
    )
    tokens: list[str] = []

    def choose(number: int, line: str) -> bytes | None:
        if "/configmaps?" in line and "continue=" in line and not tokens:
            tokens.append(line.partition("continue=")[2].partition("&")[0].partition(" ")[0])
            return make_answer(expired % tokens[0].replace("%3D", "=").encode(), status=410)
        return PASS

    with Server(tls=False) as full:
        full.apply(text, manager="kubectl")
        plan = plan_through(full, choose, text=text)
    assert plan.notes == ["configmaps in namespace default changed while podless read them: two states are mixed"]
    assert len(plan.unchanged) == 12
