"""What a forge and its tools read: workflows, the action, the hook for pre-commit, the chart."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from podless.cli import build_parser
from podless.version import __version__

ROOT = Path(__file__).parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_job_of_a_workflow_gets_no_more_rights_than_it_names(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text())
    assert workflow["permissions"] == {"contents": "read"}
    needed = {name for job in workflow["jobs"].values() for name in job.get("needs", ())}
    assert needed <= workflow["jobs"].keys()
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for job in workflow["jobs"].values():
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step)
            for target in re.findall(r"\bmake ([a-z-]+)", step.get("run", "")):
                assert target in targets


def test_a_tag_publishes_only_what_was_tested() -> None:
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())["jobs"]
    assert all("test" in jobs[name]["needs"] for name in ("pypi", "image"))
    assert jobs["pypi"]["permissions"] == {"id-token": "write"}  # no token is kept


def test_the_action_and_the_hook_run_a_command_that_exists() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    script = action["runs"]["steps"][-1]
    assert set(script["env"]) - {"PYTHON"} <= {"VERSION", "PATHS", "ARGUMENTS"}
    assert 'podless" check --output github $ARGUMENTS $PATHS' in script["run"]
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    for words in (hook["entry"].split()[1:], ["check", "--output", "github", "."]):
        build_parser(("check",)).parse_args([*words, "crd.yaml"])


def test_the_chart_is_of_this_version() -> None:
    chart = yaml.safe_load((ROOT / "deploy" / "helm" / "Chart.yaml").read_text())
    assert (chart["version"], chart["appVersion"]) == (__version__, __version__)
