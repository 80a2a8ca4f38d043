"""The pytest plugin: fixtures with servers, and reports of the requests of failed tests.

It imports only pytest until a test uses a server.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import time
from collections.abc import Callable, Generator, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import lightkube
    from kopf.testing import KopfRunner

    from podless.plan import Plan
    from podless.server import Server

_SERVER = pytest.StashKey["Server"]()
_RELEASES = pytest.StashKey[list[str]]()
_LINES = 40  # maximum number of requests and events in a report
_STORIES = 5  # maximum objects whose changes a report shows
_EARLIER = 0.1  # seconds by which the clocks of pytest and server can differ
_BEGUN = pytest.StashKey[float]()
_SERVERS = {"podless", "podless_fresh", "podless_namespace"}  # fixtures with a server
_numbers = itertools.count(1)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the settings of pytest.ini and pyproject.toml, and the command-line options."""
    parser.getgroup("podless").addoption(
        "--podless-chaos",
        metavar="SEED",
        nargs="?",
        const="true",
        help="inject random faults. The same SEED gives the same faults; without one, podless picks a seed",
    )
    parser.addini("podless_chaos", "default of --podless-chaos: a seed, or true to pick one for each run", default="")
    parser.getgroup("podless").addoption(
        "--podless-kubernetes-version",
        metavar="SPAN",
        help="Kubernetes releases to serve; tests with a server run once for each of them",
    )
    parser.addini(
        "podless_kubernetes_version",
        "default of --podless-kubernetes-version: releases, with commas and ranges",
        default="",
    )
    parser.addini("podless_faults", "serve the Fault API", "bool", False)
    parser.addini(
        "podless_crds", "files and folders with CustomResourceDefinitions to install in each server", "paths", []
    )
    parser.addini("podless_objects", "objects that each server starts with: files and folders", "paths", [])
    parser.addini("podless_kubeconfig", "set KUBECONFIG for each test that has a podless server", "bool", False)


def pytest_configure(config: pytest.Config) -> None:
    """Choose the seed of chaos once for all workers of pytest-xdist, and parse the releases."""
    config.stash[_RELEASES] = _chosen_releases(config)
    podless_chaos = config.option.podless_chaos or config.getini("podless_chaos")
    podless_chaos = getattr(config, "workerinput", {}).get("podless_chaos", podless_chaos) or ""
    if podless_chaos in ("", "false"):
        config.option.podless_chaos = None
    elif podless_chaos == "true":
        config.option.podless_chaos = str(random.randrange(1 << 31))
    elif podless_chaos.isascii() and podless_chaos.isdigit():
        config.option.podless_chaos = podless_chaos
    else:
        raise pytest.UsageError(f"podless_chaos: a seed is a number, not {podless_chaos!r}")


def _chosen_releases(config: pytest.Config) -> list[str]:
    """Return the releases of the settings, oldest first; empty for the default."""
    span = config.option.podless_kubernetes_version or config.getini("podless_kubernetes_version")
    if not span:
        return []
    from podless.apis.features import choose_all
    from podless.runtime.option import StartError

    try:
        return [release.name for release in choose_all(span)]
    except StartError as error:
        raise pytest.UsageError(f"--podless-{error}") from None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test once for each configured release, unless it selects releases itself."""
    if "podless_release" not in metafunc.fixturenames:
        return
    own = any("podless_release" in str(mark.args[:1]) for mark in metafunc.definition.iter_markers("parametrize"))
    names = metafunc.config.stash[_RELEASES]
    if len(names) > 1 and not own:
        metafunc.parametrize("podless_release", names, indirect=True)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Pass the seed to a worker of pytest-xdist."""
    node.workerinput["podless_chaos"] = node.config.option.podless_chaos


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Print the seed of chaos in the header of the report."""
    return [_format_chaos_header(config)] if config.option.podless_chaos else []


def _format_chaos_header(config: pytest.Config) -> str:
    seed = config.option.podless_chaos
    return f"podless: chaos: seed {seed}; to get the same faults again, use --podless-chaos {seed}"


def _make_server(config: pytest.Config, release: str) -> Server:
    """Return a server with the settings, not yet started."""
    from podless.server import Server

    seed = config.option.podless_chaos
    more: dict[str, Any] = {"kubernetes_version": release} if release else {}
    return Server(enable_faults=config.getini("podless_faults"), chaos=int(seed) if seed else False, **more)


def _start_server(config: pytest.Config, server: Server) -> Server:
    for setting in ("podless_crds", "podless_objects"):
        if paths := config.getini(setting):
            try:
                server.apply(paths)
            except FileNotFoundError as error:
                raise pytest.fail.Exception(f"{setting}: {error.filename} does not exist", pytrace=False) from None
    return server


@pytest.fixture(scope="session")
def podless_release(request: pytest.FixtureRequest) -> str:
    """The Kubernetes release of the test's servers, "" for the default; parametrize it to choose releases."""
    chosen = request.config.stash[_RELEASES]
    name: str = getattr(request, "param", chosen[-1] if chosen else "")
    return name


@pytest.fixture(scope="session")
def podless(pytestconfig: pytest.Config, podless_release: str) -> Iterator[Server]:
    """A server in memory, shared by all tests of the session (of the worker, under pytest-xdist)."""
    with _make_server(pytestconfig, podless_release) as server:
        pytestconfig.stash[_SERVER] = server
        yield _start_server(pytestconfig, server)
    del pytestconfig.stash[_SERVER]


@pytest.fixture
def podless_fresh(request: pytest.FixtureRequest, podless_release: str) -> Iterator[Server]:
    """A server in memory for this test only."""
    with _make_server(request.config, podless_release) as server:
        yield _start_server(request.config, server)


@pytest.fixture
def podless_namespace(podless: Server, request: pytest.FixtureRequest) -> Iterator[str]:
    """The name of a namespace of the session's server for this test only; it is deleted after the test."""
    name = f"test-{os.getpid()}-{next(_numbers)}"
    podless.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    yield name
    podless.delete("Namespace", name)


@pytest.fixture
def podless_plan(podless: Server) -> Callable[..., Plan]:
    """Return `podless.plan` for the session's server: `podless_plan("config/")` returns what an apply would do."""
    from podless.plan import plan_set

    return partial(plan_set, server=podless)


@pytest.fixture
def podless_kubeconfig(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Sets KUBECONFIG to that of the test's own server (`podless_fresh`), else of the session's server."""
    path = str(_find_server(request).kubeconfig)
    monkeypatch.setenv("KUBECONFIG", path)
    return path


def _find_server(request: pytest.FixtureRequest) -> Server:
    """Return the test's own server if it has one, else the session's."""
    server: Server = request.getfixturevalue("podless_fresh" if "podless_fresh" in request.fixturenames else "podless")
    return server


@pytest.fixture
def podless_lightkube(request: pytest.FixtureRequest) -> Iterator[lightkube.Client]:
    """A `lightkube.Client` for the test's server."""
    from lightkube import Client, KubeConfig

    client = Client(config=KubeConfig.from_file(str(_find_server(request).kubeconfig)), namespace="default")
    yield client
    client.close()


@pytest.fixture
def podless_kr8s(request: pytest.FixtureRequest) -> Any:
    """The result of `kr8s.api` for the test's server."""
    import kr8s

    return kr8s.api(kubeconfig=str(_find_server(request).kubeconfig), namespace="default")


@pytest.fixture
def podless_kopf(podless_kubeconfig: str) -> Callable[..., KopfRunner]:
    """Runs kopf operators against the test's server: `with podless_kopf("operator.py"):`; sets KUBECONFIG."""
    from kopf.testing import KopfRunner

    def run_operator(*files: str | os.PathLike[str], timeout: float = 60) -> KopfRunner:
        paths = [os.fspath(file) for file in files]
        return KopfRunner(["run", "--standalone", "--all-namespaces", *paths], timeout=timeout)

    return run_operator


@pytest.fixture(autouse=True)
def _podless_environment(request: pytest.FixtureRequest) -> Iterator[None]:
    """Set KUBECONFIG if the settings say so, and remove the faults that a test adds to the session's server.

    Fixtures of wider scopes run before this one, so their faults stay.
    """
    server = request.config.stash.get(_SERVER, None)
    before = (server.faults.added, server.faults.objects) if server is not None else ((), {})
    if request.config.getini("podless_kubeconfig") and _SERVERS & {*request.fixturenames}:
        request.getfixturevalue("podless_kubeconfig")
    yield
    server = request.config.stash.get(_SERVER, None)
    if server is not None and (server.faults or any(before)):
        from podless.remote.cluster import Refused

        server.faults.added = before[0]
        for name in server.faults.objects.keys() - before[1].keys():
            with contextlib.suppress(Refused):  # it was removed meanwhile
                server.delete("faults", name)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Record the start time of the test."""
    item.stash[_BEGUN] = time.monotonic()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the requests and events of the test's servers to the report of a failure."""
    report = yield
    if report.failed and call.when in ("setup", "call"):
        values = getattr(item, "funcargs", {}).items()
        servers = [(name, value) for name, value in values if type(value).__module__ == "podless.server"]
        for name, server in servers:
            report.sections += _report_sections(name, server, item.stash.get(_BEGUN, 0.0))
            report.sections += _find_stories(name, server, item.stash.get(_BEGUN, 0.0), report.longreprtext)
        if servers and item.config.option.podless_chaos:
            report.sections.append(("podless", _format_chaos_header(item.config)))
    return report


def _report_sections(name: str, server: Server, begun: float) -> list[tuple[str, str]]:
    asked = server.requests.after(begun)
    lines = [f"{time.strftime('%H:%M:%S', time.localtime(one.at))} {one}" for one in asked[-_LINES:]]
    if len(asked) > _LINES:
        lines.insert(0, f"... and {len(asked) - _LINES} before")
    result = [(f"{name}: requests", "\n".join(lines))] if lines else []
    try:
        events = [_format_event(event) for event in server.list("events", namespace=None)[-_LINES:]]
    except Exception:  # the server has stopped, fails, or runs on the test's own loop; a report must not fail
        return result
    return [*result, (f"{name}: events", "\n".join(events))] if events else result


def _find_stories(name: str, server: Server, begun: float, text: str) -> list[tuple[str, str]]:
    """Return the changes of the objects that a failure message names, each with its author and difference."""
    from podless.runtime import clock

    try:
        stories = server.stories(text, clock.time() - (time.monotonic() - begun) - _EARLIER)
    except Exception:  # the server has stopped, or runs on the test's own loop; a report must not fail
        return []
    result = []
    for story in stories[:_STORIES]:
        lines = "\n".join(map(str, story)).splitlines()
        shown = lines if len(lines) <= _LINES else [f"... and {len(lines) - _LINES} lines before", *lines[-_LINES:]]
        result.append((f"{name}: history of {story[0].shown['object']['resource']} {story[0].name}", "\n".join(shown)))
    return result


def _format_event(event: dict[str, Any]) -> str:
    about = event.get("involvedObject") or {}
    whom = f"{about.get('kind', '')} {about.get('namespace', '')}/{about.get('name', '')}"
    return f"{event.get('type', '')} {event.get('reason', '')} {whom}: {event.get('message', '')}"
