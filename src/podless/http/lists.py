"""Long lists that are not sent as stored: items are made one by one while the list is sent.

Table rows are cached: the same lists are read again and again, and few objects change in between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from podless.cache.entry import Entry
from podless.codec import serializer
from podless.http.message import LazyBody
from podless.http.negotiate import YAML, AnswerForm
from podless.kinds import view
from podless.runtime import clock, lazy, slices
from podless.runtime.collector import pause_gc
from podless.runtime.jsonobject import Object
from podless.runtime.meter import charge
from podless.verbs.call import Call, Many

if TYPE_CHECKING:
    from podless.publish import table
else:
    table = lazy.LateModule("podless.publish.table")

LONG_LIST = 128  # objects; longer lists are made while they are sent
_BYTES = 1 << 18  # bytes of all objects together, with the same effect
_LONG_OBJECT = 1 << 15  # bytes of an object whose metadata is cached
_PIECE = 1 << 16  # bytes of items that are joined to one piece
# a row counts as this many bytes when pieces are joined, plus the bytes of its object: making it takes time
_ROW_COST = 1 << 10
_TOGETHER = 64  # maximum items of a piece
_BYTES_PER_STEP = 64  # bytes per step on the meter, for decoding, encoding and moving
_MARK = b'\n    "@"\n'  # placeholder for the items in indented JSON
_MAX_CACHED = 32 << 20  # maximum bytes of all cached rows
_OLD = 8  # one in 8 dropped rows is the oldest one, see `_drop_row`
_TEXTS = 256  # cached texts that rows share
_TEXT = 4096  # maximum bytes of a shared text
_FIELDS = b'{"f:'  # start of a managedFields entry's fieldsV1


class CachedRow(NamedTuple):
    """A row, and the state it shows. length: its bytes. size: its bytes without the texts shared with other rows."""

    state: Any
    row: table.Row
    length: int
    size: int


class RowCache:
    """Rows by the keys of their objects, each with the state that it shows."""

    def __init__(self, limit: int = _MAX_CACHED) -> None:
        self._limit = limit
        self._size = 0
        self._drop_count = 0
        self._rows: dict[str, CachedRow] = {}
        self._making: set[str] = set()  # keys of rows that suspended work is making
        self._texts: dict[bytes, bytes] = {}  # oldest first

    def find_row(self, key: str, state: Any) -> CachedRow | None:
        """Return the row of an object in this state, None if it is not cached.

        state: everything that the row depends on except the time, such as the revision.
        """
        row = self._rows.get(key)
        return row if row is not None and row.state == state else None

    def make_row(self, key: str, state: Any, make: Callable[[], table.Row]) -> CachedRow:
        """Make and cache the row of an object. If another answer is making it, wait for that in slices instead."""
        while key in self._making and slices.give_turn():
            earlier = self.find_row(key, state)
            if earlier is not None:
                return earlier
        self._making.add(key)
        try:
            row = make()
        finally:
            self._making.discard(key)
        return self.cache_row(key, state, row)

    def cache_row(self, key: str, state: Any, row: table.Row) -> CachedRow:
        """Cache a row in place of that of an earlier state."""
        cached = CachedRow(state, *self._share_texts(row))
        earlier = self._rows.pop(key, None)
        if earlier is not None:
            self._size -= earlier.size
        self._rows[key] = cached
        self._size += cached.size
        while self._size > self._limit:
            self._drop_row()
        return cached

    def _share_texts(self, row: table.Row) -> tuple[table.Row, int, int]:
        """Return the row with shared texts, its bytes, and its bytes without those."""
        pieces: list[bytes | float] = []
        length, size = 0, 200
        for piece in row:
            if isinstance(piece, bytes) and piece:
                length += len(piece)
                shared = self._texts.get(piece)
                if shared is not None:
                    piece = shared
                else:
                    size += len(piece)
                    if table.SHARED <= len(piece) <= _TEXT and piece.startswith(_FIELDS):
                        if len(self._texts) >= _TEXTS:
                            del self._texts[next(iter(self._texts))]
                        self._texts[piece] = piece
            pieces.append(piece)
        return tuple(pieces), length, size

    def _drop_row(self) -> None:
        """Drop a row, usually the newest: lists are read from the start, so dropping the oldest would lose every row.

        One in 8 dropped rows is the oldest, because its object may be deleted.
        """
        self._drop_count += 1
        key = next(iter(self._rows)) if self._drop_count % _OLD == 0 else next(reversed(self._rows))
        self._size -= self._rows.pop(key).size


def is_long(page: Many) -> bool:
    """Return whether a list is made while it is sent."""
    return len(page.entries) > LONG_LIST or sum(len(entry.body) for entry in page.entries) > _BYTES


def list_metadata(page: Many) -> Object:
    """Return a list's metadata, in the field order of ListMeta."""
    metadata: Object = {"resourceVersion": str(page.revision)} if page.revision else {}
    if page.token:
        metadata["continue"] = page.token
    if page.remaining is not None:
        metadata["remainingItemCount"] = page.remaining
    return metadata


def _open_list(
    call: Call, page: Many, form: AnswerForm, row_cache: RowCache, include: str
) -> tuple[bytes, bytes, Callable[[], Iterator[bytes]]]:
    """Return the JSON before and after the items of a list in its form, and a function that encodes the items.

    Without items, a real server shows null in lists of PartialObjectMetadata.
    """
    kind, version, metadata = call.kind, call.version, list_metadata(page)
    if form.target == "Table":
        layout = table.get_layout(kind, version)
        head, tail = table.frame_table(layout, metadata, form.version, bare=not page.entries)
        return head, tail, partial(table_rows, call, page, form, row_cache, include)
    if form.target:
        head, tail = _make_frame("PartialObjectMetadataList", f"meta.k8s.io/{form.version}", metadata)
        if not page.entries:
            head, tail = head[:-1] + b"null", b"}"
        return head, tail, partial(map, partial(_encode_partial, call, form, row_cache), page.entries)
    head, tail = _make_frame(kind.list_kind, kind.api_version(version.name), metadata)
    return head, tail, partial(map, partial(_encode_item, call), page.entries)


def encode_list(call: Call, page: Many, form: AnswerForm, row_cache: RowCache, include: str) -> bytes:
    """Return a short list as JSON. row_cache, include: as for `list_pieces`."""
    head, tail, encode_items = _open_list(call, page, form, row_cache, include)
    return b"".join((head, b",".join(encode_items()), tail))


def list_pieces(call: Call, page: Many, form: AnswerForm, row_cache: RowCache, include: str) -> LazyBody:
    """Return the list in its form. row_cache: cached rows. include: the includeObject parameter of tables."""
    head, tail, encode_items = _open_list(call, page, form, row_cache, include)
    name = "rows" if form.target == "Table" else "items"
    if form.media == YAML:
        return LazyBody(
            lambda: serializer.encode_yaml_pieces(
                _replace_items(head + tail, name, serializer.LazyItems(encode_items()))
            )
        )
    if form.pretty:
        return LazyBody(lambda: _indent_pieces(_replace_items(head + tail, name, ["@"]), encode_items()))
    if form.target == "Table":
        return LazyBody(
            lambda: _join_pieces(head, _join_rows(_make_rows(call, page, form, row_cache, include)), tail + b"\n")
        )
    return LazyBody(lambda: _join_pieces(head, encode_items(), tail + b"\n"))


def _encode_partial(call: Call, form: AnswerForm, row_cache: RowCache, entry: Entry) -> bytes:
    """Return the PartialObjectMetadata of an object. That of a long one is cached."""
    kind, version = call.kind, call.version
    key, state = f"{entry.key} metadata", (entry.revision, kind.group, version.name, kind.changed, form.version)
    is_long = len(entry.body) >= _LONG_OBJECT
    if is_long and (cached := row_cache.find_row(key, state)) is not None:
        return cached.row[0]  # type: ignore[return-value]
    with view.pause_collector(entry):
        encoded = serializer.encode_json(table.make_partial(view.load_inner(kind, version, entry), form.version))
    if is_long:
        row_cache.cache_row(key, state, (encoded,))
    return encoded


def _encode_item(call: Call, entry: Entry) -> bytes:
    with view.pause_collector(entry):
        return view.encode_item(call.kind, call.version, entry)


def table_rows(call: Call, page: Many, form: AnswerForm, row_cache: RowCache, include: str) -> Iterator[bytes]:
    """Yield a table's rows, decoding one object at a time."""
    ages = table.AgeFiller(clock.time())
    return (ages.fill_row(row) for row, _ in _make_rows(call, page, form, row_cache, include))


def _join_rows(rows: Iterator[tuple[table.Row, int]]) -> Iterator[bytes]:
    """Yield rows joined with commas, many in a piece."""
    ages = table.AgeFiller(clock.time())
    pieces: list[bytes | float] = []
    size = 0
    for row, length in rows:
        pieces += row
        size += length
        if size >= _PIECE:
            yield ages.fill_row(pieces)
            pieces, size = [], 0
        else:
            pieces.append(b",")
    if pieces:
        yield ages.fill_row(pieces[:-1])


def sort_key(call: Call, order: Callable[[Object], Any], entry: Entry) -> Any:
    """Return the sort key of a row, computed once for each state of its object."""
    cache_key = ("order", call.kind.group, call.version.name, call.kind.changed)
    key = entry.forms.get(cache_key)
    if key is None:
        key = entry.forms[cache_key] = order(view.load_inner(call.kind, call.version, entry))
    return key


def _make_rows(
    call: Call, page: Many, form: AnswerForm, row_cache: RowCache, include: str
) -> Iterator[tuple[table.Row, int]]:
    """Yield rows, each with roughly its bytes. Making a row counts as extra bytes."""
    kind, version = call.kind, call.version
    layout = table.get_layout(kind, version)
    shape = (layout, kind.changed, include, form.version)
    order = layout.order
    for entry in page.entries if order is None else sorted(page.entries, key=partial(sort_key, call, order)):
        if include == "Object":
            with view.pause_collector(entry):
                body = view.encode_body(kind, version, entry)
                row = table.make_row(layout, view.load_inner(kind, version, entry), include, form.version, body)
            yield row, 2 * len(body) + _ROW_COST
            continue
        cached = row_cache.find_row(entry.key, (entry.revision, shape))
        if cached is not None:
            yield cached.row, cached.length
            continue
        cached = row_cache.make_row(entry.key, (entry.revision, shape), partial(_make_row, call, entry, form, include))
        yield cached.row, cached.length + len(entry.body) + _ROW_COST


def _make_row(call: Call, entry: Entry, form: AnswerForm, include: str) -> table.Row:
    with view.pause_collector(entry):
        obj = view.load_inner(call.kind, call.version, entry)
        return table.make_row(table.get_layout(call.kind, call.version), obj, include, form.version)


def _make_frame(kind: str, api_version: str, metadata: Object) -> tuple[bytes, bytes]:
    head = b'{"kind":%b,"apiVersion":%b,"metadata":' % (
        serializer.encode_json(kind),
        serializer.encode_json(api_version),
    )
    return b'%b%b,"items":[' % (head, serializer.encode_json(metadata)), b"]}"


def _replace_items(text: bytes, name: str, items: Iterable[Any]) -> Object:
    listed: Object = serializer.decode_own(text)
    listed[name] = items
    return listed


def _join_pieces(head: bytes, items: Iterator[bytes], tail: bytes) -> Iterator[bytes]:
    pieces, size = [head], 0
    comma = False
    for item in items:
        if comma:
            pieces.append(b",")
        comma = True
        pieces.append(item)
        size += len(item)
        if size >= _PIECE or len(pieces) > 2 * _TOGETHER:
            yield b"".join(pieces)
            pieces, size = [], 0
    yield b"".join((*pieces, tail))


def _indent_pieces(listed: Object, items: Iterator[bytes]) -> Iterator[bytes]:
    """Yield indented JSON in pieces. Items are indented to their depth."""
    head, _, tail = serializer.encode_pretty(listed).partition(_MARK)
    yield from _join_pieces(head, map(_indent_item, items), b"\n" + tail)


def _indent_item(item: bytes) -> bytes:
    charge(len(item) // _BYTES_PER_STEP)
    with pause_gc():
        indented = serializer.encode_pretty(serializer.decode_own(item))
    charge(len(indented) // _BYTES_PER_STEP)
    return b"\n    " + indented.replace(b"\n", b"\n    ")
