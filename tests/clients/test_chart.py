"""The chart in deploy/helm, installed by helm into podless itself, and checked by podless."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from podless import Server
from podless.cli import build_parser
from tests.clients import versions

pytestmark = pytest.mark.clients

CHART = Path(__file__).parent.parent.parent / "deploy" / "helm"
SETS = {
    "default": [],
    "etcd": ["--set", "replicas=3,etcd.servers=http://etcd:2379,etcd.tlsSecret=etcd-tls,kubernetesVersion=1.33"],
    "options": [
        "--set",
        "arguments={--verbose},tlsSAN={api.example.com},persistence.storageClass=fast,service.type=NodePort",
    ],
}


@pytest.fixture(scope="module")
def helm() -> str:
    try:
        return str(versions.folder("1.36") / "helm")
    except versions.Unavailable as error:
        pytest.skip(f"helm: {error}")


def run(*command: str, given: str = "", code: int = 0) -> str:
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False, timeout=90)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("values", SETS.values(), ids=SETS)
def test_what_it_renders_is_accepted_and_starts_with_options_that_exist(helm: str, values: list[str]) -> None:
    text = run(helm, "template", "mine", str(CHART), *values)
    told = run(sys.executable, "-m", "podless", "check", "-", given=text)
    assert "0 errors, 0 warnings" in told
    words = [
        line.strip().removeprefix("- ").strip('"')
        for line in text.splitlines()
        if "- serve" in line or "- --" in line or '- "--' in line
    ]
    assert words[0] == "serve"
    build_parser(("serve",)).parse_args(words)


def test_helm_installs_upgrades_and_uninstalls_it(helm: str) -> None:
    with Server(controllers=("statefulset", "ready")) as server:
        at = ("--kubeconfig", str(server.kubeconfig))
        assert "port-forward service/podless" in run(helm, "install", "podless", str(CHART), *at)
        pod = server.wait("pod", "podless-0", lambda obj: bool(obj["spec"]["containers"]))
        assert pod["spec"]["containers"][0]["image"] == "ghcr.io/podless/podless:0.1.0"
        run(helm, "upgrade", "podless", str(CHART), "--set", "service.type=NodePort", *at)
        changed = server.get("service", "podless")
        assert changed is not None
        assert changed["spec"]["type"] == "NodePort"
        run(helm, "uninstall", "podless", *at)
        assert not [one for one in server.list("services") if one["metadata"]["name"].startswith("podless")]


def test_servers_that_share_nothing_are_refused(helm: str) -> None:
    told = run(helm, "template", "mine", str(CHART), "--set", "replicas=2", code=1)
    assert "several servers need an etcd that they share" in told
