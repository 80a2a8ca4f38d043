"""Plans that start from nothing and from files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import podless
from podless.plan import Action, By, CannotPlan, Plan

SET = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: web}
data: {color: blue}
---
apiVersion: v1
kind: Namespace
metadata: {name: web}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: front, namespace: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: front}}
  template:
    metadata: {labels: {app: front}}
    spec: {containers: [{name: front, image: "front:1"}]}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "set.yaml").write_text(SET)
    return tmp_path


def plan(text: str, folder: Path, **options: Any) -> Plan:
    (folder / "new" / "set.yaml").write_text(text)
    return podless.plan("new", **options)


def test_namespaces_come_first(folder: Path) -> None:
    found = podless.plan("new")
    assert [change.identity.kind for change in found.created] == ["Namespace", "ConfigMap", "Deployment"]
    assert found.exit_code == 2
    assert found.summary() == "Plan: 3 to create, 0 to change, 0 to delete, 0 unchanged."
    assert [(one.identity.kind, one.identity.name) for one in found.others] == [("ServiceAccount", "default")]


def test_as_given_is_refused_where_the_namespace_comes_later(folder: Path) -> None:
    found = podless.plan("new", order="as-given")
    [refused] = found.refused
    assert (refused.message, refused.place) == ('namespaces "web" not found', "new/set.yaml:2:1")
    assert found.exit_code == 1


def test_a_refusal_has_the_place_of_its_field(folder: Path) -> None:
    [refused] = plan(SET.replace("replicas: 2", "replicas: -2"), folder).refused
    assert refused.place == "new/set.yaml:14:13"
    assert "must be greater than or equal to 0" in refused.message
    assert refused.code == 422


@pytest.mark.parametrize("mode", ["server-side", "client-side"])
def test_the_same_set_again_is_no_change(folder: Path, mode: str) -> None:
    found = podless.plan("new", source="new", mode=mode)
    assert (found.exit_code, len(found.unchanged)) == (0, 3)


@pytest.mark.parametrize("mode", ["server-side", "client-side"])
def test_a_changed_field_is_told_with_both_values(folder: Path, mode: str) -> None:
    (folder / "old.yaml").write_text(SET)
    found = plan(SET.replace("front:1", "front:2"), folder, source="old.yaml", mode=mode)
    [change] = found.updated
    field = next(entry for entry in change.fields if entry.path.endswith("image"))
    assert field.path == "spec.template.spec.containers[name=front].image"
    assert (field.before, field.after, field.by) == ("front:1", "front:2", By.SET)


def test_defaults_are_told_apart(folder: Path) -> None:
    change = podless.plan("new").find("Deployment", "front")
    by = {field.path: field.by for field in change.fields}
    assert by["spec.replicas"] is By.SET
    assert by["spec.strategy.type"] is By.SERVER


def test_what_policies_change_is_told_apart(folder: Path) -> None:
    (folder / "old.yaml").write_text(
        """\
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: team}
spec:
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: 'Object{metadata: Object.metadata{labels: {"team": "blue"}}}'}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: team}
spec: {policyName: team}
"""
    )
    change = podless.plan("new", source="old.yaml").find("ConfigMap", "settings")
    by = {field.path: (field.by, field.plugin) for field in change.fields}
    assert by["metadata.labels.team"] == (By.POLICY, "policies")
    assert by["data.color"] == (By.SET, "")


def test_definitions_and_their_objects_come_together(folder: Path) -> None:
    found = plan(
        """\
apiVersion: example.com/v1
kind: Gadget
metadata: {name: a}
spec: {size: 0}
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
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, properties: {size: {type: integer, minimum: 1}}}}
""",
        folder,
    )
    assert [change.identity.kind for change in found.created] == ["CustomResourceDefinition"]
    [refused] = found.refused
    assert refused.place == "new/set.yaml:4:14"
    assert "should be greater than or equal to 1" in refused.message


def test_unknown_kinds_are_refused_as_kubectl_does(folder: Path) -> None:
    [refused] = plan("apiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: a}\n", folder).refused
    assert refused.message.startswith('resource mapping not found for name: "a" namespace: "" from "new/set.yaml"')


def test_documents_that_are_no_objects_are_refused(folder: Path) -> None:
    found = plan("a: [\n---\nkind: ConfigMap\n", folder)
    assert [change.action for change in found.changes] == [Action.REFUSED] * 2
    assert "apiVersion" in found.changes[1].message.replace("ApiVersion", "apiVersion")


def test_bad_options_and_paths_raise(folder: Path) -> None:
    with pytest.raises(CannotPlan, match="unknown mode"):
        podless.plan("new", mode="magic")
    with pytest.raises(CannotPlan, match="does not exist"):
        podless.plan("nowhere")
    with pytest.raises(CannotPlan, match="does not exist"):
        podless.plan("new", source="nowhere")
    with pytest.raises(CannotPlan, match="--force-conflicts"):
        podless.plan("new", mode="replace", force=True)


async def test_it_can_be_called_beside_a_running_loop(folder: Path) -> None:
    assert podless.plan("new").exit_code == 2
