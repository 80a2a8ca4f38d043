"""The operator against a real API."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kopf.testing import KopfRunner

import podless

OPERATOR = Path(__file__).with_name("teams.py")


@pytest.fixture(scope="module")
def running(podless: podless.Server) -> Iterator[None]:
    """Run the operator for all tests of this file."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("KUBECONFIG", str(podless.kubeconfig))
        with KopfRunner(["run", "--standalone", "--all-namespaces", str(OPERATOR)], timeout=60) as runner:
            yield
        assert runner.exit_code == 0, runner.output


@pytest.fixture
def server(podless: podless.Server, running: None) -> Iterator[podless.Server]:
    """Return the server, and delete the teams of the test afterwards."""
    yield podless
    for one in podless.list("teams"):
        podless.delete("team", one["metadata"]["name"])
        podless.wait("team", one["metadata"]["name"], "delete", timeout=60)


def team(name: str, *members: str) -> dict[str, Any]:
    return {
        "apiVersion": "people.example.com/v1",
        "kind": "Team",
        "metadata": {"name": name},
        "spec": {"members": list(members)},
    }


def editors(server: podless.Server, name: str) -> list[str]:
    found = server.get("rolebinding", "members", namespace=f"team-{name}")
    return [one["name"] for one in found["subjects"]] if found else []


def test_a_team_has_a_namespace_that_its_members_edit(server: podless.Server) -> None:
    server.apply(team("blue", "zoe", "max"))
    server.wait("team", "blue", "object.?status.members.orValue(0) == 2", timeout=60)
    assert editors(server, "blue") == ["zoe", "max"]
    server.apply(team("blue", "zoe"))
    server.wait("team", "blue", "object.status.members == 1", timeout=60)
    assert editors(server, "blue") == ["zoe"]


def test_all_of_it_goes_with_the_team(server: podless.Server) -> None:
    server.apply(team("red", "zoe"))
    server.wait("team", "red", "has(object.status) && has(object.status.members)", timeout=60)
    server.delete("team", "red")
    server.wait("team", "red", "delete", timeout=60)
    server.wait("namespace", "team-red", "delete", timeout=60)


def test_what_the_api_refuses_is_tried_again(server: podless.Server) -> None:
    refused = server.faults.add(verb="create", resource="rolebindings", status=503, times=2)
    lost = server.faults.add(verb="create", resource="namespaces", drop="after", times=1)
    server.apply(team("green", "zoe"))
    server.wait("team", "green", "has(object.status) && has(object.status.members)", timeout=60)
    assert editors(server, "green") == ["zoe"]
    assert (refused.injected, lost.injected) == (2, 1)


def test_a_watch_that_ends_is_begun_again(server: podless.Server) -> None:
    cut = server.faults.add(verb="watch", resource="teams", cut_after=1, times=2)
    expired = server.faults.add(verb="watch", resource="teams", expire_after=1, times=1)
    for number in range(4):
        server.apply(team(f"t{number}", "zoe"))
    for number in range(4):
        server.wait("team", f"t{number}", "has(object.status) && has(object.status.members)", timeout=60)
    assert cut.matched == cut.injected + expired.matched


def test_it_comes_to_rest(server: podless.Server) -> None:
    server.apply(team("calm", "zoe"))
    server.wait("team", "calm", "has(object.status) && has(object.status.members)", timeout=60)
    server.at_rest(ms=300, timeout=60)
    writes = server.requests.where(verb="create", resource="namespaces")
    assert len([one for one in writes if one.status == 201]) >= 1
