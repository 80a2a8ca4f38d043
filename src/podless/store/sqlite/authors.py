"""The authors of commits in a SQLite database.

Few authors make many commits, so the engine stores each author once, and the author's number with each row.
"""

from __future__ import annotations

import sqlite3
from zlib import crc32

import orjson

from podless.store.contract import Author, StoreDamaged

SCHEMA = """
CREATE TABLE authors (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE, checksum INTEGER NOT NULL);
"""
_CACHED = 1024  # authors whose numbers are cached
# clients choose the User-Agent and the field manager. Above this number of authors these two are left out, so that the
# table stays bounded; above twice the number, no new author is recorded
_MAX = 50_000


class AuthorTable:
    """The authors of one SQLite database, by number; 0 is NOBODY."""

    def __init__(self) -> None:
        self._numbers: dict[Author, int] = {}
        self._count = -1

    def forget_numbers(self) -> None:
        """Drop cached numbers after a transaction was rolled back."""
        self._numbers.clear()
        self._count = -1

    def number_of(self, database: sqlite3.Connection, author: Author) -> int:
        """Return the number of an author, adding a new one. Call it in a transaction. Raises sqlite3.Error."""
        if author.audit:
            author = author._replace(audit=b"")
        number = self._numbers.get(author)
        if number is None:
            texts = author[:6]
            number = self._find_number(database, texts) if any(texts) else 0
            if len(self._numbers) >= _CACHED:
                self._numbers.clear()
            self._numbers[author] = number
        return number

    def _find_number(self, database: sqlite3.Connection, texts: tuple[object, ...]) -> int:
        text = orjson.dumps([str(entry).encode("utf-8", "replace").decode() for entry in texts]).decode()
        row = database.execute("SELECT id FROM authors WHERE text = ?", (text,)).fetchone()
        if row is not None:
            return int(row[0])
        if self._count < 0:
            self._count = int(database.execute("SELECT count(*) FROM authors").fetchone()[0])
        if self._count >= _MAX and any(texts[4:]):
            return self._find_number(database, (*texts[:4], "", ""))
        if self._count >= 2 * _MAX:
            return 0
        self._count += 1
        statement = "INSERT INTO authors (text, checksum) VALUES (?, ?)"
        return int(database.execute(statement, (text, crc32(text.encode()))).lastrowid or 0)


def read_author(database: sqlite3.Connection, number: int) -> Author:
    """Return the author of a row, without its audit ID. Raises StoreDamaged, sqlite3.Error."""
    if not number:
        return Author()
    row = database.execute("SELECT text, checksum FROM authors WHERE id = ?", (number,)).fetchone()
    if row is None or not isinstance(row[0], str) or crc32(row[0].encode()) != row[1]:
        raise StoreDamaged(f"the database is damaged: the checksum of author {number} is wrong")
    return Author(*orjson.loads(row[0]))
