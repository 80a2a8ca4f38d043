"""A log line for each request (`serve -v`)."""

from __future__ import annotations

import logging
import time

from podless.http.message import Answer, Handler, HTTPRequest, Pending, Response, Stream

log = logging.getLogger("podless")


def with_log(handler: Handler) -> Handler:
    """Log each request when it is answered: user, path, status, and duration."""

    async def later(request: HTTPRequest, pending: Pending, began: float) -> Answer:
        answer = await pending
        _log_request(request, answer, began)
        return answer

    def handle(request: HTTPRequest) -> Answer | Pending:
        began = time.perf_counter()
        answer = handler(request)
        if not isinstance(answer, (Response, Stream)):
            return later(request, answer, began)
        _log_request(request, answer, began)
        return answer

    return handle


def _log_request(request: HTTPRequest, answer: Answer, began: float) -> None:
    status = answer.status if isinstance(answer, Response) else 200
    took = (time.perf_counter() - began) * 1000
    # the query is left out because it may contain secrets; texts of clients are quoted
    what = f"{request.method} {request.path}{'?...' if request.query_text else ''}"
    log.info("http: %s %d %.1fms %s", ascii(what)[1:-1], status, took, ascii(request.user.name)[1:-1])
