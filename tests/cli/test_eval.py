"""podless eval on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from podless.cli import main
from tests.apis.test_offline import definition

OBJECT = "apiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: a}\nspec: {size: 11}\n"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "crd.json").write_text(json.dumps(definition()))
    (tmp_path / "a.yaml").write_text(OBJECT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_parts_of_a_rule(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["eval", "self.spec.size < 10", "--object", "a.yaml", "--schema", "crd.json"]
    assert main(command) == 1
    assert capsys.readouterr().out.splitlines()[:2] == ["self.spec.size < 10 => false", "  self.spec.size => 11"]
    assert main([*command, "-o", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["steps"][1]["value"] == "11"
    assert main(["eval", "self.size > 10", "--object", "a.yaml", "--schema", "crd.json", "--at", "spec"]) == 0


def test_what_cannot_be_evaluated_is_one_message(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for more in (["--at", "spec.none"], ["--schema", "nowhere"], ["--schema", "crd.json", "--version", "v9"]):
        assert main(["eval", "self == 1", "--object", "a.yaml", *more]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    assert main(["eval", "self.", "--object", "a.yaml"]) == 2
    assert "Syntax error" in capsys.readouterr().err


@pytest.mark.parametrize("path", ["spec[", "spec.", "spec..size", "[0", "spec.list[00]"])
def test_a_malformed_path_is_rejected(files: Path, capsys: pytest.CaptureFixture[str], path: str) -> None:
    assert main(["eval", "true", "--object", "a.yaml", "--at", path]) == 2
    assert capsys.readouterr().err == f"podless: --at: {path} is not a path; write it like spec.ports[0]\n"


def test_costs_and_schemas(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--explain-cost", "crd.json"]) == 0
    assert "of the limit for a rule" in capsys.readouterr().out
    assert main(["check", "--explain-cost", "crd.json", "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["rule"] == "self.size < 10"
    assert main(["schema", "crd.json", "-o", "out"]) == 0
    assert json.loads((files / "out/example.com/gadget_v1.json").read_text())["title"] == "Gadget"
    assert main(["schema", "a.yaml"]) == 2


def test_a_rule_is_new_in_a_release(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["eval", "!isSemver('1.0.0') || true", "--object", "a.yaml"]
    assert main(command) == 0
    assert main([*command, "--kubernetes-version", "1.33"]) == 2
    assert "undeclared reference to 'isSemver'" in capsys.readouterr().err


def test_a_constant_is_shown(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "true", "--object", "a.yaml"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "true => true"


@pytest.mark.parametrize("text", [OBJECT, "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"])
def test_a_schema_is_a_definition_or_a_schema(files: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "other.yaml").write_text(text)
    assert main(["eval", "true", "--object", "a.yaml", "--schema", "other.yaml"]) == 2
    said = "podless: other.yaml: neither a CustomResourceDefinition nor an openAPIV3Schema\n"
    assert capsys.readouterr() == ("", said)
