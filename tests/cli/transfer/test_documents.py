"""Documents are read one at a time, in all forms that people have them in."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from podless.cli.transfer.documents import Documents, DocumentStream, ExportSink, Folder
from podless.codec.documents import BadDocument

MAP = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"%s"}}'


@pytest.mark.parametrize(
    "text",
    [
        MAP % "a" + "\n" + MAP % "b" + "\n",
        MAP % "a" + "\n\n" + MAP % "b",
        (MAP % "a").replace(",", ",\n") + "\n" + (MAP % "b").replace(",", ",\n"),
        '{"apiVersion":"v1","kind":"List","items":[' + MAP % "a" + ",\n" + MAP % "b" + "]}\n",
        "# text\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n--- # more\n---\n" + MAP % "b" + "\n",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n---\n" + MAP % "b",
    ],
)
def test_forms(tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.write_text(text)
    with Documents([str(file)]) as documents:
        for _ in range(2):
            found = [obj["metadata"]["name"] for each in documents for obj in each.read_objects(named=True)]
            assert found == ["a", "b"]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    with Documents(["-"]) as documents:
        assert [obj["metadata"]["name"] for each in documents for obj in each.read_objects(named=True)] == ["a", "b"]


def test_what_is_wrong_is_told_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "file.yaml"
    file.write_text("kind: A\n---\na: [\n---\n1\n")
    told = []
    for each in Documents([str(tmp_path)]):
        with pytest.raises(BadDocument) as caught:
            each.read_objects(named=True)
        told.append(str(caught.value).removeprefix(f"{file}:"))
    assert told[0] == told[2].replace("4:", "1:") == "1: an object needs apiVersion, kind and metadata.name"
    assert told[1].startswith("2: ")
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadDocument, match="no objects found"):
        Documents([str(tmp_path / "empty")])


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_what_is_written_is_read(tmp_path: Path, form: str) -> None:
    text = {"k": "yes", "n": "1e3", "long": "x " * 100, "lines": "a\n---\n b\n"}
    made = [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "n"}, "data": text}
        for name in ("a", "b")
    ]
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}
    sinks: list[ExportSink] = [DocumentStream(str(tmp_path / "file"), form), Folder(tmp_path / "folder", form)]
    for number, sink in enumerate(sinks):
        with sink:
            for obj in made:
                sink.put(obj, "configmaps")
            sink.put(space, "namespaces", needed=True)
        found = [
            obj
            for each in Documents([str(tmp_path / ("file", "folder")[number])])
            for obj in each.read_objects(named=True)
        ]
        assert found == [space, *made]
    assert (tmp_path / "folder" / "namespaces" / "n" / "configmaps" / f"a.{form}").exists()


def test_an_export_that_failed_leaves_nothing(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("old")

    def fail() -> None:
        with DocumentStream(str(file), "json") as sink:
            sink.put({"metadata": {"name": "a"}}, "things")
            raise ValueError("x")

    with pytest.raises(ValueError, match="x"):
        fail()
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
    assert file.read_text() == "old"


@pytest.mark.parametrize("metadata", [{"name": "../../x"}, {"name": "a", "namespace": ".."}, {"name": "a\0b"}])
def test_no_server_leads_an_export_out_of_its_folder(tmp_path: Path, metadata: dict[str, str]) -> None:
    with Folder(tmp_path / "to", "yaml") as folder, pytest.raises(BadDocument, match="an invalid name"):
        folder.put({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}, "configmaps")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
