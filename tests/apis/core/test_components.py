"""The components of a control plane, and how they do."""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from podless.apis.core import components
from podless.http.tls import Certificates
from tests.conftest import Client

PATH = "/api/v1/componentstatuses"


class Scheduler:
    """Answers on a port of this machine."""

    def __init__(self, folder: Path) -> None:
        made = Certificates(folder)
        made.create_missing([])
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(*made.files)
        self.answer = b"HTTP/1.1 200 OK\r\n\r\nok"
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        self._ready.wait()

    def _run(self) -> None:
        async def serve() -> None:
            async def said(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                await reader.readuntil(b"\r\n\r\n")
                writer.write(self.answer)
                writer.close()

            server = await asyncio.start_server(said, "127.0.0.1", 0, ssl=self.context)
            self.port = server.sockets[0].getsockname()[1]
            self._end = asyncio.Event()
            self._ready.set()
            await self._end.wait()
            server.close()

        self._loop.run_until_complete(serve())
        self._loop.close()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join()


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[Scheduler]:
    running = Scheduler(tmp_path)
    yield running
    running.close()


def test_the_store_is_asked_and_so_are_its_neighbours(
    client: Client, scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(components, "_PORTS", {"controller-manager": 1, "scheduler": scheduler.port})
    listed = client.get(PATH).body
    assert (listed["kind"], listed["metadata"]) == ("ComponentStatusList", {})
    refused = 'Get "https://127.0.0.1:1/healthz": dial tcp 127.0.0.1:1: connect: connection refused'
    assert {one["metadata"]["name"]: one["conditions"] for one in listed["items"]} == {
        "controller-manager": [{"type": "Healthy", "status": "False", "message": refused}],
        "etcd-0": [{"type": "Healthy", "status": "True", "message": "ok"}],
        "scheduler": [{"type": "Healthy", "status": "True", "message": "ok"}],
    }
    scheduler.answer = b"HTTP/1.1 500 No\r\n\r\nnot ok"
    (condition,) = client.get(f"{PATH}/scheduler").body["conditions"]
    assert (condition["status"], condition["message"]) == ("False", "HTTP probe failed with statuscode: 500")
    scheduler.answer = b"what?"
    assert client.get(f"{PATH}/scheduler").body["conditions"][0]["status"] == "False"


def test_one_is_shown_and_selected_by_its_name(client: Client) -> None:
    assert client.get(f"{PATH}/etcd-0").body == {
        "kind": "ComponentStatus",
        "apiVersion": "v1",
        "metadata": {"name": "etcd-0"},
        "conditions": [{"type": "Healthy", "status": "True", "message": "ok"}],
    }
    assert client.get(f"{PATH}/none").status == 404
    chosen = client.get(f"{PATH}?fieldSelector=metadata.name=etcd-0").body["items"]
    assert [one["metadata"]["name"] for one in chosen] == ["etcd-0"]
    table = client.get(PATH, Accept="application/json;as=Table;g=meta.k8s.io;v=v1").body
    assert ["etcd-0", "Healthy", "ok", ""] in [row["cells"][:4] for row in table["rows"]]
    assert client.get(PATH, Accept="application/vnd.kubernetes.protobuf").status == 200
