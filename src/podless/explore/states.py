"""The state at the end of a run, without parts that may differ between runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import orjson

from podless.explore.gate import NOISE
from podless.meta.errors import qualify_resource
from podless.runtime.jsonobject import Object
from podless.store.keys import Stored, resource_of

State = Mapping[str, Any]

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
# metadata that depends on the number and order of writes, not on their content
_OWN = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "selfLink")
# objects of Services whose names the server chooses
_DERIVED = frozenset({"ipaddresses.networking.k8s.io"})
_ANY = "*"


class _InitialObject(NamedTuple):
    """An object that exists before each run. shown: without parts that may differ."""

    stored: Stored
    uid: str
    shown: Object


class StateReader:
    """Reads the end states of many runs.

    start: the store's content before each run. Most of it never changes, and is decoded once. ignore: paths of fields
    to leave out, such as "status.lastSeen".
    """

    def __init__(self, start: Mapping[str, Stored], ignore: Iterable[str] = ()) -> None:
        self._paths = [tuple(path.split(".")) for path in ignore]
        objects = {key: orjson.loads(stored.with_revision(0)) for key, stored in start.items()}
        uids = {_uid_of(obj): _place(key, {}) for key, obj in objects.items()}
        self._known = {
            key: _InitialObject(start[key], _uid_of(obj), self._show(obj, {}, uids)) for key, obj in objects.items()
        }

    def read(self, records: Mapping[str, Stored], generated: Mapping[str, str]) -> State:
        """Return the objects in a store by their places, such as "widgets.example.com default/one".

        generated: generated name -> its replacement.
        """
        uids: dict[str, str] = {}
        shown: dict[str, Object] = {}
        changed: dict[str, Object] = {}
        for key, stored in records.items():
            known = self._known.get(key)
            place = _place(key, generated)
            if known is not None and known.stored == stored:
                uids[known.uid] = place
                shown[key] = known.shown
            else:
                obj = changed[key] = orjson.loads(stored.with_revision(0))
                uids[_uid_of(obj)] = place
        shown |= {key: self._show(obj, generated, uids) for key, obj in changed.items()}
        return dict(sorted((_place(key, generated), obj) for key, obj in shown.items() if _is_told(key)))

    def _show(self, obj: Object, generated: Mapping[str, str], uids: Mapping[str, str]) -> Object:
        shown: Object = _mask(obj, generated, uids)
        for name in _OWN:
            shown.get("metadata", {}).pop(name, None)
        for path in self._paths:
            _drop(shown, path)
        return shown


def compare_states(expected: State, found: State) -> list[str]:
    """Return the differences, one line each.

    A difference is "+PLACE" for an object that should not be there, "-PLACE" for one that is missing, and "PLACE PATH:
    VALUE instead of VALUE" for a field.
    """
    lines = [f"-{place}" for place in expected if place not in found]
    lines += [f"+{place}" for place in found if place not in expected]
    for place, obj in expected.items():
        if place in found and obj != found[place]:
            lines += [f"{place} {line}" for line in _compare("", obj, found[place])]
    return lines


def compare_objects(before: Object, after: Object) -> list[str]:
    """Return the fields that a write changed, except those that the server writes."""
    shown = []
    for obj in (before, after):
        metadata = {name: value for name, value in obj.get("metadata", {}).items() if name not in _OWN}
        shown.append({**obj, "metadata": metadata})
    return list(_compare("", *shown))


def _uid_of(obj: Object) -> str:
    return str(obj.get("metadata", {}).get("uid", ""))


def _is_told(key: str) -> bool:
    group, plural = resource_of(key)
    return qualify_resource(plural, group) not in NOISE | _DERIVED


def _place(key: str, generated: Mapping[str, str]) -> str:
    """Return the place of a key, with a generated name replaced."""
    group, plural = resource_of(key)
    *namespace, name = key.split("/")[3:]
    return f"{qualify_resource(plural, group)} {'/'.join([*namespace, generated.get(name, name)])}"


def _mask(value: Any, generated: Mapping[str, str], uids: Mapping[str, str]) -> Any:
    """Replace times, uids and generated names."""
    if isinstance(value, dict):
        return {key: _mask(item, generated, uids) for key, item in value.items()}
    if isinstance(value, list):
        return [_mask(item, generated, uids) for item in value]
    if not isinstance(value, str):
        return value
    if value in generated:
        return generated[value]
    text = _TIME.sub("TIME", value)
    return _UID.sub(lambda found: f"<uid of {uids.get(found.group(), 'nothing')}>", text)


def _drop(obj: Any, path: tuple[str, ...]) -> None:
    """Remove a field; * stands for any key or item."""
    first, *rest = path
    if isinstance(obj, list):
        for item in obj if first == _ANY else ():
            _drop(item, tuple(rest)) if rest else None
    elif isinstance(obj, dict):
        for name in list(obj) if first == _ANY else [first]:
            if rest:
                _drop(obj.get(name), tuple(rest))
            else:
                obj.pop(name, None)


def _compare(path: str, expected: Any, found: Any) -> Iterator[str]:
    if isinstance(expected, dict) and isinstance(found, dict):
        for name in sorted({*expected, *found}):
            yield from _compare(f"{path}.{name}", expected.get(name), found.get(name))
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for number, (one, other) in enumerate(zip(expected, found, strict=True)):
            yield from _compare(f"{path}[{number}]", one, other)
    elif expected != found:
        yield f"{path.lstrip('.')}: {_show(found)} instead of {_show(expected)}"


def _show(value: Any) -> str:
    return "nothing" if value is None else orjson.dumps(value).decode()
