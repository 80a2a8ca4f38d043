"""The filter that authenticates requests."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from podless.auth.authenticate import Authenticator
from podless.auth.user import ANONYMOUS, User
from podless.http.message import Answer, Handler, HTTPRequest, Pending, settle_answer

_BLANK = "the provided Authorization header contains extra space before the bearer token, and is ignored"


def with_authentication(authenticator: Authenticator) -> Callable[[Handler], Handler]:
    """Set the user of requests. The handler raises Unauthorized for missing or invalid credentials."""

    def filter_(handler: Handler) -> Handler:
        def known(request: HTTPRequest, user: User) -> Answer | Pending:
            request.user = user
            if user is ANONYMOUS:
                _warn_of_blank(request)
            if request.audit is not None:
                request.audit.identify(user)
            return handler(request)

        async def later(request: HTTPRequest, pending: Coroutine[Any, Any, User]) -> Answer:
            return await settle_answer(known(request, await pending))

        def handle(request: HTTPRequest) -> Answer | Pending:
            user = authenticator.authenticate(request.headers, request.certificate)
            if user is ANONYMOUS or request.audit is not None or user.__class__ is not User:
                return known(request, user) if isinstance(user, User) else later(request, user)
            request.user = user  # what `known` does for nearly all requests, without the call
            return handler(request)

        return handle

    return filter_


def _warn_of_blank(request: HTTPRequest) -> None:
    """Warn of a bearer token after two spaces: Kubernetes reads it as empty."""
    parts = request.headers.get("authorization", "").strip().split(" ", 2)
    if len(parts) == 3 and parts[0].lower() == "bearer" and not parts[1]:
        request.warnings.append(_BLANK)
