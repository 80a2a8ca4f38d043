"""Watches over WebSocket (RFC 6455), for clients that ask for it: each event is a message.

Source: golang.org/x/net/websocket, as kube-apiserver uses it.
"""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import Mapping
from typing import Protocol

from podless.http.message import TEXT, Response
from podless.http.sending import Framing
from podless.structs import protobuf

_MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_TEXT, _BINARY, _CLOSE, _PING, _PONG = 0x1, 0x2, 0x8, 0x9, 0xA
_CONTROL = 0x8  # the bit of control frames' opcodes
_MAX = 125  # maximum bytes of a control frame's payload
_NORMAL, _BROKEN, _NOISY = 1000, 1002, 1008  # status codes of a close frame
_FRAMES = 1000  # maximum frames of a client in a second; a client that watches sends few
_LENGTH = 4  # bytes of the length before each protobuf event


def wants_websocket(headers: Mapping[str, str]) -> bool:
    """Return whether a client asks for WebSocket. headers: of its request."""
    is_upgrade = headers.get("upgrade", "").lower() == "websocket"
    return is_upgrade and any(token.strip() == "upgrade" for token in headers.get("connection", "").lower().split(","))


def find_refusal(headers: Mapping[str, str]) -> Response | None:
    """Return the error answer to an invalid WebSocket request, None if it is valid."""
    if not headers.get("sec-websocket-key"):
        return Response(400, [b"mismatch challenge/response"], TEXT)
    if headers.get("sec-websocket-version") != "13":
        return Response(400, [b"missing or bad WebSocket Version"], TEXT, [("Sec-WebSocket-Version", "13")])
    if not headers.get("origin"):
        return Response(403, (), TEXT)
    if "," in headers.get("sec-websocket-protocol", ""):
        return Response(400, [b"missing or bad WebSocket-Protocol"], TEXT)
    return None


def accept_head(headers: Mapping[str, str]) -> bytes:
    """Return the head of the answer that accepts WebSocket."""
    key = headers["sec-websocket-key"].encode("utf-8", "replace")
    accept = base64.b64encode(hashlib.sha1(key + _MAGIC, usedforsecurity=False).digest())
    protocol = headers.get("sec-websocket-protocol", "").strip().encode("utf-8", "replace")
    chosen = b"Sec-WebSocket-Protocol: %b\r\n" % protocol if protocol else b""
    return (
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Accept: %b\r\n%b\r\n" % (accept, chosen)
    )


def frame_message(operation: int, payload: bytes | memoryview) -> bytes:
    """Return a message in one frame, unmasked, as servers send it."""
    size = len(payload)
    if size <= _MAX:
        start = bytes((0x80 | operation, size))
    elif size < 1 << 16:
        start = bytes((0x80 | operation, 126)) + size.to_bytes(2, "big")
    else:
        start = bytes((0x80 | operation, 127)) + size.to_bytes(8, "big")
    return start + payload


def _frame_lines(piece: bytes | memoryview) -> bytes:
    return b"".join([frame_message(_TEXT, line) for line in bytes(piece).splitlines(keepends=True)])


def _frame_events(piece: bytes | memoryview) -> bytes:
    return b"".join([frame_message(_BINARY, event[_LENGTH:]) for event in protobuf.split_frames(memoryview(piece))])


_END = frame_message(_CLOSE, _NORMAL.to_bytes(2, "big"))
LINES = Framing(_frame_lines, _END)  # for events in JSON
COUNTED = Framing(_frame_events, _END)  # for events in protobuf


class ControlHandler(Protocol):
    """Receives the answers to control frames of a client."""

    def send_pong(self, data: bytes) -> None:
        """A ping has arrived. data: the frame to send."""

    def send_close(self, data: bytes) -> None:
        """The client closes the connection. data: the frame to send before it is closed."""


class WebSocketReader:
    """Parses the frames of a client, in pieces of any size. Data frames are discarded."""

    def __init__(self, talker: ControlHandler) -> None:
        self._talker: ControlHandler | None = talker
        self._head = bytearray()
        self._mask = b""
        self._bytes_left = 0  # bytes of the frame that are still missing
        self._operation = 0
        self._payload = bytearray()  # payload of the present control frame, masked
        self._count = 0  # frames since `_since`
        self._since = time.monotonic()

    def drop_receiver(self) -> None:
        """Drop the receiver, to break the reference cycle."""
        self._talker = None

    def feed(self, data: bytes | memoryview) -> bool:
        """Parse bytes. Returns whether they were a request, which they never are."""
        data = memoryview(data)
        while data and self._talker is not None:
            if self._bytes_left:
                payload, data = data[: self._bytes_left], data[self._bytes_left :]
                self._bytes_left -= len(payload)
                if self._operation & _CONTROL:
                    self._payload += payload
                if not self._bytes_left:
                    self._end_frame(self._talker)
                continue
            missing = self._count_missing()
            self._head += data[:missing]
            data = data[missing:]
            if not self._count_missing():
                self._begin_frame(self._talker)
        return False

    def _count_missing(self) -> int:
        """Return how many bytes of a frame's head are missing."""
        head = self._head
        if len(head) < 2:
            return 2 - len(head)
        extended_size = {126: 2, 127: 8}.get(head[1] & 0x7F, 0)
        return 2 + extended_size + 4 * (head[1] >> 7) - len(head)

    def _begin_frame(self, talker: ControlHandler) -> None:
        head, self._head = self._head, bytearray()
        self._operation, size = head[0] & 0xF, head[1] & 0x7F
        if size > _MAX:
            size = int.from_bytes(head[2 : 2 + (2 if size == 126 else 8)], "big")
        masked = head[1] >> 7
        broken = not masked or (self._operation & _CONTROL and size > _MAX)
        if broken or self._is_noisy():
            talker.send_close(frame_message(_CLOSE, (_BROKEN if broken else _NOISY).to_bytes(2, "big")))
            self._talker = None
            return
        self._mask = bytes(head[-4:])
        self._bytes_left = size
        if not size:
            self._end_frame(talker)

    def _is_noisy(self) -> bool:
        """Return whether a client sends too many frames, each of which costs the loop some time."""
        self._count += 1
        if self._count <= _FRAMES:
            return False
        now = time.monotonic()
        if now - self._since < 1:
            return True
        self._count, self._since = 1, now
        return False

    def _end_frame(self, talker: ControlHandler) -> None:
        payload, self._payload = self._payload, bytearray()
        if self._operation == _PING:
            talker.send_pong(
                frame_message(_PONG, bytes(byte ^ self._mask[index % 4] for index, byte in enumerate(payload)))
            )
        elif self._operation == _CLOSE:
            talker.send_close(_END)
            self._talker = None
