"""Labels that are looked up: right whatever changes while they are found, and found once."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from podless.cache import entry as entries
from podless.cache import index as module
from podless.cache.entry import Entry
from podless.cache.index import LabelIndex
from podless.store import Record, StoredValue


def entry(name: str, label: str | None, size: int = 0) -> Entry:
    labels = {} if label is None else {"a": label}
    body = orjson.dumps({"metadata": {"labels": labels, "resourceVersion": ""}, "data": "x" * size})
    offset = body.index(b'"resourceVersion":"') + len(b'"resourceVersion":"')
    return Entry(Record(f"/g/things/ns/{name}", StoredValue(body, offset), 1, 1))


def found(index: LabelIndex, *values: str) -> list[str]:
    keys = index.find_keys("a", values)
    assert keys is not None
    return [key.rpartition("/")[2] for key in keys]


def test_what_changes_while_a_label_is_looked_for_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    index = LabelIndex()
    state = {name: entry(name, "x") for name in "bcd"}
    changes = [("a", "x"), ("b", "y"), ("c", None), ("d", "gone"), ("e", "x"), ("e", "y")]

    def charge(steps: int) -> None:
        """Other requests write meanwhile, one each time."""
        if changes:
            name, label = changes.pop(0)
            before, after = state.get(name), None if label == "gone" else entry(name, label)
            state.pop(name, None)
            if after is not None:
                state[name] = after
            index.update_entry(before, after)

    changes *= 3
    monkeypatch.setattr(module, "charge", charge)
    index.index_label("a", list(state.values()))
    while changes:
        charge(1)
    held = {value: sorted(n for n, e in state.items() if e.labels.get("a") == value) for value in "xy"}
    assert {value: found(index, value) for value in "xy"} == held


def test_what_is_noted_for_a_walk_does_not_grow_with_the_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    index = LabelIndex()
    noted: list[int] = []

    def charge(steps: int) -> None:
        for number in range(100):
            index.update_entry(entry("a", f"v{number}"), entry("a", f"v{number + 1}"))
        noted.append(sum(len(walk.missed) for walk in index._walks))

    monkeypatch.setattr(module, "charge", charge)
    index.index_label("a", [entry("a", "v0")])
    assert noted == [1]
    assert not index._walks
    assert [found(index, f"v{number}") for number in (0, 99, 100)] == [[], [], ["a"]]


def test_a_label_that_is_not_followed_is_not_told() -> None:
    assert LabelIndex().find_keys("a", ["x"]) is None


def test_labels_that_others_find_meanwhile_are_not_looked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    long = entry("a", "x", 1 << 20)
    decoded = []

    def loads(raw: bytes) -> dict[str, Any]:
        decoded.append(raw)
        return {"metadata": {"labels": {"a": "x"}}}

    monkeypatch.setattr("podless.cache.entry.orjson.loads", loads)
    waiting = [long] * 3

    def charge(steps: int) -> None:
        """Other watches look for the labels meanwhile."""
        if waiting:
            assert waiting.pop().labels == {"a": "x"}

    monkeypatch.setattr(entries, "charge", charge)
    assert long.labels == {"a": "x"}
    assert len(decoded) == 1


def test_nothing_is_decoded_for_work_that_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    long = entry("a", "x", 1 << 20)
    done: list[str] = []
    monkeypatch.setattr(entries, "charge", lambda steps: done.append("charged"))

    def loads(raw: bytes) -> dict[str, Any]:
        done.append("decoded")
        return {}

    monkeypatch.setattr("podless.cache.entry.orjson.loads", loads)
    long.decode()
    assert done == ["charged", "decoded"]
