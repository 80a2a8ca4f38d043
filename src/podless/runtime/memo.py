"""Lazy values, and the rules for keeping them.

The thread contract of podless: work off the event loop is a pure function of values that were complete before, and
keeps nothing where another thread can see it. Three rules follow, and every lazy value uses this module to obey them:

- A value is complete before anything refers to it, and is published by one store: an attribute, or a key of a
  dict. Two threads may compute it twice; they never see half of it.
- Work off the loop has a `Draft`, which keeps its values for this piece of work only.
- The loop computes in advance what such work would compute again and again: `draft_values` returns a draft that the
  loop publishes.

Every thread may keep results that follow from their arguments alone (runtime/bounded.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ClassVar, Generic, TypeVar, overload

from podless.runtime.meter import make_shared

T = TypeVar("T")
_ABSENT = object()


class Draft:
    """The lazy values of a piece of work off the loop. in_advance: it may compute values that belong in advance."""

    __slots__ = ("_in_advance", "_values")

    strict: ClassVar[bool] = False

    def __init__(self, *, in_advance: bool = False) -> None:
        self._in_advance = in_advance
        # (id of the holder, key) -> (function that publishes the value, holder, value)
        self._values: dict[tuple[int, Any], tuple[Callable[[Any, Any, Any], None], Any, Any]] = {}

    def make_value(
        self, publish: Callable[[Any, Any, Any], None], holder: Any, key: Any, make: Callable[[], Any], needed: bool
    ) -> Any:
        """Return the value for a key of a holder, made once for this draft."""
        slot = id(holder), key
        entry = self._values.get(slot)
        if entry is None:
            if needed and self.strict and not self._in_advance:
                raise AssertionError(f"off the loop: {key!r} of {type(holder).__name__} was not made beforehand")
            entry = self._values.setdefault(slot, (publish, holder, make()))
        return entry[2]

    def find_value(self, holder: Any, key: Any) -> Any:
        """Return the value for a key of a holder if this draft has it, or None."""
        entry = self._values.get((id(holder), key))
        return None if entry is None else entry[2]

    def list_values(self) -> list[Any]:
        """Return all values of the draft."""
        return [value for _, _, value in self._values.values()]

    def publish_values(self) -> None:
        """Store all values in their holders. Call it on the loop."""
        for (_, key), (publish, holder, value) in self._values.items():
            publish(holder, key, value)


_draft: ContextVar[Draft | None] = ContextVar("draft", default=None)


def is_off_loop() -> bool:
    """Return whether the caller is work off the loop."""
    return _draft.get() is not None


def begin_work() -> None:
    """Mark this context as a piece of work off the loop."""
    _draft.set(Draft())


@contextmanager
def draft_values() -> Iterator[Draft]:
    """Collect the lazy values that are computed in this context in a draft, which the loop can publish."""
    draft = Draft(in_advance=True)
    token = _draft.set(draft)
    try:
        yield draft
    finally:
        _draft.reset(token)


def make_once(table: dict[Any, Any], key: Any, make: Callable[[], T], *, needed: bool = True) -> T:
    """Return the value for a key of a table. Makes and keeps it at the first call.

    needed: work off the loop relies on it, so it must be made in advance (see `Draft.strict`).
    """
    cached: Any = table.get(key, _ABSENT)
    if cached is _ABSENT:
        draft = _draft.get()
        if draft is not None:
            cached = draft.make_value(dict.__setitem__, table, key, make, needed)
        else:
            cached = table.setdefault(key, make_shared(make))
    value: T = cached
    return value


def find_value(table: dict[Any, Any], key: Any) -> Any:
    """Return the value for a key of a table, or of the present draft; None if there is none."""
    value = table.get(key, _ABSENT)
    if value is _ABSENT:
        draft = _draft.get()
        return None if draft is None else draft.find_value(table, key)
    return value


def remember_value(table: dict[Any, Any], key: Any, make: Callable[[], T]) -> T:
    """Return a value as `make_once` does, for quick results about data. Off the loop it lasts for this work only."""
    return make_once(table, key, make, needed=False)


def own_table(table: dict[Any, Any]) -> dict[Any, Any]:
    """Return the table, or for work off the loop an own table, empty at first."""
    draft = _draft.get()
    if draft is None:
        return table
    private: dict[Any, Any] = draft.make_value(lambda *_: None, table, "own", dict, False)
    return private


def fill_attribute(holder: Any, name: str, make: Callable[[], T]) -> T:
    """Make an attribute that is empty, and keep it as `remember_value` does."""
    draft = _draft.get()
    if draft is not None:
        drafted: T = draft.make_value(object.__setattr__, holder, name, make, False)
        return drafted
    value = make_shared(make)
    object.__setattr__(holder, name, value)
    return value


class made_once(Generic[T]):  # noqa: N801 (a decorator)
    """functools.cached_property, by the contract above."""

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        self._name = make.__name__
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, holder: None, owner: type) -> made_once[T]: ...

    @overload
    def __get__(self, holder: object, owner: type) -> T: ...

    def __get__(self, holder: Any, owner: type) -> made_once[T] | T:
        if holder is None:
            return self
        return remember_value(holder.__dict__, self._name, lambda: self._make(holder))
