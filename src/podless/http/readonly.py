"""The filter of a read-only server."""

from __future__ import annotations

from podless.http.message import Answer, Handler, Pending, Request
from podless.meta.errors import Forbidden

_READS = ("get", "list", "watch")
_REVIEWS = ("authorization.k8s.io", "authentication.k8s.io")  # reviews are created but never stored


def with_read_only(handler: Handler) -> Handler:
    """Reject writes. The handler raises Forbidden."""

    def handle(request: Request) -> Answer | Pending:
        asked = request.info.asked
        if asked.resource and asked.verb not in _READS and asked.group not in _REVIEWS:
            raise Forbidden(asked.resource, asked.group, request.info.name, "the server is read-only")
        return handler(request)

    return handle
