"""What docs/how-to/testing.md shows works as it stands there."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from podless import Server
from podless.cli import main
from podless.http.faults import InjectedFault
from podless.http.faults.fault import TERMS, field_name
from podless.testing.manifests import read_manifests
from tests.conftest import Client, definition

pytestmark = pytest.mark.slow

pytest_plugins = ["pytester"]
PAGE = (Path(__file__).parent.parent.parent / "docs" / "how-to" / "testing.md").read_text()
WIDGETS = definition("example.com", "widgets", "Widget")
WIDGET = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "widget"}, "spec": {"size": 3}}


def block(language: str, having: str) -> str:
    """The one block of code in a language that has a text."""
    (found,) = [text for text in re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL) if having in text]
    return str(found)


def section(title: str) -> str:
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def named(title: str) -> list[str]:
    """What the first cells of a section's tables name as code."""
    cells = [row.split("|")[1] for row in section(title).splitlines() if row.startswith("| `")]
    return [re.split(r"[(=, ]", text)[0] for cell in cells for text in re.findall(r"`([^`]+)`", cell)]


RECONCILE = """
import builtins, json
from podless import Server

def reconcile(kubeconfig):
    server = Server.seen
    for one in server.list("widgets", namespace=None):
        if one["metadata"]["namespace"].startswith("test-"):
            server.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": one["metadata"]["name"],
                "namespace": one["metadata"]["namespace"]}, "data": {"size": str(one["spec"]["size"])}})

builtins.reconcile = reconcile

import pytest

@pytest.fixture(autouse=True)
def seen(podless):
    Server.seen = podless
"""


@pytest.mark.parametrize(
    ("more", "passed"), [((), 1), (("--podless-kubernetes-version", "1.30-"), 7)], ids=["newest", "all releases"]
)
def test_the_first_test(pytester: pytest.Pytester, more: tuple[str, ...], passed: int) -> None:
    folder = pytester.path
    for name, obj in (("config/crd", WIDGETS), ("config/samples", WIDGET)):
        (folder / name).mkdir(parents=True)
        (folder / name / "one.yaml").write_text(json.dumps(obj))
    (folder / "widget.yaml").write_text(json.dumps(WIDGET))
    (folder / "pytest.ini").write_text(block("ini", "podless_crds"))
    (folder / "conftest.py").write_text(RECONCILE)
    (folder / "test_first.py").write_text(block("python", "test_it_makes_a_config_map"))
    pytester.runpytest_subprocess("-p", "podless.pytest_plugin", "-p", "no:xdist", *more).assert_outcomes(passed=passed)


def test_what_a_server_does_is_there() -> None:
    names = named("What a server does for tests")
    assert len(names) >= 9
    assert all(hasattr(Server(), name) for name in names)


def test_every_field_of_a_fault_is_told_of() -> None:
    assert {field_name(name) for name in named("Faults")} == set(TERMS)


def updates(server: Server) -> list[int]:
    client = Client(server.url, server.token)
    path = "/apis/example.com/v1/namespaces/default/widgets/widget"
    found = [client.send("PUT", path, client.get(path).body).status for _ in range(3)]
    client.close()
    return found


def test_faults_as_they_are_shown() -> None:
    with Server(enable_faults=True) as server:
        server.apply([WIDGETS, WIDGET])
        ordered, asserted = re.findall(r"^    (fault = .*|assert fault.*)$", section("Faults"), re.MULTILINE)
        scope: dict[str, Any] = {"server": server}
        exec(ordered, scope)
        assert updates(server) == [409, 409, 200]
        exec(asserted, scope)
        server.faults.clear()
        (obj,) = read_manifests(block("yaml", "kind: Fault"))
        server.apply(obj)
        assert updates(server) == [409, 409, 200]
        one, other = InjectedFault.of("conflicts", obj["spec"], seed=1), scope["fault"]
        assert (one.verb, one.resource, one.status, one.times) == (
            other.verb,
            other.resource,
            other.status,
            other.times,
        )
        waited = re.search(r"kubectl wait fault/(\w+)\s+--for=jsonpath='\{(.*?)\}'=(\d)", PAGE)
        assert waited is not None
        server.wait("fault", waited[1], f"object{waited[2]} == {waited[3]}")


def test_time_as_it_is_shown() -> None:
    (line,) = re.findall(r"^    (server\.clock.*)$", section("Time"), re.MULTILINE)
    with Server() as server:
        before = server.clock.now()
        exec(line, {"server": server})
        assert (server.clock.now() - before).total_seconds() >= 3600


def test_commands_as_they_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    commands = re.findall(r"^    (podless (?:run|envtest) .*)$", section("Other languages"), re.MULTILINE)
    assert len(commands) == 3
    crds = tmp_path / "config" / "crd"
    crds.mkdir(parents=True)
    (crds / "one.json").write_text(json.dumps(WIDGETS))
    (tmp_path / "Makefile").write_text('test:\n\ttest -s "$$KUBECONFIG"\n')
    monkeypatch.setenv("HOME", str(tmp_path))
    for command in commands:
        words = [word.replace("~", str(tmp_path)) for word in command.split()[1:]]
        if words[0] == "run":
            subprocess.run([sys.executable, "-m", "podless", *words], check=True, timeout=60, stdout=subprocess.DEVNULL)
        else:
            assert main(words) == 0
            assert (tmp_path / words[1] / "kube-apiserver").exists()
