"""The body that arrives on one connection: read when the handler asks for it, and charged to its user."""

from __future__ import annotations

import asyncio

from podless.http.clientmemory import BODIES, ClientMemory
from podless.http.limits import Limits
from podless.http.message import HTTPRequest
from podless.meta.errors import TooLarge, TooManyRequests

_FREE = 1 << 14  # bytes of a body that arrived with the head, and are accepted even if the limit is reached
_TOO_SLOW = "the request body arrived too slowly and the server needed its memory, please try again later"


class IncomingBody:
    """Pieces of a body. request: owns the body, None between bodies. waiter: the handler waits for it."""

    __slots__ = ("_limits", "_memory", "_pieces", "request", "size", "waiter")

    def __init__(self, memory: ClientMemory, limits: Limits) -> None:
        self._memory = memory
        self._limits = limits
        self._pieces: list[bytes] = []
        self.request: HTTPRequest | None = None
        self.size = 0
        self.waiter: asyncio.Future[bytes] | None = None

    def begin_request(self, request: HTTPRequest) -> None:
        """Start the body of a request."""
        self.request = request
        self.size = 0

    def add_piece(self, request: HTTPRequest, piece: bytes) -> bool:
        """Add a piece. Returns False if too many unrequested bytes are held."""
        self.size += len(piece)
        if self.waiter is not None:
            if self.size > self._limits.body:
                self._pieces.clear()
                self.fail_reader(self.make_too_large_error())
            elif not self.waiter.done():
                self._pieces.append(piece)
            return True
        self._pieces.append(piece)
        request.unrequested += len(piece)
        self._memory.unrequested += len(piece)
        return self.size <= _FREE or not self._memory.is_crowded

    def charge_queued(self, request: HTTPRequest) -> None:
        """Account for the body of a queued request, which is charged to no user yet."""
        request.unrequested = len(request.body)
        self._memory.unrequested += request.unrequested

    def complete_body(self) -> bytes | None:
        """Complete the body: pass it to the reader, or return it if there is none."""
        pieces, self._pieces = self._pieces, []
        if self.waiter is not None:
            if not self.waiter.done():
                self.waiter.set_result(b"".join(pieces))
            return None
        return (pieces[0] if len(pieces) == 1 else b"".join(pieces)) if pieces else None

    def fail_reader(self, error: Exception) -> None:
        """Report an error to the reader of the body."""
        if self.waiter is not None and not self.waiter.done():
            self.waiter.set_exception(error)

    def drop_pieces(self) -> None:
        """Drop the received pieces."""
        self._pieces = []

    def cut_off(self) -> None:
        """Drop the body to make room, and fail its request."""
        if self.request is not None:
            self._pieces.clear()
            self.release_body(self.request)
        self.fail_reader(TooManyRequests(_TOO_SLOW, {"retryAfterSeconds": 1}))

    def charge_body(self, request: HTTPRequest) -> bool:
        """Charge a body that the handler wants to its user, and return whether it is complete.

        Raises TooLarge, TooManyRequests, and the request's `body_error`.
        """
        if request.body_error is not None:
            raise request.body_error
        limit = self._limits.body
        if request is not self.request:
            size, holder = len(request.body), None
        else:
            size, holder = max(self.size, request.length if request.length >= 0 else limit), self
        if size > limit:
            raise self.make_too_large_error()
        if request.unrequested or request.charged:
            self.release_body(request)
        user = request.charged_user = request.user.name
        self._memory.charge_user(user, size, BODIES, holder)
        request.charged = size
        return holder is None

    async def wait_body(self, request: HTTPRequest) -> bytes:
        """Return the body when it is complete. Raises the error given to `fail_reader`."""
        self.waiter = asyncio.get_running_loop().create_future()
        try:
            return await self.waiter
        finally:
            self.waiter = None
            self._memory.note_complete(request.charged_user, self)

    def make_too_large_error(self) -> TooLarge:
        """Return the error for a body over the limit."""
        return TooLarge(f"Request entity too large: limit is {self._limits.body}")

    def release_body(self, request: HTTPRequest) -> None:
        """Release all bytes held for a request's body."""
        if request.unrequested:
            self._memory.unrequested -= request.unrequested
            request.unrequested = 0
        if request.charged:
            charged, request.charged = request.charged, 0
            self._memory.release_bytes(request.charged_user, charged, BODIES, self)
