"""podless serve --at and backup --at: whole states of an earlier moment."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from podless.app import Settings, StartError
from podless.cli import main
from podless.cli.past import settle_past
from podless.remote.cluster import Refused
from podless.server import Server
from podless.store import backup
from podless.store.history import Keep

FOREVER = Keep(1e9, 1 << 40, 1 << 40)


@pytest.fixture
def folder(tmp_path: Path) -> tuple[Path, list[Any]]:
    """A folder in which an object was changed 40 times and is out of the window, and the states that it had."""
    data, made = tmp_path / "data", []
    with Server(data, history=Keep(1e9, 1 << 40, 5), history_log=FOREVER) as server:
        for number in range(40):
            obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}, "data": {"n": str(number)}}
            made += server.apply(obj)
        server.delete("configmap", "one")
    return data, made


def test_a_server_shows_an_earlier_state_and_takes_no_writes(folder: tuple[Path, list[Any]], tmp_path: Path) -> None:
    data, made = folder
    scratch = tmp_path / "at"
    scratch.mkdir()
    wanted = made[3]
    settings = settle_past(Settings(data=data), wanted["metadata"]["resourceVersion"], scratch)

    async def ask() -> None:
        async with Server(settings.data, read_only=True, garbage_delay=None) as server:
            assert await server.client.get("configmap", "one") == wanted
            with pytest.raises(Refused) as refused:
                await server.client.delete("configmap", "one")
            assert (refused.value.code, "the server is read-only" in str(refused.value)) == (403, True)

    asyncio.run(ask())
    with Server(data, history_log=FOREVER) as server:  # which is as it was
        assert server.get("configmap", "one") is None
        assert len(server.history("configmap", "one")) == 41


def test_what_cannot_be_is_said_in_one_line(folder: tuple[Path, list[Any]], tmp_path: Path) -> None:
    data, _ = folder
    with pytest.raises(StartError, match="is not a time"):
        settle_past(Settings(data=data), "noon", tmp_path)
    with pytest.raises(StartError, match="no such database"):
        settle_past(Settings(data=tmp_path / "none"), "1", tmp_path)
    with Server(data, history_log=FOREVER), pytest.raises(StartError, match="another server uses this folder"):
        settle_past(Settings(data=data), "1", tmp_path)


@pytest.mark.parametrize("running", [True, False])
def test_a_backup_has_an_earlier_state(folder: tuple[Path, list[Any]], tmp_path: Path, running: bool) -> None:
    data, made = folder
    file = tmp_path / "all.backup"
    arguments = ["backup", str(file), "--data", str(data), "--at", made[7]["metadata"]["resourceVersion"]]
    if running:
        with Server(data, history=Keep(1e9, 1 << 40, 5), history_log=FOREVER):
            assert main(arguments) == 0
    else:
        assert main(arguments) == 0
    lines = file.read_bytes().splitlines(keepends=True)
    assert backup.check_backup(lines).revision == int(made[7]["metadata"]["resourceVersion"])
    [one] = [each for each in backup.read_records(lines) if each.key == "/core/configmaps/default/one"]
    assert one.stored is not None
    assert b'"data":{"n":"7"}' in one.stored.data


def test_a_read_only_server_writes_nothing(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        server.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "gone", "finalizers": ["a.b/c"]}})
        web: Any = {"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}}}
        web["template"]["spec"] = {"containers": [{"name": "a", "image": "a"}]}
        server.apply({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": web})
        server.delete("namespace", "gone")
        server.at_rest()

    async def newest(server: Server) -> int:
        cluster = server._get_app().cluster
        assert cluster is not None
        assert cluster.store is not None
        return await cluster.store.read_revision()

    async def revision() -> int:
        async with Server(tmp_path, read_only=True, controllers=("deployment",)) as server:
            server.clock.advance(seconds=3600)
            await server.client.at_rest()
            return await newest(server)

    first = asyncio.run(revision())
    assert asyncio.run(revision()) == first
    with sqlite3.connect(tmp_path / "podless.db") as database:
        assert database.execute("SELECT max(revision) FROM log").fetchone() == (first,)


def test_a_plan_starts_from_a_folder_as_it_was(
    folder: tuple[Path, list[Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, made = folder
    file = tmp_path / "set.json"
    file.write_text(json.dumps({**made[3], "metadata": {"name": "one"}}))
    at = made[3]["metadata"]["resourceVersion"]
    same = ["plan", str(file), "--from", str(data), "--field-manager", "podless-test"]
    assert main([*same, "--at", at]) == 0
    assert f"Starting from {data} at {at}" in capsys.readouterr().out
    assert main(same) == 2  # the object is gone now
    assert main(["plan", str(file), "--at", at]) == 1
    assert "--at requires --from" in capsys.readouterr().err
