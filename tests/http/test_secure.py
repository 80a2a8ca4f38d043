"""TLS that keeps little: what goes through it is what was sent, nobody is read who is not listened to."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from podless.http import secure as secure_module
from podless.http.secure import HandshakeQueue, TLSConnection
from podless.http.tls import Certificates


class Socket:
    """The raw transport: keeps what is sent."""

    def __init__(self) -> None:
        self.sent = b""
        self.closed = self.aborted = False
        self.reading = True

    def get_extra_info(self, name: str) -> tuple[str, int] | None:
        return ("192.0.2.1", 5) if name == "peername" else None

    def write(self, data: bytes) -> None:
        self.sent += data

    def writelines(self, parts: list[bytes]) -> None:
        self.sent += b"".join(parts)

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.aborted = True

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True


class Above(asyncio.BufferedProtocol):
    """The client's protocol: keeps what comes in."""

    def __init__(self) -> None:
        self.made = 0
        self.data = b""
        self.ended = self.lost = False
        self.transport: Any = None
        self._buffer = memoryview(bytearray(1 << 16))

    def connection_made(self, transport: Any) -> None:
        self.made += 1
        self.transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost = True

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        self.data += self._buffer[:nbytes]

    def eof_received(self) -> bool:
        self.ended = True
        return False

    def pause_writing(self) -> None:
        pass

    def resume_writing(self) -> None:
        pass


class Talk:
    """A server's side and a client's, with nothing between. cut: bytes that come in at a time."""

    def __init__(self, context: ssl.SSLContext, cut: int = 1 << 15, handshakes: HandshakeQueue | None = None) -> None:
        self.socket, self.above, self.over = Socket(), Above(), 0
        self.handshakes = handshakes or HandshakeQueue()
        self.secure = TLSConnection(self.above, context, self.handshakes, 60.0, self._over)
        self.secure.connection_made(cast(asyncio.Transport, self.socket))
        trust = ssl.create_default_context()
        trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.client = trust.wrap_bio(self._in, self._out)
        self._cut = cut

    def _over(self, secure: TLSConnection) -> None:
        self.over += 1

    def give(self, data: bytes) -> None:
        buffer = self.secure.get_buffer(-1)
        for start in range(0, len(data), self._cut):
            part = data[start : start + self._cut]
            buffer[: len(part)] = part
            self.secure.buffer_updated(len(part))

    def carry(self) -> None:
        """What both have said to each other."""
        self.give(self._out.read())
        sent, self.socket.sent = self.socket.sent, b""
        self._in.write(sent)

    async def shake(self) -> None:
        while not self.above.made:
            with contextlib.suppress(ssl.SSLWantReadError):
                self.client.do_handshake()
            self.carry()
            await asyncio.sleep(0)

    def read(self) -> bytes:
        """All that the client can read."""
        self.carry()
        found = b""
        try:
            while part := self.client.read(1 << 16):
                found += part
        except ssl.SSLWantReadError:
            pass
        return found


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> ssl.SSLContext:
    certificates = Certificates(Path(tmp_path_factory.mktemp("tls")))
    certificates.create_missing([])
    return certificates.make_context()


@pytest.mark.parametrize("cut", [1, 100, 1 << 15])
@pytest.mark.parametrize("size", [1, 1 << 14, (1 << 14) + 1, 100_000])
async def test_what_goes_through_is_what_was_sent(context: ssl.SSLContext, size: int, cut: int) -> None:
    talk = Talk(context, cut)
    await talk.shake()
    assert (talk.above.made, talk.over) == (1, 1)
    data = bytes(number % 251 for number in range(size))
    for start in range(0, size, 1 << 14):
        talk.client.write(data[start : start + (1 << 14)])
    talk.carry()
    assert talk.above.data == data
    talk.secure.write(data)
    talk.secure.write(memoryview(b"end"))
    talk.secure.write(b"")
    assert talk.read() == data + b"end"


async def test_a_goodbye_is_said_and_heard(context: ssl.SSLContext) -> None:
    talk = Talk(context)
    await talk.shake()
    talk.secure.write(b"last")
    talk.secure.close()
    assert talk.socket.closed
    assert talk.read() == b"last"
    talk.secure.write(b"nothing")
    assert talk.read() == b""

    talk = Talk(context)
    await talk.shake()
    talk.client.write(b"bye")
    with pytest.raises(ssl.SSLWantReadError):
        talk.client.unwrap()
    talk.carry()
    assert (talk.above.data, talk.above.ended, talk.socket.closed) == (b"bye", True, True)
    talk.secure.connection_lost(None)
    assert talk.above.lost


async def test_what_is_no_handshake_is_told_so(context: ssl.SSLContext, caplog: pytest.LogCaptureFixture) -> None:
    talk = Talk(context)
    talk.give(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    assert talk.socket.sent[:1] in (b"", b"\x15")  # an alert
    assert talk.socket.closed
    assert caplog.messages == ["tls: handshake failed: 192.0.2.1: the client sends plain HTTP"]
    assert not talk.above.made
    talk.secure.connection_lost(None)
    assert talk.over == 1
    assert not talk.above.lost


async def test_what_is_no_record_ends_the_connection(context: ssl.SSLContext) -> None:
    talk = Talk(context)
    await talk.shake()
    talk.client.write(b"sound")
    talk.carry()
    talk.give(b"x" * 100)
    assert talk.above.data == b"sound"
    assert talk.socket.aborted


async def test_of_many_handshakes_few_go_on_in_one_turn_of_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(secure_module, "time", SimpleNamespace(perf_counter=lambda: now))
    turns = HandshakeQueue()
    done: list[int] = []

    class One:
        def __init__(self, number: int) -> None:
            self._number = number

        def continue_handshake(self) -> None:
            nonlocal now
            now += 0.001
            done.append(self._number)

    at_once = [turns.continue_or_queue(cast(Any, One(number))) for number in range(20)]
    assert at_once == [True] + [False] * 19
    most = before = 1
    for _ in range(100):
        await asyncio.sleep(0)
        most, before = max(most, len(done) - before), len(done)
    assert done == list(range(20))
    assert most == 1
    assert turns.continue_or_queue(cast(Any, One(20)))  # and afterwards nobody waits


async def test_who_waits_for_a_handshake_is_not_read_from(
    context: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = HandshakeQueue()
    monkeypatch.setattr(turns, "_seconds_left", 0.0)
    talk = Talk(context, handshakes=turns)
    with pytest.raises(ssl.SSLWantReadError):
        talk.client.do_handshake()
    talk.carry()
    assert not talk.socket.reading
    turns._run_turn()
    assert talk.socket.reading
    assert talk.socket.sent


async def test_a_connection_without_a_socket_lets_go_of_it(context: ssl.SSLContext) -> None:
    talk = Talk(context)
    talk.secure.abort()
    later = Socket()
    talk.secure.connection_made(cast(asyncio.Transport, later))
    assert later.aborted
