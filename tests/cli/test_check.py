"""podless check on the command line."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from podless.cli import main
from tests.apis.test_offline import definition

GOOD = "apiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: a}\nspec: {size: 1}\n"
BAD = GOOD.replace("size: 1", "size: 0")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "crds").mkdir()
    (tmp_path / "crds" / "gadgets.json").write_text(json.dumps(definition()))
    (tmp_path / "a.yaml").write_text(GOOD)
    (tmp_path / "notes.txt").write_text("no manifest")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = main(["check", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_exit_codes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(".", capsys=capsys) == (0, "1 object and 1 definition in 2 files: 0 errors, 0 warnings\n", "")
    (folder / "a.yaml").write_text(BAD)
    code, out, _ = run("*.yaml", "--crds", "crds", capsys=capsys)
    assert (code, out.splitlines()[0][:27]) == (1, "a.yaml:4:14: error: spec.si")
    assert run("nowhere", capsys=capsys) == (2, "", 'podless: the path "nowhere" does not exist\n')
    assert run(capsys=capsys)[0] == 2


def test_crds_without_a_definition_are_an_error(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = "podless: a.yaml: no CustomResourceDefinition found\n"
    assert run("a.yaml", "--crds", "crds", "--crds", "a.yaml", capsys=capsys) == (2, "", said)
    (folder / "podless.toml").write_text("[check]\nprocesses = 0\n")
    assert "check.processes must be above 0" in run("a.yaml", capsys=capsys)[2]
    (folder / "podless.toml").unlink()
    with pytest.raises(SystemExit) as ended:
        main(["check", "a.yaml", "--processes", "0"])
    assert (ended.value.code, "--processes: expected a number above 0" in capsys.readouterr().err) == (2, True)


def test_a_path_without_manifests_is_an_error(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "notes").mkdir()
    (folder / "notes" / "notes.txt").write_text("no manifest")
    said = "podless: notes: no manifests found: no file ends in .json, .yaml or .yml"
    assert run("notes", "a.yaml", capsys=capsys) == (2, "", f"{said}\n")
    assert run("crds", "--exclude", "*.json", capsys=capsys)[:2] == (2, "")
    assert run("note[s]", capsys=capsys) == (
        2,
        "",
        "podless: note[s]: no manifests found: the pattern matches only folders\n",
    )
    assert run("a.yaml", "--crds", "crds", "--old", "notes", capsys=capsys)[0] == 0
    assert main(["test", "notes"]) == 2
    assert capsys.readouterr().err == f"{said}\n"


def test_links_to_folders_are_followed_but_not_in_circles(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "inner").mkdir()
    (folder / "inner" / "up").symlink_to("..")
    (folder / "inner" / "self").symlink_to(".")
    (folder / "inner" / "crds").symlink_to("../crds")
    assert run("inner", capsys=capsys)[1] == "1 object and 1 definition in 2 files: 0 errors, 0 warnings\n"


def test_options_can_stand_in_a_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "podless.toml").write_text('[check]\ncrds = ["crds"]\npaths = ["a.yaml"]\noutput = "json"\n')
    assert json.loads(run(capsys=capsys)[1])["objects"] == 1
    for text, said in (
        ("[check]\nodd = 1\n", "[check] has no setting 'odd'"),
        ("[check]\nexclud = 1\n", "[check] has no setting 'exclud'; did you mean exclude?"),
        ("[check]\noutput = 1\n", "check.output must be a string"),
        ("[check]\nreferences = 1\n", "check.references must be true or false"),
        ("[chek]\npaths = []\n", "unknown table [chek]; did you mean check?; the file has one table, [check]"),
        ("[other]\n", "unknown table [other]; the file has one table, [check]"),
        ('paths = ["a.yaml"]\n', "the setting 'paths' is in no table; write it below [check]"),
        ("check = 1\n", "check is not a table"),
    ):
        (folder / "podless.toml").write_text(text)
        code, _, err = run("a.yaml", capsys=capsys)
        assert (code, said in err, err.count("\n")) == (2, True, 1)


def test_objects_are_checked_as_updates_of_a_revision(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *command], check=True)
    (folder / "crds" / "gadgets.json").write_text(json.dumps(definition(scope="Cluster")))
    code, out, _ = run("crds", "--old", "git:HEAD", capsys=capsys)
    assert (code, "spec.scope: Invalid value" in out) == (1, True)
    (folder / "podless.toml").write_text('[check]\nexclude = ["gadgets.*"]\n')
    (folder / "crds" / "new.json").write_text(json.dumps(definition(scope="Cluster")))
    _, out, _ = run("crds", "--old", "git:HEAD", capsys=capsys)
    assert "spec.scope" not in out  # what is excluded now counts as excluded in the revision
    code, _, err = run("crds", "--old", "git:nothing", capsys=capsys)
    assert (code, err.startswith("podless: git: ")) == (2, True)


def test_several_releases_are_checked_at_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "1st"}, "spec": {"ports": [{"port": 80}]}}
    (folder / "service.json").write_text(json.dumps(service))
    code, out, _ = run("service.json", "--kubernetes-version", "1.31,1.33-", capsys=capsys)
    assert (code, ": error: 1.31-1.35: metadata.name: " in out.splitlines()[0]) == (1, True)
    assert run("service.json", "--kubernetes-version", "1.36", capsys=capsys)[0] == 0
    code, _, err = run("service.json", "--kubernetes-version", "1.29", capsys=capsys)
    assert (code, "1.29" in err) == (2, True)
    (folder / "podless.toml").write_text('[check]\nkubernetes-version = "1.31"\n')
    assert run("service.json", capsys=capsys)[0] == 1
