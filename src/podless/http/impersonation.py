"""The filter for impersonation."""

from __future__ import annotations

from collections.abc import Callable

from podless.auth import impersonation
from podless.auth.authorizer import Authorizer
from podless.auth.user import User
from podless.http.message import Answer, Handler, HTTPRequest, Pending, settle_answer
from podless.meta.errors import BadRequest, FilterFailed
from podless.offload.offloop import OffLoop
from podless.runtime.release import has


def with_impersonation(authorizer: Authorizer, off_loop: OffLoop) -> Callable[[Handler], Handler]:
    """Set the impersonated user of requests. The handler raises Denied and BadRequest."""

    def filter_(handler: Handler) -> Handler:
        def go_on(request: HTTPRequest, user: User) -> Answer | Pending:
            request.sender, request.user = request.user.name, user
            if request.audit is not None:
                request.audit.act_as(user)
            return handler(request)

        async def later(request: HTTPRequest, other: User) -> Answer:
            user = await off_loop.run_in_slices(
                impersonation.impersonate_user, authorizer, request.user, other, request.info.asked
            )
            return await settle_answer(go_on(request, user))

        def handle(request: HTTPRequest) -> Answer | Pending:
            try:
                other = impersonation.read_headers(request.headers)
            except BadRequest as error:
                if has("BadImpersonation"):
                    raise
                raise FilterFailed(request.path, error.message) from None
            if other is None:
                return handler(request)
            user, asked = request.user, request.info.asked
            if authorizer.is_costly(user, *impersonation.list_places(other, asked)):
                return later(request, other)
            return go_on(request, impersonation.impersonate_user(authorizer, user, other, asked))

        return handle

    return filter_
