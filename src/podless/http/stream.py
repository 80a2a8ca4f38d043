"""A watch as a stream of JSON lines. Events are rendered once for each form, for all watchers."""

from __future__ import annotations

import asyncio
import base64
import random
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from podless.cache.entry import Entry
from podless.codec import serializer
from podless.http.lists import RowCache
from podless.http.message import JSON, Sink
from podless.http.negotiate import PROTOBUF, AnswerForm
from podless.http.render import PARTIAL_OBJECT_METADATA, STATUS, included_part
from podless.kinds import view
from podless.kinds.kind import Kind, Version
from podless.meta.errors import APIError
from podless.runtime import clock, lazy
from podless.runtime.jsonobject import Object
from podless.runtime.release import has
from podless.structs import protobuf
from podless.structs.structs import Struct
from podless.verbs.call import API, Call
from podless.verbs.watch import Watch, WatcherEvent, WatcherEvents

if TYPE_CHECKING:
    from podless.publish import table
else:
    table = lazy.LateModule("podless.publish.table")

_BOOKMARK_EVERY = 60.0  # seconds between bookmarks
_BOOKMARK_BEFORE_END = 2.0  # seconds before the end of a watch at which the last bookmark is sent
_DEFAULT_TIME = (1800, 3600)  # seconds; a watch without timeoutSeconds ends after a random time in this range
_PIECE = 1 << 16  # bytes of initial events in one piece


class WatchStream:
    """Sends a watch to one client. rows: the cache of table rows. on_end: called when the watch ends."""

    def __init__(
        self, api: API, call: Call, watch: Watch, form: AnswerForm, rows: RowCache, on_end: Callable[[], None]
    ) -> None:
        self._on_end = on_end
        self._rows = rows
        self._api = api
        self._call = call
        self._watch = watch
        self._form = form
        self._include = included_part(call) if form.target == "Table" else ""
        watch.decodes = watch.decodes or bool(self._include)
        self._columns_sent = False
        # kind and version of the last batch, and the key of its frames in a View
        self._last_view: tuple[Kind | None, Version | None, tuple[Any, ...]] = None, None, ()
        self._sink: Sink
        self._timers: list[asyncio.TimerHandle] = []
        self._loop = asyncio.get_running_loop()

    def start(self, sink: Sink) -> Callable[[], None]:
        """Start to send events. Returns a function that stops it."""
        self._sink = sink
        watch = self._watch
        sink.send_initial(self._initial_pieces(watch.revision))
        watch.start(self._send_events, self._end_watch, self._fail_watch)
        seconds = watch.options.timeout
        time = float(seconds) if seconds else random.uniform(*_DEFAULT_TIME)
        self._until = self._loop.time() + time
        self._leave = clock.CURRENT.get().add_listener(self._follow_clock)
        self._timers.append(self._loop.call_later(time, self._end_watch))
        if watch.options.bookmarks:
            if time > _BOOKMARK_BEFORE_END:
                self._timers.append(self._loop.call_later(time - _BOOKMARK_BEFORE_END, self._send_bookmark))
            self._timers.append(self._loop.call_later(_BOOKMARK_EVERY, self._repeat_bookmarks))
        return self._stop_watch

    def _initial_pieces(self, revision: int) -> Iterator[bytes]:
        """Yield the initial state in pieces, each made when the client has read the earlier ones, then a bookmark."""
        try:
            for items in self._watch.initial:
                start = size = 0
                for index, item in enumerate(items):
                    size += len(item.entry.body)
                    if size >= _PIECE:
                        yield self._render_events(items[start : index + 1])
                        start, size = index + 1, 0
                yield self._render_events(items[start:])
        except APIError as error:
            yield error_line(error.status(), self._form)
            self._loop.call_soon(self._end_watch)
            return
        if self._watch.bookmark_after:
            mark = {"k8s.io/initial-events-end": "true"}
            yield self._make_bookmark(revision, mark if has("NoBlueprints") else mark | self._make_blueprint())

    def _make_blueprint(self) -> dict[str, str]:
        """Return the annotation with an empty list of the watched kind, which some releases send."""
        kind, version = f"{self._call.kind.kind}List", self._call.api_version
        if self._form.target:
            kind, version = f"{self._form.target}List", f"meta.k8s.io/{self._form.version}"
        if self._call.kind.custom and not self._form.target:
            empty_list: dict[str, Any] = {"apiVersion": version, "items": [], "kind": kind}
        else:
            empty_list = {"kind": kind, "apiVersion": version, "metadata": {}, "items": None}
        written = base64.b64encode(serializer.encode_json(empty_list) + b"\n").decode()
        return {"kubernetes.io/initial-events-list-blueprint": written}

    def _follow_clock(self, seconds: float) -> None:
        """Send bookmarks and end the watch if that is due after the clock was advanced."""
        self._until -= seconds
        is_due = self._until <= self._loop.time()
        if self._watch.options.bookmarks and (is_due or seconds >= _BOOKMARK_EVERY):
            self._send_bookmark()
        if is_due:
            self._end_watch()

    def _stop_watch(self) -> None:
        self._leave()
        self._watch.stop()
        self._on_end()
        for timer in self._timers:
            timer.cancel()

    def _end_watch(self) -> None:
        self._stop_watch()
        self._sink.end()

    def _repeat_bookmarks(self) -> None:
        if self._send_bookmark():
            self._timers[-1] = self._loop.call_later(_BOOKMARK_EVERY, self._repeat_bookmarks)

    def _send_bookmark(self) -> bool:
        """Send a bookmark if it is newer than the client's last event, as a real server does."""
        revision = self._watch.revision
        return revision <= self._watch.begun or self._sink.send(self._make_bookmark(revision))

    def _make_bookmark(self, revision: int, annotations: dict[str, str] | None = None) -> bytes:
        call = self._call
        metadata: dict[str, Any] = {"annotations": annotations} if annotations else {}
        metadata["resourceVersion"] = str(revision)
        if not (has("OmittedTimestamps") or (call.kind.custom and not self._form.target)):
            metadata["creationTimestamp"] = None
        obj = {"apiVersion": call.api_version, "kind": call.kind.kind, "metadata": metadata}
        if self._form.target == "PartialObjectMetadata":
            obj |= {"apiVersion": f"meta.k8s.io/{self._form.version}", "kind": "PartialObjectMetadata"}
        elif self._form.target == "Table":
            # the annotation at the end of the initial state is in the object, so this bookmark includes its metadata
            include = "Metadata" if annotations and self._include == "None" else self._include
            row = table.make_row(self._find_layout(), obj, include, self._form.version)
            return self._table_line("BOOKMARK", row, str(revision))
        return _encode_event("BOOKMARK", obj, call.kind.struct_of(call.version), self._form)

    def _find_layout(self) -> table.TableLayout:
        return table.get_layout(self._call.kind, self._call.version)

    def _send_events(self, events: Sequence[WatcherEvent]) -> bool:
        columns_sent = self._columns_sent
        try:
            data = self._render_events(events)
        except APIError as error:
            self._fail_watch(error)
            return False
        except BaseException:  # it takes long, and begins again in slices
            self._columns_sent = columns_sent
            raise
        return self._sink.send(data)

    def _fail_watch(self, error: APIError) -> None:
        """End the watch with an error, because an object cannot be shown in this version."""
        self._sink.send(error_line(error.status(), self._form))
        self._end_watch()

    def _render_events(self, events: Sequence[WatcherEvent]) -> bytes:
        kind, version = self._call.kind, self._call.version  # Watch updates these when the kind changes
        if kind is not self._last_view[0] or version is not self._last_view[1]:
            self._last_view = kind, version, (self._form, kind.group, version.name, kind.changed, self._include)
        key = self._last_view[2] if not self._include else (*self._last_view[2], self._columns_sent)
        if type(events) is WatcherEvents and (frames_ := events.frames.get(key)) is not None:
            self._columns_sent = True
            return frames_
        render = _RENDER.get(self._form.target)
        if self._form.media == PROTOBUF and render is not None:
            render = _render_protobuf
        if render is None:
            data = b"".join([self._row_line(kind, version, item) for item in events])
        else:
            data = b"".join([render(kind, version, self._form, item) for item in events])
        if type(events) is WatcherEvents:
            events.frames[key] = data
        return data

    def _row_line(self, kind: Kind, version: Version, item: WatcherEvent) -> bytes:
        """Return an event as a table of one row, shared by all watchers with this view."""
        if item.event is None:
            row = self._initial_row(kind, version, item.entry)
            return self._table_line(item.type, row, str(item.entry.revision))
        key = (item.type, kind.group, version.name, kind.changed, "row", self._form.version, self._include)
        row_ = item.event.rows.get(key)
        if row_ is None:
            row_ = item.event.rows[key] = self._make_row(kind, version, item.entry)
        return self._table_line(item.type, row_, str(item.entry.revision))

    def _make_row(self, kind: Kind, version: Version, entry: Entry) -> table.Row:
        with view.pause_collector(entry):
            obj = view.load_inner(kind, version, entry)
            try:
                return table.make_row(self._find_layout(), obj, self._include, self._form.version)
            finally:
                del obj  # freed before the collector runs again

    def _initial_row(self, kind: Kind, version: Version, entry: Entry) -> table.Row:
        """Return the row of an object of the initial state, shared with lists and other watches."""
        if self._include == "Object":  # rows with whole objects are too large for the cache
            return self._make_row(kind, version, entry)
        state = entry.revision, (self._find_layout(), kind.changed, self._include, self._form.version)
        cached = self._rows.find_row(entry.key, state)
        if cached is None:
            cached = self._rows.make_row(entry.key, state, lambda: self._make_row(kind, version, entry))
        return cached.row

    def _table_line(self, type_: str, row: table.Row, revision: str) -> bytes:
        headed = not self._columns_sent
        self._columns_sent = True
        listed = {"resourceVersion": revision}
        shown = table.encode_table(self._find_layout(), row, listed, self._form.version, with_columns=headed)
        return _encode_line(type_.encode(), shown)


def _encode_line(type_: bytes, obj: bytes) -> bytes:
    return b'{"type":"%b","object":%b}\n' % (type_, obj)


def _render_plain(kind: Kind, version: Version, form: AnswerForm, item: WatcherEvent) -> bytes:
    if item.event is None:
        return _encode_line(item.type.encode(), view.encode_body(kind, version, item.entry))
    key = (item.type, kind.group, version.name, kind.changed)
    line = item.event.frames.get(key)
    if line is None:
        line = item.event.frames[key] = _encode_line(item.type.encode(), view.encode_body(kind, version, item.entry))
    return line


def _render_partial(kind: Kind, version: Version, form: AnswerForm, item: WatcherEvent) -> bytes:
    key = (item.type, kind.group, version.name, kind.changed, "partial", form.version)
    line = item.event.frames.get(key) if item.event is not None else None
    if line is None:
        obj = table.make_partial(view.load_inner(kind, version, item.entry), form.version)
        line = _encode_line(item.type.encode(), serializer.encode_json(obj))
        if item.event is not None:
            item.event.frames[key] = line
    return line


def _render_protobuf(kind: Kind, version: Version, form: AnswerForm, item: WatcherEvent) -> bytes:
    key = (item.type, kind.group, version.name, kind.changed, form)
    frame = item.event.frames.get(key) if item.event is not None else None
    if frame is None:
        load = view.load_inner if form.target else view.load_object
        obj = load(kind, version, item.entry)
        form_of_object = table.make_partial(obj, form.version) if form.target else obj
        frame = _encode_event(item.type, form_of_object, kind.struct_of(version), form)
        if item.event is not None:
            item.event.frames[key] = frame
    return frame


_RENDER = {"": _render_plain, "PartialObjectMetadata": _render_partial, "PartialObjectMetadataList": _render_partial}


def _encode_event(type_: str, obj: Object, struct: Struct | None, form: AnswerForm) -> bytes:
    """Return an event about an object in its requested form."""
    if form.media != PROTOBUF:
        return _encode_line(type_.encode(), serializer.encode_json(obj))
    message_struct = struct if struct is not None and not form.target else PARTIAL_OBJECT_METADATA
    return protobuf.frame_event(type_, protobuf.write_object(message_struct, obj))


def watch_media(form: AnswerForm) -> bytes:
    """Return the Content-Type of a watch."""
    return protobuf.STREAM.encode() if form.media == PROTOBUF else JSON


def error_line(status: dict[str, Any], form: AnswerForm) -> bytes:
    """Return the error event of a watch."""
    return error_event(status, binary=form.media == PROTOBUF)


def error_event(status: dict[str, Any], *, binary: bool) -> bytes:
    """Return an error event in protobuf or JSON."""
    if binary:
        return protobuf.frame_event("ERROR", protobuf.write_object(STATUS, status))
    return _encode_line(b"ERROR", serializer.encode_json(status))
