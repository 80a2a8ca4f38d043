"""Paths below /podless: a backup, the status, and on test servers the recorded requests. RBAC authorizes by path."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from podless.codec import serializer
from podless.history.moments import find_revision
from podless.http.message import JSON, TEXT, Answer, HTTPRequest, Response
from podless.meta.errors import BadRequest, Expired, MethodNotAllowed, PageNotFound
from podless.runtime import clock
from podless.store import HistoryCompacted, backup
from podless.verbs.call import API
from podless.version import __version__

if TYPE_CHECKING:
    from podless.http.record import RecentRequests

_HOLD = 60.0  # seconds for which history is kept after a page of a backup was read


class OperationPaths:
    """Answers the paths of one server. leader: returns the server that runs the controllers, "" if unknown.

    log: the recorded requests of clients, None if they are not recorded.
    """

    def __init__(self, api: API, leader: Callable[[], str], log: RecentRequests | None = None) -> None:
        self._api = api
        self._leader = leader
        self._log = log
        self._started = clock.wall_time()
        self._hold = ExitStack()
        self._timer: asyncio.TimerHandle | None = None

    async def answer(self, request: HTTPRequest) -> Answer:
        """Return the answer. Raises PageNotFound, MethodNotAllowed, BadRequest, Expired."""
        if request.method != "GET":
            raise MethodNotAllowed("the server does not allow this method on the requested resource")
        if request.path == "/podless/backup":
            return await self._answer_backup(request)
        if request.path == "/podless/status":
            return Response(200, [serializer.encode_json(self._describe_status()), b"\n"], JSON)
        if request.path == "/podless/requests" and self._log is not None:
            from podless.http.record import answer_log

            return answer_log(self._log, request)
        raise PageNotFound

    async def _answer_backup(self, request: HTTPRequest) -> Response:
        """Return a page of a backup. Headers have the revision of all pages, and the first key of the next page."""
        query = request.query
        number, after, at = (query.get(name, [""])[0] for name in ("revision", "after", "at"))
        if number and not (number.isascii() and number.isdigit() and len(number) < 19):
            raise BadRequest("revision is a number")
        store = self._api.store
        self._hold_history()
        try:
            revision = await find_revision(store, at) if at else int(number) if number else await store.read_revision()
            lines, following = await backup.read_page(store, revision, after)
        except ValueError as error:
            raise BadRequest(f"at: {error}") from None
        except HistoryCompacted:
            text = (
                f"the history does not go back to {at}" if at else "the history of this backup is gone; start it again"
            )
            raise Expired(text) from None
        headers = [("Podless-Revision", str(revision)), ("Podless-After", following.encode("utf-8").hex())]
        return Response(200, [lines], TEXT, headers)

    def _hold_history(self) -> None:
        """Keep the history for another 60 s."""
        if self._timer is not None:
            self._timer.cancel()
        else:
            self._hold = self._api.store.hold_history()
        self._timer = asyncio.get_running_loop().call_later(_HOLD, self._release_history)

    def _release_history(self) -> None:
        self._hold.close()
        self._timer = None

    def _describe_status(self) -> dict[str, object]:
        api = self._api
        kinds = {}
        for kind in api.registry:
            collection = api.cache.find_collection(kind.prefix)
            if kind.home is None and collection is not None and collection.loaded:
                name = f"{kind.plural}.{kind.group}" if kind.group else kind.plural
                kinds[name] = {"objects": len(collection), "watchers": collection.watchers}
        return {
            "version": __version__,
            "started": int(self._started),
            "engine": api.store.name,
            **api.store.read_figures(),
            "leader": self._leader(),
            "kinds": dict(sorted(kinds.items())),
        }
