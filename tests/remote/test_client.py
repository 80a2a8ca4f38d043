from __future__ import annotations

import asyncio
import contextlib
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator

import pytest

from podless.codec import serializer
from podless.remote import CallTimeout, RemoteError, WebhookClient, WebhookTarget
from tests.webhooks import Raw, webhook


@pytest.fixture
async def client() -> AsyncIterator[WebhookClient]:
    client = WebhookClient()
    yield client
    await client.close()


async def test_a_call_sends_json_and_says_how_long_it_may_take(client: WebhookClient) -> None:
    with webhook(lambda body: {"echo": body}) as hook:
        target = WebhookTarget.from_config(hook.config)
        assert await client.post_json(target, b'{"a":1}', seconds=30) == b'{"echo": {"a": 1}}'
        assert hook.paths == ["/hook?timeout=30s"]
        assert hook.headers[0]["Content-Type"] == "application/json"


async def test_connections_are_kept(client: WebhookClient) -> None:
    ports = set()
    with webhook(lambda body: {}) as hook:
        for _ in range(3):
            await client.post_json(WebhookTarget.from_config(hook.config), b"{}", seconds=5)
            ports.add(hook.headers[-1].get("Host"))
    assert len(ports) == 1


def test_query_and_user_of_a_url_are_left_out() -> None:
    assert (
        WebhookTarget.from_config({"url": "https://u:p@example.com:8443/a/b?c=d#e"}).url
        == "https://example.com:8443/a/b"
    )


def test_a_service_is_a_name_in_the_cluster() -> None:
    target = WebhookTarget.from_config({"service": {"namespace": "tools", "name": "hooks", "path": "/convert"}})
    assert target == WebhookTarget("https://hooks.tools.svc:443/convert", b"", "tools/hooks:443")


@pytest.mark.parametrize("key", ["tools/hooks", "tools/hooks:8443"])
async def test_a_service_is_found_where_it_was_said_to_be(key: str) -> None:
    with webhook(lambda body: {"from": "service"}, names=("hooks.tools.svc",)) as hook:
        client = WebhookClient({key: f"127.0.0.1:{hook.port}"})
        config = {"service": {"namespace": "tools", "name": "hooks", "port": 8443}, "caBundle": hook.bundle}
        assert await client.post_json(WebhookTarget.from_config(config), b"{}", seconds=5) == b'{"from": "service"}'
        await client.close()


async def test_a_service_that_nobody_knows(client: WebhookClient) -> None:
    target = WebhookTarget.from_config({"service": {"namespace": "tools", "name": "hooks"}})
    with pytest.raises(RemoteError) as caught:
        await client.post_json(target, b"{}", seconds=5)
    assert str(caught.value) == 'Post "https://hooks.tools.svc:443/?timeout=5s": service "hooks" not found'


async def test_nobody_listens(client: WebhookClient) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        with pytest.raises(RemoteError) as caught:
            await client.post_json(WebhookTarget(f"https://127.0.0.1:{port}/x"), b"{}", seconds=5)
    where = f'Post "https://127.0.0.1:{port}/x?timeout=5s"'
    assert str(caught.value) == f"{where}: dial tcp 127.0.0.1:{port}: connect: connection refused"


async def test_a_certificate_of_somebody_else(client: WebhookClient) -> None:
    with webhook(lambda body: {}) as hook, webhook(lambda body: {}) as other:
        with pytest.raises(RemoteError) as caught:
            await client.post_json(
                WebhookTarget.from_config(hook.config | {"caBundle": other.bundle}), b"{}", seconds=5
            )
        why = "x509: invalid signature: parent certificate cannot sign this kind of certificate"
        assert str(caught.value).endswith(
            ": tls: failed to verify certificate: x509: certificate signed by unknown authority (possibly because of"
            f' "{why}" while trying to verify candidate authority certificate "webhook")'
        )
        assert not hook.calls


async def test_a_certificate_for_another_name(client: WebhookClient) -> None:
    with webhook(lambda body: {}, names=("elsewhere.example.com",)) as hook:
        target = WebhookTarget.from_config({"url": f"https://localhost:{hook.port}/", "caBundle": hook.bundle})
        with pytest.raises(RemoteError, match=r"certificate is valid for elsewhere\.example\.com, not localhost"):
            await client.post_json(target, b"{}", seconds=5)
        assert not hook.calls


async def test_plain_http_behind_an_https_url(client: WebhookClient) -> None:
    refused = pytest.raises(RemoteError, match="http: server gave HTTP response to HTTPS client")
    with webhook(lambda body: {}, tls=False) as hook, refused:
        await client.post_json(WebhookTarget(hook.url), b"{}", seconds=5)


async def test_an_answer_that_does_not_come(client: WebhookClient) -> None:
    go = threading.Event()

    def answer(body: object) -> object:
        go.wait(60)
        return {}

    with webhook(answer) as hook:
        with pytest.raises(CallTimeout, match=r"\?timeout=1s\": context deadline exceeded$"):
            await client.post_json(WebhookTarget.from_config(hook.config), b"{}", seconds=1)
        go.set()


async def test_calls_end_with_the_client(client: WebhookClient) -> None:
    go, asked = threading.Event(), threading.Event()

    def answer(body: object) -> object:
        asked.set()
        go.wait(60)
        return {}

    with webhook(answer) as hook:
        call = asyncio.create_task(client.post_json(WebhookTarget.from_config(hook.config), b"{}", seconds=60))
        await asyncio.to_thread(asked.wait)
        await client.close()
        with pytest.raises(RemoteError):
            await call
        with pytest.raises(RemoteError, match="the server is shutting down"):
            await client.post_json(WebhookTarget.from_config(hook.config), b"{}", seconds=60)
        go.set()


async def test_an_answer_that_does_not_end(client: WebhookClient) -> None:
    refused = pytest.raises(RemoteError, match="larger than 100000 bytes")
    with webhook(lambda body: Raw((200, "application/json", b"x" * 100_001))) as hook, refused:
        await client.post_json(WebhookTarget.from_config(hook.config), b"{}", seconds=5, limit=100_000)


async def test_a_connection_that_is_closed_without_an_answer(client: WebhookClient) -> None:
    async def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    with pytest.raises(RemoteError):
        await client.post_json(WebhookTarget(f"https://127.0.0.1:{port}/"), b"{}", seconds=5)
    server.close()
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(server.wait_closed(), 1)


@pytest.mark.parametrize(
    ("status", "media", "body", "told"),
    [
        (
            500,
            "text/plain",
            b"it broke\n",
            'an error on the server ("it broke") has prevented the request from succeeding',
        ),
        (
            500,
            "application/json",
            b"{}",
            'an error on the server ("unknown") has prevented the request from succeeding',
        ),
        (404, "text/plain", b"gone", "the server could not find the requested resource"),
        (403, "text/plain", b"not you", "not you"),
        (302, "text/plain", b"", "the server responded with the status code 302 but did not return more information"),
        (500, "application/json", b'{"kind":"Status","apiVersion":"v1","message":"own words"}', "own words"),
    ],
)
async def test_answers_that_are_no_success(
    client: WebhookClient, status: int, media: str, body: bytes, told: str
) -> None:
    with webhook(lambda _: Raw((status, media, body))) as hook:
        with pytest.raises(RemoteError) as caught:
            await client.post_json(WebhookTarget.from_config(hook.config), b"{}", seconds=5)
        assert str(caught.value) == told


async def test_little_is_read_of_an_answer_that_is_no_success(
    client: WebhookClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    real = serializer.decode_json

    def decode(raw: bytes) -> object:
        read.append(len(raw))
        return real(raw)

    monkeypatch.setattr(serializer, "decode_json", decode)
    body = b'{"kind":"Status","message":"no","items":[%b1]}'
    for many, said in ((10, "no"), (300_000, r'an error on the server \("unknown"\) has prevented')):
        with webhook(lambda _, many=many: Raw((500, "application/json", body % (b"1," * many)))) as hook:  # type: ignore[misc]
            with pytest.raises(RemoteError, match=said):
                await client.post_json(WebhookTarget.from_config(hook.config), b"{}", seconds=5)
            await client.close()
            client._closed = False
    assert max(read) <= 1 << 17


IMPORTS = """
import asyncio, sys, threading
from podless.offload.offloop import OffLoop
from podless.codec import serializer
from podless.remote import RemoteError, WebhookClient, WebhookTarget

found = []

class Finder:
    def find_spec(self, name, path=None, target=None):
        if threading.current_thread() is threading.main_thread():
            found.append(name)

async def main():
    off_loop = OffLoop()
    client = WebhookClient(off_loop=off_loop)
    sys.meta_path.insert(0, Finder())
    try:
        await client.post_json(WebhookTarget("https://127.0.0.1:1/x"), b"{}", seconds=5)
    except RemoteError:
        pass
    await client.close()
    off_loop.close()

asyncio.run(main())
print(sum(name.startswith(("aiohttp", "cryptography")) for name in found))
"""


def test_the_first_call_imports_little_on_the_event_loop() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 5
