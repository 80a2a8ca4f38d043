"""podless convert: older manifests in, definitions of v1 out, and what was lost on standard error."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
import yaml

from podless.cli import main
from tests.conftest import CRDS, Client, definition
from tests.kinds.declared import define

# as controller-tools wrote definitions for years: no scope for unknown fields, dates without a type, metadata: {}
PUBLISHED = """
apiVersion: apiextensions.k8s.io/v1beta1
kind: CustomResourceDefinition
metadata:
  creationTimestamp: null
  labels: {app.kubernetes.io/part-of: rollouts}
  name: rollouts.convert.example.com
spec:
  group: convert.example.com
  names: {kind: Rollout, listKind: RolloutList, plural: rollouts, shortNames: [ro], singular: rollout}
  scope: Namespaced
  subresources: {status: {}}
  additionalPrinterColumns:
  - {JSONPath: .spec.replicas, name: Desired, type: integer}
  validation:
    openAPIV3Schema:
      properties:
        apiVersion: {type: string}
        kind: {type: string}
        metadata: {}
        spec:
          properties:
            replicas: {type: integer, minimum: 0}
            maxSurge:
              anyOf:
              - type: integer
              - type: string
            history:
              items:
                properties:
                  at: {}
                  source: {description: where from}
                type: object
              type: array
            steps:
              uniqueItems: true
              items: {type: string}
              type: array
          required: [replicas]
          type: object
        status: {type: object}
      required: [metadata, spec]
  version: v1alpha1
  versions:
  - {name: v1alpha1, served: true, storage: true}
status:
  acceptedNames: {kind: "", plural: ""}
  conditions: []
  storedVersions: []
"""
THIRD = """
apiVersion: extensions/v1beta1
kind: ThirdPartyResource
metadata: {name: cron-tab.convert.example.com}
description: Runs something again and again
versions: [{name: v1}, {name: v2}]
"""
OTHER = "# a comment\napiVersion: v1\nkind: ConfigMap   # kept as it is\nmetadata: {name: a}\n"


def run(capsys: Any, *arguments: str) -> tuple[int, list[Any], str]:
    """Exit code, the manifests that were printed, and what was said."""
    code = main(["convert", *arguments])
    out, err = capsys.readouterr()
    return code, list(yaml.safe_load_all(out)), err


@pytest.fixture
def file(tmp_path: Path) -> Any:
    def write(text: str) -> str:
        path = tmp_path / "manifests.yaml"
        path.write_text(text)
        return str(path)

    return write


def test_a_published_definition(file: Any, capsys: Any) -> None:
    code, (made,), said = run(capsys, file(PUBLISHED))
    assert made["apiVersion"] == "apiextensions.k8s.io/v1"
    assert made["metadata"] == {
        "labels": {"app.kubernetes.io/part-of": "rollouts"},
        "name": "rollouts.convert.example.com",
    }
    (version,) = made["spec"].pop("versions")
    assert made["spec"] == {
        "group": "convert.example.com",
        "names": yaml.safe_load(PUBLISHED)["spec"]["names"],
        "scope": "Namespaced",
    }
    assert version["additionalPrinterColumns"] == [{"jsonPath": ".spec.replicas", "name": "Desired", "type": "integer"}]
    keep = {"x-kubernetes-preserve-unknown-fields": True}
    assert (
        version["schema"]["openAPIV3Schema"]
        == {
            "type": "object",
            "required": ["metadata", "spec"],
            "properties": {
                "apiVersion": {"type": "string"},
                "kind": {"type": "string"},
                "metadata": {"type": "object"},
                "spec": {
                    "type": "object",
                    "required": ["replicas"],
                    "properties": {
                        "replicas": {"type": "integer", "minimum": 0},
                        "maxSurge": {
                            "x-kubernetes-int-or-string": True,
                            "anyOf": [{"type": "integer"}, {"type": "string"}],
                        },
                        "history": {
                            "type": "array",
                            "items": {
                                "type": "object",
                                "properties": {"at": keep, "source": {"description": "where from"} | keep},
                            }
                            | keep,
                        },
                        "steps": {"type": "array", "items": {"type": "string"}},
                    },
                }
                | keep,
                "status": {"type": "object"} | keep,
            },
        }
        | keep
    )
    assert code == 1
    (lost,) = said.splitlines()
    assert lost.startswith("lost: ")
    assert "rollouts.convert.example.com: spec.versions[v1alpha1].schema.openAPIV3Schema." in lost
    assert lost.endswith("properties[spec].properties[steps].uniqueItems: was dropped: not supported")


def test_with_prune_unknown_fields_go(file: Any, capsys: Any) -> None:
    _, (made,), said = run(capsys, "--prune", file(PUBLISHED))
    schema = made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert "x-kubernetes-preserve-unknown-fields" not in schema
    assert "fields that the schema does not know are dropped" in said


def test_a_third_party_resource(capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(THIRD.encode())))
    code, (made,), said = run(capsys)
    assert (code, said) == (0, "")
    assert made["metadata"]["name"] == "crontabs.convert.example.com"
    assert made["spec"]["names"]["kind"] == "CronTab"
    assert [(version["name"], version["served"], version["storage"]) for version in made["spec"]["versions"]] == [
        ("v1", True, True),
        ("v2", True, False),
    ]
    assert made["spec"]["versions"][0]["schema"]["openAPIV3Schema"] == {
        "description": "Runs something again and again",
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": True,
    }


def test_what_is_made_is_taken_by_a_server_of_v1(file: Any, capsys: Any, client: Client) -> None:
    _, made, _ = run(capsys, file(f"{PUBLISHED}---{THIRD}"))
    assert len(made) == 2
    for one in made:
        assert client.post(CRDS, one).status == 201
    path = "/apis/convert.example.com/v1alpha1/namespaces/default/rollouts"
    obj = {"apiVersion": "convert.example.com/v1alpha1", "kind": "Rollout", "metadata": {"name": "a"}}
    spec = {"replicas": 1, "maxSurge": "25%", "history": [{"at": "now", "more": {"x": 1}}], "free": [1]}
    assert client.post(path, obj | {"spec": spec, "top": True}).body["spec"] == spec
    assert client.post(path, obj | {"spec": {"replicas": -1}}).status == 422
    for one in made:
        client.send("DELETE", f"{CRDS}/{one['metadata']['name']}")


def test_all_other_manifests_are_passed_on_as_they_are(file: Any, capsys: Any) -> None:
    current = yaml.safe_dump(definition("current.example.com"))
    assert main(["convert", file(f"---\n{OTHER}---\n# nothing here\n---\n{current}")]) == 0
    out, _ = capsys.readouterr()
    assert out == f"{OTHER}---\n{current}"


def test_lists_are_looked_into(file: Any, capsys: Any) -> None:
    items = [yaml.safe_load(THIRD), yaml.safe_load(OTHER)]
    _, (made,), _ = run(capsys, file(yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": items})))
    assert [one["kind"] for one in made["items"]] == ["CustomResourceDefinition", "ConfigMap"]


def test_a_schema_that_is_missing_keeps_everything(file: Any, capsys: Any) -> None:
    bare = yaml.safe_load(PUBLISHED)
    del bare["spec"]["validation"]
    code, (made,), said = run(capsys, file(yaml.safe_dump(bare)))
    assert made["spec"]["versions"][0]["schema"]["openAPIV3Schema"] == {
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": True,
    }
    assert code == 0
    assert "the schema is missing: every field is kept" in said
    assert run(capsys, "--quiet", file(yaml.safe_dump(bare)))[2] == ""


def test_versions_webhooks_and_approval(file: Any, capsys: Any) -> None:
    crd = yaml.safe_load(PUBLISHED)
    crd["metadata"]["name"] = "rollouts.sigs.k8s.io"
    schema = crd["spec"].pop("validation")
    crd["spec"] |= {
        "group": "sigs.k8s.io",
        "preserveUnknownFields": False,
        "versions": [
            {"name": "v1alpha1", "served": True, "storage": False, "schema": {"openAPIV3Schema": {"type": "object"}}},
            {"name": "v1", "served": True, "storage": True, "schema": schema},
        ],
        "conversion": {"strategy": "Webhook", "webhookClientConfig": {"url": "https://example.com/convert"}},
    }
    _, (made,), said = run(capsys, file(yaml.safe_dump(crd)))
    assert made["spec"]["conversion"] == {
        "strategy": "Webhook",
        "webhook": {"clientConfig": {"url": "https://example.com/convert"}, "conversionReviewVersions": ["v1beta1"]},
    }
    assert [version["subresources"] for version in made["spec"]["versions"]] == [{"status": {}}] * 2
    assert made["spec"]["versions"][0]["schema"] == {"openAPIV3Schema": {"type": "object"}}
    assert made["metadata"]["annotations"]["api-approved.kubernetes.io"].startswith("unapproved")
    assert "was added: v1 requires it in this group" in said


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (THIRD.replace("cron-tab.convert.example.com", "cron-tab.com"), "must be at least three segments long"),
        (THIRD.replace("[{name: v1}, {name: v2}]", "[]"), "versions: must name at least one version"),
        (
            PUBLISHED.replace("name: rollouts.convert", "name: other.convert"),
            'must be spec.names.plural+"."+spec.group',
        ),
        (PUBLISHED.replace("scope: Namespaced", "scope: 1"), "cannot unmarshal number into Go struct field"),
        ("a: [", "did not find expected node content"),
    ],
)
def test_what_cannot_be_converted_is_left_out(file: Any, capsys: Any, text: str, why: str) -> None:
    code, made, said = run(capsys, file(f"{OTHER}---\n{text}"))
    assert code == 2
    assert [one["kind"] for one in made] == ["ConfigMap"]
    assert said.startswith("podless: ")
    assert why in said
    assert "Traceback" not in said


def test_files_that_are_not_there(capsys: Any) -> None:
    code, made, said = run(capsys, "no-such-file.yaml")
    assert (code, made) == (2, [])
    assert said == "podless: no-such-file.yaml: no such file or directory\n"


def test_help_names_the_exit_codes(capsys: Any) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["convert", "--help"])
    assert ended.value.code == 0
    assert "Exit status:" in capsys.readouterr().out


def test_custom_resources_are_converted_as_their_definitions_declare(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    definition = define("[{between: [v1, v2], move: {spec.size: spec.replicas}}]")
    (tmp_path / "crd.yaml").write_text(yaml.safe_dump(definition))
    head = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}}
    other = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    given = [{**head, "spec": {"size": 3}}, other, {**head, "apiVersion": "example.com/v9"}]
    (tmp_path / "given.yaml").write_text(yaml.safe_dump_all(given))
    assert (
        main(["convert", "--to", "v2", "--definitions", str(tmp_path / "crd.yaml"), str(tmp_path / "given.yaml")]) == 2
    )
    told = capsys.readouterr()
    made = {**head, "apiVersion": "example.com/v2", "spec": {"replicas": 3}}
    assert list(yaml.safe_load_all(told.out)) == [made, other]
    assert told.err == f"podless: {tmp_path}/given.yaml[3] a: the definition has no version v9\n"


def test_a_conversion_needs_a_definition_with_the_version(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "crd.yaml").write_text(yaml.safe_dump(define("[{between: [v1, v2]}]")))
    assert main(["convert", "--to", "v3", str(tmp_path / "crd.yaml")]) == 2
    assert capsys.readouterr().err == "podless: no definition has a version v3; name definitions with --definitions\n"
    assert main(["convert", "--definitions", "x", str(tmp_path / "crd.yaml")]) == 2
    assert capsys.readouterr().err == "podless: --definitions requires --to\n"


def test_check_converts_custom_resources(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules = "[{from: v1, to: v2, set: {spec.hours: 'int(self.spec.time)'}}, {from: v2, to: v1}]"
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": {"time": "x"}}
    (tmp_path / "all.yaml").write_text(yaml.safe_dump_all([define(rules), widget]))
    assert main(["check", str(tmp_path / "all.yaml")]) == 1
    said = "error: declared conversion for example.com/v1, Kind=Widget failed: v1 to v2: spec.hours: type"
    assert said in capsys.readouterr().out
