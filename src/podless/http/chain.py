"""The filters that every request and answer passes, in order: read it top to bottom.

A handler is a function from a request to its answer, or to a coroutine if the answer takes time. Requests that need not
wait are answered in the call that parsed them. A filter gets the next handler and returns the one before it: it is a
function `with_...`, the inner function of one that takes arguments, or a method `wrap_handler`.

The order is that of k8s.io/apiserver's DefaultBuildHandlerChain (pkg/server/config.go), except in three places:

- Audit comes before authentication. A real server has one audit filter behind it and another for rejected requests;
  here one place logs all.
- Priority and fairness come before impersonation: work is charged to the sender of a request, and rights to impersonate
  are not looked up before the request's turn.
- Warnings and errors become part of an answer in one place, around everything that can raise them; a real server
  renders them in each filter.

A real server's filters for CORS, HSTS, tracing, latencies, panics and HTTP/2 are not needed here. The listener does the
work of its wait groups.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from podless.codec import gotext
from podless.http.fairness import PriorityAndFairness
from podless.http.filters import (
    with_authentication,
    with_authorization,
    with_impersonation,
    with_imports,
    with_log,
    with_read_only,
    with_request_deadline,
)
from podless.http.flows import Flows
from podless.http.freshness import with_current_state
from podless.http.limits import Limits
from podless.http.message import TEXT, Answer, Filter, Handler, HTTPRequest, Pending, Response
from podless.http.status import with_status
from podless.runtime import lazy
from podless.verbs.call import API

if TYPE_CHECKING:
    from podless.http.faults import Faults, carry
else:
    carry = lazy.LateModule("podless.http.faults.carry")


def list_filters(
    api: API,
    limits: Limits,
    audit: Filter | None = None,
    *,
    log: bool = False,
    flows: Flows | None = None,
    faults: Faults | None = None,
    read_only: bool = False,
    console: Filter | None = None,
) -> list[Filter]:
    """Return the filters before an API's handler, the outermost first.

    audit: logs requests. flows: finds the flow of a request. faults: injects errors. console: answers for the browser
    console.
    """
    return [
        *([with_log] if log else []),  # log a line for each request
        with_clear_paths,  # answer requests whose path has no clear attributes
        *([audit] if audit is not None else []),  # audit
        with_status,  # render exceptions as Status, and warnings as headers
        with_imports(api.off_loop),  # import YAML, protobuf and tables before their first use
        *([console] if console is not None else []),  # serve the console's page, which needs no login
        with_request_deadline,  # apply ?timeout=
        *([with_current_state(api)] if not api.store.prompt else []),  # wait for the writes of other servers
        with_authentication(api.authenticator),  # set the user
        # queue, or reject with 429
        PriorityAndFairness(limits, flows).wrap_handler,
        with_impersonation(api.authorizer, api.off_loop),  # replace the user by the impersonated one
        with_authorization(api.authorizer, api.off_loop),  # authorize
        *([with_read_only] if read_only else []),  # reject all writes
        *([carry.with_faults(faults, lambda: api.cache.revision)] if faults is not None else []),  # inject faults
    ]


def chain_filters(passed: list[Filter], handler: Handler) -> Handler:
    """Return the handler with the filters before it; the first filter is the outermost."""
    for next_filter in reversed(passed):
        handler = next_filter(handler)
    return handler


def with_clear_paths(handler: Handler) -> Handler:
    """Return a handler that rejects requests whose path has no clear attributes (verb, and resource or path)."""

    def handle(request: HTTPRequest) -> Answer | Pending:
        return _refuse_unclear(request) if request.unclear else handler(request)

    return handle


def _refuse_unclear(request: HTTPRequest) -> Response:
    """Return the error of kube-apiserver, which is no Status. Source: k8s.io/apiserver responsewriters (errors)."""
    import html  # imported late: it has a table of all names of characters

    target = html.escape(request.path + (f"?{request.query_text}" if request.query_text else ""), quote=False)
    reason = f"failed to create RequestInfo: unable to determine kind and namespace from url, {target}"
    text = f"Internal Server Error: {gotext.quote(target)}: {reason}\n"
    return Response(500, [text.encode()], TEXT, [("X-Content-Type-Options", "nosniff")])
