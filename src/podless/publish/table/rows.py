"""A Table as bytes: rows are made once, and their ages are filled in when they are sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from podless.apis.shared.columns import DATED, Age
from podless.codec import serializer
from podless.publish.table import ages
from podless.publish.table.layout import TableLayout
from podless.publish.table.whole import included_object, listed_meta
from podless.runtime.jsonobject import Object
from podless.runtime.meter import charge, each

_CELL = 2  # steps on the meter for a cell
SHARED = 128  # bytes; longer fieldsV1 texts are separate pieces, so that rows can share them
# a row as JSON in pieces: bytes, and between them the moments whose ages belong there
Row = tuple[bytes | float, ...]


def make_row(
    layout: TableLayout, obj: Object, include: str = "Metadata", version: str = "v1", body: bytes | None = None
) -> Row:
    """Return the part of a row that does not change with time.

    body: the object's own JSON, for includeObject=Object.
    """
    pieces: list[bytes | float] = []
    lead = b'{"cells":['
    steady: list[Any] = []
    argument, readers = layout.reader_argument(obj), layout.readers
    charge(_CELL * len(readers))
    for read in readers:
        if not isinstance(read, Age):
            steady.append(read(argument))
            continue
        age = ages.read_age(read.read(argument))
        if not isinstance(age, ages.AgeSpan):
            steady.append(age)
            continue
        before = serializer.encode_json(steady)[1:-1]
        start = b'%b%b%b"%b' % (lead, before, b"," if steady else b"", age.before.encode())
        pieces += [start, age.moment]
        lead, steady = b'%b",' % age.after.encode(), []
    cells = serializer.encode_json(steady)[1:-1]
    if not steady:
        lead = lead.removesuffix(b",")
    shown_object = [body] if body else _encode_pieces(included_object(obj, include, version))
    conditions = layout.conditions(obj) if layout.conditions is not None else None
    noted = b'"conditions":%b,' % serializer.encode_json(conditions) if conditions else b""
    shown_object[0] = b'%b%b],%b"object":%b' % (lead, cells, noted, shown_object[0])
    shown_object[-1] += b"}"
    return (*pieces, *shown_object)


def _encode_pieces(included: Mapping[str, Any] | None) -> list[bytes]:
    """Return an object as JSON in pieces; its fieldsV1 texts are separate, because many objects have the same."""
    encoded = serializer.encode_json(included)
    pieces: list[bytes] = []
    start = 0
    for entry in each((included or {}).get("metadata", {}).get("managedFields") or ()):
        fields = serializer.encode_json(entry.get("fieldsV1"))
        offset = encoded.find(fields, start)
        if len(fields) >= SHARED and offset >= 0:
            pieces += [encoded[start:offset], encoded[offset : offset + len(fields)]]
            start = offset + len(fields)
    return [*pieces, encoded[start:]]


class AgeFiller:
    """Fills the ages at one moment into rows; caches them, because objects share seconds. now: seconds since 1970."""

    def __init__(self, now: float) -> None:
        self._ages = _AgeTexts(now)

    def fill_row(self, row: Sequence[bytes | float]) -> bytes:
        """Return a row, or several with separators, as JSON."""
        ages = self._ages
        return b"".join([piece if piece.__class__ is bytes else ages[piece] for piece in row])


class _AgeTexts(dict[Any, bytes]):
    """The cached ages of moments at one time."""

    def __init__(self, now: float) -> None:
        self._now = now

    def __missing__(self, moment: float) -> bytes:
        text = self[moment] = ages.format_age(moment, self._now).encode()
        return text


def frame_table(
    layout: TableLayout,
    metadata: Mapping[str, Any],
    version: str = "v1",
    *,
    with_columns: bool = True,
    bare: bool = False,
) -> tuple[bytes, bytes]:
    """Return the JSON before and after the rows of a Table. with_columns: with the column definitions.

    bare: there are no rows; for kinds without columns of their own a real server then shows null.
    """
    head = f'{{"kind":"Table","apiVersion":"meta.k8s.io/{version}","metadata":'.encode()
    definitions = layout.encoded if with_columns else b"null"
    opened, closed = (b"null", b"}") if bare and layout.columns is DATED else (b"[", b"]}")
    return b"".join(
        (
            head,
            serializer.encode_json(listed_meta(metadata)),
            b',"columnDefinitions":',
            definitions,
            b',"rows":',
            opened,
        )
    ), closed


def encode_table(
    layout: TableLayout,
    rows: Sequence[bytes],
    metadata: Mapping[str, Any],
    version: str = "v1",
    *,
    with_columns: bool = True,
) -> bytes:
    """Return a Table as JSON. rows: each as `AgeFiller` fills it."""
    head, tail = frame_table(layout, metadata, version, with_columns=with_columns)
    return b"".join((head, b",".join(rows), tail))
