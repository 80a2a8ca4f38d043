"""Measures the memory of values that clients make a server keep, and frees them in pieces.

Freeing a million objects at once holds the GIL for about 100 ms.
"""

from __future__ import annotations

import builtins
import gc
import sys
from collections.abc import Iterable, Iterator
from threading import Thread
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

from podless.runtime.meter import charge

_OFTEN = 64  # values between two charges
_ROUND = 15  # the allocator rounds up to 16 bytes
# types of objects that belong to the process, not to a value
_SHARED = (type, ModuleType)
_SLICE = 2048  # items of one slice
_MANY = 256  # parts freed by one statement; the interpreter can switch threads after it
_PLACES = 127  # sets of visited ids: one large set would be resized, and freed, in one go
_HOLDERS = frozenset((dict, list, tuple))


def weigh_values(values: Iterable[Any], excluded: tuple[type, ...] = ()) -> int:
    """Return the bytes of some values with everything that they refer to.

    Modules, classes and functions of modules count 0; generated functions count with their code and names. excluded:
    instances of these classes count 0 either. Takes about 1 us for each object.
    """
    return sum((sys.getsizeof(obj) + _ROUND) & ~_ROUND for obj in _reach_values(values, excluded))


def free_values(values: list[Any], excluded: tuple[type, ...] = ()) -> None:
    """Empty a list, and free its values and everything that nothing else refers to, on a separate thread.

    excluded: as for `weigh_values`.
    """
    Thread(target=_free_reachable, args=(values, excluded), name="podless-free", daemon=True).start()


def _free_reachable(values: list[Any], excluded: tuple[type, ...]) -> None:
    parts = list(_reach_values(values, excluded))
    values.clear()
    parts.reverse()  # freed from the end, so that outer values go first
    release_parts(parts)


def _reach_values(values: Iterable[Any], excluded: tuple[type, ...]) -> Iterator[Any]:
    """Yield all objects that some values refer to, each once, after an object that refers to it."""
    skipped = (*_SHARED, *excluded)
    seen = {id(builtins.__dict__)}
    todo, count = list(values), 0
    while todo:
        obj = todo.pop()
        if id(obj) in seen or isinstance(obj, skipped):
            continue
        seen.add(id(obj))
        count += 1
        if not count % _OFTEN:
            charge(_OFTEN)
        if isinstance(obj, FunctionType):
            if "__name__" in obj.__globals__:  # a function of a module: only its closure belongs to the value
                todo.extend(obj.__closure__ or ())
                continue
            todo += (obj.__code__, obj.__globals__)
        elif isinstance(obj, CodeType):
            todo += (obj.co_consts, obj.co_names, obj.co_varnames, obj.co_linetable, obj.co_exceptiontable)
        elif isinstance(obj, BuiltinFunctionType):
            todo.append(obj.__self__)
        else:
            todo.extend(gc.get_referents(obj))
        yield obj


def collect_container_ids(values: Iterable[Any]) -> list[Any]:
    """Return all lists and dicts in some values, outer ones last. Long ones are followed by slices of their items.

    A caller that drops them in order frees one of them at a time.
    """
    parts: list[Any] = []
    seen_addresses: list[set[int]] = [set() for _ in range(_PLACES)]  # by address
    todo = list(values)
    while todo:
        value = todo.pop()
        kind = type(value)
        if kind is dict:
            items: Any = value.values()
        elif kind is list or kind is tuple:
            items = value
        else:
            continue
        address = id(value)
        visited = seen_addresses[(address >> 4) % _PLACES]
        if address in visited:
            continue
        visited.add(address)
        parts.append(value)
        todo += [item for item in items if type(item) in _HOLDERS]
        if len(value) > _SLICE:
            if kind is dict:
                parts += _split_items(list(value))
            parts += _split_items(list(items))
    parts.reverse()
    while seen_addresses:
        seen_addresses.pop()
    return parts


def _split_items(items: list[Any]) -> list[list[Any]]:
    return [items[start : start + _SLICE] for start in range(0, len(items), _SLICE)]


def release_parts(parts: list[Any]) -> None:
    """Drop parts from the end, so that outer values go first."""
    while parts:
        del parts[-_MANY:]
