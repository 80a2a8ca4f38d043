"""/debug/pprof: there are no profiles of a Go process here, and who asks for one is told so.

Source: net/http/pprof and k8s.io/apiserver pkg/server/routes.
"""

from __future__ import annotations

from podless.http.message import Request, Response

PLACE = "/debug/pprof"
_PLAIN = b"text/plain; charset=utf-8"
_SHOWN = b'<a href="/debug/pprof/">Found</a>.\n\n'
# what has a profile or an index on a real server, and nothing here
_REAL = ("", "profile", "symbol", "trace", "allocs", "block", "goroutine", "heap", "mutex", "threadcreate")


def answer_profiling(request: Request) -> Response | None:
    """The answer to a request below the place, None for what is not there."""
    if request.path == PLACE:
        moved = [("Location", f"{PLACE}/")]
        if request.method in ("GET", "HEAD"):
            return Response(302, [_SHOWN], b"text/html; charset=utf-8", moved)
        return Response(302, (), b"", moved)
    name = request.path.removeprefix(f"{PLACE}/")
    if not request.path.startswith(f"{PLACE}/") or name in _REAL:
        return None
    return Response(404, [b"Unknown profile\n"], _PLAIN, [("X-Go-Pprof", "1"), ("X-Content-Type-Options", "nosniff")])
