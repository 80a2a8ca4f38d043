"""The plugin for pytest, in suites of its own."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import definition, gadget

pytestmark = pytest.mark.slow

pytest_plugins = ["pytester"]
GROUP = "plugin.example.com"
SUITE = """
import os, unittest
import pytest
from podless import Server

THING = {"apiVersion": "plugin.example.com/v1", "kind": "Gadget", "metadata": {"name": "one"}}

@pytest.mark.parametrize("number", range(4))
def test_session(podless, podless_namespace, number):
    assert podless.list("gadgets", namespace=podless_namespace) == []
    podless.apply(THING, namespace=podless_namespace)
    assert podless.get("gadget", "first")

def test_fresh(podless_fresh, podless_kubeconfig):
    assert os.environ["KUBECONFIG"] == str(podless_fresh.kubeconfig)
    assert [one["metadata"]["name"] for one in podless_fresh.list("gadgets")] == ["first"]

async def test_asynchronous(podless):
    await podless.client.apply(THING)
    assert podless.get("gadget", "one")

class Case(unittest.TestCase):
    @pytest.fixture(autouse=True)
    def given(self, podless):
        self.server = podless

    def test_it(self):
        self.assertIsNotNone(self.server.get("gadget", "first"))

class Alone(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server())

    def test_it(self):
        self.assertIsNotNone(self.server.get("namespace", "default"))
"""


# processes that have imported all begin a second sooner
_READY = multiprocessing.get_context("forkserver")
_READY.set_forkserver_preload(["tests.test_pytest_plugin", "podless.server", "podless.cluster", "podless.app"])


def _run(arguments: tuple[str, ...], folder: Path, environment: dict[str, str], told: Path) -> None:
    """Run the suite of a folder, in a process for it alone."""
    with told.open("w") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.exit(pytest.main([*arguments]))


def run(suite: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """Run a suite, with the plugin."""
    told, began = suite.path / "told", time.monotonic()
    given = ("-p", "podless.pytest_plugin", f"--basetemp={suite.path / 'temporary'}", *arguments)
    process = _READY.Process(target=_run, args=(given, suite.path, {**os.environ}, told))
    process.start()
    process.join(100)
    ended = process.exitcode
    process.kill()  # nothing of it stays where it hangs
    lines = told.read_text().splitlines()
    return pytest.RunResult(-1 if ended is None else ended, lines, lines, time.monotonic() - began)


@pytest.fixture
def suite(pytester: pytest.Pytester) -> pytest.Pytester:
    folder = pytester.mkdir("crd")
    (folder / "one.yaml").write_text(json.dumps(definition(GROUP)))
    (pytester.path / "first.json").write_text(json.dumps(gadget(GROUP, "first")))
    pytester.makeini(
        "[pytest]\npodless_crds = crd\npodless_objects = first.json\nasyncio_mode = auto\n"
        "asyncio_default_fixture_loop_scope = function\n"
        "addopts = -p no:hypothesispytest -p no:anyio\n"  # no suite needs them, and each process would import them
    )
    return pytester


@pytest.mark.parametrize("more", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_servers_are_there_for_tests_of_all_kinds(suite: pytest.Pytester, more: tuple[str, ...]) -> None:
    suite.makepyfile(SUITE)
    done = run(suite, *more)
    done.assert_outcomes(passed=8)


def test_a_server_that_fails_does_not_end_the_session(suite: pytest.Pytester) -> None:
    suite.makepyfile("""
def test_it(podless_fresh, monkeypatch):
    def fail(*args, **options):
        raise ValueError
    monkeypatch.setattr(type(podless_fresh), "list", fail)
    assert False

def test_next(podless_fresh):
    pass
""")
    run(suite).assert_outcomes(failed=1, passed=1)


def test_a_failure_shows_what_was_asked_and_the_events(suite: pytest.Pytester) -> None:
    suite.makepyfile("""
import ssl, urllib.request

def test_it(podless):
    request = urllib.request.Request(podless.url + "/version", headers={"Authorization": "Bearer " + podless.token})
    urllib.request.urlopen(request, context=ssl._create_unverified_context()).read()
    podless.apply({"apiVersion": "v1", "kind": "Event", "metadata": {"name": "one"}, "type": "Warning",
        "reason": "Broken", "message": "it is",
        "involvedObject": {"kind": "Gadget", "namespace": "default", "name": "g"}})
    assert False
""")
    done = run(suite)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        ["*podless: requests*", "*admin get /version 200", "*podless: events*", "Warning Broken*g: it is"]
    )


def test_a_failure_shows_the_story_of_the_objects_that_it_names(suite: pytest.Pytester) -> None:
    suite.makepyfile("""
def test_it(podless_fresh):
    for name in ("settings", "others"):
        for value in ("1", "2"):
            podless_fresh.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name},
                "data": {"value": value}}, manager="operator-" + value)
    found = podless_fresh.get("configmap", "settings")
    assert found["data"]["value"] == "1", "settings is wrong"
""")
    done = run(suite)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        [
            "*podless_fresh: history of configmaps settings*",
            "* create  configmaps default/settings  admin (apply operator-1)",
            "* update  configmaps default/settings  admin (apply operator-2)  [[]data.value[]]",
            '*~ data.value: "1" -> "2"',
        ]
    )


def test_the_environment_has_the_kubeconfig_where_the_settings_say_so(suite: pytest.Pytester) -> None:
    ini = suite.path / "tox.ini"
    ini.write_text(ini.read_text() + "\npodless_kubeconfig = true\n")
    suite.makepyfile("""
import os

def test_it(podless_fresh):
    assert os.environ["KUBECONFIG"] == str(podless_fresh.kubeconfig)

def test_other():
    assert "podless" not in os.environ.get("KUBECONFIG", "")
""")
    run(suite).assert_outcomes(passed=2)


def test_nothing_is_imported_for_those_who_want_no_server(suite: pytest.Pytester) -> None:
    suite.makepyfile("import sys\n\ndef test_it():\n    assert 'podless.server' not in sys.modules\n")
    suite.runpytest_subprocess("-p", "podless.pytest_plugin").assert_outcomes(passed=1)


LEAKS = """
import pytest

FAULT = {"apiVersion": "testing.podless.dev/v1", "kind": "Fault", "metadata": {"name": "one"}, "spec": {"status": 500}}

@pytest.fixture(scope="module")
def slow(podless):
    return podless.faults.add(verb="list", delay=0.01)

@pytest.fixture
def broken(podless):
    podless.faults.add(verb="get", status=500)

@pytest.mark.parametrize("number", range(2))
def test_what_a_test_has_go_wrong_ends_with_it(podless, slow, broken, number):
    assert len([*podless.faults]) == 2
    podless.faults.remove(slow)
    podless.faults.add(verb="list", status=500)
    podless.apply(FAULT)
    assert len([*podless.faults]) == 3

def test_nothing_is_left(podless, slow):
    assert [*podless.faults] == [slow]
    assert podless.list("faults") == []
"""


def test_faults_end_with_their_test(suite: pytest.Pytester) -> None:
    ini = suite.path / "tox.ini"
    ini.write_text(ini.read_text() + "\npodless_faults = true\n")
    suite.makepyfile(LEAKS)
    run(suite).assert_outcomes(passed=3)


@pytest.mark.parametrize("more", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_chaos_has_one_seed_that_is_told(suite: pytest.Pytester, more: tuple[str, ...]) -> None:
    suite.makepyfile("""
import os, pytest

@pytest.mark.parametrize("number", range(4))
def test_it(podless, podless_fresh, number):
    assert podless.chaos == podless_fresh.chaos
    assert False, f"SEED {podless.chaos}."
""")
    done = run(suite, "--podless-chaos", *more)
    done.assert_outcomes(failed=4)
    text = done.stdout.str()
    seeds = {*re.findall(r"chaos: seed (\d+)", text), *re.findall(r"SEED (\d+)", text)}
    assert len(seeds) == 1
    assert (
        text.count(f"to get the same faults again, use --podless-chaos {seeds.pop()}") == 5
    )  # the head, and each failure


def test_a_seed_in_the_settings_is_a_number(suite: pytest.Pytester) -> None:
    ini = suite.path / "tox.ini"
    before = ini.read_text()
    ini.write_text(before + "\npodless_chaos = 7\n")
    suite.makepyfile("def test_it(podless):\n    assert podless.chaos == 7\n")
    run(suite).assert_outcomes(passed=1)
    ini.write_text(before + "\npodless_chaos = x\n")
    done = run(suite)
    done.stderr.fnmatch_lines(["*podless_chaos: a seed is a number, not 'x'"])


RELEASES = """
import pytest

def minor(server):
    import json, ssl, urllib.request
    request = urllib.request.Request(server.url + "/version", headers={"Authorization": "Bearer " + server.token})
    return json.load(urllib.request.urlopen(request, context=ssl._create_unverified_context()))["minor"]

def test_session(podless, podless_release):
    assert minor(podless) == (podless_release or "1.36")[2:]

def test_namespace(podless_namespace, podless):
    assert podless.get("namespace", podless_namespace)

def test_fresh(podless_fresh, podless_release):
    assert minor(podless_fresh) == (podless_release or "1.36")[2:]

@pytest.mark.parametrize("podless_release", ["1.31", "1.33"], indirect=True)
def test_own(podless, podless_release):
    assert minor(podless) in ("31", "33")

def test_none():
    pass
"""


@pytest.mark.parametrize(
    ("given", "setting", "passed"),
    [((), "", 6), (("--podless-kubernetes-version=1.30-",), "", 27), ((), "1.33", 6), (("-n", "2"), "1.31,1.35-", 15)],
    ids=["newest", "all", "one", "xdist"],
)
def test_tests_run_on_each_release(suite: pytest.Pytester, given: tuple[str, ...], setting: str, passed: int) -> None:
    ini = suite.path / "tox.ini"
    ini.write_text(ini.read_text() + f"\npodless_kubernetes_version = {setting}\n")
    suite.makepyfile(RELEASES)
    run(suite, *given).assert_outcomes(passed=passed)


def test_an_unknown_release_is_a_mistake_in_the_usage(suite: pytest.Pytester) -> None:
    suite.makepyfile(RELEASES)
    done = run(suite, "--podless-kubernetes-version", "1.19")
    done.stderr.fnmatch_lines(["*--podless-kubernetes-version: '1.19' is not one of*"])
