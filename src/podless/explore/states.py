"""The state at the end of a run, without parts that may differ between runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import orjson

from podless.explore.gate import NOISE
from podless.history.difference import strip_object
from podless.meta.errors import qualify_resource
from podless.meta.objectmeta import SERVER_METADATA
from podless.runtime.jsonobject import Object
from podless.store.keys import StoredValue, resource_of

State = Mapping[str, Any]

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
# objects of Services whose names the server chooses
_DERIVED = frozenset({"ipaddresses.networking.k8s.io"})
_WILDCARD = "*"


class _InitialObject(NamedTuple):
    """An object that exists before each run. comparable: without parts that may differ."""

    stored: StoredValue
    uid: str
    comparable: Object


class StateReader:
    """Reads the end states of many runs.

    start: the store's content before each run. Most of it never changes, and is decoded once. ignore: paths of fields
    to leave out, such as "status.lastSeen".
    """

    def __init__(self, start: Mapping[str, StoredValue], ignore: Iterable[str] = ()) -> None:
        self._paths = [tuple(path.split(".")) for path in ignore]
        objects = {key: orjson.loads(stored.with_revision(0)) for key, stored in start.items()}
        uids = {_uid_of(obj): _name_object(key, {}) for key, obj in objects.items()}
        self._initial = {
            key: _InitialObject(start[key], _uid_of(obj), self._show_object(obj, {}, uids))
            for key, obj in objects.items()
        }

    def read_state(self, records: Mapping[str, StoredValue], generated: Mapping[str, str]) -> State:
        """Return the objects in a store by their places, such as "widgets.example.com default/one".

        generated: generated name -> its replacement.
        """
        uids: dict[str, str] = {}
        shown_objects: dict[str, Object] = {}
        changed: dict[str, Object] = {}
        for key, stored in records.items():
            initial = self._initial.get(key)
            name = _name_object(key, generated)
            if initial is not None and initial.stored == stored:
                uids[initial.uid] = name
                shown_objects[key] = initial.comparable
            else:
                obj = changed[key] = orjson.loads(stored.with_revision(0))
                uids[_uid_of(obj)] = name
        shown_objects |= {key: self._show_object(obj, generated, uids) for key, obj in changed.items()}
        return dict(sorted((_name_object(key, generated), obj) for key, obj in shown_objects.items() if _is_shown(key)))

    def _show_object(self, obj: Object, generated: Mapping[str, str], uids: Mapping[str, str]) -> Object:
        masked: Object = _mask_values(obj, generated, uids)
        for name in SERVER_METADATA:
            masked.get("metadata", {}).pop(name, None)
        for path in self._paths:
            _remove_field(masked, path)
        return masked


def compare_states(expected: State, actual: State) -> list[str]:
    """Return the differences, one line each.

    A difference is "+PLACE" for an object that should not be there, "-PLACE" for one that is missing, and "PLACE PATH:
    VALUE instead of VALUE" for a field.
    """
    lines = [f"-{name}" for name in expected if name not in actual]
    lines += [f"+{name}" for name in actual if name not in expected]
    for name, obj in expected.items():
        if name in actual and obj != actual[name]:
            lines += [f"{name} {line}" for line in _compare_values("", obj, actual[name])]
    return lines


def compare_objects(before: Object, after: Object) -> list[str]:
    """Return the fields that a write changed, except those that the server writes."""
    return list(_compare_values("", *(strip_object(obj, SERVER_METADATA) for obj in (before, after))))


def _uid_of(obj: Object) -> str:
    return str(obj.get("metadata", {}).get("uid", ""))


def _is_shown(key: str) -> bool:
    group, plural = resource_of(key)
    return qualify_resource(plural, group) not in NOISE | _DERIVED


def _name_object(key: str, generated: Mapping[str, str]) -> str:
    """Return the place of a key, with a generated name replaced."""
    group, plural = resource_of(key)
    *namespace, name = key.split("/")[3:]
    return f"{qualify_resource(plural, group)} {'/'.join([*namespace, generated.get(name, name)])}"


def _mask_values(value: Any, generated: Mapping[str, str], uids: Mapping[str, str]) -> Any:
    """Replace times, uids and generated names."""
    if isinstance(value, dict):
        return {key: _mask_values(item, generated, uids) for key, item in value.items()}
    if isinstance(value, list):
        return [_mask_values(item, generated, uids) for item in value]
    if not isinstance(value, str):
        return value
    if value in generated:
        return generated[value]
    text = _TIME.sub("TIME", value)
    return _UID.sub(lambda match: f"<uid of {uids.get(match.group(), 'nothing')}>", text)


def _remove_field(obj: Any, path: tuple[str, ...]) -> None:
    """Remove a field; * stands for any key or item."""
    first, *remaining = path
    if isinstance(obj, list):
        for item in obj if first == _WILDCARD else ():
            _remove_field(item, tuple(remaining)) if remaining else None
    elif isinstance(obj, dict):
        for name in list(obj) if first == _WILDCARD else [first]:
            if remaining:
                _remove_field(obj.get(name), tuple(remaining))
            else:
                obj.pop(name, None)


def _compare_values(path: str, expected: Any, actual: Any) -> Iterator[str]:
    if isinstance(expected, dict) and isinstance(actual, dict):
        for name in sorted({*expected, *actual}):
            yield from _compare_values(f"{path}.{name}", expected.get(name), actual.get(name))
    elif isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        for number, (expected_item, actual_item) in enumerate(zip(expected, actual, strict=True)):
            yield from _compare_values(f"{path}[{number}]", expected_item, actual_item)
    elif expected != actual:
        yield f"{path.lstrip('.')}: {_show_value(actual)} instead of {_show_value(expected)}"


def _show_value(value: Any) -> str:
    return "nothing" if value is None else orjson.dumps(value).decode()
