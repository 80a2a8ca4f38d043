"""podless compare on the command line."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from podless.cli import main
from tests.apis.test_offline import definition


def test_exit_codes_and_reports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("old.json").write_text(json.dumps(definition()))
    Path("new.json").write_text(json.dumps(definition(scope="Cluster")))
    Path("a.yaml").write_text("apiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: a}\nspec: {size: 1}\n")
    assert main(["compare", "old.json", "old.json", "--objects", "a.yaml"]) == 0
    assert "of 1 objects 0 would be rejected" in capsys.readouterr().out
    assert main(["compare", "old.json", "new.json"]) == 1
    assert "spec.scope: error: Namespaced became Cluster" in capsys.readouterr().out
    assert main(["compare", "old.json", "new.json", "-o", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["changes"][0]["path"] == "spec.scope"
    assert main(["compare", "a.yaml", "new.json"]) == 2
    assert capsys.readouterr().err == "podless: a.yaml: no CustomResourceDefinition found\n"


@pytest.mark.parametrize("command", [["compare", "new.json"], ["schema"], ["model"], ["test", "--init"]])
def test_a_definition_without_a_schema_is_an_error(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("new.json").write_text(json.dumps(definition()))
    given = definition()
    del given["spec"]["versions"][0]["schema"]
    Path("old.json").write_text(json.dumps(given))
    assert main([*command, "old.json"]) == 2
    said = capsys.readouterr().err
    assert (
        said == "podless: old.json: gadgets.example.com v1 has no schema: set schema.openAPIV3Schema of the version\n"
    )


def test_the_old_state_can_be_a_revision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("crd.json").write_text(json.dumps(definition()))
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *command], check=True)
    Path("crd.json").write_text(json.dumps(definition(scope="Cluster")))
    assert main(["compare", "git:HEAD", "crd.json"]) == 1
    assert "spec.scope" in capsys.readouterr().out


def _service(**spec: Any) -> dict[str, Any]:
    spec = {"selector": {"a": "b"}, "ports": [{"port": 80}], **spec}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}, "spec": spec}


OLD_FLOW = {"apiVersion": "flowcontrol.apiserver.k8s.io/v1beta3", "kind": "FlowSchema", "metadata": {"name": "a"}}
CLAIM = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "a"}, "spec": {}}
BUDGET = {
    "apiVersion": "apps/v1",
    "kind": "ReplicaSet",
    "metadata": {"name": "a"},
    "status": {"terminatingReplicas": 1},
}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "a"},
    "spec": {"containers": [{"name": "c", "image": "i"}], "resources": {"limits": {"cpu": "1"}}},
}


@pytest.mark.parametrize(
    ("releases", "given", "code", "said"),
    [
        ("1.31,1.36", OLD_FLOW, 1, "error: FlowSchema a: 1.36 does not serve it: use flowcontrol.apiserver.k8s.io/v1"),
        ("1.33,1.36", OLD_FLOW, 0, ""),
        ("1.33,1.36", CLAIM, 0, "note: ResourceClaim a: 1.36 serves it"),
        ("1.36,1.33", CLAIM, 1, "error: ResourceClaim a: 1.33 does not serve it: nothing replaces it"),
        ("1.33,1.36", _service(trafficDistribution="PreferClose"), 0, "warning: Service a: 1.36 warns: spec.traffic"),
        ("1.36,1.33", _service(trafficDistribution="PreferSameNode"), 1, "error: Service a: 1.33 rejects it: spec.tr"),
        ("1.33,1.36", _service(trafficDistribution="PreferSameNode"), 0, "note: Service a: 1.36 accepts it: no longer"),
        ("1.32,1.33", BUDGET, 0, "1.33 accepts it: no longer unknown field"),
        ("1.33,1.32", BUDGET, 1, '1.32 drops it: unknown field "status.terminatingReplicas"'),
        ("1.33,1.36", _service(type="Odd"), 0, ""),
        ("1.36,1.33", POD, 1, "Pod a: 1.33 silently drops spec.resources"),
        ("1.33,1.36", POD, 0, "note: Pod a: 1.36 keeps spec.resources: no longer silently dropped"),
        ("1.33,1.31", POD, 1, '1.31 drops it: unknown field "spec.resources"'),
        ("1.31,1.33", POD, 0, 'note: Pod a: 1.33 accepts it: no longer unknown field "spec.resources"'),
    ],
)
def test_releases_are_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], releases: str, given: dict[str, Any], code: int, said: str
) -> None:
    (tmp_path / "a.json").write_text(json.dumps(given))
    command = ["compare", "--kubernetes-version", releases, str(tmp_path)]
    found = main(command)
    out = capsys.readouterr().out
    changes = [line for line in out.splitlines()[:-1] if said and said in line]
    assert (found, len(changes)) == (code, bool(said)), out
    assert main([*command, "-o", "json"]) == code
    assert any(said in f"{one['severity']}: {one['about']}: {one['what']}" for one in _changes(capsys)) is bool(said)


def _changes(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["changes"]
    return found


@pytest.mark.parametrize("releases", ["1.33", "1.33,1.33", "1.33,1.40", "1.31,1.33,1.36", "1.33-"])
def test_two_releases_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str], releases: str) -> None:
    assert main(["compare", "--kubernetes-version", releases, str(tmp_path)]) == 2
    assert "kubernetes-version" in capsys.readouterr().err


def test_one_path_needs_releases(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "crds"]) == 2
    assert "--kubernetes-version" in capsys.readouterr().err
