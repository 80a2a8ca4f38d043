"""podless backup, restore and status, with servers that run and folders that none runs on."""

from __future__ import annotations

import json
import re
import signal
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from podless import Server
from podless.cli import main
from podless.store.etcd.settings import Etcd
from tests.conftest import CRDS, Client, definition, gadget
from tests.store.etcd.cluster import shared

pytestmark = pytest.mark.slow

GROUP = "backup.example.com"
OBJECTS = f"/apis/{GROUP}/v1/namespaces/default/gadgets"


def stopped(process: Any) -> None:
    process.popen.send_signal(signal.SIGTERM)
    process.popen.wait(60)


def engine(name: str) -> tuple[list[str], dict[str, Any]]:
    """A store of its own, as options of a command and of a server."""
    if name == "sqlite":
        return [], {}
    url, prefix = shared().url, f"/{uuid.uuid4().hex}"
    options = ["--store", "etcd", "--etcd-servers", url, "--etcd-prefix", prefix]
    return options, {"store": "etcd", "etcd": Etcd(servers=(url,), prefix=prefix)}


@pytest.mark.parametrize("target", ["sqlite", "etcd"])
@pytest.mark.parametrize("source", ["sqlite", "etcd"])
def test_a_running_server_is_backed_up_and_restored_elsewhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], source: str, target: str
) -> None:
    there, here = engine(source), engine(target)
    data, file = tmp_path / "data", tmp_path / "all.backup"
    with Server(data, **there[1]) as first:
        client, administrator = Client(first.url, first.token), first.token
        client.post(CRDS, definition(GROUP))
        made = [client.post(OBJECTS, gadget(GROUP, f"n{number}")).body for number in range(120)]
        following = quote(client.get(f"{OBJECTS}?limit=50").body["metadata"]["continue"])
        token = client.post("/api/v1/namespaces/default/serviceaccounts/default/token", {}).body["status"]["token"]
        assert main(["backup", str(file), "--data", str(data)]) == 0
        assert " records at revision " in capsys.readouterr().err
        assert file.stat().st_mode & 0o777 == 0o600
        seen = int(client.post(OBJECTS, gadget(GROUP, "lost")).body["metadata"]["resourceVersion"])
        client.close()
    # once more, from the store alone
    again = tmp_path / "again.backup"
    assert main(["backup", str(again), "--data", str(data), *there[0]]) == 0
    keys = [{json.loads(line).get("key") for line in each.read_text().splitlines()} for each in (file, again)]
    assert keys[0] < keys[1]

    folder = tmp_path / "other"
    assert main(["restore", str(file), "--data", str(folder), *here[0], "--bump-revision", "300"]) == 0
    with Server(folder, **here[1]) as second:
        client = Client(second.url, second.token)
        listed = client.get(OBJECTS).body
        assert {item["metadata"]["name"]: item["metadata"]["uid"] for item in listed["items"]} == {
            obj["metadata"]["name"]: obj["metadata"]["uid"] for obj in made
        }
        assert min(int(item["metadata"]["resourceVersion"]) for item in listed["items"]) > seen
        for old in (int(made[-1]["metadata"]["resourceVersion"]), seen):
            (event,) = client.events(f"{OBJECTS}?watch=1&resourceVersion={old}", 1)
            assert (event["type"], event["object"]["code"]) == ("ERROR", 410)
        assert client.get(f"{OBJECTS}?limit=50&continue={following}").status == 410
        assert client.post(OBJECTS, gadget(GROUP, "later")).status == 201
        assert Client(second.url, token).get("/api").status == 200  # tokens are good where the state is
        # what servers share is in etcd, and in its backups
        assert (second.token == administrator) == ((source, target) == ("etcd", "etcd"))
        client.close()


def test_an_etcd_that_servers_use_is_not_restored_into(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments, options = engine("etcd")
    file = tmp_path / "file"
    with Server(tmp_path / "data", **options):
        assert main(["backup", str(file), "--data", str(tmp_path / "data")]) == 0
        capsys.readouterr()
        assert main(["restore", str(file), *arguments]) == 1
        refused = r"podless: servers run on this etcd, such as \S+; stop them first\n"
        assert re.fullmatch(refused, capsys.readouterr().err)
    with Server(tmp_path / "data", **options):  # what was refused left nothing
        pass
    assert main(["restore", str(file), *arguments, "--bump-revision", "1"]) == 0
    assert main(["restore", str(file), "--store", "etcd"]) == 1
    assert capsys.readouterr().err.endswith("podless: --store etcd and --etcd-servers require each other\n")


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
    assert capsys.readouterr().err == f"podless: {tmp_path / 'none' / 'podless.db'}: no such database\n"


def test_a_damaged_database_is_not_taken_for_one_in_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "of another process"
    with Server(folder):
        pass
    assert (folder / "kubeconfig").exists()
    (folder / "podless.db").write_bytes(b"not a database at all, but long enough to look at" * 100)
    assert main(["backup", str(tmp_path / "file"), "--data", str(folder)]) == 1
    assert "not a podless database, or a damaged one" in capsys.readouterr().err


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


def test_a_status_of_several_servers_tells_who_leads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, options = engine("etcd")

    def told(server: Server) -> dict[str, Any]:
        assert main(["status", "--kubeconfig", str(server.kubeconfig), "-o", "json"]) == 0
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    with Server(tmp_path / "one", **options) as one, Server(tmp_path / "two", **options) as two:
        first, second = told(one), told(two)
        assert (first["engine"], first["leader"]) == ("etcd", "this server")
        assert re.fullmatch(r"\S+_[0-9]+_[-0-9a-f]{36}", second["leader"])
        assert second["revision"] > second["compacted"]
        assert second["size"] > 4096
        assert main(["status", "--kubeconfig", str(two.kubeconfig)]) == 0
        assert f"leader     {second['leader']}\n" in capsys.readouterr().out
