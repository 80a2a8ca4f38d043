"""The command that shows, replays and packs recordings."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.conformance import recorded, sync
from tests.conformance.__main__ import main

SCENARIO = {
    "name": "version",
    "area": "tiny",
    "about": "who is there",
    "source": "seed: Version",
    "steps": [{"method": "GET", "path": "/version/", "only": ["major"], "expect": {"status": 200}}],
}


@pytest.fixture
def origin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder as the one that recordings come from, and another one for what is packed."""
    packed = tmp_path / "packed"
    monkeypatch.setattr(recorded, "FOLDER", packed)
    monkeypatch.setattr(sync, "FOLDER", packed)
    monkeypatch.setattr(sync, "KUBECTL", packed / "kubectl.jsonl.xz")
    monkeypatch.setattr(sync, "PROGRAMS", packed / "programs.json")
    folder = tmp_path / "origin"
    (folder / "scenarios" / "tiny").mkdir(parents=True)
    (folder / "scenarios" / "tiny" / "version.json").write_text(json.dumps(SCENARIO))
    (folder / "corpus").mkdir()
    with gzip.open(folder / "corpus" / "random.jsonl.gz", "wt") as lines:
        lines.write(json.dumps(SCENARIO) + "\n")
    (folder / "kubectl").mkdir()
    (folder / "run.py").write_text("1")
    (folder / "kubectl.py").write_text("2")
    return folder


def test_what_differs_from_its_origin_is_told_and_taken_over(origin: Path, capsys: Any) -> None:
    assert main(["sync", "--check", str(origin)]) == 1
    assert "scenarios/tiny.jsonl.xz differs" in capsys.readouterr().out
    assert main(["sync", str(origin)]) == 0
    capsys.readouterr()
    assert main(["sync", "--check", str(origin)]) == 0
    assert capsys.readouterr().out == "equal\n"
    assert recorded.corpus("random") == [SCENARIO]
    assert [
        recording["source"] for recording in recorded.read_recordings(recorded.FOLDER / "scenarios" / "tiny.jsonl.xz")
    ] == ["Version"]
    (origin / "run.py").write_text("3")
    (origin / "corpus" / "random.jsonl.gz").unlink()
    assert main(["sync", "--check", str(origin)]) == 1
    told = capsys.readouterr().out
    assert "corpus/random.jsonl.xz is not in" in told
    assert "run.py has changed" in told


def test_without_an_origin_there_is_nothing_to_compare(tmp_path: Path, capsys: Any) -> None:
    assert main(["sync", "--check", str(tmp_path / "none")]) == 0
    assert "is not here" in capsys.readouterr().out


@pytest.mark.slow  # decodes all of them
@pytest.mark.slow
def test_recordings_are_shown(capsys: Any) -> None:
    assert main(["list"]) == 0
    assert "  corpus/cel\n" in capsys.readouterr().out
    assert main(["show", "discovery"]) == 0
    name = capsys.readouterr().out.split()[0]
    assert main(["show", "discovery", name]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == name
    assert main(["show", "discovery", name, "--step", "0"]) == 0
    assert "discovery" not in json.loads(capsys.readouterr().out)
    assert main(["show", "nowhere"]) == 2
    assert main(["show", "discovery", "nobody"]) == 2


def test_a_replay_says_what_differs(capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = {**SCENARIO, "steps": [{**SCENARIO["steps"][0], "expect": {"status": 404}}]}  # type: ignore[dict-item]
    monkeypatch.setattr(recorded, "everything", lambda area: [wrong])
    assert main(["replay", "tiny"]) == 1
    assert "FAIL tiny/version (0/1 exact, 0 in meaning)" in capsys.readouterr().out
