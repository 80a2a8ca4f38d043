"""The filters that authorize requests, and that reject writes on a read-only server."""

from __future__ import annotations

from collections.abc import Callable

from podless.auth.attributes import AccessDenied
from podless.auth.authorizer import Authorizer, Decision
from podless.http.message import Answer, Handler, HTTPRequest, Pending, settle_answer
from podless.meta.errors import Forbidden
from podless.offload.offloop import OffLoop

_READS = ("get", "list", "watch")
_REVIEWS = ("authorization.k8s.io", "authentication.k8s.io")  # reviews are created but never stored


def with_authorization(authorizer: Authorizer, off_loop: OffLoop) -> Callable[[Handler], Handler]:
    """Return the filter that asks the authorizer before anything is looked up. The handler raises Denied."""

    decide = authorizer.decide_quickly

    def filter_(handler: Handler) -> Handler:
        def go_on(request: HTTPRequest, decision: Decision) -> Answer | Pending:
            if request.audit is not None:
                request.audit.decide(decision.allowed, decision.reason)
            if not decision.allowed:
                raise AccessDenied(request.user, request.info.asked, decision.reason)
            return handler(request)

        async def later(request: HTTPRequest) -> Answer:
            decision = await off_loop.run_in_slices(authorizer.decide, request.user, request.info.asked)
            return await settle_answer(go_on(request, decision))

        def handle(request: HTTPRequest) -> Answer | Pending:
            user, asked = request.user, request.info.asked
            decision = decide(user, asked)
            if decision is None:
                return later(request)
            if decision.allowed and request.audit is None:
                return handler(request)  # what `go_on` does for nearly all requests, without the call
            return go_on(request, decision)

        return handle

    return filter_


def with_read_only(handler: Handler) -> Handler:
    """Return a filter of a read-only server. The handler raises Forbidden."""

    def handle(request: HTTPRequest) -> Answer | Pending:
        asked = request.info.asked
        if asked.resource and asked.verb not in _READS and asked.group not in _REVIEWS:
            raise Forbidden(asked.resource, asked.group, request.info.name, "the server is read-only")
        return handler(request)

    return handle
