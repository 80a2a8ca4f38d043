"""Which stand-ins run."""

from __future__ import annotations

import pytest

from podless import Server, StartError
from podless.controllers import standins


def test_names() -> None:
    assert standins.parse_names("ready,deployment,ready") == ("deployment", "ready")
    assert standins.parse_names("*") == standins.NAMES
    assert standins.parse_names("") == ()
    with pytest.raises(ValueError, match="unknown controller 'x': use daemonset, deployment, "):
        standins.parse_names("x")


def test_a_server_says_so_at_once() -> None:
    with pytest.raises(StartError, match="unknown controller"):
        Server(controllers=["x"])
