"""A request, and the two kinds of answers: a whole one, and a stream."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any, Final, Protocol

from podless.auth.certificates import Certificate
from podless.auth.user import ANONYMOUS, User
from podless.codec import gotext
from podless.http.info import RequestLine, parse_line, parse_query
from podless.runtime.watchdog import Work

JSON = b"application/json"
TEXT = b"text/plain; charset=utf-8"
_PIECE = 1 << 16  # bytes of a Listing that are joined to one piece
SLOW = 1 << 17  # bytes; longer bodies are sent as fast as the client reads
MAX_LOGGED = 200  # characters of client data in a log line


class BodySource(Protocol):
    """Reads the body of a request."""

    def claim_body(self, request: HTTPRequest) -> bool:
        """Charge the body to the user of the request. Return whether it is complete.

        Raises TooLarge, TooManyRequests, BadRequest.
        """

    async def wait_body(self, request: HTTPRequest) -> bytes:
        """Return the rest of a claimed body, with the part that was read. Raises as `claim_body` does."""


class AuditRecord(Protocol):
    """The audit data of a request, to which the filters add."""

    id: str
    annotations: dict[str, str]
    impersonated: User | None

    def set_user(self, user: User) -> None:
        """Set the authenticated user."""

    def set_decision(self, allowed: bool, reason: str) -> None:
        """Set the result of authorization, and its reason."""


class HTTPRequest:
    """One request, with the attributes that the filters set (http/chain.py).

    headers: lower-case names; several fields of a name are joined by commas (those of impersonation by line breaks).
    Content-Length is not among them: requests that differ in it share their headers.
    """

    charged_user: str
    # class attributes, because most requests never set them
    audit: AuditRecord | None = None  # collects audit data, None without an audit log
    body = b""  # the part that was read; `read_body` returns all
    body_error: Exception | None = None  # why the body cannot be read
    charged = 0  # bytes of the body on the account of charged_user
    unrequested = 0  # received bytes of the body that no handler has asked for
    # whether this server shows all earlier writes, or why it cannot; None before the check
    current: bool | BaseException | None = None
    flow = b""  # header lines that name the FlowSchema
    keep_alive = True
    length = 0  # bytes of the body, -1 if unknown
    sender = ""  # the name of the impersonating user, "" for none
    # called with the answer that is sent, because a long one may exceed the memory limit; None if it is not needed
    settle: Callable[[Response], None] | None = None
    source: BodySource | None = None  # of the rest of the body, None if it is complete
    user = ANONYMOUS  # the sender, or the user that it impersonates
    version = "1.1"

    def __init__(
        self, line: RequestLine, headers: dict[str, str], peer: str = "", certificate: Certificate | None = None
    ) -> None:
        self.method, self.path, self.query_text, self.info, self.unclear = line
        self.headers = headers
        self.peer = peer
        self.certificate = certificate
        self.warnings: list[str] = []

    @classmethod
    def of(
        cls, method: str, target: str, headers: dict[str, str], peer: str = "", certificate: Certificate | None = None
    ) -> HTTPRequest:
        """Return a request for a target, such as /api/v1/pods?limit=5."""
        return cls(parse_line(method, target), headers, peer, certificate)

    async def read_body(self) -> bytes:
        """Return the whole body, once the client has sent it. Raises TooLarge, TooManyRequests, BadRequest."""
        return self.body if self.claim_body() else await self.wait_body()

    def claim_body(self) -> bool:
        """Charge the body to the user. Returns whether `body` is complete. Raises as `read_body` does."""
        source = self.source
        if source is not None:
            if not source.claim_body(self):
                return False
            self.source = None
        return True

    async def wait_body(self) -> bytes:
        """Return the whole body after `claim_body` returned False. Raises as `read_body` does."""
        assert self.source is not None
        self.body = await self.source.wait_body(self)
        self.source = None
        return self.body

    def describe_work(self) -> Work:
        """Return the description of this request for log lines."""
        attributes = self.info.attributes
        return Work(
            "request",
            attributes.verb if attributes.resource else "other",
            self.user.name[:MAX_LOGGED],
            gotext.quote(f"{self.method[:MAX_LOGGED]} {self.path[:MAX_LOGGED]}"),
        )

    @property
    def query(self) -> dict[str, list[str]]:
        """The query parameters. They are shared: do not change them."""
        return parse_query(self.query_text) if self.query_text else {}


class ListBody:
    """A JSON body of many items with commas between, joined while it is sent, so that it never exists as a whole.

    size: in bytes. removed: start of some items, which is left out except for the brace.
    """

    __slots__ = ("_head", "_items", "_removed", "_tail", "size")

    own_size = 0

    def __init__(self, head: bytes, items: list[bytes], tail: bytes, removed: bytes = b"") -> None:
        self._head = head
        self._items = items
        self._tail = tail
        self._removed = removed
        self.size = len(head) + sum(map(len, items)) + max(len(items) - 1, 0) + len(tail)
        if removed:
            self.size -= (len(removed) - 1) * sum(item.startswith(removed) for item in items)

    def __iter__(self) -> Iterator[bytes]:
        items = self._items
        step = max(_PIECE * len(items) // max(self.size, 1), 1)
        lead = self._head
        for start in range(0, len(items), step):
            pieces = self._cut_items(items[start : start + step])
            pieces[0] = lead + pieces[0]  # the joined piece is longer to copy
            yield b",".join(pieces)
            lead = b","
        yield self._tail if items else lead + self._tail

    def _cut_items(self, items: list[bytes]) -> list[bytes]:
        removed = self._removed
        if not removed:
            return items
        return [b"{" + item[len(removed) :] if item.startswith(removed) else item for item in items]


class LazyBody:
    """A body whose pieces are made while they are sent.

    make: returns an iterator from the first piece. size: in bytes, -1 if unknown. own_size: approximate bytes that only
    this body keeps alive.
    """

    __slots__ = ("_make", "own_size", "size")

    def __init__(self, make: Callable[[], Iterator[bytes]], size: int = -1, own_size: int = 0) -> None:
        self._make = make
        self.size = size
        self.own_size = own_size

    def __iter__(self) -> Iterator[bytes]:
        return self._make()


_MADE_LATER = (ListBody, LazyBody)


def is_long(answer: Response) -> bool:
    """Return whether an answer is so long that it is sent as fast as the client reads."""
    return not 0 <= answer.size <= SLOW


class Response:
    """A whole answer. chunks: the pieces of the body.

    size: of the body in bytes, -1 if unknown. own_size: bytes that exist only for this answer, not in objects or
    caches.
    """

    __slots__ = ("chunks", "headers", "media", "own_size", "size", "status")

    def __init__(
        self,
        status: int,
        chunks: Sequence[bytes] | ListBody | LazyBody = (),
        media: bytes = JSON,
        headers: Sequence[tuple[str, str]] = (),
    ) -> None:
        self.status = status
        self.chunks = chunks
        if isinstance(chunks, _MADE_LATER):
            self.size, self.own_size = chunks.size, chunks.own_size
        else:
            self.size = self.own_size = sum(map(len, chunks))
        self.media = media
        self.headers = headers


class Sink(Protocol):
    """The destination of a stream. A method returns False if the client is gone or too slow and was cut off."""

    def send(self, data: bytes) -> bool:
        """Send one piece."""

    def send_initial(self, pieces: Iterator[bytes]) -> None:
        """Send these pieces first, each made when the client has read those before."""

    def end(self) -> None:
        """End the answer in order."""


class _EndingSink:
    """A sink that calls a function at the end of its stream, at most once."""

    __slots__ = ("_on_end", "_sink", "send", "send_initial")

    def __init__(self, sink: Sink, on_end: Callable[[], None]) -> None:
        self._sink = sink
        self._on_end: Callable[[], None] | None = on_end
        self.send = sink.send
        self.send_initial = sink.send_initial

    def report_end(self) -> None:
        if self._on_end is not None:
            self._on_end()
            self._on_end = None

    def end(self) -> None:
        self.report_end()
        self._sink.end()


class DiscardingSink(Sink):
    """A sink that discards everything."""

    def send(self, data: bytes) -> bool:
        return False

    def send_initial(self, pieces: Iterator[bytes]) -> None:
        pass

    def end(self) -> None:
        pass


class Stream:
    """An answer without a fixed end.

    `start` is called with the sink after the head is sent, and returns a function that stops it. Call `abandon` on a
    stream that is not sent, because it already follows its source.
    """

    __slots__ = ("headers", "media", "start")
    status = 200

    def __init__(
        self, start: Callable[[Sink], Callable[[], None]], media: bytes = JSON, headers: Sequence[tuple[str, str]] = ()
    ) -> None:
        self.start = start
        self.media = media
        self.headers = headers

    def follow(self, on_start: Callable[[], None], on_end: Callable[[], None]) -> None:
        """Call functions when the stream starts, and once when it ends or is stopped."""
        start = self.start

        def start_stream(sink: Sink) -> Callable[[], None]:
            on_start()
            ending = _EndingSink(sink, on_end)
            stop = start(ending)

            def stop_stream() -> None:
                ending.report_end()
                stop()

            return stop_stream

        self.start = start_stream

    def abandon(self) -> None:
        """Release a stream that is not sent."""
        self.start(DiscardingSink())()


class NoAnswer(Stream):
    """No answer: the connection is closed at once."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(lambda sink: lambda: None)


Answer = Response | Stream
ANSWER: Final = (Response, Stream)  # for isinstance
Pending = Coroutine[Any, Any, Answer]
Handler = Callable[[HTTPRequest], Answer | Pending]
Filter = Callable[[Handler], Handler]  # gets the next handler, and returns the handler that comes before it
# sees each answer before it is sent, with the seconds that it took, and returns what is sent
Observer = Callable[[HTTPRequest, Answer, float], Answer]
# delays requests: returns False if the request can be handled now, else calls the function when it can
Gate = Callable[[HTTPRequest, Callable[[HTTPRequest], None]], bool]


async def settle_answer(answer: Answer | Pending) -> Answer:
    """Return the answer of a handler, and await it if necessary."""
    return answer if isinstance(answer, ANSWER) else await answer
