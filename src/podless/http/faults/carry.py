"""The filter that injects faults."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from urllib.parse import urlencode

from podless.http.faults.events import Disturbed
from podless.http.faults.fault import GROUP, InjectedFault
from podless.http.faults.scripted import Faults
from podless.http.message import Answer, Handler, HTTPRequest, Lost, Pending, Stream, settle_answer
from podless.meta.errors import APIError

_REASONS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    410: "Expired",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}


def with_faults(faults: Faults, revision: Callable[[], int]) -> Callable[[Handler], Handler]:
    """Return the filter. revision: returns the newest revision, for faults that make lists show an older state."""

    def decorate(handler: Handler) -> Handler:
        def handle(request: HTTPRequest) -> Answer | Pending:
            if faults.settle is not None and request.info.asked.group == GROUP:
                return _settled(faults.settle, request, handler)
            fault = faults.pick(request) if faults else None
            return handler(request) if fault is None else _carry_out(fault, request, handler, revision)

        return handle

    return decorate


async def _settled(settle: Callable[[], Awaitable[None]], request: HTTPRequest, handler: Handler) -> Answer:
    """Write pending counts, then answer a request for Faults."""
    await settle()
    return await settle_answer(handler(request))


async def _carry_out(
    fault: InjectedFault, request: HTTPRequest, handler: Handler, revision: Callable[[], int]
) -> Answer:
    if fault.delay:
        await asyncio.sleep(fault.delay)
    if fault.drop == "before":
        return Lost()
    if fault.status:
        raise fault_error(fault)
    if fault.older and "resourceVersionMatch" not in request.query:
        ask_for_past(request, max(revision() - fault.older, 1))
    answer = await settle_answer(handler(request))
    if fault.drop == "after":
        return Lost()
    return Disturbed.stream(fault, answer) if isinstance(answer, Stream) and fault.of_watches else answer


def fault_error(fault: InjectedFault) -> APIError:
    """Return the error of a fault that has a status."""
    details = {"retryAfterSeconds": fault.retry_after} if fault.retry_after else None
    error = APIError(fault.message or f"fault {fault.label}".rstrip(), details)
    error.code, error.reason = fault.status, _REASONS.get(fault.status, "")
    return error


def ask_for_past(request: HTTPRequest, revision: int) -> None:
    """Make a list show an older state, unless it has a continue token."""
    given = {name: values[0] for name, values in request.query.items()}
    if "continue" not in given:
        given |= {"resourceVersion": str(revision), "resourceVersionMatch": "Exact"}
        request.query_text = urlencode(given)
