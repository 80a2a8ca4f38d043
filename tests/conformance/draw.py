"""New conversations from recorded ones: what one of them sends is changed, mostly by what others send in its place.

Held with a kube-apiserver first and with podless then (`record`, `replay`), they show what nobody thought of.
"""

from __future__ import annotations

import copy
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from tests.conformance.recorded import Recording

_RATE = 0.5  # of the requests that are changed; of definitions, on which all else stands, less than half of that
_NAMES = (("metadata", "name"), ("metadata", "namespace"), ("spec", "group"), ("spec", "names"))
_KEPT = 0.93  # of the changes leave the names alone, without which the requests that follow find nothing
_KINDS = ("apiVersion", "kind")
_ODD: tuple[Any, ...] = (
    "", "a", "A", "a b", "é", "x" * 64, "x" * 254, "a/b", "a.b", "*", "true", "1", "-1", "0.5", "100m", "1Gi",
    "10.0.0.1", "::1", "1s", "1h30m", "2020-01-01T00:00:00Z", "Always", "None", "Never", "TCP", "tcp", "http",
    0, 1, -1, 2, 10, 65535, 65536, 2**31 - 1, 2**31, -(2**31), 2**63 - 1, 1.5, 1e3, True, False, None,
    [], {}, [None], [""], ["a", "a"], {"a": None}, {"a": "b"}, {"a": 1},
)  # fmt: skip
_SIGNS = "-./ :A0é_,="

Path = tuple[str, ...]


class Drawer:
    """Draws from recordings; the same for the same seed."""

    def __init__(self, recordings: Iterable[Recording], seed: int) -> None:
        self._recordings = list(recordings)
        self._seed = seed
        self._random = random.Random(seed)
        self._here: dict[tuple[Any, Path], list[Any]] = defaultdict(list)  # by kind and place
        self._named: dict[str, list[Any]] = defaultdict(list)  # by the last part of the place
        self._queries: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self._headers: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for step in (step for recording in self._recordings for step in recording["steps"] if "method" in step):
            self._learn(step)

    def _learn(self, step: dict[str, Any]) -> None:
        body = step.get("body")
        for path, place in _places(body):
            value = _at(body, place)
            self._here[_kind(body), path].append(value)
            if path:
                self._named[path[-1]].append(value)
        for name, known in (("query", self._queries), ("headers", self._headers)):
            if step.get(name):
                known[step["method"]].append(step[name])

    def draw(self, number: int) -> Recording:
        """One conversation, without answers, whose name and groups nobody else has."""
        drawn = copy.deepcopy(self._random.choice(self._recordings))
        for step in drawn["steps"]:
            step.pop("expect", None)
            if "method" in step:
                self._change(step)
        drawn["name"] = f"{drawn['name']}-d{self._seed}n{number}"
        text = json.dumps(drawn)
        if drawn.get("independent"):
            text = re.sub(r"\bs(\d+)(?=n|\.)", rf"s{self._seed}x\1", text)
        found: Recording = json.loads(text)
        return found

    def _change(self, step: dict[str, Any]) -> None:
        draw = self._random
        defines = step["method"] == "POST" and "customresourcedefinitions" in step["path"]
        if draw.random() > _RATE * (0.4 if defines else 1):
            return
        if isinstance(step.get("body"), dict | list):
            spared = _NAMES if draw.random() < _KEPT else ()
            for _ in range(draw.choice((1, 1, 1, 2, 3))):
                self._mutate(step["body"], spared)
        queries, headers = self._queries[step["method"]], self._headers[step["method"]]
        if queries and draw.random() < 0.08:
            step["query"] = {**(step.get("query") or {}), **draw.choice(queries)}
            step["query"].pop("watch", None)
        if headers and draw.random() < 0.04:
            step["headers"] = dict(draw.choice(headers))

    def _mutate(self, body: Any, spared: tuple[Path, ...]) -> None:
        """Change one place of a body."""
        draw, kind = self._random, _kind(body)
        places = [
            (path, place)
            for path, place in _places(body)
            if place and place[-1] not in _KINDS and not any(path[: len(one)] == one for one in spared)
        ]
        if not places:
            return
        path, place = draw.choice(places)
        parent, key = _at(body, place[:-1]), place[-1]
        named = self._named.get(path[-1], _ODD)  # a field that a change has made may have a name that nobody knows
        others = self._here.get((kind, path), named)
        match draw.choices(
            ("other", "named", "none", "grown", "list", "key", "text", "odd"), (35, 10, 12, 15, 14, 4, 4, 6)
        )[0]:
            case "other":
                parent[key] = copy.deepcopy(draw.choice(others))
            case "named":
                parent[key] = copy.deepcopy(draw.choice(named))
            case "none":
                del parent[key]
            case "grown" if isinstance(parent[key], dict):
                known = [one for one in others if isinstance(one, dict) and one]
                if known:
                    name, value = draw.choice(list(draw.choice(known).items()))
                    parent[key][name] = copy.deepcopy(value)
            case "list" if isinstance(parent[key], list) and parent[key]:
                self._shuffle(parent[key])
            case "key" if isinstance(parent, dict):
                parent[draw.choice((key.upper(), key + "x", key.capitalize(), " " + key, "unknown"))] = parent.pop(key)
            case "text" if isinstance(parent[key], str):
                at = draw.randrange(len(parent[key]) + 1)
                parent[key] = parent[key][:at] + draw.choice(_SIGNS) + parent[key][at:]
            case _:
                parent[key] = copy.deepcopy(draw.choice(_ODD))

    def _shuffle(self, items: list[Any]) -> None:
        """One item twice, one less, or another order."""
        draw = self._random
        match draw.randrange(3):
            case 0:
                items.insert(draw.randrange(len(items) + 1), copy.deepcopy(draw.choice(items)))
            case 1:
                del items[draw.randrange(len(items))]
            case _:
                draw.shuffle(items)


def _kind(body: Any) -> Any:
    kind = body.get("kind") if isinstance(body, dict) else None
    return kind if isinstance(kind, str) else None


def _places(value: Any, path: Path = (), place: tuple[Any, ...] = ()) -> Iterator[tuple[Path, tuple[Any, ...]]]:
    """All places in a value: as fields with [] for any item, and as the keys that lead there."""
    yield path, place
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _places(item, (*path, key), (*place, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _places(item, (*path, "[]"), (*place, number))


def _at(value: Any, place: tuple[Any, ...]) -> Any:
    for key in place:
        value = value[key]
    return value
