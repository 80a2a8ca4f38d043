"""Generated classes with three clients, against a server inside the tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import lightkube
import with_kr8s
import with_lightkube
from teams_v1 import Team, TeamSpec

from podless import Server


def make_team(name: str, *members: str) -> Team:
    team = Team(spec=TeamSpec(members=[*members]))
    team.metadata.name = name
    return team


def test_the_classes_say_what_the_server_says(podless: Server) -> None:
    team = make_team("a", "ann")
    team.spec.lead = "bob"
    assert [error.detail for error in team.check()] == ["the lead is a member"]


def test_lightkube(podless_lightkube: lightkube.Client) -> None:
    made = with_lightkube.create_team(podless_lightkube, make_team("light", "ann", "bob"))
    assert made.spec.lead == "nobody"
    counted = with_lightkube.count_members(podless_lightkube, "light")
    assert counted.status is not None
    assert counted.status.count == 2


def test_kr8s(podless_kr8s: Any) -> None:
    made = with_kr8s.create_team(podless_kr8s, make_team("kr8s", "ann"))
    assert made.metadata.uid
    counted = with_kr8s.count_members(podless_kr8s, "kr8s")
    assert counted.status is not None
    assert counted.status.count == 1


def test_kopf(podless: Server, podless_kopf: Any) -> None:
    with podless_kopf(Path(__file__).with_name("with_kopf.py")) as runner:
        podless.create(make_team("kopf", "ann", "bob", "cy").to_dict())
        podless.wait("team", "kopf", "has(object.status) && object.status.count == 3", timeout=60)
    assert runner.exit_code == 0, runner.output
