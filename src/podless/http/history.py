"""The log of changes over HTTP: the resource history.podless.dev/v1 history, and objects as they were.

The server always answers these requests; discovery and OpenAPI list the group only with --history-log, so that a
default server looks like a real one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from podless.cache.entry import Entry
from podless.codec import gotext, serializer
from podless.history.change import GROUP, make_history_kind
from podless.history.moments import NO_LOG, explain_forgotten, parse_moment
from podless.history.reader import HistoryPage, HistoryReader, HistoryScope
from podless.http.message import Sink, Stream
from podless.http.negotiate import AnswerForm
from podless.http.stream import error_line
from podless.kinds.kind import Kind
from podless.meta.errors import APIError, BadRequest, Expired, MethodNotAllowed
from podless.runtime import clock, lazy
from podless.runtime.jsonobject import Object
from podless.store import HistoryCompacted, StoreChange, StoreError, keys
from podless.verbs import options
from podless.verbs.call import API, Call, Many, Outcome, Single
from podless.verbs.list import ContinueToken, find_wanted_revision
from podless.verbs.options import ListOptions

if TYPE_CHECKING:
    from podless.publish import table
else:
    table = lazy.LateModule("podless.publish.table")

_MAX = 5000  # changes in one answer if the client sets no limit
_TOO_MANY = f"There are more than {_MAX} changes since; list them in pages instead."


class HistoryAnswers:
    """Answers for one server. kind: of the log's objects."""

    def __init__(self, api: API) -> None:
        self._api = api
        self.kind = make_history_kind()
        log = api.store.changelog
        self._reader = HistoryReader(log, api.registry, api.authorizer, api.off_loop) if log is not None else None

    def find_route(self, group: str, version: str, plural: str) -> tuple[Kind, Any] | None:
        """Return the kind and the version of a request for the log, None for other requests."""
        served = self.kind.by_version.get(version)
        if group != GROUP or plural != self.kind.plural or served is None:
            return None
        return self.kind, served

    def _open_reader(self) -> HistoryReader:
        if self._reader is None:
            raise MethodNotAllowed(NO_LOG)
        return self._reader

    async def answer_get(self, call: Call) -> Outcome:
        """Return one change, or a page of those up to the present or the requested revision.

        Raises NotFound, BadRequest, MethodNotAllowed, StoreError, and Timeout for a future revision.
        """
        reader = self._open_reader()
        if call.verb == "get":
            requested = None
            if call.name.isascii() and call.name.isdigit() and len(call.name) < 19:
                requested = await reader.read_change(call.user, call.namespace, int(call.name))
            if requested is None:
                raise call.not_found()
            return Single(_make_entry(requested))
        chosen = await options.read_list_options(self._api, call)
        revision = self._api.cache.revision
        before = _read_token(chosen.token)
        token = ContinueToken(0, "") if chosen.token else None
        wanted_revision = find_wanted_revision(chosen, token, revision, paged=True)
        if wanted_revision and (
            chosen.match == "Exact" or (chosen.limit and not chosen.match)
        ):  # as for a list of objects
            revision, before = wanted_revision, await reader.sequence_of(wanted_revision) + 1
        page = await self._read_page(reader, call, chosen, before, 0, chosen.limit or _MAX)
        return Many(
            [_make_entry(change) for change in page.changes], revision, str(page.following) if page.following else ""
        )

    async def _read_page(
        self, reader: HistoryReader, call: Call, chosen: ListOptions, before: int, after: int, limit: int
    ) -> HistoryPage:
        fields = chosen.fields
        scope = HistoryScope(
            call.namespace,
            fields.find_exact("object.group") if "object.group" in fields.names else None,
            fields.find_exact("object.resource") or "",
            fields.find_exact("object.name") or "",
        )
        matches_change: Callable[[Object], bool] | None = None
        if not fields.empty or not chosen.labels.empty:

            def matches_change(change: Object) -> bool:
                return chosen.labels.matches({}) and fields.matches(lambda name: _read_field(change, name))

        states = options.read_boolean(call, "state") or False
        return await reader.read_page(call.user, scope, before, after, limit, matches_change, states=states)

    async def make_watch(self, call: Call, form: AnswerForm, chosen: ListOptions) -> Stream:
        """Return a stream of changes later than the resourceVersion of the request, or than now."""
        reader = self._open_reader()
        since = gotext.parse_uint(chosen.revision) if chosen.revision.isdigit() else 0
        after = await reader.sequence_of(since or self._api.cache.revision)
        read_later = partial(self._read_later, reader, call, chosen)
        return Stream(LogWatch(self._api, reader, read_later, call, form, chosen.timeout or 3600, after).start)

    async def _read_later(self, reader: HistoryReader, call: Call, chosen: ListOptions, after: int) -> list[Object]:
        """Return changes above a sequence number, oldest first. Raises Expired if there are too many."""
        page = await self._read_page(reader, call, chosen, 0, after, _MAX)
        if page.following:
            raise Expired(_TOO_MANY)
        return page.changes[::-1]

    # objects at earlier times

    async def resolve_moment(self, call: Call) -> None:
        """Replace ?at=TIME by the revision of that time. Raises BadRequest, Expired."""
        try:
            at = parse_moment(options.read_text(call, "at"), clock.time())
        except ValueError as error:
            raise BadRequest(f"at: {error}") from None
        log = self._api.store.changelog
        if log is None:
            raise MethodNotAllowed(NO_LOG)
        try:
            revision = await log.find_revision(at)
        except HistoryCompacted as error:
            raise Expired(await explain_forgotten(self._api.store, error)) from None
        parameters = {name: values for name, values in call.query.items() if name != "at"}
        call.query = {**parameters, "resourceVersion": [str(revision)], "resourceVersionMatch": ["Exact"]}

    async def get_past(self, call: Call) -> Single:
        """Return an object as it was at a revision. Raises NotFound, Expired, BadRequest, Timeout, StoreError."""
        try:
            revision = gotext.parse_uint(options.read_text(call, "resourceVersion"))
        except ValueError as error:
            text = options.make_revision_error(options.read_text(call, "resourceVersion"), error)
            raise BadRequest(f"invalid resource version: {text}") from None
        if revision > self._api.cache.revision:
            raise options.make_too_large_error(revision, self._api.cache.revision)
        try:
            records = await self._api.store.read_range_at(call.key, revision)
        except HistoryCompacted as error:
            raise Expired(await explain_forgotten(self._api.store, error)) from None
        for record in records:
            if record.key == call.key:
                return Single(self._api.collection(call.kind).make_entry(record))
        raise call.not_found()


def _read_token(token: str) -> int:
    if not token:
        return 0
    if not token.isascii() or not token.isdigit() or len(token) > 18:
        raise BadRequest("continue key is not valid")
    return int(token)


def _make_entry(change: Object) -> Entry:
    entry = Entry.make_unstored(f"/{GROUP}/history/{change['metadata']['name']}", serializer.encode_json(change))
    entry.revision = change["revision"]  # later than the kind was created, so that its bytes are shown as they are
    return entry


def _read_field(change: Object, name: str) -> str:
    value: Any = change
    for segment in name.split("."):
        value = value.get(segment, "") if isinstance(value, dict) else ""
    return str(value)


class LogWatch:
    """A watch of the log: one task reads new changes whenever the store has changed, and sends them.

    read_later: returns the changes above a sequence number. seconds: until the watch ends.
    """

    def __init__(
        self,
        api: API,
        reader: HistoryReader,
        read_later: Callable[[int], Awaitable[list[Object]]],
        call: Call,
        form: AnswerForm,
        seconds: float,
        after: int,
    ) -> None:
        self._cache, self._reader, self._read_later = api.cache, reader, read_later
        self._call, self._form = call, form
        self._seconds, self._after = seconds, after
        self._changed = asyncio.Event()
        self._headed = False
        self._task: asyncio.Task[None] | None = None
        self._leave: Callable[[], None] = lambda: None
        self._timer: asyncio.TimerHandle | None = None

    def start(self, sink: Sink) -> Callable[[], None]:
        """Start to send changes. Returns a function that stops it."""
        loop = asyncio.get_running_loop()
        self._sink = sink
        self._leave = self._cache.add_change_handler(self._take_changes)
        self._changed.set()
        self._task = loop.create_task(self._follow_changes())
        self._timer = loop.call_later(self._seconds, self._end_stream)
        return self._stop_stream

    def _take_changes(self, changes: Sequence[StoreChange]) -> None:
        if any(not change.key.startswith(keys.OWN) for change in changes):
            self._changed.set()

    def _stop_stream(self) -> None:
        self._leave()
        for running in (self._task, self._timer):
            if running is not None:
                running.cancel()

    def _end_stream(self) -> None:
        self._stop_stream()
        self._sink.end()

    async def _follow_changes(self) -> None:
        try:
            while True:
                await self._changed.wait()
                self._changed.clear()
                newest = await self._reader.sequence_of(self._cache.revision)
                later = await self._read_later(self._after)
                self._after = max([newest, *(int(change["metadata"]["name"]) for change in later)])
                if later and not self._sink.send(b"".join(map(self._encode_line, later))):
                    return
        except APIError as error:
            self._sink.send(error_line(error.status(), self._form))
            self._end_stream()
        except StoreError:
            self._end_stream()

    def _encode_line(self, change: Object) -> bytes:
        kind, version = self._call.kind, self._call.version
        if self._form.target == "Table":
            layout = table.get_layout(kind, version)
            row = table.make_row(layout, change, "Metadata", self._form.version)
            listed = {"resourceVersion": change["metadata"]["resourceVersion"]}
            encoded = table.encode_table(layout, row, listed, self._form.version, with_columns=not self._headed)
            self._headed = True
        else:
            encoded = serializer.encode_json(change)
        return b'{"type":"ADDED","object":%b}\n' % encoded
