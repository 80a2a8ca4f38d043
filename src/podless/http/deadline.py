"""The filter for the timeout that a request sets: ?timeout=.

Source: WithRequestDeadline and WithTimeoutForNonLongRunningRequests of k8s.io/apiserver.
"""

from __future__ import annotations

import asyncio
import time

import orjson

from podless.codec import gotext, gotime
from podless.http.message import TEXT, Answer, Handler, HTTPRequest, Pending, Response, Stream
from podless.meta.errors import BadRequest
from podless.remote import DEADLINE
from podless.runtime.meter import TIMEOUT_TEXT

_MAX = 60.0  # seconds; longer timeouts have no effect
_LONGEST = 100  # maximum characters of a duration; Go rejects such long numbers too


def with_request_deadline(handler: Handler) -> Handler:
    """Answer 504 when a request exceeds its `timeout`.

    The work itself continues, as on a real server, except for webhook calls, which end then. The handler raises
    BadRequest for an invalid duration, before anything else about the request is checked.
    """

    def handle(request: HTTPRequest) -> Answer | Pending:
        if "timeout" not in request.query_text or request.info.long_running:
            return handler(request)
        text = request.query.get("timeout", [""])[0]
        seconds = parse_duration(text) if text else 0.0
        if not 0 < seconds < _MAX:
            return handler(request)
        until = time.monotonic() + seconds
        outside = DEADLINE.set(until)
        try:
            answer = handler(request)
            if isinstance(answer, (Response, Stream)):
                return answer if time.monotonic() < until else make_timeout_answer()
            return _await_until(asyncio.ensure_future(answer), until)
        finally:
            DEADLINE.reset(outside)

    return handle


async def _await_until(work: asyncio.Future[Answer], until: float) -> Answer:
    try:
        return await asyncio.wait_for(asyncio.shield(work), max(until - time.monotonic(), 0))
    except TimeoutError:
        work.add_done_callback(_ignore_result)
        return make_timeout_answer()


def _ignore_result(work: asyncio.Future[Answer]) -> None:
    """Ignore the result of work whose request has timed out."""
    if not work.cancelled():
        work.exception()


def make_timeout_answer() -> Response:
    """Return a real server's answer to a request that exceeds its timeout: a Status without kind."""
    body = {
        "metadata": {},
        "status": "Failure",
        "message": TIMEOUT_TEXT,
        "reason": "Timeout",
        "details": {},
        "code": 504,
    }
    return Response(504, [orjson.dumps(body, option=orjson.OPT_APPEND_NEWLINE)], TEXT)


def parse_duration(text: str) -> float:
    """Return the seconds of a duration in Go's form, such as 1h30m. Raises BadRequest."""
    if len(text) > _LONGEST:
        raise _invalid_timeout(f"time: invalid duration {gotext.quote(text)}")
    try:
        return gotime.parse_duration(text) / 1e9
    except ValueError as error:
        raise _invalid_timeout(str(error)) from None


def _invalid_timeout(reason: str) -> BadRequest:
    return BadRequest(f"invalid timeout specified in the request URL - {reason}")
