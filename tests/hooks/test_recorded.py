"""Recorded conversations about webhooks and versions, answered by hooks: kube-apiserver's answers, step by step."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from podless import Server, hooks
from podless.admission.webhooks import MutatingAdmissionWebhook, ValidatingAdmissionWebhook
from podless.hooks import MUTATE, VALIDATE, Hook
from tests.conformance import known, recorded, servers
from tests.conformance.replay import CRDS, Result, replay
from tests.conformance.wire import Client

pytestmark = pytest.mark.slow

GROUP = "/apis/admissionregistration.k8s.io/v1"
KINDS = {"validatingwebhookconfigurations": VALIDATE, "mutatingwebhookconfigurations": MUTATE}
WEBHOOKS = [one for one in recorded.scenarios("admission") if one["name"].startswith("webhook-")]
VERSIONS = recorded.scenarios("versions")


def unreachable() -> None:
    raise ConnectionRefusedError


class _Nothing:
    """The configurations of webhooks, none of which is called."""

    def __init__(self, source: Any) -> None:
        self.collection = source.collection

    def list_items(self) -> list[Any]:
        return []


class _Declaring(Client):
    """Declares a hook for each webhook of the configurations that it writes. Nothing is at the address of any."""

    def __init__(self, server: Server) -> None:
        super().__init__(server.url, server.token)
        cluster = server._get_app().cluster
        assert cluster is not None
        assert cluster._hooks is not None
        assert server._loop is not None
        self.hooks, self.loop = cluster._hooks, server._loop
        for plugin in cluster.admission.plugins:
            if isinstance(plugin, MutatingAdmissionWebhook | ValidatingAdmissionWebhook):
                plugin._source = _Nothing(plugin._source)  # type: ignore[assignment]

    def send(self, method: str, path: str, *more: Any) -> Any:
        answer = super().send(method, path, *more)
        if method != "GET" and path.startswith(GROUP):
            self.declare()
        return answer

    def declare(self) -> None:
        found = []
        for plural, kind in KINDS.items():
            _, _, raw = super().send("GET", f"{GROUP}/{plural}")
            for configuration in json.loads(raw)["items"]:
                webhooks = configuration.get("webhooks") or ()
                found += [Hook(kind, webhook["name"], webhook, unreachable, {}) for webhook in webhooks]
        self.hooks._functions = found
        asyncio.run_coroutine_threadsafe(self.hooks.load_again(), self.loop).result()


@hooks.validate("nothing.example.com")
def nothing() -> None:
    """No object is of that kind."""


def running(*given: Any) -> Server:
    return Server(hooks=given, tls=False)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running(nothing) as server:
        yield server


def judge(area: str, result: Result) -> str:
    assert not result.failure
    return known.judge(area, result)


@pytest.mark.parametrize("scenario", WEBHOOKS, ids=lambda one: one["name"])
def test_failing_hooks_answer_as_webhooks_that_cannot_be_reached(server: Server, scenario: recorded.Recording) -> None:
    client = _Declaring(server)
    try:
        assert not judge("admission", replay(client, scenario))
    finally:
        client.close()


def names(scenario: recorded.Recording) -> list[str]:
    bodies = [step.get("body") for step in scenario["steps"] if step.get("path") == CRDS]
    return sorted({body["metadata"]["name"] for body in bodies if isinstance(body, dict)})


def same(name: str) -> Any:
    @hooks.convert(name, name=name)
    def leave_alone() -> None:
        """Only the apiVersion differs, and the server sets that."""

    return leave_alone


@pytest.mark.parametrize("scenario", VERSIONS, ids=lambda one: one["name"])
def test_a_hook_that_changes_nothing_answers_as_no_conversion(scenario: recorded.Recording) -> None:
    given = map(same, names(scenario))
    with running(nothing, *given) as server:
        [result] = servers.replay_here(server, [scenario])
    assert not judge("versions", result)
