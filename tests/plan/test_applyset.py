"""ApplySets: errors in kubectl's words, and plans in files."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import podless
from podless import Server
from podless.plan import Action, CannotPlan
from podless.plan.options import PlanOptions
from tests.plan.corpus import Kubectl
from tests.plan.test_apply import apply_saved, keep

ONE = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: %s}
data: {color: blue}
"""
SECRET = """\
apiVersion: v1
kind: Secret
metadata: {name: door}
stringData: {password: opensesame}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, *names: str, more: str = "") -> None:
    (folder / "set.yaml").write_text("---\n".join([*(ONE % name for name in names), *([more] if more else [])]))


@pytest.mark.clients
@pytest.mark.skipif(shutil.which("kubectl") is None, reason="needs kubectl")
def test_parents_that_cannot_be_are_refused_in_the_words_of_kubectl(folder: Path) -> None:
    write(folder, "a")
    with Server() as server:
        _compare_parents(server, Kubectl(server, folder))


def _compare_parents(server: Server, kubectl: Kubectl) -> None:
    for parent, namespace in (
        ("web", ""),
        ("secret/", "default"),
        ("boats/web", "default"),
        ("boats.example.com/web", "default"),
        ("deployments.apps/web", "default"),
        ("deploy/web", ""),
        ("namespaces/web", ""),
    ):
        options = PlanOptions(applyset=parent, namespace=namespace)
        said = kubectl.write(ONE % "a", options)
        with pytest.raises(CannotPlan) as raised:
            podless.plan("set.yaml", server=server, applyset=parent, namespace=namespace)
        assert "; ".join(said).removeprefix("error: ") == str(raised.value)


def test_a_planned_applyset_is_applied(server: Server, folder: Path) -> None:
    write(folder, "a", "b", more=SECRET)
    plan = keep(server, applyset="web", namespace="default")
    parent = plan.find("Secret", "web")
    assert (parent.action, parent.message) == (Action.CREATE, "the parent of the ApplySet")
    assert "opensesame" not in (folder / "plan").read_text()
    done = apply_saved(server)
    assert (done.created, done.refused) == (4, [])
    write(folder, "a", "c")
    plan = keep(server, applyset="web", namespace="default")
    assert sorted(change.identity.name for change in plan.deleted) == ["b", "door"]
    done = apply_saved(server)
    assert (done.created, done.updated, done.deleted, done.refused) == (1, 0, 2, [])
    held = server.get("secrets", "web")
    assert held is not None
    assert held["metadata"]["annotations"]["applyset.kubernetes.io/contains-group-kinds"] == "ConfigMap"
    again = podless.plan("set.yaml", server=server, applyset="web", namespace="default")
    assert (again.exit_code, len(again.unchanged), again.steps) == (0, 2, [])


def test_an_interrupted_applyset_goes_on(server: Server, folder: Path) -> None:
    write(folder, "a", "b")
    keep(server, applyset="cm/web", namespace="default")
    apply_saved(server)
    write(folder, "a")
    keep(server, applyset="cm/web", namespace="default")
    apply_saved(server)
    (folder / "plan.done").unlink()  # all was done, and nothing was noted
    done = apply_saved(server)
    assert (done.created, done.updated, done.deleted, done.refused) == (0, 0, 0, [])


def test_a_parent_that_has_changed_since_stops_everything(server: Server, folder: Path) -> None:
    write(folder, "a")
    keep(server, applyset="cm/web", namespace="default")
    server.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web"}})
    done = apply_saved(server)
    [refused] = done.refused
    assert refused == "ConfigMap default/web: it has been created since the plan was made"
    assert server.get("configmaps", "a") is None


def test_a_parent_keeps_all_kinds_when_an_object_is_refused(server: Server, folder: Path) -> None:
    write(folder, "a", more=SECRET)
    keep(server, applyset="cm/web", namespace="default")
    apply_saved(server)
    write(folder, "a", "b")
    keep(server, applyset="cm/web", namespace="default")
    server.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}})
    refused = apply_saved(server).refused
    assert [one.partition(":")[0] for one in refused] == ["ConfigMap default/b", "ConfigMap default/web"]
    parent = server.get("configmaps", "web")
    assert parent is not None
    assert parent["metadata"]["annotations"]["applyset.kubernetes.io/contains-group-kinds"] == "ConfigMap,Secret"


def test_two_folders_are_compared_as_one_applyset(folder: Path) -> None:
    write(folder, "a", "b")
    (folder / "set.yaml").rename(folder / "old.yaml")
    write(folder, "a")
    plan = podless.plan("set.yaml", source="old.yaml", applyset="web", namespace="default")
    assert [str(change.identity) for change in plan.deleted] == ["ConfigMap default/b"]
    assert plan.find("ConfigMap", "a").action is Action.UNCHANGED
