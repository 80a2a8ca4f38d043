"""Plans in files, carried out on the API that they were made for."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

import podless
from podless import Server
from podless.cli import main
from podless.plan import Plan
from podless.plan.apply import ApplyResult, apply_plan
from podless.plan.options import CannotPlan, PlanOptions
from podless.plan.planfile import read_plan, write_plan
from podless.remote.cluster import RemoteCluster
from podless.remote.kubeconfig import read_kubeconfig

SET = """\
apiVersion: example.com/v1
kind: Gadget
metadata: {name: a}
spec: {size: 1}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: gadgets, kind: Gadget}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {color: blue}
---
apiVersion: v1
kind: Secret
metadata: {name: door}
stringData: {password: opensesame}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "set.yaml").write_text(SET)
    return tmp_path


def keep(server: Server, path: str = "set.yaml", **options: str) -> Plan:
    plan = podless.plan(path, server=server, **options)
    write_plan(Path("plan"), plan, PlanOptions(**options))  # type: ignore[arg-type]
    return plan


def apply_saved(server: Server) -> ApplyResult:
    async def run() -> ApplyResult:
        access = read_kubeconfig(server.kubeconfig)
        async with RemoteCluster(access, "test") as cluster:
            return await apply_plan(Path("plan"), cluster, access.url, lambda text: None)

    return asyncio.run(run())


@pytest.mark.parametrize("mode", ["server-side", "client-side"])
def test_what_was_planned_is_done(server: Server, folder: Path, mode: str) -> None:
    assert len(keep(server, mode=mode).created) == 4
    carried = apply_saved(server)
    assert (carried.created, carried.refused) == (4, [])
    found = server.get("gadgets", "a")
    assert found is not None
    assert found["spec"] == {"size": 1}
    again = podless.plan("set.yaml", server=server, mode=mode)
    assert (again.exit_code, len(again.unchanged)) == (0, 4)


def test_plan_files_have_no_data_of_secrets(server: Server, folder: Path) -> None:
    keep(server)
    assert "opensesame" not in (folder / "plan").read_text()
    assert (folder / "plan").stat().st_mode & 0o077 == 0
    assert not apply_saved(server).refused
    secret = server.get("secrets", "door")
    assert secret is not None
    assert secret["data"] == {"password": "b3BlbnNlc2FtZQ=="}


def test_a_secret_whose_manifest_has_changed_is_refused(server: Server, folder: Path) -> None:
    keep(server)
    (folder / "set.yaml").write_text(SET.replace("opensesame", "other"))
    [refused] = apply_saved(server).refused
    assert "has changed since the plan was made" in refused
    assert server.get("secrets", "door") is None


def test_objects_that_have_changed_since_are_refused_one_by_one(server: Server, folder: Path) -> None:
    server.apply("set.yaml", manager="kubectl")
    (folder / "set.yaml").write_text(SET.replace("blue", "red").replace("size: 1", "size: 2"))
    assert len(keep(server).updated) == 2
    settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"more": "x"}}
    server.apply(settings, manager="other")
    carried = apply_saved(server)
    assert carried.updated == 1
    [refused] = carried.refused
    assert refused.startswith("ConfigMap default/settings: it has changed since the plan was made (resourceVersion ")


def test_a_status_may_change_meanwhile(server: Server, folder: Path) -> None:
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, labels: {a: %s}}\nspec: {containers: [{name: a, image: b}]}\n"
    (folder / "set.yaml").write_text(pod % "x")
    server.apply("set.yaml", manager="kubectl")
    (folder / "set.yaml").write_text(pod % "z")
    assert len(keep(server).updated) == 1
    status = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "status": {"message": "busy"}}
    server.apply(status, subresource="status")
    assert apply_saved(server).updated == 1


def test_what_was_created_or_deleted_since_is_refused(server: Server, folder: Path) -> None:
    (folder / "set.yaml").write_text(SET.partition("---\n")[2])
    server.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}})
    keep(server)
    server.delete("configmaps", "settings")
    server.create({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "door"}})
    refused = apply_saved(server).refused
    assert [one.partition(" since")[0] for one in refused] == [
        "ConfigMap default/settings: it has been deleted",
        "Secret default/door: it has been created",
    ]


def test_an_interrupted_plan_goes_on(server: Server, folder: Path) -> None:
    keep(server)
    steps = read_plan(folder / "plan")["steps"]
    assert [step["kind"] for step in steps] == ["CustomResourceDefinition", "Gadget", "ConfigMap", "Secret"]
    assert apply_saved(server).created == 4
    assert apply_saved(server).skipped == 4
    # the note of the third step was lost
    (folder / "plan.done").write_text("0\n1\n3\n")
    carried = apply_saved(server)
    assert (carried.skipped, carried.updated, carried.refused) == (4, 0, [])


def test_pruned_objects_are_deleted(server: Server, folder: Path) -> None:
    one = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, labels: {set: web}}\n"
    (folder / "set.yaml").write_text(one % "a" + "---\n" + one % "b")
    keep(server, mode="client-side")
    assert apply_saved(server).created == 2
    (folder / "set.yaml").write_text(one % "a")
    plan = keep(server, mode="client-side", prune="set=web")
    assert [change.identity.name for change in plan.deleted] == ["b"]
    assert apply_saved(server).deleted == 1
    assert server.get("configmaps", "b") is None


def test_what_the_plan_refuses_is_told(server: Server, folder: Path) -> None:
    (folder / "set.yaml").write_text(SET.replace("name: settings", "name: Settings"))
    keep(server)
    done = apply_saved(server)
    assert done.created == 3
    [refused] = done.refused
    assert "ConfigMap default/Settings" in refused


def test_another_user_applies_the_plan(server: Server, folder: Path) -> None:
    (folder / "set.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine}\n")
    group = "rbac.authorization.k8s.io"
    server.create(
        {
            "apiVersion": f"{group}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "eve"},
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "edit"},
            "subjects": [{"apiGroup": group, "kind": "User", "name": "eve"}],
        }
    )
    keep(server, user="eve")
    assert apply_saved(server).created == 1
    assert {request.user for request in server.requests if request.verb == "patch"} == {"eve"}


def test_another_api_is_refused(server: Server, folder: Path) -> None:
    keep(server)
    with Server(tls=False) as other, pytest.raises(CannotPlan, match="is another API"):
        apply_saved(other)


def test_commands(server: Server, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reach = ["--kubeconfig", str(server.kubeconfig)]
    assert main(["plan", "set.yaml", "--out", "plan", *reach]) == 2
    assert "Plan: 4 to create" in capsys.readouterr().out
    assert main(["apply", "plan", *reach]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "Applied: 4 created, 0 changed, 0 deleted, 0 rejected."
    assert main(["plan", "set.yaml", *reach, "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["summary"]["unchanged"] == 4
    assert main(["plan", "set.yaml", "--from-nothing", "--out", "plan"]) == 1
    assert "starts from files" in capsys.readouterr().err
    (folder / "no").write_text("{}")
    assert main(["apply", "no", *reach]) == 1
    assert "not a plan" in capsys.readouterr().err
