"""Which stand-ins run."""

from __future__ import annotations

import pytest

from podless import Server, StartError
from podless.controllers import workloads


def test_names() -> None:
    assert workloads.parse("ready,deployment,ready") == ("deployment", "ready")
    assert workloads.parse("*") == workloads.NAMES
    assert workloads.parse("") == ()
    with pytest.raises(ValueError, match="unknown controller 'x': there are daemonset, deployment, "):
        workloads.parse("x")


def test_a_server_says_so_at_once() -> None:
    with pytest.raises(StartError, match="unknown controller"):
        Server(controllers=["x"])
