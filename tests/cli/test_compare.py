"""podless compare on the command line."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

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
    assert "of 1 objects 0 would be refused" in capsys.readouterr().out
    assert main(["compare", "old.json", "new.json"]) == 1
    assert "spec.scope: error: Namespaced became Cluster" in capsys.readouterr().out
    assert main(["compare", "old.json", "new.json", "-o", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["changes"][0]["path"] == "spec.scope"
    assert main(["compare", "a.yaml", "new.json"]) == 2
    assert capsys.readouterr().err == "podless: a.yaml: no CustomResourceDefinition is there\n"


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
