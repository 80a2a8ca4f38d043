"""The filters that authenticate, impersonate and authorize requests, limit their time, import modules, and log."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Coroutine
from importlib import import_module
from typing import TYPE_CHECKING, Any

import orjson

from podless.auth.authenticate import Authenticator
from podless.auth.authorizer import AccessDenied, Authorizer, Decision
from podless.auth.user import ANONYMOUS, User
from podless.codec import gotext, gotime
from podless.http.message import TEXT, Answer, Filter, Handler, HTTPRequest, Pending, Response, Stream, settle_answer
from podless.meta.errors import BadRequest, FilterFailed, Forbidden
from podless.offload.offloop import OffLoop
from podless.remote import DEADLINE
from podless.runtime import lazy
from podless.runtime.meter import TIMEOUT_TEXT
from podless.runtime.release import has

if TYPE_CHECKING:
    from podless.auth import impersonation
else:
    impersonation = lazy.LateModule("podless.auth.impersonation")

log = logging.getLogger("podless")

_MODULES = {  # part of a media type -> its modules, whose import takes 15 to 36 ms
    "yaml": ("podless.codec.yamltext", "podless.codec.yamlwrite"),
    "protobuf": ("podless.structs.protobuf_messages",),
    "as=Table": ("podless.publish.table",),
}
_MAX_KNOWN = 256
_MAX_TIMEOUT = 60.0  # seconds; longer timeouts have no effect
_MAX_DURATION = 100  # maximum characters of a duration; Go rejects such long numbers too
_READS = ("get", "list", "watch")
_REVIEWS = ("authorization.k8s.io", "authentication.k8s.io")  # reviews are created but never stored
_BLANK = "the provided Authorization header contains extra space before the bearer token, and is ignored"


def with_log(handler: Handler) -> Handler:
    """Return a handler that logs each request when it is answered: user, path, status, and duration."""

    async def handle_later(request: HTTPRequest, pending: Pending, began: float) -> Answer:
        answer = await pending
        _log_request(request, answer, began)
        return answer

    def handle(request: HTTPRequest) -> Answer | Pending:
        began = time.perf_counter()
        answer = handler(request)
        if not isinstance(answer, (Response, Stream)):
            return handle_later(request, answer, began)
        _log_request(request, answer, began)
        return answer

    return handle


def _log_request(request: HTTPRequest, answer: Answer, began: float) -> None:
    status = answer.status if isinstance(answer, Response) else 200
    took = (time.perf_counter() - began) * 1000
    # the query is left out because it may contain secrets; texts of clients are quoted
    request_line = f"{request.method} {request.path}{'?...' if request.query_text else ''}"
    log.info("http: %s %d %.1fms %s", ascii(request_line)[1:-1], status, took, ascii(request.user.name)[1:-1])


def with_imports(off_loop: OffLoop) -> Filter:
    """Return a filter that imports the modules for the media types of a request before its first use."""
    missing = dict(_MODULES)
    plain: set[tuple[str | None, str | None]] = set()  # pairs of media types (body, answer) that need no import
    last: dict[str, str] = {}  # the last header fields that need no import; many requests share theirs

    def wrap_handler(handler: Handler) -> Handler:
        async def handle_later(request: HTTPRequest, names: list[str]) -> Answer:
            for name in names:
                for module in _MODULES[name]:
                    await off_loop.run_on_thread(import_module, module)
                missing.pop(name, None)
            return await settle_answer(handler(request))

        def handle(request: HTTPRequest) -> Answer | Pending:
            nonlocal last
            headers = request.headers
            if headers is not last and missing:
                media = headers.get("content-type"), headers.get("accept")
                if media not in plain:
                    if names := [name for name in missing if any(text and name in text for text in media)]:
                        return handle_later(request, names)
                    if len(plain) >= _MAX_KNOWN:
                        plain.clear()
                    plain.add(media)
                last = headers
            return handler(request)

        return handle

    return wrap_handler


def with_impersonation(authorizer: Authorizer, off_loop: OffLoop) -> Filter:
    """Return a filter that sets the impersonated user of requests. Its handler raises AccessDenied and BadRequest."""

    def wrap_handler(handler: Handler) -> Handler:
        def pass_on(request: HTTPRequest, user: User) -> Answer | Pending:
            request.sender, request.user = request.user.name, user
            if request.audit is not None:
                request.audit.impersonated = user
            return handler(request)

        async def handle_later(request: HTTPRequest, impersonated: User) -> Answer:
            user = await off_loop.slices.run(
                impersonation.impersonate_user, authorizer, request.user, impersonated, request.info.attributes
            )
            return await settle_answer(pass_on(request, user))

        def handle(request: HTTPRequest) -> Answer | Pending:
            try:
                named = "impersonate-" in "\n".join(request.headers)
                impersonated = impersonation.read_headers(request.headers) if named else None
            except BadRequest as error:
                if has("BadImpersonation"):
                    raise
                raise FilterFailed(request.path, error.message) from None
            if impersonated is None:
                return handler(request)
            user, attributes = request.user, request.info.attributes
            if authorizer.is_costly(user, *impersonation.list_checks(impersonated, attributes)):
                return handle_later(request, impersonated)
            return pass_on(request, impersonation.impersonate_user(authorizer, user, impersonated, attributes))

        return handle

    return wrap_handler


def with_authorization(authorizer: Authorizer, off_loop: OffLoop) -> Filter:
    """Return a filter that asks the authorizer before anything is looked up. Its handler raises AccessDenied."""
    decide = authorizer.decide_quickly

    def wrap_handler(handler: Handler) -> Handler:
        def pass_on(request: HTTPRequest, decision: Decision) -> Answer | Pending:
            if request.audit is not None:
                request.audit.set_decision(decision.allowed, decision.reason)
            if not decision.allowed:
                raise AccessDenied(request.user, request.info.attributes, decision.reason)
            return handler(request)

        async def handle_later(request: HTTPRequest) -> Answer:
            decision = await off_loop.slices.run(authorizer.decide, request.user, request.info.attributes)
            return await settle_answer(pass_on(request, decision))

        def handle(request: HTTPRequest) -> Answer | Pending:
            user, attributes = request.user, request.info.attributes
            decision = decide(user, attributes)
            if decision is None:
                return handle_later(request)
            if decision.allowed and request.audit is None:
                return handler(request)  # as `pass_on` does, without the call: true for nearly all requests
            return pass_on(request, decision)

        return handle

    return wrap_handler


def with_read_only(handler: Handler) -> Handler:
    """Return a handler that rejects writes. It raises Forbidden."""

    def handle(request: HTTPRequest) -> Answer | Pending:
        attributes = request.info.attributes
        if attributes.resource and attributes.verb not in _READS and attributes.group not in _REVIEWS:
            raise Forbidden(attributes.resource, attributes.group, request.info.name, "the server is read-only")
        return handler(request)

    return handle


def with_authentication(authenticator: Authenticator) -> Filter:
    """Return a filter that sets the user of requests. Its handler raises Unauthorized for invalid credentials."""

    def wrap_handler(handler: Handler) -> Handler:
        def pass_as(request: HTTPRequest, user: User) -> Answer | Pending:
            request.user = user
            if user is ANONYMOUS:
                _warn_of_blank(request)
            if request.audit is not None:
                request.audit.set_user(user)
            return handler(request)

        async def handle_later(request: HTTPRequest, pending: Coroutine[Any, Any, User]) -> Answer:
            return await settle_answer(pass_as(request, await pending))

        def handle(request: HTTPRequest) -> Answer | Pending:
            user = authenticator.authenticate(request.headers, request.certificate)
            if user is ANONYMOUS or request.audit is not None or user.__class__ is not User:
                return pass_as(request, user) if isinstance(user, User) else handle_later(request, user)
            request.user = user  # as `pass_as` does, without the call: true for nearly all requests
            return handler(request)

        return handle

    return wrap_handler


def _warn_of_blank(request: HTTPRequest) -> None:
    """Warn of a bearer token after two spaces: Kubernetes reads it as empty."""
    words = request.headers.get("authorization", "").strip().split(" ", 2)
    if len(words) == 3 and words[0].lower() == "bearer" and not words[1]:
        request.warnings.append(_BLANK)


def with_request_deadline(handler: Handler) -> Handler:
    """Return a handler that answers 504 when a request exceeds its parameter `timeout`.

    The work itself continues, as on a real server, except for webhook calls, which end then. It raises
    BadRequest for an invalid duration, before anything else about the request is checked. Source: WithRequestDeadline
    and WithTimeoutForNonLongRunningRequests of k8s.io/apiserver.
    """

    def handle(request: HTTPRequest) -> Answer | Pending:
        if "timeout" not in request.query_text or request.info.long_running:
            return handler(request)
        text = request.query.get("timeout", [""])[0]
        seconds = parse_timeout(text) if text else 0.0
        if not 0 < seconds < _MAX_TIMEOUT:
            return handler(request)
        until = time.monotonic() + seconds
        outside = DEADLINE.set(until)
        try:
            answer = handler(request)
            if isinstance(answer, (Response, Stream)):
                return answer if time.monotonic() < until else _make_timeout_answer()
            return _await_until(asyncio.ensure_future(answer), until)
        finally:
            DEADLINE.reset(outside)

    return handle


async def _await_until(work: asyncio.Future[Answer], until: float) -> Answer:
    try:
        return await asyncio.wait_for(asyncio.shield(work), max(until - time.monotonic(), 0))
    except TimeoutError:
        work.add_done_callback(_ignore_result)
        return _make_timeout_answer()


def _ignore_result(work: asyncio.Future[Answer]) -> None:
    """Ignore the result of work whose request has timed out."""
    if not work.cancelled():
        work.exception()


def _make_timeout_answer() -> Response:
    """Return a real server's answer to a request that exceeds its timeout: a Status without kind."""
    body = {
        "metadata": {},
        "status": "Failure",
        "message": TIMEOUT_TEXT,
        "reason": "Timeout",
        "details": {},
        "code": 504,
    }
    return Response(504, [orjson.dumps(body, option=orjson.OPT_APPEND_NEWLINE)], TEXT)


def parse_timeout(text: str) -> float:
    """Return the seconds of a duration in Go's form, such as 1h30m. Raises BadRequest."""
    if len(text) > _MAX_DURATION:
        raise _invalid_timeout(f"time: invalid duration {gotext.quote(text)}")
    try:
        return gotime.parse_duration(text) / 1e9
    except ValueError as error:
        raise _invalid_timeout(str(error)) from None


def _invalid_timeout(reason: str) -> BadRequest:
    return BadRequest(f"invalid timeout specified in the request URL - {reason}")
