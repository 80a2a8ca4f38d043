"""/podless/requests: the last requests of clients as lines of JSON; with ?watch=true also later ones.

Only servers with --enable-faults answer it: it is meant for tests, and each request costs a little more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice

import orjson

from podless.http.message import TEXT, HTTPRequest, LazyBody, Response, Sink, Stream
from podless.http.record import RecentRequests, RecordedRequest
from podless.meta.errors import BadRequest

_FIRST = 100  # earlier requests at the start of a watch
_INTERVAL = 0.1  # seconds between two pieces of a watch
_MAX = 500  # requests in one piece; more are only counted
_WATCH = {"": False, "0": False, "false": False, "1": True, "true": True}


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
    while piece := b"".join(islice(lines, _MAX)):
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
        lines = [_encode_line(request) for request in self._requests.newest(min(new, _MAX))]
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
