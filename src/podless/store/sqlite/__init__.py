"""The engine for one server: a SQLite database in a file or in memory."""

from podless.store.sqlite.store import SQLiteStore

__all__ = ["SQLiteStore"]
