"""The filter that says, once for all that follow, what a request asks for."""

from __future__ import annotations

from podless.http.info import request_info
from podless.http.message import Answer, Handler, Pending, Request


def with_request_info(handler: Handler) -> Handler:
    """Gives requests what they ask for."""

    def handle(request: Request) -> Answer | Pending:
        request.info = request_info(request.method, request.path, request.query_text)
        return handler(request)

    return handle
