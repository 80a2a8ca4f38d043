"""/healthz, /livez and /readyz, whole or for one check, as a real server answers them."""

from __future__ import annotations

import logging

from podless.codec.gotext import quote
from podless.controllers.health import HealthChecks
from podless.http.message import TEXT, HTTPRequest, Response
from podless.meta.errors import PageNotFound

_HEADERS = [("X-Content-Type-Options", "nosniff")]

log = logging.getLogger("podless")


async def answer_health(health: HealthChecks, request: HTTPRequest) -> Response:
    """Return the answer. Raises PageNotFound for an unknown check."""
    endpoint, slash, check = request.path[1:].partition("/")
    if not slash:
        return await _check_all(health, request, endpoint)
    if check not in health.list_checks(endpoint):
        raise PageNotFound
    fault = await health.find_fault(check)
    if fault:
        return _text_response(500, f"internal server error: {fault}\n")
    return Response(200, [b"ok"], TEXT)


async def _check_all(health: HealthChecks, request: HTTPRequest, path: str) -> Response:
    excluded = dict.fromkeys(request.query.get("exclude", ()))
    unknown = dict(excluded)
    lines, failed = [], []
    for name in health.list_checks(path):
        if name in excluded:
            unknown.pop(name, None)
            lines.append(f"[+]{name} excluded: ok\n")
        elif fault := await health.find_fault(name):
            lines.append(f"[-]{name} failed: reason withheld\n")
            failed.append(f"{name}: {fault}")
        else:
            lines.append(f"[+]{name} ok\n")
    if unknown:
        names = ",".join(quote(name) for name in sorted(unknown))
        lines.append(f"warn: some health checks cannot be excluded: no matches for {names}\n")
    report = "".join(lines)
    if failed:
        log.warning("health: %s failed: %s", path, "; ".join(failed))
        return _text_response(500, f"{report}{path} check failed\n")
    return _text_response(200, f"{report}{path} check passed\n" if "verbose" in request.query else "ok")


def _text_response(code: int, text: str) -> Response:
    return Response(code, [text.encode()], TEXT, _HEADERS)
