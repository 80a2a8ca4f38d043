"""The filter that parses request lines for all later filters."""

from __future__ import annotations

from podless.http.info import request_info
from podless.http.message import Answer, Handler, Pending, Request


def with_request_info(handler: Handler) -> Handler:
    """Set the attributes of requests."""

    def handle(request: Request) -> Answer | Pending:
        request.info = request_info(request.method, request.path, request.query_text)
        return handler(request)

    return handle
