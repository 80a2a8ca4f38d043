"""Other people's clusters: kubeconfigs with programs that give credentials, and proxies between."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from podless import Server
from podless.cli import main
from podless.remote.client import RemoteError
from podless.remote.cluster import Refused, RemoteCluster
from podless.remote.kubeconfig import read_kubeconfig


class Proxy:
    """A proxy that takes CONNECT. asked: the targets. port: where all connections really go."""

    def __init__(self, port: int) -> None:
        self.asked: list[str] = []
        self._port = port
        self._tasks: set[asyncio.Task[None]] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        method, target, _ = head.split(" ", 2)
        assert method == "CONNECT"
        self.asked.append(target)
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._port)
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        with suppress(ConnectionError):
            await asyncio.gather(_pass_on(reader, far_writer), _pass_on(far_reader, writer))


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(1 << 16):
        writer.write(data)
        await writer.drain()
    writer.close()


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as running:
        yield running


@pytest.fixture
async def proxy(server: Server) -> AsyncIterator[tuple[Proxy, str]]:
    found = Proxy(int(server.url.rpartition(":")[2]))
    listening = await asyncio.start_server(found.serve, "127.0.0.1", 0)
    yield found, f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    listening.close()


def changed(server: Server, folder: Path, *, cluster: Any = None, user: Any = None) -> Path:
    """The server's kubeconfig, with other entries."""
    config = yaml.safe_load(server.kubeconfig.read_text())
    config["clusters"][0]["cluster"] |= cluster or {}
    if user is not None:
        config["users"][0]["user"] = user
    path = folder / "config"
    path.write_text(json.dumps(config))
    return path


def plugin(folder: Path, tokens: list[str]) -> dict[str, Any]:
    """A program that gives one token after the other, and the last one again and again."""
    program = folder / "get-token"
    program.write_text(
        f"#!{sys.executable}\n"
        "import json, os, pathlib\n"
        "version = json.loads(os.environ['KUBERNETES_EXEC_INFO'])['apiVersion']\n"
        f"file = pathlib.Path({str(folder / 'runs')!r})\n"
        "runs = int(file.read_text()) if file.exists() else 0\n"
        "file.write_text(str(runs + 1))\n"
        f"tokens = {tokens!r}\n"
        "status = {'token': tokens[min(runs, len(tokens) - 1)]}\n"
        "print(json.dumps({'kind': 'ExecCredential', 'apiVersion': version, 'status': status}))\n"
    )
    program.chmod(0o755)
    return {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": str(program),
            "interactiveMode": "IfAvailable",
        }
    }


def token(server: Server) -> str:
    return read_kubeconfig(server.kubeconfig).token


async def test_a_token_that_is_refused_is_asked_for_anew_once(server: Server, tmp_path: Path) -> None:
    path = changed(server, tmp_path, user=plugin(tmp_path, ["stale", token(server)]))
    async with RemoteCluster(read_kubeconfig(path), "test") as cluster:
        for _ in range(2):
            assert (await cluster.send("GET", "/api/v1/namespaces/default"))["kind"] == "Namespace"
    assert (tmp_path / "runs").read_text() == "2"


async def test_a_program_without_a_good_token_is_not_asked_for_ever(server: Server, tmp_path: Path) -> None:
    path = changed(server, tmp_path, user=plugin(tmp_path, ["stale"]))
    async with RemoteCluster(read_kubeconfig(path), "test") as cluster:
        with pytest.raises(Refused) as caught:
            await cluster.send("GET", "/api/v1/namespaces/default")
    assert caught.value.code == 401
    assert (tmp_path / "runs").read_text() == "2"


async def test_a_proxy_of_the_kubeconfig_leads_to_a_server_that_has_no_address_here(
    server: Server, proxy: tuple[Proxy, str], tmp_path: Path
) -> None:
    between, url = proxy
    cluster = {"server": "https://far.invalid:6443", "proxy-url": url, "tls-server-name": "localhost"}
    path = changed(server, tmp_path, cluster=cluster)
    async with RemoteCluster(read_kubeconfig(path), "test") as remote:
        assert (await remote.send("GET", "/api/v1/namespaces/default"))["kind"] == "Namespace"
        await remote.read("/openapi/v2")
    assert set(between.asked) == {"far.invalid:6443"}


async def test_a_proxy_of_the_environment_is_taken_unless_excepted(
    server: Server, proxy: tuple[Proxy, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    between, url = proxy
    monkeypatch.setenv("HTTPS_PROXY", url)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    path = changed(server, tmp_path, cluster={"server": "https://far.invalid", "tls-server-name": "localhost"})
    async with RemoteCluster(read_kubeconfig(path), "test") as remote:
        await remote.send("GET", "/api/v1/namespaces/default")
    assert between.asked == ["far.invalid:443"]
    monkeypatch.setenv("NO_PROXY", "invalid")
    async with RemoteCluster(read_kubeconfig(path), "test") as remote:
        with pytest.raises(RemoteError):
            await remote.read("/version")
    assert len(between.asked) == 1


def test_commands_take_programs_and_tell_what_fails(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = changed(server, tmp_path, user=plugin(tmp_path, [token(server)]))
    manifest = tmp_path / "map.yaml"
    manifest.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: taken, namespace: default}\n")
    assert main(["import", str(manifest), "--kubeconfig", str(path)]) == 0
    assert main(["export", "--kubeconfig", str(path), "configmaps"]) == 0
    assert "name: taken" in capsys.readouterr().out
    name = yaml.safe_load(path.read_text())["current-context"]
    assert main(["check", str(manifest), "--kubeconfig", str(path), "--context", name]) == 0
    (tmp_path / "get-token").unlink()
    assert main(["export", "configmaps", "--kubeconfig", str(path)]) == 1
    assert f"executable {tmp_path}/get-token not found" in capsys.readouterr().err
