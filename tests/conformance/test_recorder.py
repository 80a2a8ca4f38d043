"""Recordings are made against any server, in the format of those that are here."""

from __future__ import annotations

import copy
import json
import shutil
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from podless import Server
from tests.conformance import recorded
from tests.conformance.__main__ import main
from tests.conformance.servers import running

README = (Path(__file__).parent / "README.md").read_text()
MAPS = "/api/v1/namespaces/default/configmaps"
NEW: dict[str, Any] = {
    "name": "recorder",
    "area": "core",
    "about": "a ConfigMap and its watch",
    "steps": [
        {"method": "GET", "path": MAPS, "save": {"rv": "metadata.resourceVersion"}, "only": ["kind"]},
        {"method": "POST", "path": MAPS, "body": {"metadata": {"name": "recorder"}, "data": {"a": "1"}}},
        {"method": "POST", "path": MAPS, "body": {"metadata": {"name": "recorder"}}},
        {"method": "POST", "path": MAPS, "body": {"metadata": {"name": "recorder-b"}, "bogus": 1}},
        {"do": "watch", "id": "w", "path": MAPS, "query": {"watch": "1", "resourceVersion": "{{rv}}"}},
        {"do": "events", "id": "w", "count": 2, "seconds": 30},
        {"do": "events", "id": "w", "count": 1, "seconds": 0.1},
        {"method": "DELETE", "path": f"{MAPS}/recorder", "query": {"gracePeriodSeconds": "0"}},
        {"method": "DELETE", "path": f"{MAPS}/recorder-b", "body_free": True},
    ],
}


@pytest.fixture(scope="module")
def remote() -> Iterator[Server]:
    """The server that is recorded: with TLS, as others are."""
    with running() as server:
        yield server


def record(remote: Server, *arguments: str) -> int:
    return main(["record", "--server", remote.url, "--token", remote.token, *arguments])


def write(folder: Path, scenario: Any) -> Path:
    file = folder / "new.json"
    file.write_text(json.dumps(scenario))
    return file


def test_what_is_recorded_from_one_server_another_one_answers_too(remote: Server, tmp_path: Path, capsys: Any) -> None:
    file = write(tmp_path, NEW)
    assert record(remote, str(file), "--ca", str(remote.authority)) == 0, capsys.readouterr().out
    assert "recorded recorder: 9 answers" in capsys.readouterr().out
    made = json.loads(file.read_text())
    asked = [{key: value for key, value in step.items() if key != "expect"} for step in made["steps"]]
    assert made | {"steps": asked} == NEW
    created, again, warned, *_ = [step["expect"] for step in made["steps"][1:]]
    meta = {"name": "recorder", "namespace": "default", "creationTimestamp": "TIME"}
    assert created["body"]["metadata"] == meta | {"uid": "UID1", "resourceVersion": "RV1"}
    assert (created["status"], created["type"], again["body"]["reason"]) == (201, "application/json", "AlreadyExists")
    assert warned["warnings"] == ['299 - "unknown field \\"bogus\\""']
    events = [step["expect"]["events"] for step in made["steps"] if step.get("do") == "events"]
    assert [event["object"]["metadata"]["uid"] for event in events[0]] == ["UID1", "UID2"]
    assert events[1] == ["TIMEOUT"]
    assert main(["replay", str(file)]) == 0, capsys.readouterr().out


def test_a_recording_is_what_the_packed_one_is(remote: Server, tmp_path: Path, capsys: Any) -> None:
    chosen = ["--filter", "patch-json", "--out", str(tmp_path), "--insecure"]
    assert record(remote, "patch", *chosen) == 0, capsys.readouterr().out
    made = recorded.read_recordings(tmp_path / "patch.jsonl.xz")
    assert made
    assert made == [one for one in recorded.scenarios("patch") if "patch-json" in one["name"]]


@pytest.mark.clients
@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not on this machine")
@pytest.mark.parametrize("is_verified", [True, False])
def test_a_session_is_what_the_packed_one_is(remote: Server, tmp_path: Path, capsys: Any, is_verified: bool) -> None:
    trusted = ["--ca", str(remote.authority)] if is_verified else ["--insecure"]
    assert record(remote, "kubectl", "--filter", "walk-create", "--out", str(tmp_path), *trusted) == 0
    assert recorded.read_recordings(tmp_path / "kubectl.jsonl.xz") == [recorded.find("kubectl", "walk-create")]


def test_a_recording_has_the_prose_that_a_replay_hides(remote: Server, tmp_path: Path) -> None:
    steps = [{"method": "GET", "path": "/openapi/v3/version"}]
    file = write(tmp_path, NEW | {"steps": steps})
    assert record(remote, str(file), "--insecure") == 0
    assert "ITS OWN WORDS" not in file.read_text()
    assert '"description"' in file.read_text()


def test_what_is_random_is_told(remote: Server, tmp_path: Path, capsys: Any) -> None:
    steps = [{"method": "POST", "path": MAPS, "body": {"metadata": {"generateName": "recorder-"}}}]
    file = write(tmp_path, NEW | {"steps": steps})
    assert record(remote, str(file), "--insecure") == 1
    told = capsys.readouterr().out
    assert "FAIL recorder: steps [0] differ when asked again: mask what is random in them" in told
    assert ".body.metadata.name: got " in told


def test_what_breaks_off_is_not_written(remote: Server, tmp_path: Path, capsys: Any) -> None:
    steps = [{"method": "GET", "path": "/version"}, {"method": "GET", "path": "/{{nobody}}"}]
    file = write(tmp_path, NEW | {"steps": steps})
    before = file.read_text()
    assert record(remote, str(file), "--insecure") == 1
    assert "FAIL recorder: not recorded: KeyError: 'nobody'" in capsys.readouterr().out
    assert file.read_text() == before


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "its certificate is not trusted: "),
        (["--insecure", "--token", "wrong"], "rejects the token (401); pass --token TOKEN"),
        (["--insecure", "--server", "https://127.0.0.1:1"], "https://127.0.0.1:1 does not answer: "),
    ],
)
def test_a_server_that_cannot_be_used_is_told(
    remote: Server, tmp_path: Path, capsys: Any, arguments: list[str], told: str
) -> None:
    assert record(remote, str(write(tmp_path, NEW)), *arguments) == 2
    assert told in capsys.readouterr().err


def test_many_recordings_are_not_written_in_place_and_others_need_their_parts(
    remote: Server, tmp_path: Path, capsys: Any
) -> None:
    assert record(remote, "patch", "--insecure") == 2
    assert "patch holds many recordings: pass --out FOLDER" in capsys.readouterr().err
    partial = copy.deepcopy(NEW)
    del partial["steps"]
    assert record(remote, str(write(tmp_path, partial)), "--insecure") == 2
    assert "a scenario has name, area and steps" in capsys.readouterr().err


def test_the_example_of_the_readme_is_recorded_and_replayed(remote: Server, tmp_path: Path, capsys: Any) -> None:
    example = textwrap.dedent(README.partition("## Write a scenario\n\n")[2].partition("\n\n")[0])
    file = write(tmp_path, json.loads(example))
    assert record(remote, str(file), "--insecure") == 0, capsys.readouterr().out
    statuses = [step["expect"]["status"] for step in json.loads(file.read_text())["steps"]]
    assert statuses == [201, 409]
    assert main(["replay", str(file)]) == 0, capsys.readouterr().out


@pytest.mark.slow  # decodes all recordings
def test_the_readme_counts_what_is_here() -> None:
    scenarios = recorded.scenarios(*recorded.areas())
    corpora = [one for name in recorded.corpora() for one in recorded.corpus(name)]
    drawn = recorded.read_recordings(Path(__file__).parent / "drawn.jsonl.xz")
    for what, chosen in (("scenarios written", scenarios), ("scenarios of", corpora), ("recordings", drawn)):
        steps = sum("expect" in step for one in chosen for step in one["steps"])
        line = next(line for line in README.splitlines() if f"{len(chosen)} {what}" in line)
        assert f"{steps:,} steps" in line
    assert f"{len(recorded.sessions())} sessions with kubectl" in README


def test_a_scenario_that_was_added_is_one_of_its_area(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorded, "FOLDER", tmp_path)
    (tmp_path / "added").mkdir()
    write(tmp_path / "added", NEW)
    assert recorded.areas() == ["core"]
    assert recorded.find("core", "recorder") == NEW
