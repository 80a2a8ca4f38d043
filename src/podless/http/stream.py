"""A watch as a stream of JSON lines: events are rendered once for each form and shared by all who want it."""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from podless.http.message import JSON, Sink, Stream
from podless.http.negotiate import PROTOBUF, Form
from podless.http.render import include
from podless.kinds import view
from podless.kinds.kind import Kind, Version
from podless.meta import clock, codec, lazy, protobuf
from podless.meta.errors import APIError
from podless.meta.structs import Struct
from podless.meta.structs_meta import PARTIAL_OBJECT_METADATA, STATUS
from podless.verbs.call import API, Call
from podless.verbs.watch import Seen, View, Watch

if TYPE_CHECKING:
    from podless.publish import table
else:
    table = lazy.Late("podless.publish.table")

Object = dict[str, Any]

_BOOKMARK_EVERY = 60.0  # seconds
_BOOKMARK_BEFORE_END = 2.0  # seconds
_DEFAULT_TIME = (1800, 3600)  # seconds; a watch with no timeoutSeconds ends somewhere in between
_LATE_MOST = 4096  # events that wait until they are rendered; a watch that has more of them ends
_LONG, _LONG_TABLE = 1 << 15, 1 << 12  # bytes of objects that take long to render, of custom ones in a table as well
_PIECE = 1 << 16  # bytes of initial events that are made as one piece


class WatchStream:
    """Sends what a watch sees to one client. over: called once that ends."""

    def __init__(self, api: API, call: Call, watch: Watch, form: Form, over: Callable[[], None]) -> None:
        self._over = over
        self._api = api
        self._call = call
        self._watch = watch
        self._form = form
        self._include = include(call) if form.target == "Table" else ""
        self._columns_sent = False
        # events that wait until those before them are rendered, which takes long
        self._late: deque[Sequence[Seen]] = deque()
        self._work: asyncio.Task[None] | None = None
        self._ending = False
        self._sink: Sink
        self._timers: list[asyncio.TimerHandle] = []
        self._loop = asyncio.get_running_loop()

    def stream(self) -> Stream:
        """The answer for the connection."""
        return Stream(self._start, media(self._form))

    def _start(self, sink: Sink) -> Callable[[], None]:
        self._sink = sink
        watch = self._watch
        sink.pull(self._initial(watch.revision))
        watch.start(self._send, self._end, self._fail)
        seconds = watch.options.timeout
        time = float(seconds) if seconds else random.uniform(*_DEFAULT_TIME)
        self._until = self._loop.time() + time
        self._leave = clock.CURRENT.get().listen(self._advanced)
        self._timers.append(self._loop.call_later(time, self._end))
        if watch.options.bookmarks:
            if time > _BOOKMARK_BEFORE_END:
                self._timers.append(self._loop.call_later(time - _BOOKMARK_BEFORE_END, self._bookmark))
            self._timers.append(self._loop.call_later(_BOOKMARK_EVERY, self._bookmarks))
        return self._stop

    def _initial(self, revision: int) -> Iterator[bytes]:
        """The initial state in pieces, each made when the client has read those before, and what marks its end.

        revision: of that state; what happens while it is read comes behind the mark.
        """
        try:
            for seen in self._watch.initial:
                start = size = 0
                for place, item in enumerate(seen):
                    size += len(item.entry.body)
                    if size >= _PIECE:
                        yield self._render(seen[start : place + 1])
                        start, size = place + 1, 0
                yield self._render(seen[start:])
        except APIError as error:
            yield error_line(error.status(), self._form)
            self._loop.call_soon(self._end)
            return
        if self._watch.bookmark_after:
            yield self._bookmark_bytes(revision, {"k8s.io/initial-events-end": "true"})

    def _advanced(self, seconds: float) -> None:
        """The clock was moved: what would have come meanwhile comes now."""
        self._until -= seconds
        over = self._until <= self._loop.time()
        if self._watch.options.bookmarks and (over or seconds >= _BOOKMARK_EVERY):
            self._bookmark()
        if over:
            self._end()

    def _stop(self) -> None:
        self._late.clear()
        if self._work is not None and self._work is not asyncio.current_task():
            self._work.cancel()
        self._leave()
        self._watch.stop()
        self._over()
        for timer in self._timers:
            timer.cancel()

    def _end(self) -> None:
        if self._late and not self._ending:
            self._ending = True  # once they are sent
            return
        self._stop()
        self._sink.end()

    def _bookmarks(self) -> None:
        if self._bookmark():
            self._timers[-1] = self._loop.call_later(_BOOKMARK_EVERY, self._bookmarks)

    def _bookmark(self) -> bool:
        """A client that knows all there is needs none: as from a real server, only what is newer is marked."""
        revision = self._watch.revision
        if self._late:  # it would tell more than was sent
            return True
        return revision <= self._watch.begun or self._sink.send(self._bookmark_bytes(revision))

    def _bookmark_bytes(self, revision: int, annotations: dict[str, str] | None = None) -> bytes:
        call = self._call
        metadata: dict[str, Any] = {"annotations": annotations} if annotations else {}
        metadata["resourceVersion"] = str(revision)
        obj = {"apiVersion": call.api_version, "kind": call.kind.kind, "metadata": metadata}
        if self._form.target == "PartialObjectMetadata":
            obj |= {"apiVersion": f"meta.k8s.io/{self._form.version}", "kind": "PartialObjectMetadata"}
        elif self._form.target == "Table":
            # the mark behind the initial state is in the object, which is shown though none are asked for
            include = "Metadata" if annotations and self._include == "None" else self._include
            return self._table_line("BOOKMARK", obj, include)
        return _event("BOOKMARK", obj, call.kind.struct_of(call.version), self._form)

    def _layout(self) -> table.Layout:
        return table.layout(self._call.kind, self._call.version)

    def _send(self, seen: Sequence[Seen]) -> bool:
        if self._late or self._is_long(seen):
            self._late.append(seen)
            if sum(map(len, self._late)) > _LATE_MOST:
                self._late.clear()
                self._end()
            elif self._work is None:
                self._work = self._loop.create_task(self._catch_up())
            return True
        try:
            data = self._render(seen)
        except APIError as error:
            self._fail(error)
            return False
        return self._sink.send(data)

    def _fail(self, error: APIError) -> None:
        """An object cannot be shown in this version: the watch ends, and says why."""
        self._sink.send(error_line(error.status(), self._form))
        self._end()

    def _is_long(self, seen: Sequence[Seen]) -> bool:
        """Whether it takes long to render events, so that it is done in slices."""
        call, form = self._call, self._form
        if not form.target and form.media != PROTOBUF and call.version.name == call.kind.storage_version:
            return not call.kind.settled and sum(len(item.entry.body) for item in seen) > _LONG
        if type(seen) is View and self._key() in seen.frames:
            return False
        most = _LONG_TABLE if form.target == "Table" and call.kind.custom else _LONG
        return sum(len(item.entry.body) for item in seen) > most

    async def _catch_up(self) -> None:
        """Render what is late, batch by batch."""
        try:
            while self._late:
                data = await self._rendered(self._late[0])
                if not self._late or not self._sink.send(data):  # it was stopped meanwhile, or the client is gone
                    return
                self._late.popleft()
        except APIError as error:
            self._late.clear()
            self._fail(error)
        except Exception:
            self._late.clear()
            self._end()
            raise
        finally:
            self._work = None
        if self._ending:
            self._end()

    async def _rendered(self, seen: Sequence[Seen]) -> bytes:
        """Events rendered in slices, once for all watchers who see the same."""
        run = self._api.aside.slices.run
        if type(seen) is not View:
            return await run(self._render, seen)
        key = self._key()
        flight = seen.flights.get(key)
        if flight is None:
            flight = seen.flights[key] = self._loop.create_task(run(self._render, seen))

            def landed(done: asyncio.Task[bytes]) -> None:
                del seen.flights[key]
                if not done.cancelled():
                    done.exception()  # those who wait have it

            flight.add_done_callback(landed)
        made = await asyncio.shield(flight)
        self._columns_sent = True
        return made

    def _key(self) -> Any:
        """What those have in common who see the same events as the same bytes."""
        kind, version = self._call.kind, self._call.version
        key = (self._form, kind.group, version.name, kind.changed)
        return (*key, self._include, self._columns_sent) if self._form.target == "Table" else key

    def _render(self, seen: Sequence[Seen]) -> bytes:
        kind, version = self._call.kind, self._call.version  # the watch keeps them up to date
        key = self._key()
        if type(seen) is View and (known := seen.frames.get(key)) is not None:
            self._columns_sent = True
            return known
        render = _RENDER.get(self._form.target)
        if self._form.media == PROTOBUF and render is not None:
            render = _protobuf
        if render is None:
            made = b"".join([self._table_item(item) for item in seen])
        else:
            made = b"".join([render(kind, version, self._form, item) for item in seen])
        if type(seen) is View:
            seen.frames[key] = made
        return made

    def _table_item(self, item: Seen) -> bytes:
        with view.resting(item.entry):
            obj = view.inner(self._call.kind, self._call.version, item.entry)
            return self._table_line(item.type, obj, self._include)

    def _table_line(self, type_: str, obj: Object, include: str) -> bytes:
        revision = {"resourceVersion": obj["metadata"]["resourceVersion"]}
        headed = not self._columns_sent
        self._columns_sent = True
        row = table.encode_row(self._layout(), obj, include, self._form.version)
        return _line(
            type_.encode(), table.encode_table(self._layout(), [row], revision, self._form.version, headed=headed)
        )


def _line(type_: bytes, obj: bytes) -> bytes:
    return b'{"type":"%b","object":%b}\n' % (type_, obj)


def _plain(kind: Kind, version: Version, form: Form, item: Seen) -> bytes:
    if item.event is None:
        return _line(item.type.encode(), view.body(kind, version, item.entry))
    key = (item.type, kind.group, version.name, kind.changed)
    line = item.event.frames.get(key)
    if line is None:
        line = item.event.frames[key] = _line(item.type.encode(), view.body(kind, version, item.entry))
    return line


def _partial(kind: Kind, version: Version, form: Form, item: Seen) -> bytes:
    key = (item.type, kind.group, version.name, kind.changed, "partial", form.version)
    line = item.event.frames.get(key) if item.event is not None else None
    if line is None:
        with view.resting(item.entry):
            obj = table.partial(view.inner(kind, version, item.entry), form.version)
            line = _line(item.type.encode(), codec.encode(obj))
        if item.event is not None:
            item.event.frames[key] = line
    return line


def _protobuf(kind: Kind, version: Version, form: Form, item: Seen) -> bytes:
    key = (item.type, kind.group, version.name, kind.changed, form)
    frame = item.event.frames.get(key) if item.event is not None else None
    if frame is None:
        load = view.inner if form.target else view.load
        with view.resting(item.entry):
            obj = load(kind, version, item.entry)
            shown = table.partial(obj, form.version) if form.target else obj
            frame = _event(item.type, shown, kind.struct_of(version), form)
        if item.event is not None:
            item.event.frames[key] = frame
    return frame


_RENDER = {"": _plain, "PartialObjectMetadata": _partial, "PartialObjectMetadataList": _partial}


def _event(type_: str, obj: Object, struct: Struct | None, form: Form) -> bytes:
    """One event about an object as it is to be shown."""
    if form.media != PROTOBUF:
        return _line(type_.encode(), codec.encode(obj))
    whole = struct if struct is not None and not form.target else PARTIAL_OBJECT_METADATA
    return protobuf.frame(type_, protobuf.write(whole, obj))


def media(form: Form) -> bytes:
    """The Content-Type of a watch."""
    return protobuf.STREAM.encode() if form.media == PROTOBUF else JSON


def error_line(status: dict[str, Any], form: Form) -> bytes:
    """The one event of a watch that cannot be carried out, or the last of one that cannot go on."""
    return error_event(status, binary=form.media == PROTOBUF)


def error_event(status: dict[str, Any], *, binary: bool) -> bytes:
    """The same for a watch in protobuf, or in JSON."""
    if binary:
        return protobuf.frame("ERROR", protobuf.write(STATUS, status))
    return _line(b"ERROR", codec.encode(status))
