"""Facts about watches over WebSocket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless import Server
from podless.http import websocket
from tests.conftest import Client

PLACE = "/api/v1/namespaces/default/configmaps"
WATCH = f"{PLACE}?watch=true&fieldSelector=metadata.name%3Dseen"
TIME = aiohttp.ClientTimeout(total=60)


@pytest.fixture
async def session(server: Server) -> AsyncIterator[aiohttp.ClientSession]:
    headers = {"Authorization": f"Bearer {server.token}", "Origin": server.url}
    connector = aiohttp.TCPConnector(ssl=False)
    async with aiohttp.ClientSession(server.url, headers=headers, connector=connector, timeout=TIME) as made:
        yield made


async def send(client: Client, method: str, path: str, body: Any = None) -> int:
    return (await asyncio.to_thread(client.send, method, path, body)).status


async def test_each_event_is_a_message_of_text(session: aiohttp.ClientSession, client: Client) -> None:
    async with session.ws_connect(f"{WATCH}&timeoutSeconds=100") as socket:
        for method, path, body in (
            ("POST", PLACE, {"metadata": {"name": "seen"}, "data": {"long": "x" * 100_000}}),
            ("DELETE", f"{PLACE}/seen", None),
        ):
            await send(client, method, path, body)
            message = await socket.receive()
            assert message.type is aiohttp.WSMsgType.TEXT
            event = json.loads(message.data)
            assert (event["type"], event["object"]["metadata"]["name"]) == (
                {"POST": "ADDED", "DELETE": "DELETED"}[method],
                "seen",
            )


async def test_initial_events_are_messages_too(session: aiohttp.ClientSession) -> None:
    selector = "labelSelector=kubernetes.io/metadata.name+in+(default,kube-system)"
    async with session.ws_connect(f"/api/v1/namespaces?watch=true&timeoutSeconds=100&{selector}") as socket:
        names = [json.loads((await socket.receive()).data)["object"]["metadata"]["name"] for _ in range(2)]
    assert names == ["default", "kube-system"]


async def test_protobuf_comes_as_binary_messages_without_a_length(session: aiohttp.ClientSession) -> None:
    accept = {"Accept": "application/vnd.kubernetes.protobuf;stream=watch"}
    path = "/api/v1/namespaces?watch=true&fieldSelector=metadata.name%3Ddefault"
    async with session.ws_connect(path, headers=accept) as socket:
        message = await socket.receive()
        assert message.type is aiohttp.WSMsgType.BINARY
        assert message.data.startswith(b"\x0a\x05ADDED")


async def test_a_watch_that_is_over_closes_in_order(session: aiohttp.ClientSession) -> None:
    async with session.ws_connect(f"{WATCH}&timeoutSeconds=1") as socket:
        message = await socket.receive()
        assert (message.type, message.data) == (aiohttp.WSMsgType.CLOSE, 1000)


async def test_pings_are_answered_and_data_is_ignored(session: aiohttp.ClientSession) -> None:
    async with session.ws_connect(WATCH, autoping=False) as socket:
        await socket.send_bytes(b"y" * 70_000)
        await socket.ping(b"there?")
        message = await socket.receive()
        assert (message.type, message.data) == (aiohttp.WSMsgType.PONG, b"there?")
        assert await socket.close()


async def test_what_is_refused_is_refused_over_http(session: aiohttp.ClientSession) -> None:
    with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
        await session.ws_connect("/api/v1/nothing?watch=true")
    assert caught.value.status == 404


@pytest.mark.parametrize(
    ("header", "value", "status"),
    [("Sec-WebSocket-Version", "8", 400), ("Origin", "", 403), ("Sec-WebSocket-Protocol", "a, b", 400)],
)
async def test_who_asks_in_the_wrong_way_is_refused(
    session: aiohttp.ClientSession, header: str, value: str, status: int
) -> None:
    headers = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Key": "x", "Sec-WebSocket-Version": "13"}
    async with session.get(WATCH, headers=headers | {header: value}) as answer:
        assert answer.status == status


async def test_what_is_no_watch_is_answered_over_http(session: aiohttp.ClientSession) -> None:
    headers = {"Upgrade": "websocket", "Connection": "Upgrade"}
    async with session.get(PLACE, headers=headers) as answer:
        assert answer.status == 200


class Told:
    def __init__(self) -> None:
        self.said: list[bytes] = []

    def send_pong(self, data: bytes) -> None:
        self.said.append(data)

    send_close = send_pong


def masked(operation: int, payload: bytes, mask: bytes) -> bytes:
    """A frame as a client sends it."""
    plain = websocket.frame_message(operation, payload)
    start = len(plain) - len(payload)
    head = bytearray(plain[:start])
    head[1] |= 0x80
    return bytes(head) + mask + bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload))


@given(
    st.lists(st.tuples(st.sampled_from([1, 2, 9]), st.binary(max_size=125) | st.just(b"z" * 70_000)), max_size=5),
    st.binary(min_size=4, max_size=4),
    st.integers(1, 100),
)
def test_frames_are_found_in_pieces_of_any_size(frames: list[tuple[int, bytes]], mask: bytes, size: int) -> None:
    frames = [(operation, payload if operation != 9 else payload[:125]) for operation, payload in frames]
    sent = b"".join(masked(operation, payload, mask) for operation, payload in frames) + masked(8, b"", mask)
    told = Told()
    reader = websocket.WebSocketReader(told)
    for start in range(0, len(sent), size * 100):
        reader.feed(sent[start : start + size * 100])
    pongs = [websocket.frame_message(10, payload) for operation, payload in frames if operation == 9]
    assert told.said == [*pongs, websocket.frame_message(8, b"\x03\xe8")]


@pytest.mark.parametrize("data", [websocket.frame_message(1, b"unmasked"), masked(9, b"p" * 126, b"mask")])
def test_a_broken_frame_ends_it(data: bytes) -> None:
    told = Told()
    reader = websocket.WebSocketReader(told)
    reader.feed(data + masked(9, b"", b"mask"))
    assert told.said == [websocket.frame_message(8, b"\x03\xea")]


def test_who_says_too_much_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("podless.http.websocket.time", SimpleNamespace(monotonic=lambda: now[0]))
    told = Told()
    reader = websocket.WebSocketReader(told)
    reader.feed(masked(9, b"", b"mask") * 900)
    now[0] = 2.0  # so many in a second are nothing
    reader.feed(masked(9, b"", b"mask") * 900)
    assert len(told.said) == 1800
    reader.feed(masked(9, b"", b"mask") * 40_000)
    assert len(told.said) < 3000
    assert told.said[-1] == websocket.frame_message(8, b"\x03\xf0")
