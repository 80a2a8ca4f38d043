"""podless.Server: the API inside a Python program."""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
import ssl
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path

import pytest

import podless
from podless import Server, StartError
from podless.runtime.watchdog import Work
from tests.conftest import CRDS, Client, definition, gadget


def test_it_serves_within_the_block_and_is_gone_after_it() -> None:
    with Server() as server:
        assert Client(server.url, server.token).get("/readyz").body == b"ok"
        kubeconfig = json.loads(server.kubeconfig.read_text())
        assert kubeconfig["clusters"][0]["cluster"]["server"] == server.url
        assert kubeconfig["users"][0]["user"]["token"] == server.token
        url, path = server.url, server.kubeconfig
    assert not path.exists()
    with pytest.raises(OSError, match="refused"):
        Client(url, "").get("/readyz")
    for stopped in (server, Server()):
        with pytest.raises(RuntimeError, match="not running"):
            _ = stopped.url
        with pytest.raises(RuntimeError, match="not running"):
            stopped.get("configmap", "a")
        with pytest.raises(RuntimeError, match="not running"):
            _ = stopped.typed


def test_its_authority_verifies_it() -> None:
    with Server() as server:
        context = ssl.create_default_context(cafile=server.authority)
        with urllib.request.urlopen(f"{server.url}/livez", context=context) as answer:
            assert answer.read() == b"ok"


async def test_it_runs_on_the_loop_of_asynchronous_code() -> None:
    before = [thread.name for thread in threading.enumerate()].count("podless")
    async with Server() as server:
        client = Client(server.url, server.token)
        answer = await asyncio.to_thread(client.get, "/api/v1/namespaces/default")
        assert answer.body["status"] == {"phase": "Active"}
        during = [thread.name for thread in threading.enumerate()].count("podless")
    assert during == before


def test_any_number_live_beside_each_other() -> None:
    with Server() as one, Server() as other:
        first, second = Client(one.url, one.token), Client(other.url, other.token)
        assert first.post(CRDS, definition("one.example.com")).status == 201
        assert first.get("/apis/one.example.com/v1/gadgets").status == 200
        assert second.get("/apis/one.example.com/v1/gadgets").status == 404
        assert second.send("GET", "/api", Authorization=f"Bearer {one.token}").status == 401


def test_it_keeps_its_data_in_a_folder(tmp_path: Path) -> None:
    with Server(tmp_path / "data") as server:
        client = Client(server.url, server.token)
        client.post(CRDS, definition("kept.example.com"))
        client.post("/apis/kept.example.com/v1/namespaces/default/gadgets", gadget("kept.example.com", "one"))
    with Server(str(tmp_path / "data")) as server:
        listed = Client(server.url, server.token).get("/apis/kept.example.com/v1/gadgets").body
    assert [item["metadata"]["name"] for item in listed["items"]] == ["one"]


def test_it_can_do_without_tls() -> None:
    with Server(tls=False) as server:
        assert server.url.startswith("http://127.0.0.1:")
        assert Client(server.url, server.token).get("/readyz").status == 200


def test_a_start_that_fails_says_why(tmp_path: Path) -> None:
    with pytest.raises(StartError, match="plain HTTP is served on loopback only"), Server(tls=False, bind="0.0.0.0"):
        pass
    (tmp_path / "podless.db").write_text("nothing of ours" * 1000)
    with pytest.raises(StartError, match="not a podless database"), Server(tmp_path):
        pass


def test_a_folder_with_another_programs_database_stays_as_it_is(tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / "podless.db")
    database.execute("CREATE TABLE other (name)")
    database.close()
    (tmp_path / "token").write_text("other")
    places = (tmp_path, tmp_path / "podless.db", tmp_path / "token")
    for place in places:
        place.chmod(0o755)
    before = [(place.stat().st_mode, place.stat().st_mtime_ns) for place in places]
    with pytest.raises(StartError, match="this is another program's database"), Server(tmp_path):
        pass
    assert [(place.stat().st_mode, place.stat().st_mtime_ns) for place in places] == before
    assert {place.name for place in tmp_path.iterdir()} == {"podless.db", "token"}


async def test_a_start_that_fails_in_asynchronous_code_says_why(tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text("x")
    with pytest.raises(StartError, match="line 1"):
        async with Server(token_file=tmp_path / "tokens"):
            pass


def test_what_a_server_is_told_can_be_had_from_the_package() -> None:
    for name in podless.__all__:
        assert getattr(podless, name) is not None
        assert name in dir(podless)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = podless.nothing
    with Server(limits=podless.Limits(connections=2), audit=None, oidc=None):
        pass


def test_a_program_that_configures_no_log_sees_none() -> None:
    code = "import logging, podless; logging.getLogger('podless').error('seen')"
    for first, seen in (("", ""), ("import logging; logging.basicConfig();", "ERROR:podless:seen\n")):
        done = subprocess.run([sys.executable, "-c", first + code], capture_output=True, text=True, check=True)
        assert done.stderr == seen


def test_slow_steps_of_a_server_in_a_program_are_logged_as_information(caplog: pytest.LogCaptureFixture) -> None:
    with Server() as server, caplog.at_level(logging.INFO):
        assert server._app is not None
        assert server._app.cluster is not None
        server._app.cluster.api.watchdog.report_block(1.0, Work("request", "get", "zoe", "/api"))
        (record,) = [each for each in caplog.records if "held the loop" in each.message]
        assert record.levelno == logging.INFO


def test_importing_the_package_does_not_import_the_server() -> None:
    code = "import podless, sys; print('asyncio' in sys.modules, podless.__version__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("False ")
