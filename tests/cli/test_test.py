"""podless test on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from podless.cli import main
from tests.apis.test_offline import definition


def test_a_first_suite_and_its_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("crd.json").write_text(json.dumps(definition()))
    assert main(["test", "--init", "crd.json"]) == 0
    Path("suite.yaml").write_text(capsys.readouterr().out)
    assert main(["test", "suite.yaml"]) == 0
    assert capsys.readouterr().out.endswith("statements in 1 file: 0 failed\n")
    text = Path("suite.yaml").read_text().replace("expect: refused", "expect: accepted")
    Path("suite.yaml").write_text(text)
    assert main(["test", "suite.yaml"]) == 1
    assert "rejected: " in capsys.readouterr().out
    assert main(["test", "suite.yaml", "-o", "junit"]) == 1
    assert "<failure" in capsys.readouterr().out
    assert main(["test"]) == 2
    assert main(["test", "--schema"]) == 0
    assert json.loads(capsys.readouterr().out)["properties"]["tests"]["items"]["required"] == ["name"]


def test_suites_run_against_a_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "1st"}, "spec": {"ports": [{"port": 80}]}}
    monkeypatch.chdir(tmp_path)
    Path("suite.yaml").write_text(json.dumps({"tests": [{"name": "a name with a digit first", "object": service}]}))
    assert main(["test", "suite.yaml"]) == 0
    assert main(["test", "suite.yaml", "--kubernetes-version", "1.35"]) == 1
    assert "DNS-1035" in capsys.readouterr().out
    assert main(["test", "suite.yaml", "--feature-gates", "Nothing=true"]) == 2
    assert "feature-gates" in capsys.readouterr().err


def test_a_run_without_tests_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("suite.yaml").write_text("# nothing yet\n")
    assert main(["test", "suite.yaml"]) == 2
    assert capsys.readouterr().err == "podless: suite.yaml: no tests found\n"
