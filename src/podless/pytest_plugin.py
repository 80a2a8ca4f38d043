"""The plugin for pytest: servers for tests, and what was asked of them where a test fails.

Nothing but pytest is imported until a test wants a server.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from podless.server import Server

_LINES = 40  # requests and events that a report shows at the most
_BEGUN = pytest.StashKey[float]()
_numbers = itertools.count(1)


def pytest_addoption(parser: pytest.Parser) -> None:
    """The settings in pytest.ini and pyproject.toml."""
    parser.addini("podless_crds", "definitions that each podless server begins with: files and folders", "paths", [])
    parser.addini("podless_objects", "objects that each podless server begins with: files and folders", "paths", [])
    parser.addini("podless_kubeconfig", "set KUBECONFIG for each test that has a podless server", "bool", False)


def _started(config: pytest.Config, server: Server) -> Server:
    for setting in ("podless_crds", "podless_objects"):
        if paths := config.getini(setting):
            server.apply(paths)
    return server


@pytest.fixture(scope="session")
def podless(pytestconfig: pytest.Config) -> Iterator[Server]:
    """A server in memory for all tests of the session; under pytest-xdist one for each worker."""
    from podless.server import Server

    with Server() as server:
        yield _started(pytestconfig, server)


@pytest.fixture
def podless_fresh(request: pytest.FixtureRequest) -> Iterator[Server]:
    """A server in memory for this test alone."""
    from podless.server import Server

    with Server() as server:
        _started(request.config, server)
        yield server


@pytest.fixture
def podless_namespace(podless: Server, request: pytest.FixtureRequest) -> Iterator[str]:
    """The name of a namespace of the session's server for this test alone; it is deleted behind it."""
    name = f"test-{os.getpid()}-{next(_numbers)}"
    podless.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    yield name
    podless.delete("Namespace", name)


@pytest.fixture
def podless_kubeconfig(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """KUBECONFIG is set to that of the test's own server, or of the session's where it has none."""
    own = "podless_fresh" in request.fixturenames
    path = str(request.getfixturevalue("podless_fresh" if own else "podless").kubeconfig)
    monkeypatch.setenv("KUBECONFIG", path)
    return path


@pytest.fixture(autouse=True)
def _podless_environment(request: pytest.FixtureRequest) -> None:
    if request.config.getini("podless_kubeconfig") and _SERVERS & {*request.fixturenames}:
        request.getfixturevalue("podless_kubeconfig")


_SERVERS = {"podless", "podless_fresh", "podless_namespace"}


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Take note of when the test begins."""
    item.stash[_BEGUN] = time.time()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Tell of a failure what was asked of the test's servers, and which events they have."""
    report = yield
    if report.failed and call.when in ("setup", "call"):
        for name, value in getattr(item, "funcargs", {}).items():
            if type(value).__module__ == "podless.server":
                report.sections += _sections(name, value, item.stash.get(_BEGUN, 0.0))
    return report


def _sections(name: str, server: Server, begun: float) -> list[tuple[str, str]]:
    """What a report shows of a server."""
    asked = server.requests.since(begun)
    lines = [f"{time.strftime('%H:%M:%S', time.localtime(one.at))} {one}" for one in asked[-_LINES:]]
    if len(asked) > _LINES:
        lines.insert(0, f"... and {len(asked) - _LINES} before")
    found = [(f"{name}: requests", "\n".join(lines))] if lines else []
    try:
        events = [_event(event) for event in server.list("events", namespace=None)[-_LINES:]]
    except RuntimeError:  # it is gone, or on the test's own loop
        return found
    return [*found, (f"{name}: events", "\n".join(events))] if events else found


def _event(event: dict[str, Any]) -> str:
    about = event.get("involvedObject") or {}
    whom = f"{about.get('kind', '')} {about.get('namespace', '')}/{about.get('name', '')}"
    return f"{event.get('type', '')} {event.get('reason', '')} {whom}: {event.get('message', '')}"
