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

_VALUES_PER_CHARGE = 64  # values between two charges
_ROUND = 15  # the allocator rounds up to 16 bytes
# types of objects that belong to the process, not to a value
_SHARED = (type, ModuleType)
_SLICE = 2048  # items of one slice
_CONTAINERS_PER_DELETE = 256  # parts freed by one statement; the interpreter can switch threads after it
_ID_SETS = 127  # sets of visited ids: one large set would be resized, and freed, in one go
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
    containers = list(_reach_values(values, excluded))
    values.clear()
    containers.reverse()  # freed from the end, so that outer values go first
    release_containers(containers)


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
        if not count % _VALUES_PER_CHARGE:
            charge(_VALUES_PER_CHARGE)
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


def collect_containers(values: Iterable[Any]) -> list[Any]:
    """Return all lists and dicts in some values, outer ones last. Long ones are followed by slices of their items.

    A caller that drops them in order frees one of them at a time.
    """
    containers: list[Any] = []
    seen_addresses: list[set[int]] = [set() for _ in range(_ID_SETS)]  # by address
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
        visited = seen_addresses[(address >> 4) % _ID_SETS]
        if address in visited:
            continue
        visited.add(address)
        containers.append(value)
        todo += [item for item in items if type(item) in _HOLDERS]
        if len(value) > _SLICE:
            if kind is dict:
                containers += _split_items(list(value))
            containers += _split_items(list(items))
    containers.reverse()
    while seen_addresses:
        seen_addresses.pop()
    return containers


def _split_items(items: list[Any]) -> list[list[Any]]:
    return [items[start : start + _SLICE] for start in range(0, len(items), _SLICE)]


def release_containers(containers: list[Any]) -> None:
    """Free containers from the end of the list, so that outer ones are freed first."""
    while containers:
        del containers[-_CONTAINERS_PER_DELETE:]
