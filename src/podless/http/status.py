"""Renders exceptions as answers. No other module does."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from functools import partial
from http import HTTPStatus
from itertools import chain
from typing import Any

from podless.codec import serializer
from podless.http import negotiate
from podless.http.message import ANSWER, JSON, TEXT, Answer, Handler, HTTPRequest, LazyBody, Pending, Response
from podless.meta.errors import APIError, InsufficientStorage, Internal, Plain, Timeout, TooManyRequests, Unavailable
from podless.runtime.lazy import compile_late
from podless.runtime.traces import trace_error
from podless.store import DiskFull, StoreError, StoreFull, StoreTimeout, StoreUnreachable, ValueTooLarge
from podless.structs import protobuf
from podless.structs.structfiles import load_struct

STATUS = load_struct("meta/v1", "Status")

log = logging.getLogger("podless")

# a real server answers etcd's message for StoreFull and ValueTooLarge, without a reason
_STORE_ERRORS: dict[type[StoreError], type[APIError]] = {
    DiskFull: InsufficientStorage,
    StoreFull: Internal,
    ValueTooLarge: Internal,
    StoreTimeout: Timeout,
    StoreUnreachable: Unavailable,
}
_LONG_MESSAGE = 1 << 17  # characters; answers with longer messages are made while they are sent


def status_response(
    obj: Any, code: int, accept: str = "", headers: Sequence[tuple[str, str]] = (), *, pretty: bool = False
) -> Response:
    """Return a Status, in YAML or protobuf if the client asks for it. pretty: indent JSON.

    JSON with a long message is made while it is sent.
    """
    media = negotiate.choose_error_form(accept).media
    if media == negotiate.YAML:
        return Response(code, [serializer.encode_yaml(obj)], media.encode(), headers)
    if media == negotiate.PROTOBUF:
        return Response(code, [protobuf.write_object(STATUS, obj)], media.encode(), headers)
    if len(obj["message"]) <= _LONG_MESSAGE:
        chunks = [*serializer.encode_json_pieces(obj, b"")] if pretty else [serializer.encode_json(obj), b"\n"]
        return Response(code, chunks, JSON, headers)
    indent, end = (b"", ()) if pretty else (None, (b"\n",))
    size = serializer.measure_long(obj)
    return Response(
        code, LazyBody(lambda: chain(serializer.encode_json_pieces(obj, indent), end), -1, size), JSON, headers
    )


def with_status(handler: Handler) -> Handler:
    """Return a handler that turns exceptions into answers, and adds warnings."""

    async def handle_later(request: HTTPRequest, pending: Pending) -> Answer:
        try:
            answer = await pending
        except Exception as error:
            is_long = isinstance(error, APIError) and len(error.message) > _LONG_MESSAGE
            if is_long and negotiate.choose_error_form(request.headers.get("accept", "")).media != negotiate.JSON:
                answer = await asyncio.to_thread(_render_error, error, request)
            else:
                answer = _render_error(error, request)
        return _add_warnings(request, answer) if request.warnings else answer

    def handle(request: HTTPRequest) -> Answer | Pending:
        try:
            answer = handler(request)
        except Exception as error:
            answer = _render_error(error, request)
        if not isinstance(answer, ANSWER):
            return handle_later(request, answer)
        return _add_warnings(request, answer) if request.warnings else answer

    return handle


def _render_error(error: Exception, request: HTTPRequest) -> Response:
    """Return the answer to a request that failed, indented for people."""
    accept = request.headers.get("accept", "")
    agent = request.headers.get("user-agent", "")
    form = negotiate.make_readable(negotiate.choose_error_form(accept), request.query, agent)
    return render_error(error, accept, pretty=form.pretty)


def _add_warnings(request: HTTPRequest, answer: Answer) -> Answer:
    answer.headers = [*answer.headers, *warning_headers(request.warnings)]
    return answer


def render_error(error: Exception, accept: str = "", *, pretty: bool = False) -> Response:
    """Return the answer to a request that failed. pretty: indent JSON."""
    respond = partial(status_response, accept=accept, pretty=pretty)
    if isinstance(error, Plain):
        return Response(error.code, [error.message.encode()], TEXT, [("X-Content-Type-Options", "nosniff")])
    if isinstance(error, APIError):
        headers = [("Retry-After", "1")] if isinstance(error, TooManyRequests) else [*error.headers]
        details = error.details or {}
        if "retryAfterSeconds" in details:
            headers = [("Retry-After", str(details["retryAfterSeconds"]))]
        return respond(error.status(), error.code, headers=headers)
    for store_error, api_error in _STORE_ERRORS.items():
        if isinstance(error, store_error):
            headers = [("Retry-After", "1")] if isinstance(error, StoreUnreachable) else []
            return respond(api_error(str(error)).status(), api_error.code, headers=headers)
    if isinstance(error, StoreError):
        log.error("store: a request failed: %s", error)
        failure = APIError(f"Internal error occurred: {error}", {"causes": [{"message": str(error)}]})
        return respond(failure.status(), 500)
    log.error("http: a request failed: %s", trace_error(error))
    unknown = APIError("Internal error occurred: see the server's log")
    return respond(unknown.status(), 500)


def refuse_bytes(code: int, text: str) -> Response:
    """Return the answer to what cannot be handled as a request: a Status for 429, else a line of text as from Go."""
    if code == TooManyRequests.code:
        return render_error(TooManyRequests(text))
    line = f"{code} {HTTPStatus(code).phrase}"
    return Response(code, [(f"{line}: {text}" if text else line).encode()], TEXT)


_MAX_WARNINGS = 4096  # maximum characters of all warnings; with more, each is shortened
_MAX_WARNING = 256
# control characters, and surrogates, which UTF-8 cannot encode
_UNTOLD = compile_late(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def warning_headers(warnings: Iterable[str]) -> list[tuple[str, str]]:
    """Return Warning headers, each text once, quoted by RFC 7234. If there is too much text, each is shortened.

    Texts that a header cannot contain are left out, and so are those beyond the limit.
    """
    quoted = (text.replace("\\", "\\\\").replace('"', '\\"') for text in _format_warnings(warnings))
    return [("Warning", f'299 - "{text}"') for text in quoted]


def _format_warnings(warnings: Iterable[str]) -> list[str]:
    """Return the distinct warning texts, each shortened if all together are too long."""
    texts: dict[str, None] = {}
    whole_size = cut_size = 0  # characters so far, with whole and with shortened texts
    for text in warnings:
        if not text or text in texts or _UNTOLD.search(text):
            continue
        if whole_size > _MAX_WARNINGS and cut_size >= _MAX_WARNINGS:
            break
        texts[text] = None
        whole_size, cut_size = whole_size + len(text), cut_size + min(len(text), _MAX_WARNING)
    return list(texts) if whole_size <= _MAX_WARNINGS else [text[:_MAX_WARNING] for text in texts]
