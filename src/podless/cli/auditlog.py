"""podless import --audit-log: convert the audit log of a kube-apiserver to a history for log, show and blame."""

from __future__ import annotations

import argparse
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

import orjson

from podless.history.audit import AuditChange, BadEvent, Skipped, read_event
from podless.runtime.files import STANDARD_INPUT, open_standard_input
from podless.runtime.messages import format_count
from podless.runtime.option import ReportedError
from podless.store import StoreError
from podless.store.contract import Author, LoggedWrite
from podless.store.engines import DATABASE
from podless.store.keys import StoredValue
from podless.store.sqlite.copying import write_log

_LINE = 32 << 20  # maximum bytes of a line; kube-apiserver accepts bodies of 3 MiB


class BadLog(ReportedError):
    """A file is not an audit log. The text names the line."""


class _LogPosition(NamedTuple):
    """The position of a change in the files. at: milliseconds since 1970."""

    at: int
    number: int
    revision: int
    key: str


def run(args: argparse.Namespace) -> int:
    """Import. Returns 1, with a line on standard error, if that fails; then it leaves no database behind."""
    path = args.data / DATABASE
    try:
        if path.exists():
            raise BadLog(f"{path}: the folder already has a database; name a new folder with --data")
        args.data.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=args.data, prefix=".import-") as scratch:
            summary = _import_log(args.paths, Path(scratch))
            (Path(scratch) / DATABASE).rename(path)
    except (StoreError, sqlite3.Error) as error:
        raise ReportedError(f"{args.data}: {error}") from None
    print(f"{summary} are in {args.data}; read them with podless log --data {args.data}")
    return 0


def _import_log(paths: Sequence[str], scratch: Path) -> str:
    """Create the database in a folder. Returns a summary. Raises BadLog."""
    skipped: Counter[Skipped] = Counter()
    database = sqlite3.connect(scratch / "changes.db", isolation_level=None)
    try:
        database.execute("PRAGMA synchronous = OFF")
        database.execute("CREATE TABLE changes (number INTEGER PRIMARY KEY, offset INTEGER, creates, author, value)")
        database.execute("BEGIN")
        places = list(_store_changes(database, paths, skipped))
        database.execute("COMMIT")
        omitted = [f"{format_count(count, 'event')}: {reason.value}" for reason, count in skipped.most_common()]
        if not places:
            raise BadLog(f"the files have no changes; they have {'; '.join(omitted) or 'no events'}")
        ordered = settle_revisions(places)
        write_log(_read_back(database, ordered), scratch / DATABASE)
    finally:
        database.close()
    objects = len({position.key for position in ordered})
    for text in omitted:
        print(f"skipped {text}")
    if len(ordered) < len(places):
        print(f"skipped {format_count(len(places) - len(ordered), 'event')}: writes that changed nothing")
    return f"{format_count(len(ordered), 'change')} of {format_count(objects, 'object')}"


def _store_changes(
    database: sqlite3.Connection, paths: Sequence[str], skipped: Counter[Skipped]
) -> Iterator[_LogPosition]:
    """Store the states of all changes in a scratch database, and yield their positions. Raises BadLog."""
    number = 0
    for position, line in _read_lines(paths):
        try:
            event = read_event(line)
        except BadEvent as error:
            raise BadLog(f"{position}: {error}; nothing was imported") from None
        if isinstance(event, Skipped):
            skipped[event] += 1
            continue
        for change in event:
            number += 1
            database.execute("INSERT INTO changes VALUES (?, ?, ?, ?, ?)", (number, *_encode_change(change)))
            yield _LogPosition(change.at, number, change.revision, change.key)


def _read_lines(paths: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Yield FILE:LINE and the line. Raises BadInput, BadLog, OSError."""
    for path in paths:
        if path == "-":
            yield from _split_lines(STANDARD_INPUT, open_standard_input())
        else:
            with open(path, "rb") as file:
                yield from _split_lines(path, file)


def _split_lines(name: str, file: BinaryIO) -> Iterator[tuple[str, bytes]]:
    number = 0
    while line := file.readline(_LINE):
        number += 1
        if len(line) == _LINE:
            raise BadLog(f"{name}:{number}: the line is longer than {_LINE >> 20} MiB; nothing was imported")
        if not line.isspace():
            yield f"{name}:{number}", line


def _encode_change(change: AuditChange) -> tuple[int, bool, bytes, bytes | None]:
    author = orjson.dumps([*change.author[:6], change.author.audit.hex()])
    value, offset = change.stored[:2] if change.stored is not None else (None, 0)
    return offset, change.creates, author, value


def settle_revisions(places: Iterable[_LogPosition]) -> list[_LogPosition]:
    """Return changes sorted by revision, without duplicates of a key and revision.

    If the event of a delete has no revision, it gets the next free one after all changes before it.
    """
    by_time = sorted(places)
    used = {position.revision for position in by_time}
    last, unique = 0, dict[tuple[str, int], _LogPosition]()
    for position in by_time:
        if not position.revision:
            revision = last + 1
            while revision in used:
                revision += 1
            used.add(revision)
            position = position._replace(revision=revision)
        last = max(last, position.revision)
        unique.setdefault(
            (position.key, position.revision), position
        )  # a write without changes returns the revision of the write before
    return sorted(unique.values(), key=lambda position: (position.revision, position.number))


def _read_back(database: sqlite3.Connection, places: Iterable[_LogPosition]) -> Iterator[LoggedWrite]:
    created: dict[str, int] = {}
    for at, number, revision, key in places:
        statement = "SELECT offset, creates, author, value FROM changes WHERE number = ?"
        offset, creates, author, value = database.execute(statement, (number,)).fetchone()
        if creates:
            created[key] = revision
        since = created.get(key, 0)
        if value is None:
            created.pop(key, None)
        user, sender, verb, subresource, manager, agent, audit = orjson.loads(author)
        author_of_write = Author(user, sender, verb, subresource, manager, agent, bytes.fromhex(audit))
        stored = None if value is None else StoredValue(value, offset)
        yield LoggedWrite(key, revision, 0, at, author_of_write, stored, since)
