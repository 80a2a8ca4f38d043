"""Events of a resource, and their delivery to watchers and to the server's own handlers.

A handler is called with one batch at a time. A handler that fails does not affect others.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from podless.cache.entry import Entry
from podless.runtime.traces import trace_error
from podless.store import StoreChange

log = logging.getLogger("podless")


class CacheEvent:
    """One change as watchers see it. after is None for a delete, before is None for a create.

    frames: the event as bytes for each requested form, made once and shared by all watchers. rows: its rows in tables,
    without columns that depend on the time.
    """

    __slots__ = ("_last", "after", "before", "frames", "key", "revision", "rows")

    def __init__(self, key: str, revision: int, before: Entry | None, after: Entry | None) -> None:
        self.key = key
        self.revision = revision
        self.before = before
        self.after = after
        self.frames: dict[Any, bytes] = {}
        self.rows: dict[Any, Any] = {}
        self._last: Entry | None = None

    def leave_selection(self, before: Entry) -> Entry:
        """Return the event for an object that leaves a watcher's selection: the state before, with this revision."""
        if self._last is None:
            self._last = before.at_revision(self.revision)
        return self._last


class Batch(list[CacheEvent]):
    """Events that are delivered together. size: approximate bytes of their objects.

    views: results that several watchers share, computed by the first of them.
    """

    __slots__ = ("size", "views")

    def __init__(self) -> None:
        super().__init__()
        self.size = 0
        self.views: dict[Any, Any] = {}


T = TypeVar("T")
EventHandler = Callable[[Sequence[CacheEvent]], None]
ChangeHandler = Callable[[Sequence[StoreChange]], None]


def call_handler(handler: Callable[[Sequence[T]], None], events: Sequence[T]) -> None:
    """Call a handler, and log its exception."""
    try:
        handler(events)
    except Exception as error:
        log_failure(error)


def log_failure(error: Exception) -> None:
    """Log the exception of a handler."""
    log.error("cache: an event handler failed: %s", trace_error(error))


def add_handler(handlers: list[T], handler: T) -> Callable[[], None]:
    """Add a handler to a list. Returns a function that removes it."""
    handlers.append(handler)

    def remove_handler() -> None:
        if handler in handlers:
            handlers.remove(handler)

    return remove_handler
