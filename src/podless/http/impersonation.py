"""The filter for those who act as somebody else."""

from __future__ import annotations

from collections.abc import Callable

from podless.auth import impersonation
from podless.auth.authorizer import Authorizer
from podless.http.message import Answer, Handler, Pending, Request


def with_impersonation(authorizer: Authorizer) -> Callable[[Handler], Handler]:
    """Gives requests the user that they are carried out as. The handler raises Denied and BadRequest."""

    def filter_(handler: Handler) -> Handler:
        def handle(request: Request) -> Answer | Pending:
            other = impersonation.wanted(request.headers)
            if other is not None:
                request.user = impersonation.act(authorizer, request.user, other, request.info.asked)
                if request.audit is not None:
                    request.audit.act_as(request.user)
            return handler(request)

        return handle

    return filter_
