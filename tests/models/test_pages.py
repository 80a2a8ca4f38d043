"""The example of docs/how-to/models.md, with the commands of the page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from podless import Server
from podless.cli import main
from tests.hooks.test_conversion import definition

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "models.md"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (tmp_path / "widgets.py").write_text(next(block for block in blocks if "@kind" in block))
    (tmp_path / "broken.py").write_text("import json\nx = 1 / 0\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_crd_prints_a_definition_and_model_makes_classes_of_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["crd", "widgets:Widget"]) == 0
    made = capsys.readouterr().out
    assert "rule: self.low <= self.high" in made
    (folder / "crd.yaml").write_text(made)
    assert main(["check", "crd.yaml"]) == 0
    capsys.readouterr()
    assert main(["model", "crd.yaml", "--style", "dataclass", "--output", "models"]) == 0
    assert capsys.readouterr().out == "models/example_com/v1.py\n"
    assert "class Widget(Resource):" in (folder / "models" / "example_com" / "v1.py").read_text()
    assert main(["model", "crd.yaml"]) == 0
    assert "from podless.models.pydantic import Model, ObjectMeta" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["crd", "widgets"], "podless: widgets: a class is MODULE:CLASS\n"),
        (["crd", "widgets:Nothing"], "podless: widgets:Nothing: there is no such class\n"),
        (["crd", "nothing_of_that_name:X"], "podless: No module named 'nothing_of_that_name'\n"),
        (["crd", "widgets:WidgetSpec"], "WidgetSpec: the class is not a kind: decorate it with podless.models.kind\n"),
        (["crd", "broken:X"], "broken.py:2: ZeroDivisionError: division by zero\n"),
        (["model", "widgets.py"], ""),
    ],
)
def test_what_is_wrong_is_told_in_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert error.endswith(said)
    assert "Traceback" not in error


def test_definitions_of_a_running_server_make_classes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Server() as server:
        server.apply(definition())
        config = str(server.kubeconfig)
        assert main(["model", "--kubeconfig", config, "--style", "dataclass", "-o", str(tmp_path)]) == 0
        assert capsys.readouterr().out == f"{tmp_path}/example_com/v1.py\n{tmp_path}/example_com/v2.py\n"
        assert "class Widget(Resource):" in (tmp_path / "example_com" / "v2.py").read_text()
        assert main(["schema", "--kubeconfig", config]) == 0
        assert '"example.com/v1"' in capsys.readouterr().out
        assert main(["model", "--kubeconfig", config, "--context", "nothing"]) == 2
        assert capsys.readouterr().err == f"podless: {config}: no context 'nothing'; it has podless\n"


def test_a_command_needs_files_or_a_server(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["model"]) == 2
    said = "podless: name files with definitions, or a server with --context or --kubeconfig\n"
    assert capsys.readouterr().err == said
