"""The rows that python -m tests.releases makes of two servers are those of the tables."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from podless import Server
from podless.apis.features import RECORDED
from podless.structs.structfiles import FOLDER
from tests import releases
from tests.conformance.wire import Client


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("dumps")
    for name in ("1.35", "1.36"):
        with Server(tls=False, kubernetes_version=name) as server:
            client = Client(server.url, server.token)

            def get(path: str, media: str, client: Client = client) -> Any:
                return json.loads(client.send("GET", path, headers={"Accept": media})[2])

            releases.dump(folder / name, get)
            client.close()
    return folder / "1.35", folder / "1.36"


def keep_dump(folder: Path, minor: int, versions: list[str], fields: list[str]) -> Path:
    """Keep what a server with one kind publishes."""
    resources = [{"resource": "jobs", "responseKind": {"kind": "Job"}}]
    served = [{"version": version, "resources": resources} for version in versions]
    schema = {"properties": {name: {"type": "string"} for name in fields}}
    documents = {
        "version": {"major": "1", "minor": str(minor)},
        "discovery": [{"metadata": {"name": "batch"}, "versions": served}],
        "openapi-apis-batch-v1": {"components": {"schemas": {"io.k8s.api.batch.v1.JobSpec": schema}}},
    }
    folder.mkdir()
    for name, document in documents.items():
        (folder / f"{name}.json").write_text(json.dumps(document))
    return folder


def test_rows_of_a_release_that_is_not_recorded_keep_the_others(tmp_path: Path) -> None:
    old = keep_dump(tmp_path / "old", RECORDED + 1, ["v1", "v1beta1"], ["managedBy"])
    new = keep_dump(tmp_path / "new", RECORDED + 2, ["v1", "v2"], ["x"])
    told = {(change.about, change.option or change.row) for change in releases.compare(old, new)}
    assert told == {
        ("v1beta1 jobs (Job)", f'releases={{"v1beta1": "-1.{RECORDED + 1}"}}'),
        ("v2 jobs (Job)", f'releases={{"v2": "1.{RECORDED + 2}-"}}'),
        ("JobSpec", f"before=1.{RECORDED + 2}"),
        ("JobSpec", f"ahead=1.{RECORDED + 2}"),
    }


@pytest.mark.slow
def test_kinds_and_fields_that_are_new_are_told(dumps: tuple[Path, Path]) -> None:
    told = [str(change) for change in releases.compare(*dumps)]
    assert (
        'admissionregistration/group.py: v1 mutatingadmissionpolicies (MutatingAdmissionPolicy): releases="1.36-"'
        in told
    )
    assert "storage/v1.fields: CSIDriverSpec: 11  preventPodSchedulingIfMissing       *bool since=1.36" in told


@pytest.mark.slow
def test_fields_that_are_gone_are_told(dumps: tuple[Path, Path]) -> None:
    told = {(change.about, change.name, change.option) for change in releases.compare(*reversed(dumps))}
    assert ("CSIDriverSpec", "preventPodSchedulingIfMissing", "until=1.36") in told


@pytest.mark.slow
def test_written_rows_are_those_of_the_tables(
    dumps: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(FOLDER, tmp_path / "apis", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    known = {file: file.read_text() for file in (tmp_path / "apis").glob("*/*.fields")}
    for file, text in known.items():
        if file.parent.name != "meta":  # the documents of all releases have the newest ListMeta
            file.write_text(text.replace(" since=1.36", ""))
    monkeypatch.setattr(releases, "FOLDER", tmp_path / "apis")
    assert releases.write([*releases.compare(*dumps)], tmp_path / "apis") > 3
    assert {file: file.read_text() for file in known} == known


@pytest.mark.parametrize(
    ("schema", "named"),
    [
        ({"type": "integer", "format": "int32"}, "int32"),
        ({"type": "array", "items": {"type": "string"}}, "[]string"),
        ({"type": "object", "additionalProperties": {"type": "string"}}, "map[string]string"),
        ({"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.Time"}, "time"),
        ({"allOf": [{"$ref": "#/components/schemas/io.k8s.api.core.v1.Taint"}], "default": {}}, "Taint"),
        ({"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.Status"}, "meta/v1.Status"),
    ],
)
def test_a_new_field_has_a_type(schema: dict[str, Any], named: str) -> None:
    assert releases._type("core/v1", schema) == named
