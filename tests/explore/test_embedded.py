"""Explorations from Python: the decorator, the method of a server, and what a failing test says."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import podless
from podless import Server
from podless.cli import main
from podless.explore import BadScenario, Scenario, Schedule, Steps, explore_controller, trial
from podless.explore.explorer import Runner
from podless.explore.laboratory import Laboratory, Setup
from podless.explore.schedule import HoldEvents

# A controller that needs no library: it gives each garden a bed once, and does not look whether that went well.
CONTROLLER = """
import base64, json, os, ssl, sys, urllib.request
import yaml
config = yaml.safe_load(open(os.environ["KUBECONFIG"]))
cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
trusted = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())

def ask(path, body=None):
    headers = {"Authorization": f"Bearer {user['token']}", "Content-Type": "application/json"}
    data = json.dumps(body).encode() if body else None
    request = urllib.request.Request(cluster["server"] + path, data, headers)
    return json.load(urllib.request.urlopen(request, context=trusted))

path = "/api/v1/namespaces/default/configmaps"
while True:
    found = ask(path)
    names = {item["metadata"]["name"] for item in found["items"]}
    for name in sorted(names):
        if name.startswith("garden") and not name.endswith("-bed") and f"{name}-bed" not in names:
            try:
                ask(path, {"metadata": {"name": f"{name}-bed"}})
            except OSError:
                if "careless" in sys.argv:
                    ask(path, {"metadata": {"name": f"{name}-spare"}})
    version = found["metadata"]["resourceVersion"]
    watch = f"{cluster['server']}{path}?watch=true&resourceVersion={version}"
    request = urllib.request.Request(watch, headers={"Authorization": f"Bearer {user['token']}"})
    urllib.request.urlopen(request, context=trusted).readline()
"""


def test_steps_are_a_scenario() -> None:
    steps = Steps()
    steps.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}})
    steps.patch("ConfigMap", "one", {"data": {"a": "b"}})
    steps.wait("ConfigMap", "one")
    steps.advance(60)
    steps.delete("ConfigMap", "one")
    steps.always("ConfigMap", "items.size() <= 1", "one at most")
    steps.finally_("ConfigMap", "items.size() == 0")
    steps.ignore("data.seen")
    scenario = steps.read()
    assert [step.verb for step in scenario.steps] == ["apply", "patch", "wait", "advance", "delete"]
    assert [str(alway) for alway in scenario.always] == ["one at most"]
    assert scenario.ignore == ("data.seen",)
    assert len(scenario.last) == 1


def test_what_is_no_expression_is_told() -> None:
    steps = Steps()
    steps.always("ConfigMap", "items.")
    with pytest.raises(BadScenario, match="ConfigMap"):
        steps.read()


def describe(steps: Steps) -> None:
    steps.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "garden"}})


def make_controller(folder: Path, *arguments: str) -> list[str]:
    file = folder / "controller.py"
    file.write_text(CONTROLLER)
    return [sys.executable, str(file), *arguments]


def make_moody_controller(folder: Path, mood: str, *arguments: str) -> list[str]:
    """Write a controller that lists once more if a condition on the number of its starts so far is true."""
    count = folder / "starts"
    more = f"open({str(count)!r}, 'a').write('.')\nstarts = len(open({str(count)!r}).read())\nif {mood}: ask(path)\n"
    file = folder / "moody.py"
    file.write_text(CONTROLLER.replace("while True:", f"{more}while True:"))
    return [sys.executable, str(file), *arguments]


def test_a_decorated_test_fails_with_the_story(tmp_path: Path) -> None:
    test = podless.explore(make_controller(tmp_path, "careless"), runs=20, workers=1)(describe)
    assert test.__name__ == "describe"
    with pytest.raises(AssertionError, match="left over: configmaps default/garden-spare") as failure:
        test()
    assert "controller create configmaps default/garden-bed" in str(failure.value)


def test_a_server_explores_from_its_own_state(tmp_path: Path) -> None:
    with Server() as server:
        server.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "garden-old"}})
        steps = Steps()
        describe(steps)
        report = server.explore(make_controller(tmp_path), steps.read(), runs=3, workers=1)
        assert report.passed, report
        assert server.get("ConfigMap", "garden-bed") is None  # it was on other servers
    assert report.runs == 3


@pytest.mark.parametrize("fresh", [True, False])
def test_a_controller_that_comes_back_is_kept_for_the_next_runs(tmp_path: Path, *, fresh: bool) -> None:
    file = tmp_path / "counted.py"
    file.write_text(f"open({str(tmp_path / 'starts')!r}, 'a').write('.')\n{CONTROLLER}")
    steps = Steps()
    describe(steps)
    report = explore_controller([sys.executable, str(file)], steps.read(), runs=5, workers=1, fresh=fresh)
    assert report.passed, report
    starts = len((tmp_path / "starts").read_text())
    # two reference runs, then events late, a crash, and events missed
    assert starts == (6 if fresh else 3)


def test_a_controller_that_acts_in_another_order_is_told_at_the_request(tmp_path: Path) -> None:
    command = make_moody_controller(tmp_path, "starts == 4")
    schedule = tmp_path / "schedule.yaml"
    schedule.write_text("schedule: []")
    steps = Steps()
    describe(steps)
    report = explore_controller(command, steps.read(), schedule=schedule, times=3)
    assert report.passed, report
    # the fourth start, after those of two reference runs, belongs to the second replay
    assert (report.same, report.replayed) == (2, 3)
    create, listed = "controller create configmaps default/garden-bed 201", "controller list configmaps default 200"
    assert f"Two runs of the same schedule differ: request 3: {create} / {listed}" in str(report)
    assert "The requests were the same in 2 of 3 runs" in str(report)


def test_a_finding_whose_requests_come_in_another_order_is_told_so(tmp_path: Path) -> None:
    steps = Steps()
    describe(steps)
    command = make_moody_controller(tmp_path, "starts > 2 and starts % 2", "careless")
    report = explore_controller(command, steps.read(), runs=20, workers=1)
    assert len(report.findings) == 1
    assert "controller list configmaps default 200" in report.differs


@pytest.mark.parametrize("replayed", [True, False])
def test_a_controller_that_sends_no_request_is_told_what_it_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *, replayed: bool
) -> None:
    monkeypatch.setattr(trial, "_LATE_START", 0.0)
    monkeypatch.setattr(trial, "_START", 0.1)
    for name, text in {"scenario.yaml": "steps: []", "schedule.yaml": "schedule: []"}.items():
        (tmp_path / name).write_text(text)
    more = ["--replay", str(tmp_path / "schedule.yaml")] if replayed else []
    command = [sys.executable, "-c", "import signal; signal.pause()"]
    assert main(["explore", "--scenario", str(tmp_path / "scenario.yaml"), *more, "--", *command]) == 1
    told = capsys.readouterr()
    assert told.err.count("controller has sent no request to https://127.0.0.1:") == 1
    assert "controller.kubeconfig" in told.err
    assert "the controller sends no request: for 0.1 s, although KUBECONFIG names its kubeconfig" in told.out


@pytest.mark.parametrize(("seconds", "kept"), [(1e9, True), (0.0, False)])
async def test_a_controller_that_waits_after_a_cut_watch_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float, *, kept: bool
) -> None:
    monkeypatch.setattr(trial, "_SLOW_RETURN", seconds)
    steps = Steps()
    describe(steps)
    async with Laboratory(Setup(tuple(make_controller(tmp_path)), steps.read())) as laboratory:
        runner = Runner(laboratory)
        await runner.carry_out(Schedule((HoldEvents("step 1", "configmaps", "skip"),)), fresh=True)
        run = await runner.carry_out(Schedule())
        await runner.end_controller()
    assert run.reused == kept


def test_a_command_that_cannot_be_run_is_told() -> None:
    with pytest.raises(OSError, match="/no/such/controller"):
        explore_controller("/no/such/controller --now", Scenario(()))


@pytest.mark.parametrize(
    "wrong", [{"runs": 0}, {"workers": 0}, {"findings": 0}, {"seconds": 0}, {"instances": 0}, {"quiet": -1}]
)
def test_a_number_that_makes_no_sense_is_told(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must be"):
        explore_controller("true", Scenario(()), **wrong)
