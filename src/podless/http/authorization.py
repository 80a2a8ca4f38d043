"""The filter that authorizes requests."""

from __future__ import annotations

from collections.abc import Callable

from podless.auth.attributes import AccessDenied
from podless.auth.authorizer import Authorizer, Decision
from podless.http.message import Answer, Handler, Pending, Request, settle_answer
from podless.offload.offloop import OffLoop


def with_authorization(authorizer: Authorizer, off_loop: OffLoop) -> Callable[[Handler], Handler]:
    """Return the filter that asks the authorizer before anything is looked up. The handler raises Denied."""

    decide = authorizer.decide_quickly

    def filter_(handler: Handler) -> Handler:
        def go_on(request: Request, decision: Decision) -> Answer | Pending:
            if request.audit is not None:
                request.audit.decide(decision.allowed, decision.reason)
            if not decision.allowed:
                raise AccessDenied(request.user, request.info.asked, decision.reason)
            return handler(request)

        async def later(request: Request) -> Answer:
            decision = await off_loop.run_in_slices(authorizer.decide, request.user, request.info.asked)
            return await settle_answer(go_on(request, decision))

        def handle(request: Request) -> Answer | Pending:
            user, asked = request.user, request.info.asked
            decision = decide(user, asked)
            if decision is None:
                return later(request)
            if decision.allowed and request.audit is None:
                return handler(request)  # what `go_on` does for nearly all requests, without the call
            return go_on(request, decision)

        return handle

    return filter_
