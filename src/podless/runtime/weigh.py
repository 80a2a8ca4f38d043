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


def weigh_values(values: Iterable[Any], apart: tuple[type, ...] = ()) -> int:
    """Return the bytes of some values with everything that they refer to.

    Modules, classes and functions of modules count 0; generated functions count with their code and names. apart:
    instances of these classes count 0 either. Takes about 1 us for each object.
    """
    return sum((sys.getsizeof(one) + _ROUND) & ~_ROUND for one in _reach_values(values, apart))


def free_values(values: list[Any], apart: tuple[type, ...] = ()) -> None:
    """Empty a list, and free its values and everything that nothing else refers to, on a separate thread.

    apart: as for `weigh_values`.
    """
    Thread(target=_free, args=(values, apart), name="podless-free", daemon=True).start()


def _free(values: list[Any], apart: tuple[type, ...]) -> None:
    held = list(_reach_values(values, apart))
    values.clear()
    held.reverse()  # freed from the end, so that outer values go first
    release_parts(held)


def _reach_values(values: Iterable[Any], apart: tuple[type, ...]) -> Iterator[Any]:
    """Yield all objects that some values refer to, each once, after an object that refers to it."""
    skipped = (*_SHARED, *apart)
    seen = {id(builtins.__dict__)}
    todo, count = list(values), 0
    while todo:
        one = todo.pop()
        if id(one) in seen or isinstance(one, skipped):
            continue
        seen.add(id(one))
        count += 1
        if not count % _OFTEN:
            charge(_OFTEN)
        if isinstance(one, FunctionType):
            if "__name__" in one.__globals__:  # a function of a module: only its closure belongs to the value
                todo.extend(one.__closure__ or ())
                continue
            todo += (one.__code__, one.__globals__)
        elif isinstance(one, CodeType):
            todo += (one.co_consts, one.co_names, one.co_varnames, one.co_linetable, one.co_exceptiontable)
        elif isinstance(one, BuiltinFunctionType):
            todo.append(one.__self__)
        else:
            todo.extend(gc.get_referents(one))
        yield one


def collect_parts(values: Iterable[Any]) -> list[Any]:
    """Return all lists and dicts in some values, outer ones last. Long ones are followed by slices of their items.

    A caller that drops them in order frees one of them at a time.
    """
    found: list[Any] = []
    seen: list[set[int]] = [set() for _ in range(_PLACES)]  # by address
    todo = list(values)
    while todo:
        one = todo.pop()
        kind = type(one)
        if kind is dict:
            items: Any = one.values()
        elif kind is list or kind is tuple:
            items = one
        else:
            continue
        place = id(one)
        near = seen[(place >> 4) % _PLACES]
        if place in near:
            continue
        near.add(place)
        found.append(one)
        todo += [item for item in items if type(item) in _HOLDERS]
        if len(one) > _SLICE:
            if kind is dict:
                found += _slices(list(one))
            found += _slices(list(items))
    found.reverse()
    while seen:
        seen.pop()
    return found


def _slices(items: list[Any]) -> list[list[Any]]:
    return [items[start : start + _SLICE] for start in range(0, len(items), _SLICE)]


def release_parts(held: list[Any]) -> None:
    """Drop parts from the end, so that outer values go first."""
    while held:
        del held[-_MANY:]
