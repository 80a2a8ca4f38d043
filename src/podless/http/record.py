"""Records the last requests of clients, for assertions in tests.

Servers with --enable-faults answer /podless/requests: the records as lines of JSON; with ?watch=true also later ones.
Each recorded request costs a little more.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice

import orjson

from podless.http.info import RequestInfo, mask_query
from podless.http.message import TEXT, Answer, Handler, HTTPRequest, LazyBody, NoAnswer, Pending, Response, Sink, Stream
from podless.meta.errors import BadRequest
from podless.runtime import clock
from podless.runtime.dataclass import dataclass

_MAX = 4000  # requests that are kept
_FIRST = 100  # earlier requests at the start of a watch
_INTERVAL = 0.1  # seconds between two pieces of a watch
_TOGETHER = 500  # requests in one piece of an answer; more in a watch are only counted
_WATCH = {"": False, "0": False, "false": False, "1": True, "true": True}
_Line = tuple[float, float, float, str, str, RequestInfo, str, str, int]


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """A request and its answer."""

    at: float  # Unix time of the answer, by the server's clock
    user: str  # name of the user, after impersonation
    agent: str  # the User-Agent
    verb: str
    resource: str  # with group and subresource, such as "crontabs.stable.example.com/status"; "" for other paths
    namespace: str
    name: str
    path: str  # with the query; bearer tokens are masked
    status: int  # status code of the answer (for a watch, at its start); 0 if there was none
    seconds: float  # from the request's head to the answer (for a watch, to its start)

    def __str__(self) -> str:
        return f"{self.user} {self.verb} {self.path} {self.status}"


class RecentRequests:
    """The last few thousand answered requests, oldest first.

    open: number of requests in flight, without watches. last: time of the last request or answer, by the monotonic
    clock. count: number of requests recorded since the start.
    """

    def __init__(self) -> None:
        self._lines: deque[_Line] = deque(maxlen=_MAX)
        self._followers: dict[object, Callable[[], None]] = {}
        self.open = self.count = 0
        self.last = time.monotonic()

    def wrap_handler(self, handler: Handler) -> Handler:
        """Return a handler that records each request when it is answered."""
        lines, now = self._lines, clock.time

        async def handle_later(request: HTTPRequest, pending: Pending, began: float) -> Answer:
            self.open += 1
            try:
                answer = await pending
            finally:
                self.open -= 1
                self.last = time.monotonic()
            note_request(request, answer, began)
            return answer

        def note_request(request: HTTPRequest, answer: Answer, began: float) -> None:
            status = answer.status if isinstance(answer, Response) else 0 if isinstance(answer, NoAnswer) else 200
            agent = request.headers.get("user-agent", "")
            user, info, last = request.user.name, request.info, self.last
            lines.append((last, last - began, now(), user, agent, info, request.path, request.query_text, status))
            self.count += 1
            for notify in self._followers.values():
                notify()

        def handle(request: HTTPRequest) -> Answer | Pending:
            began = time.monotonic()
            answer = handler(request)
            if not isinstance(answer, (Response, Stream)):
                return handle_later(request, answer, began)
            self.last = time.monotonic()
            note_request(request, answer, began)
            return answer

        return handle

    def clear(self) -> None:
        """Remove all records."""
        self._lines.clear()

    def __len__(self) -> int:
        return len(self._lines)

    def __iter__(self) -> Iterator[RecordedRequest]:
        return map(_make_record, self._lines.copy())

    def __getitem__(self, index: int) -> RecordedRequest:
        return _make_record(self._lines[index])

    def follow(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call a function after each record, on the server's loop. The returned function ends this."""
        key = object()
        self._followers[key] = callback

        def stop_following() -> None:
            self._followers.pop(key, None)

        return stop_following

    def newest(self, count: int) -> list[RecordedRequest]:
        """Return the newest records, oldest first."""
        lines = self._lines.copy()
        return [_make_record(line) for line in islice(lines, max(len(lines) - count, 0), None)]

    def since(self, moment: float) -> list[RecordedRequest]:
        """Return the requests answered at or after a Unix time, by the server's clock."""
        return [_make_record(line) for line in self._lines.copy() if line[2] >= moment]

    def after(self, mark: float) -> list[RecordedRequest]:
        """Return the requests answered at or after a reading of time.monotonic, which no test advances."""
        return [_make_record(line) for line in self._lines.copy() if line[0] >= mark]

    def where(self, **wanted: str | int) -> list[RecordedRequest]:
        """Return the requests with these fields: where(verb="update", resource="crontabs.stable.example.com/status").

        Raises AttributeError for an unknown field.
        """
        return [one for one in self if all(getattr(one, name) == value for name, value in wanted.items())]


def _make_record(line: _Line) -> RecordedRequest:
    _, seconds, at, user, agent, info, path, query, status = line
    attributes = info.attributes
    resource = f"{attributes.resource}.{attributes.group}" if attributes.group else attributes.resource
    resource += f"/{attributes.subresource}" if attributes.subresource else ""
    target = f"{path}?{mask_query(query)}" if query else path
    return RecordedRequest(
        at, user, agent, attributes.verb, resource, info.namespace, attributes.name, target, status, round(seconds, 6)
    )


def answer_log(requests: RecentRequests, request: HTTPRequest) -> Response | Stream:
    """Return the requests so far, or a stream. Raises BadRequest."""
    watch = _WATCH.get(request.query.get("watch", [""])[0])
    if watch is None:
        raise BadRequest("watch is true or false")
    if watch:
        return Stream(RequestWatch(requests).start, TEXT)
    return Response(200, LazyBody(partial(_list_requests, requests)), TEXT)


def _list_requests(requests: RecentRequests) -> Iterator[bytes]:
    lines = map(_encode_line, requests)
    while piece := b"".join(islice(lines, _TOGETHER)):
        yield piece


class RequestWatch:
    """One watch. Records are sent together, at most ten times a second.

    A client that reads too slowly is disconnected, as in any watch. If there are more records than fit into a piece, a
    line {"skipped": N} gives the number of omitted ones.
    """

    def __init__(self, requests: RecentRequests) -> None:
        self._requests = requests
        self._sent_count = requests.count
        self._timer: asyncio.TimerHandle | None = None
        self._leave: Callable[[], None] = lambda: None

    def start(self, sink: Sink) -> Callable[[], None]:
        """Send the last requests, then later ones. Returns a function that stops this."""
        self._sink = sink
        self._leave = self._requests.follow(self._note_request)
        self._sent_count = self._requests.count
        sink.send(b"".join(map(_encode_line, self._requests.newest(_FIRST))))
        return self._stop_watch

    def _note_request(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_INTERVAL, self._send_lines)

    def _send_lines(self) -> None:
        self._timer = None
        new = self._requests.count - self._sent_count
        self._sent_count += new
        lines = [_encode_line(request) for request in self._requests.newest(min(new, _TOGETHER))]
        if new > len(lines):
            lines.insert(0, orjson.dumps({"skipped": new - len(lines)}, option=orjson.OPT_APPEND_NEWLINE))
        if not self._sink.send(b"".join(lines)):
            self._stop_watch()

    def _stop_watch(self) -> None:
        self._leave()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _encode_line(record: RecordedRequest) -> bytes:
    return orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)
