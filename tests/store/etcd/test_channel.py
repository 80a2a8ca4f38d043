"""A connection to an etcd member: what a peer may do to it, and what a call gets then."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from podless.store.etcd import channel as rpc
from podless.store.etcd.channel import Channel, ChannelError, encode_headers

PREFACE = 24
DATA, HEADERS, RESET, SETTINGS, PING, GOAWAY, WINDOW, CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
HEAD = encode_headers([(":status", "200"), ("content-type", "application/grpc")])
END = encode_headers([("grpc-status", "0"), ("grpc-message", "")])


def frame(kind: int, flags: int, number: int, body: bytes = b"") -> bytes:
    return struct.pack(">I", len(body))[1:] + struct.pack(">BBI", kind, flags, number) + body


def message(data: bytes) -> bytes:
    return struct.pack(">BI", 0, len(data)) + data


class Peer:
    """The other side of a connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def greet(self, settings: bytes = b"") -> None:
        await self._reader.readexactly(PREFACE)
        self.say(frame(SETTINGS, 0, 0, settings))

    def say(self, *frames: bytes) -> None:
        self._writer.write(b"".join(frames))

    async def hear(self, *kinds: int) -> tuple[int, int, int, bytes]:
        """The next frame of one of the kinds: kind, flags, stream, body."""
        while True:
            head = await self._reader.readexactly(9)
            kind, flags, number = struct.unpack(">BBI", head[3:])
            body = await self._reader.readexactly(int.from_bytes(head[:3]))
            if kind in kinds:
                return kind, flags, number, body

    def answer(self, number: int, data: bytes) -> None:
        self.say(frame(HEADERS, 4, number, HEAD), frame(DATA, 0, number, message(data)), frame(HEADERS, 5, number, END))

    def leave(self) -> None:
        self._writer.close()


Connect = Callable[[], Awaitable[tuple[Channel, Peer]]]


@pytest.fixture
async def connect() -> AsyncIterator[Connect]:
    """Makes a connection and its peer, which has yet to greet."""
    met: asyncio.Queue[Peer] = asyncio.Queue()
    channels: list[Channel] = []
    server = await asyncio.start_server(lambda reader, writer: met.put_nowait(Peer(reader, writer)), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]

    async def made() -> tuple[Channel, Peer]:
        loop = asyncio.get_running_loop()
        _, channel = await loop.create_connection(lambda: Channel("etcd", secure=False), "127.0.0.1", port)
        channels.append(channel)
        return channel, await met.get()

    yield made
    for channel in channels:
        channel.close()
    server.close()


async def greeted(connect: Connect, settings: bytes = b"") -> tuple[Channel, Peer]:
    channel, peer = await connect()
    await peer.greet(settings)
    await asyncio.wait_for(channel.ready, 60)
    return channel, peer


async def test_calls_are_answered_in_any_order(connect: Connect) -> None:
    channel, peer = await greeted(connect)
    first, second = channel.begin_call("/a", b"1"), channel.begin_call("/a", b"2")
    assert [(await peer.hear(DATA))[2:] for _ in range(2)] == [(1, message(b"1")), (3, message(b"2"))]
    peer.answer(3, b"two")
    peer.answer(1, b"one")
    assert await asyncio.wait_for(first.answer, 60) == b"one"
    assert await asyncio.wait_for(second.answer, 60) == b"two"


async def test_an_answer_in_pieces_is_put_together(connect: Connect) -> None:
    channel, peer = await greeted(connect)
    call = channel.begin_call("/a", b"")
    data = bytes(range(256)) * 200
    whole = message(data)
    frames = [frame(HEADERS, 0, 1, HEAD[:5]), frame(CONTINUATION, 0, 1, HEAD[5:9]), frame(CONTINUATION, 4, 1, HEAD[9:])]
    frames += [frame(DATA, 8, 1, b"\3" + whole[at : at + 1000] + bytes(3)) for at in range(0, len(whole), 1000)]
    sent = b"".join([*frames, frame(HEADERS, 5, 1, END)])
    for at in range(0, len(sent), 777):
        peer.say(sent[at : at + 777])
        await asyncio.sleep(0)
    assert await asyncio.wait_for(call.answer, 60) == data


async def test_a_refusal_has_the_peers_words(connect: Connect) -> None:
    channel, peer = await greeted(connect)
    call = channel.begin_call("/a", b"")
    peer.say(
        frame(
            HEADERS, 5, 1, encode_headers([(":status", "200"), ("grpc-status", "14"), ("grpc-message", "no%20leader")])
        )
    )
    with pytest.raises(ChannelError, match="no leader") as refused:
        await asyncio.wait_for(call.answer, 60)
    assert refused.value.code == rpc.UNAVAILABLE
    assert not refused.value.unsent


async def test_a_long_message_waits_for_room_and_others_need_not(connect: Connect) -> None:
    channel, peer = await greeted(connect, struct.pack(">HI", 4, 1000))
    data = bytes(200_000)
    call = channel.begin_call("/a", data)
    assert len((await peer.hear(DATA))[3]) == 1000
    other = channel.begin_call("/a", b"2")
    assert (await peer.hear(DATA))[2:] == (3, message(b"2"))
    peer.say(frame(WINDOW, 0, 1, struct.pack(">I", 1 << 20)))
    got = 1000
    while got < 65535 - 6:  # what the connection has room for
        got += len((await peer.hear(DATA))[3])
    peer.say(frame(WINDOW, 0, 0, struct.pack(">I", 1 << 20)))
    ends = 0
    while not ends:
        _, ends, number, body = await peer.hear(DATA)
        assert number == 1
        got += len(body)
    assert got == len(data) + 5
    peer.answer(1, b"long")
    peer.answer(3, b"short")
    assert await asyncio.wait_for(call.answer, 60) == b"long"
    assert await asyncio.wait_for(other.answer, 60) == b"short"


async def test_messages_of_a_stream_are_taken_as_they_come(connect: Connect) -> None:
    channel, peer = await greeted(connect)
    taken: asyncio.Queue[bytes] = asyncio.Queue()
    call = channel.begin_call("/a", b"watch", taken.put_nowait)
    assert (await peer.hear(DATA))[1:] == (0, 1, message(b"watch"))
    channel.send_message(call, b"more", ends=False)
    assert (await peer.hear(DATA))[3] == message(b"more")
    sent = message(b"one") + message(b"") + message(b"x" * 40_000)
    peer.say(frame(HEADERS, 4, 1, HEAD))
    for at in range(0, len(sent), 9000):
        peer.say(frame(DATA, 0, 1, sent[at : at + 9000]))
    assert [await asyncio.wait_for(taken.get(), 60) for _ in range(3)] == [b"one", b"", b"x" * 40_000]
    call.cancel_call()
    assert (await peer.hear(RESET))[2] == 1
    assert call.answer.done()


async def test_a_peer_that_goes_is_told_no_more_and_says_what_it_has_not_begun(connect: Connect) -> None:
    channel, peer = await greeted(connect)
    first, second = channel.begin_call("/a", b""), channel.begin_call("/a", b"")
    peer.say(frame(GOAWAY, 0, 0, struct.pack(">II", 1, 0)))
    with pytest.raises(ChannelError) as refused:
        await asyncio.wait_for(second.answer, 60)
    assert refused.value.unsent
    with pytest.raises(ChannelError):
        channel.begin_call("/a", b"")
    peer.answer(1, b"still")
    assert await asyncio.wait_for(first.answer, 60) == b"still"
    await asyncio.wait_for(channel.closed, 60)


async def test_calls_end_with_the_connection(connect: Connect) -> None:
    channel, peer = await greeted(connect)
    call = channel.begin_call("/a", b"")
    peer.leave()
    with pytest.raises(ChannelError) as refused:
        await asyncio.wait_for(call.answer, 60)
    assert not refused.value.unsent
    assert not channel.usable


async def test_a_peer_that_never_greets_is_no_peer(connect: Connect) -> None:
    channel, peer = await connect()
    with pytest.raises(ChannelError):
        channel.begin_call("/a", b"")
    peer.leave()
    with pytest.raises(ChannelError):
        await asyncio.wait_for(channel.ready, 60)


async def test_a_peer_that_hangs_is_given_up(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in (("_CHECK_INTERVAL", 0.02), ("_PING_AFTER", 0.1), ("_PING_TIMEOUT", 0.3)):
        monkeypatch.setattr(rpc, name, seconds)
    channel, peer = await greeted(connect)
    call = channel.begin_call("/a", b"")
    assert (await peer.hear(PING))[1] == 0
    with pytest.raises(ChannelError, match="does not answer"):
        await asyncio.wait_for(call.answer, 60)
    await asyncio.wait_for(channel.closed, 60)


async def test_a_peer_that_answers_pings_may_take_its_time(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in (
        ("_CHECK_INTERVAL", 0.02),
        ("_PING_AFTER", 0.1),
        ("_PING_TIMEOUT", 60.0),
        ("_IDLE_PING", 0.2),
    ):
        monkeypatch.setattr(rpc, name, seconds)
    channel, peer = await greeted(connect)
    call = channel.begin_call("/a", b"")
    for _ in range(3):
        body = (await peer.hear(PING))[3]
        peer.say(frame(PING, 1, 0, body))
    peer.answer(1, b"late")
    assert await asyncio.wait_for(call.answer, 60) == b"late"


async def test_a_ping_is_answered(connect: Connect) -> None:
    _, peer = await greeted(connect)
    peer.say(frame(PING, 0, 0, b"12345678"))
    assert await asyncio.wait_for(peer.hear(PING), 60) == (PING, 1, 0, b"12345678")


@pytest.mark.parametrize(
    "sent",
    [
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"\xff" * 40,
        frame(HEADERS, 4, 1, b"\xff\xff\xff\xff\xff"),
        frame(HEADERS, 0, 1, HEAD) + frame(DATA, 0, 1),
        frame(CONTINUATION, 4, 1, HEAD),
        frame(WINDOW, 0, 0, b"1"),
    ],
)
async def test_what_is_no_http2_ends_the_connection(connect: Connect, sent: bytes) -> None:
    channel, peer = await greeted(connect)
    call = channel.begin_call("/a", b"")
    peer.say(sent)
    with pytest.raises(ChannelError, match="HTTP/2"):
        await asyncio.wait_for(call.answer, 60)


async def test_a_call_ends_when_its_time_is_over(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rpc, "_CHECK_INTERVAL", 0.02)
    channel, peer = await greeted(connect)
    call, other = channel.begin_call("/a", b""), channel.begin_call("/a", b"")
    told: list[bytes | ChannelError] = []
    call.on_end, call.deadline = told.append, channel.loop.time()
    with pytest.raises(ChannelError) as refused:
        await asyncio.wait_for(call.answer, 60)
    assert refused.value.code == rpc.DEADLINE
    assert told == [refused.value]
    assert (await peer.hear(RESET))[2] == 1
    peer.answer(3, b"other")
    assert await asyncio.wait_for(other.answer, 60) == b"other"


async def test_who_has_asked_is_told_the_answer_at_once(connect: Connect) -> None:
    channel, peer = await greeted(connect)
    call = channel.begin_call("/a", b"")
    told: list[bytes | ChannelError] = []
    call.on_end = told.append
    peer.answer(1, b"one")
    assert await asyncio.wait_for(call.answer, 60) == b"one"
    assert told == [b"one"]
