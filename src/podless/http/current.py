"""The filter for servers that are not the only ones: what others have written is in force for the next request."""

from __future__ import annotations

from collections.abc import Callable

from podless.cache import current
from podless.http.message import Answer, Handler, Pending, Request, Response, Stream
from podless.kinds.builtin import DEFINITIONS
from podless.verbs.call import API

_ASKED = ("/api", "/openapi")  # what is answered from the state; health and metrics must not wait for it


def with_current_state(api: API) -> list[Callable[[Handler], Handler]]:
    """The filter, where there may be other servers; it stands before all that looks at the state."""
    return [] if api.cache.fresh else [_filter(api)]


def _filter(api: API) -> Callable[[Handler], Handler]:
    def wrap(handler: Handler) -> Handler:
        async def later(request: Request) -> Answer:
            await api.cache.refresh()
            settle = api.reactions.get(DEFINITIONS.prefix)
            if settle is not None:
                await settle(None)
            scope = current.begin()
            try:
                answer = handler(request)
                return answer if isinstance(answer, (Response, Stream)) else await answer
            finally:
                scope.over = True

        def handle(request: Request) -> Answer | Pending:
            return later(request) if request.path.startswith(_ASKED) else handler(request)

        return handle

    return wrap
