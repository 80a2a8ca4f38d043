"""podless import --audit-log, and what log, show and blame read from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from podless import Audit, Server
from podless.cli import main
from podless.cli.auditlog import _LogPosition, settle_revisions
from tests.conftest import Client

MAPS = "/api/v1/namespaces/default/configmaps"
POLICY = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": [{"level": "RequestResponse"}]}


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Any]]:
    """An audit log, and what the server itself told of one of its objects."""
    folder = tmp_path_factory.mktemp("audit")
    policy, file = folder / "policy.yaml", folder / "audit.log"
    policy.write_text(json.dumps(POLICY))
    with Server(audit=Audit(file, policy), tls=False) as server:
        client = Client(server.url, server.token)
        obj: dict[str, Any] = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}, "data": {"n": "0"}}
        client.send("POST", MAPS, obj)
        for number in range(1, 4):
            client.send("PUT", f"{MAPS}/one", obj | {"data": {"n": str(number)}})
        client.send("DELETE", f"{MAPS}/one", None)
        client.send("POST", f"{MAPS}?dryRun=All", obj)
        client.send("GET", MAPS, None)
        told = server.history("configmap", "one")
        client.close()
    return file, told


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(list(arguments))
    out, err = capsys.readouterr()
    return code, out, err


def test_the_history_is_the_one_that_the_server_has(
    audited: tuple[Path, list[Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, told = audited
    data = ("--data", str(tmp_path / "history"))
    code, out, _ = run(capsys, "import", "--audit-log", str(file), *data)
    assert code == 0
    assert "skipped 1 event: dry runs" in out
    _, out, _ = run(capsys, "log", "configmap", "one", "-o", "json", "--state", *data)
    found = [json.loads(line) for line in out.splitlines()][::-1]
    assert [one["operation"] for one in found] == ["create", "update", "update", "update", "delete"]
    for one, same in zip(found[:-1], told[:-1], strict=True):
        assert (one["revision"], one["state"], one["author"]["user"]) == (same.revision, same.obj, same.user)
        assert (one["author"]["verb"], one.get("fields")) == (same.verb, same.shown.get("fields"))
    assert found[-1]["revision"] > found[-2]["revision"]
    _, out, _ = run(capsys, "show", "cm", "one", "--at", str(told[1].revision), "-o", "json", *data)
    assert json.loads(out) == told[1].obj
    _, out, _ = run(capsys, "blame", "cm", "one", *data)
    assert [line.split()[0] for line in out.splitlines() if line.endswith('n: "3"')] == [str(told[3].revision)]
    assert run(capsys, "undo", "cm", "one", *data)[0] == 1


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "not an Event"),
        ('{"kind":"Event","apiVersion":"v1"}', "not an Event"),
        ('{"kind":"Event","apiVersion":"audit.k8s.io/v1","verb":1}', "verb is not a text"),
    ],
)
def test_a_line_that_is_no_event_is_named_and_nothing_is_imported(
    audited: tuple[Path, list[Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str, why: str
) -> None:
    file = tmp_path / "bad.log"
    file.write_bytes(audited[0].read_bytes() + line.encode() + b"\n")
    code, _, err = run(capsys, "import", "--audit-log", str(file), "--data", str(tmp_path / "history"))
    assert code == 1
    assert f"bad.log:{len(file.read_bytes().splitlines())}: {why}" in err
    assert list((tmp_path / "history").iterdir()) == []


def test_a_log_without_objects_and_a_folder_in_use_are_refused(
    audited: tuple[Path, list[Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, data = tmp_path / "metadata.log", ("--data", str(tmp_path / "history"))
    lines = [json.loads(line) for line in audited[0].read_text().splitlines()]
    file.write_text("".join(json.dumps(line | {"responseObject": None}) + "\n" for line in lines))
    code, _, err = run(capsys, "import", "--audit-log", str(file), *data)
    assert (code, "must use level RequestResponse" in err) == (1, True)
    assert run(capsys, "import", "--audit-log", str(audited[0]), *data)[0] == 0
    code, _, err = run(capsys, "import", "--audit-log", str(audited[0]), *data)
    assert (code, "already has a database" in err) == (1, True)


def test_a_delete_without_a_revision_is_behind_what_was_written_before() -> None:
    places = [
        _LogPosition(1, 1, 10, "/a"),
        _LogPosition(2, 2, 0, "/a"),
        _LogPosition(3, 3, 11, "/b"),
        _LogPosition(4, 4, 13, "/a"),
    ]
    assert [(one.number, one.revision) for one in settle_revisions(places)] == [(1, 10), (3, 11), (2, 12), (4, 13)]
    again = [*places, _LogPosition(5, 5, 13, "/a")]
    assert len(settle_revisions(again)) == 4


def test_a_folder_that_no_server_uses_is_read_without_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}, "data": {"n": "0"}}
    with Server(tmp_path, tls=False) as server:
        server.apply(obj)
        server.apply(obj | {"data": {"n": "1"}})
    _, out, _ = run(capsys, "log", "configmap", "one", "--data", str(tmp_path))
    assert [line.split()[2] for line in out.splitlines()] == ["update", "create"]
    _, out, _ = run(capsys, "log", "-n", "default", "--by", "nobody", "--data", str(tmp_path))
    assert out == ""
