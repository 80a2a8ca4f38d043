"""TLS between the socket and a connection, with little memory for each client, and a limit on concurrent handshakes.

asyncio's TLS would read on when nothing consumes the data, and keep a buffer as large as the largest read for each
client. It would do all pending handshakes in one iteration of the loop, a millisecond each. Here, bytes arrive in one
buffer for all connections, encrypted data leaves in records, and reading stops if nothing consumes it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import ssl
import time
from collections import deque
from collections.abc import Callable
from typing import Any, cast

from podless.http.sending import DiscardingTransport

log = logging.getLogger("podless")

_READ = 1 << 15  # bytes of one read from a socket
_RECORD = 1 << 14  # the maximum size of a TLS record in bytes
_AT_ONCE = 4 * _RECORD  # bytes that are encrypted in one go; OpenSSL keeps a buffer of this size for the client
_TURN = 0.0005  # seconds of handshakes in one iteration of the loop; excess is taken from the next iteration
_ROOM = _READ + 2 * _RECORD  # maximum bytes decrypted at once: one read, and an incomplete record from before
_SAY = 10.0  # minimum seconds between two log lines about failed handshakes
_NOT_TLS = "the client sends plain HTTP"
_NOWHERE = DiscardingTransport()
_NO_DATA = memoryview(b"")


class HandshakeQueue:
    """The handshakes of a listener, some in each iteration of the loop, in the order of arrival.

    buffer: receives bytes from the sockets.
    """

    def __init__(self) -> None:
        self._queue: deque[TLSConnection] = deque()
        self._seconds_left = _TURN  # seconds that are left in this iteration
        self._due = False
        self._last_logged = -_SAY
        self.buffer = memoryview(bytearray(_READ))

    def continue_or_queue(self, secure: TLSConnection) -> bool:
        """Continue a handshake. Returns False if it must wait for its turn."""
        if self._seconds_left > 0 and not self._queue:
            self._continue_handshake(secure)
            return True
        self._queue.append(secure)
        return False

    def note_failure(self, error: Exception, peer: tuple[str, int] | None) -> None:
        """Log that a handshake failed, at most one in ten seconds. peer: the client's address."""
        if time.monotonic() >= self._last_logged + _SAY:
            self._last_logged = time.monotonic()
            reason = str(getattr(error, "reason", None) or type(error).__name__)
            text = _NOT_TLS if reason == "HTTP_REQUEST" else reason
            log.warning("tls: handshake failed: %s: %s", peer[0] if peer else "unknown address", text)

    def _continue_handshake(self, secure: TLSConnection) -> None:
        began = time.perf_counter()
        secure.continue_handshake()
        self._seconds_left -= time.perf_counter() - began
        self._schedule_turn()

    def _schedule_turn(self) -> None:
        if not self._due:
            self._due = True
            asyncio.get_running_loop().call_soon(self._run_turn)

    def _run_turn(self) -> None:
        self._due = False
        self._seconds_left = min(self._seconds_left + _TURN, _TURN)
        while self._queue and self._seconds_left > 0:
            self._continue_handshake(self._queue.popleft())
        if self._queue or self._seconds_left < 0:
            self._schedule_turn()


class TLSConnection(asyncio.BufferedProtocol):
    """The protocol of a socket, and the transport of the client's connection above it.

    client: the connection, whose buffer is always the same one. seconds: maximum for the handshake. on_handshake:
    called with this object when the handshake has succeeded or failed.
    """

    def __init__(
        self,
        client: asyncio.BufferedProtocol,
        context: ssl.SSLContext,
        handshakes: HandshakeQueue,
        seconds: float,
        on_handshake: Callable[[TLSConnection], object],
    ) -> None:
        self._client: asyncio.BufferedProtocol | None = client
        self._handshakes = handshakes
        self._on_handshake = on_handshake
        self._raw: asyncio.Transport = _NOWHERE
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._object = context.wrap_bio(self._in, self._out, server_side=True)
        self._decrypt, self._encrypt, self._sealed = self._object.read, self._object.write, self._out.read
        self._buffer = handshakes.buffer
        self._into = _NO_DATA  # the connection's buffer for decrypted data
        self._open = False
        self._closed = False
        self._waiting = False
        self._timer = asyncio.get_running_loop().call_later(seconds, self.abort)

    # called by the loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._raw = cast(asyncio.Transport, transport)
        if self._closed:
            self._raw.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        client, self._client = self._client, None
        self._closed = True
        self._raw = _NOWHERE
        self._timer.cancel()
        if self._open and client is not None:
            client.connection_lost(exc)
        elif not self._open:
            self._on_handshake(self)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Process received bytes: the handshake, or records."""
        self._in.write(self._buffer[:nbytes])
        if self._open:
            self._read_records()
        elif not self._waiting and not self._handshakes.continue_or_queue(self):
            self._waiting = True
            self._raw.pause_reading()

    def eof_received(self) -> bool:
        """Close when the client has sent everything, or let the connection above do it."""
        if self._open and self._client is not None and self._client.eof_received():
            return True
        self.close()
        return False

    def pause_writing(self) -> None:
        if self._open and self._client is not None:
            self._client.pause_writing()

    def resume_writing(self) -> None:
        if self._open and self._client is not None:
            self._client.resume_writing()

    # the handshake

    def continue_handshake(self) -> None:
        """Continue the handshake with the received bytes."""
        if self._closed or self._open:
            return
        try:
            self._object.do_handshake()
        except ssl.SSLWantReadError:
            self._flush_records()
            self._resume_reading()
        except (ssl.SSLError, ValueError) as error:
            self._flush_records()  # send the TLS alert that tells the client what failed
            self._handshakes.note_failure(error, self._raw.get_extra_info("peername"))
            self.close()
        else:
            self._begin_handshake()

    def _begin_handshake(self) -> None:
        self._timer.cancel()
        self._flush_records()
        self._open = True
        self._on_handshake(self)
        self._resume_reading()
        if self._client is not None:
            self._client.connection_made(cast(asyncio.Transport, self))
            self._into = memoryview(self._client.get_buffer(_ROOM))
        if self._in.pending:
            self._read_records()

    def _resume_reading(self) -> None:
        """Continue reading, which stopped during the handshake."""
        if self._waiting:
            self._waiting = False
            self._raw.resume_reading()

    def _flush_records(self) -> None:
        if self._out.pending:
            self._raw.write(self._sealed())

    # received data

    def _read_records(self) -> None:
        """Decrypt all received data, and pass it on at once. The buffer has room for the last record as a whole."""
        into, source, closed = self._into, self._in, False
        at = 0
        try:
            while source.pending:
                count: Any = self._decrypt(_ROOM, into[at:] if at else into)
                if not count:
                    closed = True
                    break
                at += count
        except ssl.SSLWantReadError:  # an incomplete record
            pass
        except ssl.SSLZeroReturnError:
            closed = True
        except ssl.SSLError:
            self._flush_records()
            self.abort()
            return
        if self._out.pending:
            self._flush_records()
        if at and self._client is not None and not self._closed:
            self._client.buffer_updated(at)
        if closed:
            self.eof_received()

    # called by the connection

    def write(self, data: bytes | memoryview) -> None:
        if self._closed or not data:
            return
        try:
            size = len(data)
            if size > _RECORD:
                self._raw.writelines(self._encrypt_records(memoryview(data)))
                return
            encrypted = self._encrypt(data)
            self._raw.write(self._sealed())
            if encrypted < size:  # the client limits the size of records
                self._raw.writelines(self._encrypt_records(memoryview(data)[encrypted:]))
        except ssl.SSLError:
            self.abort()

    def _encrypt_records(self, data: memoryview) -> list[bytes]:
        records, encrypt, sealed = [], self._encrypt, self._sealed
        while data:
            data = data[encrypt(data[:_AT_ONCE]) :]
            records.append(sealed())
        return records

    def close(self) -> None:
        """Send close_notify, and end the connection when all is sent."""
        if self._closed:
            return
        self._closed = True
        if self._open:
            with contextlib.suppress(ssl.SSLError, ValueError):
                self._object.unwrap()
            self._flush_records()
        self._raw.close()

    def abort(self) -> None:
        """Close the connection at once."""
        self._closed = True
        self._raw.abort()

    def pause_reading(self) -> None:
        """Stop reading from the socket."""
        self._raw.pause_reading()

    def resume_reading(self) -> None:
        if not self._closed:
            self._raw.resume_reading()

    def get_write_buffer_size(self) -> int:
        """Return the bytes that wait for the client, in the socket's transport."""
        return self._raw.get_write_buffer_size()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Set the numbers of waiting bytes that pause and resume writing."""
        self._raw.set_write_buffer_limits(high, low)

    def get_extra_info(self, name: str, default: object = None) -> object:
        """Return ssl_object or peercert, or a value of the socket."""
        if name == "ssl_object":
            return self._object
        if name == "peercert":
            return self._object.getpeercert()
        return self._raw.get_extra_info(name, default)
