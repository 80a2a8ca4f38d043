"""The rows that python -m tests.releases makes of two servers are those of the tables."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from podless import Server
from podless.structs.structfiles import FOLDER
from tests import releases
from tests.conformance.wire import Client

pytestmark = pytest.mark.slow


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


def test_kinds_and_fields_that_are_new_are_told(dumps: tuple[Path, Path]) -> None:
    told = [str(change) for change in releases.compare(*dumps)]
    assert (
        'admissionregistration/group.py: v1 mutatingadmissionpolicies (MutatingAdmissionPolicy): releases="1.36-"'
        in told
    )
    assert "storage/v1.fields: CSIDriverSpec: 11  preventPodSchedulingIfMissing       *bool since=1.36" in told


def test_fields_that_are_gone_are_told(dumps: tuple[Path, Path]) -> None:
    told = {(change.about, change.name, change.option) for change in releases.compare(*reversed(dumps))}
    assert ("CSIDriverSpec", "preventPodSchedulingIfMissing", "until=1.36") in told


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
