"""Waits until this server shows all earlier writes of other servers, if several share a store.

Reads wait at the gate, before they are parsed, so that one answer of the store releases many without a task for each.
The filter handles other requests, and reads that set a timeout or must wait for a definition.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from podless.apis.apiextensions.group import DEFINITIONS
from podless.cache import newestrevision
from podless.cache.newestrevision import FreshnessScope
from podless.http.message import Answer, Filter, Gate, Handler, HTTPRequest, Pending, Response, Stream, settle_answer
from podless.verbs.call import API

_PATHS = ("/api", "/openapi")  # paths of answers that depend on the state; health and metrics must not wait for it


def make_read_gate(api: API) -> Gate | None:
    """Return the gate, None if no other server can write to the store."""
    if api.store.prompt:
        return None

    def delay_request(request: HTTPRequest, handle_request: Callable[[HTTPRequest], None]) -> bool:
        if _is_current(api):
            request.current = True
            return False
        if request.method != "GET" or "timeout" in request.query_text or not request.path.startswith(_PATHS):
            return False
        api.cache.call_when_current(partial(_resume_request, api, request, handle_request))
        return True

    return delay_request


def _is_current(api: API) -> bool:
    return api.cache.is_fresh and not _has_pending_definitions(api)


def _has_pending_definitions(api: API) -> bool:
    """Return whether a changed definition is not in force yet."""
    definitions = api.follow_ups.find_follow_up(DEFINITIONS)
    return definitions is not None and definitions.busy


def _resume_request(
    api: API, request: HTTPRequest, go: Callable[[HTTPRequest], None], error: BaseException | None
) -> None:
    if error is None:
        if not api.cache.is_reloading and not _has_pending_definitions(api):
            request.current = True
    elif not isinstance(error, asyncio.CancelledError):
        request.current = error
    go(request)


def with_current_state(api: API) -> Filter:
    """Return a filter that waits until the cache shows the writes of other servers of a shared store."""

    def wrap_handler(handler: Handler) -> Handler:
        async def handle_later(request: HTTPRequest) -> Answer:
            await api.cache.refresh()
            definitions = api.follow_ups.find_follow_up(DEFINITIONS)
            if definitions is not None and definitions.busy:
                await definitions.reconcile_all()
            return await settle_answer(handle_in_scope(request))

        def handle_in_scope(request: HTTPRequest) -> Answer | Pending:
            scope = newestrevision.begin_waited()
            try:
                answer = handler(request)
            except BaseException:
                scope.ended = True
                raise
            if isinstance(answer, (Response, Stream)):
                scope.ended = True
                return answer
            return _await_in_scope(answer, scope)

        def handle(request: HTTPRequest) -> Answer | Pending:
            state = request.current
            if state is True or (state is None and _is_current(api)):
                return handle_in_scope(request)
            if isinstance(state, BaseException):
                raise state
            return handle_later(request) if request.path.startswith(_PATHS) else handler(request)

        return handle

    return wrap_handler


async def _await_in_scope(pending: Pending, scope: FreshnessScope) -> Answer:
    try:
        return await pending
    finally:
        scope.ended = True
