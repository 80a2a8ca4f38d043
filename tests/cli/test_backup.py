"""podless backup, restore and status, with servers that run and folders that none runs on."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from podless.cli import main
from tests.conftest import CRDS, Client, definition, gadget

GROUP = "backup.example.com"
OBJECTS = f"/apis/{GROUP}/v1/namespaces/default/gadgets"


def stopped(process: Any) -> None:
    process.popen.send_signal(signal.SIGTERM)
    process.popen.wait(10)


def test_a_running_server_is_backed_up_and_restored_elsewhere(
    serve: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = serve()
    client = Client(first.url, first.token)
    client.post(CRDS, definition(GROUP))
    made = [client.post(OBJECTS, gadget(GROUP, f"n{number}")).body for number in range(120)]
    token = client.post("/api/v1/namespaces/default/serviceaccounts/default/token", {}).body["status"]["token"]
    file = tmp_path / "all.backup"
    assert main(["backup", str(file), "--data", str(first.folder)]) == 0
    assert " records at revision " in capsys.readouterr().err
    assert file.stat().st_mode & 0o777 == 0o600
    stopped(first)
    # once more, from the folder alone: nothing was written in between
    again = tmp_path / "again.backup"
    assert main(["backup", str(again), "--data", str(first.folder)]) == 0
    keys = [{json.loads(line).get("key") for line in each.read_text().splitlines()} for each in (file, again)]
    assert keys[0] <= keys[1]

    folder = tmp_path / "other"
    assert main(["restore", str(file), "--data", str(folder)]) == 0
    second = serve(folder=folder)
    client = Client(second.url, second.token)
    listed = client.get(OBJECTS).body
    assert {item["metadata"]["name"]: item["metadata"]["uid"] for item in listed["items"]} == {
        obj["metadata"]["name"]: obj["metadata"]["uid"] for obj in made
    }
    newest = max(int(obj["metadata"]["resourceVersion"]) for obj in made)
    assert min(int(item["metadata"]["resourceVersion"]) for item in listed["items"]) > newest
    (event,) = client.events(f"{OBJECTS}?watch=1&resourceVersion={newest}", 1)
    assert (event["type"], event["object"]["code"]) == ("ERROR", 410)
    assert client.post(OBJECTS, gadget(GROUP, "later")).status == 201
    assert Client(second.url, token).get("/api").status == 200  # tokens are good where the state is


def test_what_is_no_backup_changes_nothing(serve: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    process = serve()
    (tmp_path / "file").write_text("{}\n")
    assert main(["restore", str(tmp_path / "file"), "--data", str(process.folder)]) == 1
    assert capsys.readouterr().err == f"podless: {tmp_path / 'file'}: not a backup of podless\n"
    file = tmp_path / "good"
    assert main(["backup", str(file), "--data", str(process.folder)]) == 0
    capsys.readouterr()
    assert main(["restore", str(file), "--data", str(process.folder)]) == 1
    assert "another process is using this database" in capsys.readouterr().err
    assert main(["backup", str(file), "--data", str(tmp_path / "none")]) == 1
    assert capsys.readouterr().err == f"podless: {tmp_path / 'none' / 'podless.db'}: there is no database\n"


def test_a_status_tells_what_there_is(serve: Any, capsys: pytest.CaptureFixture[str]) -> None:
    process = serve()
    client = Client(process.url, process.token)
    client.get("/api/v1/namespaces")
    assert main(["status", "--data", str(process.folder), "-o", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["engine"] == "sqlite"
    assert told["kinds"]["namespaces"]["objects"] == len(client.get("/api/v1/namespaces").body["items"])
    assert told["size"] > 4096
    assert main(["status", "--data", str(process.folder)]) == 0
    text = capsys.readouterr().out
    assert f"revision   {told['revision']}\n" in text
    assert "engine     sqlite, " in text
    nobody = Client(process.url, "")
    assert nobody.get("/podless/status", Authorization="").status == 403
    assert nobody.get("/podless/backup", Authorization="").status == 403
    assert client.get("/podless/none").status == 404
    assert client.get("/podless/backup?revision=x").status == 400
