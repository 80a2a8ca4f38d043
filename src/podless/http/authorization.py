"""The filter that lets pass who may do what is asked for."""

from __future__ import annotations

from collections.abc import Callable

from podless.auth.authorizer import Authorizer
from podless.auth.denied import Denied
from podless.http.message import Answer, Handler, Pending, Request


def with_authorization(authorizer: Authorizer) -> Callable[[Handler], Handler]:
    """Asks the authorizer; nothing is looked up for those who may not. The handler raises Denied."""

    def filter_(handler: Handler) -> Handler:
        def handle(request: Request) -> Answer | Pending:
            user, asked = request.user, request.info.asked
            decision = authorizer.decide(user, asked)
            if request.audit is not None:
                request.audit.decide(decision.allowed, decision.reason)
            if not decision.allowed:
                raise Denied(user, asked, decision.reason)
            return handler(request)

        return handle

    return filter_
