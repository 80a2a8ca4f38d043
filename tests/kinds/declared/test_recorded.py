"""Recorded conversations about versions, with declared conversions that change nothing: kube-apiserver's answers.

The recorded definitions convert by strategy None. Those with a conversion webhook have one version each, so there is
nothing to declare.
"""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest

from podless import Server
from podless.codec import serializer
from podless.kinds.declared import CONVERSION
from tests.conformance import known, recorded, servers
from tests.conformance.replay import CRDS, replay
from tests.conformance.wire import Client

pytestmark = pytest.mark.slow

VERSIONS = recorded.scenarios("versions")


class _Declaring(Client):
    """Declares conversions in each definition that it writes, and hides them in answers. declared: how many."""

    def __init__(self, server: Server) -> None:
        super().__init__(server.url, server.token)
        self.names: dict[str, list[str]] = {}
        self.declared = 0

    def send(self, method: str, path: str, body: Any = None, *more: Any) -> Any:
        if path.startswith(CRDS) and isinstance(body, dict | list):
            body = copy.deepcopy(body)
            if method == "POST" and len(body["spec"].get("versions") or ()) > 1:
                names = [version["name"] for version in body["spec"]["versions"]]
                body["metadata"].setdefault("annotations", {})[CONVERSION] = self._declare(names)
                self.names[body["metadata"]["name"]] = names
            elif method == "PATCH" and isinstance(body, list):
                body += self._follow(path.rpartition("/")[2], body)
        status, headers, raw = super().send(method, path, body, *more)
        if CONVERSION.encode() in raw:
            raw = serializer.encode_json(_hidden(json.loads(raw)))
            told = headers.get_all("Warning") or []
            del headers["Warning"]
            for warning in told:  # podless checks declared conversions, and warns of those that lose values
                if not warning.startswith('299 - "conversion from '):
                    headers["Warning"] = warning
        return status, headers, raw

    def _declare(self, names: list[str]) -> str:
        self.declared += 1
        return json.dumps([{"between": [*pair], "move": {}} for pair in itertools.combinations(names, 2)])

    def _follow(self, name: str, patch: list[Any]) -> Iterator[Any]:
        """What a JSON patch has to change as well, where it adds or removes versions."""
        names = [*self.names.get(name, ["v1"])]
        for one in patch:
            if one["op"] == "add" and one["path"] == "/spec/versions/-":
                names.append(one["value"]["name"])
            elif one["op"] == "remove" and one["path"].startswith("/spec/versions/") and one["path"].count("/") == 3:
                del names[int(one["path"].rpartition("/")[2])]
        if names != self.names.get(name, ["v1"]):
            if name not in self.names:
                yield {"op": "add", "path": "/metadata/annotations", "value": {}}
            place = CONVERSION.replace("/", "~1")
            yield {"op": "add", "path": f"/metadata/annotations/{place}", "value": self._declare(names)}
            self.names[name] = names


def _hidden(value: Any) -> Any:
    """An answer without the annotation, also in managedFields."""
    if isinstance(value, list):
        return [_hidden(item) for item in value]
    if not isinstance(value, dict):
        return value
    made = {name: _hidden(item) for name, item in value.items() if name.removeprefix("f:") != CONVERSION}
    for name in ("annotations", "f:annotations"):
        if name in value and made.get(name) in ({}, {".": {}}):
            del made[name]
    return made


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server(tls=False) as server:
        yield server


@pytest.mark.parametrize("scenario", VERSIONS, ids=lambda one: one["name"])
def test_a_declared_conversion_that_changes_nothing_answers_as_none(
    server: Server, scenario: recorded.Recording
) -> None:
    client = _Declaring(server)
    try:
        with servers.standing_clock():
            result = replay(client, scenario, lambda seconds: server.clock.advance(seconds=seconds))
        assert not result.failure
        assert not known.judge("versions", result)
        assert client.declared or scenario["name"] in ("ver-deprecated-bad", "ver-schema-change")  # one version each
    finally:
        client.close()
