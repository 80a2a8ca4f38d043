"""The filters that every request and answer passes, in order: read it top to bottom.

A filter takes the next handler and returns a handler: a function from a request to its answer, or to a coroutine if the
answer takes time. Requests that need not wait are answered in the call that parsed them.

The order is that of k8s.io/apiserver's DefaultBuildHandlerChain (pkg/server/config.go), except in three places:

- Audit comes before authentication. A real server has one audit filter behind it and another for rejected
  requests; here one place logs all.
- Priority and fairness come before impersonation: work is charged to the sender of a request, and rights to
  impersonate are not looked up before the request's turn.
- Warnings and errors become part of an answer in one place, around everything that can raise them; a real
  server renders them in each filter.

A real server's filters for CORS, HSTS, tracing, latencies, its own panics and HTTP/2 are not needed here; its wait
groups are the listener's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from podless.http.authentication import with_authentication
from podless.http.authorization import with_authorization
from podless.http.current import with_current_state
from podless.http.deadline import with_request_deadline
from podless.http.fairness import PriorityAndFairness
from podless.http.impersonation import with_impersonation
from podless.http.imports import with_imports
from podless.http.limits import Limits
from podless.http.log import with_log
from podless.http.measured import Measured
from podless.http.message import Handler
from podless.http.readonly import with_read_only
from podless.http.requestinfo import with_request_info
from podless.http.status import with_status
from podless.runtime import lazy
from podless.verbs.call import API

if TYPE_CHECKING:
    from podless.http.faults import Faults, carry
else:
    carry = lazy.Late("podless.http.faults.carry")

Filter = Callable[[Handler], Handler]


def list_filters(
    api: API,
    limits: Limits,
    audit: Filter | None = None,
    *,
    log: bool = False,
    measured: Measured | None = None,
    faults: Faults | None = None,
    read_only: bool = False,
    console: Filter | None = None,
) -> list[Filter]:
    """Return the filters before an API's handler, the outermost first.

    audit: logs requests. faults: injects errors. console: answers for the browser console.
    """
    return [
        *([with_log] if log else []),  # a line for each request
        with_request_info,  # the verb, and the resource or path
        *([measured.filter] if measured is not None else []),  # how long it takes
        *([audit] if audit is not None else []),  # what is asked, by whom, and what comes of it
        with_status,  # exceptions to Status, warnings to headers
        with_imports(api.off_loop),  # YAML, protobuf and tables at their first use
        *([console] if console is not None else []),  # the page, which needs no login
        with_request_deadline,  # ?timeout=
        *with_current_state(api),  # what others have written
        with_authentication(api.authenticator),  # who asks
        PriorityAndFairness(limits, measured.flows if measured is not None else None).filter,  # whose turn it is
        with_impersonation(api.authorizer, api.off_loop),  # as whom
        with_authorization(api.authorizer, api.off_loop),  # who may
        *([with_read_only] if read_only else []),  # whether anything may be written
        *([carry.with_faults(faults, lambda: api.cache.revision)] if faults is not None else []),  # injected faults
    ]


def chain_filters(passed: list[Filter], handler: Handler) -> Handler:
    """Return the handler with filters before it."""
    for each in reversed(passed):
        handler = each(handler)
    return handler
