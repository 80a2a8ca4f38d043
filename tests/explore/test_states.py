"""End states: what counts as a difference between two runs, and what does not."""

from __future__ import annotations

import json
from typing import Any

from podless.explore.states import State, StateReader, compare_states
from podless.store.keys import StoredValue


def _records(**objects: dict[str, Any]) -> dict[str, StoredValue]:
    """Return objects by the names of config maps, as a store keeps them."""
    found = {}
    for name, obj in objects.items():
        whole = {"kind": "ConfigMap", **obj, "metadata": {"name": name, **obj.get("metadata", {})}}
        data = json.dumps(whole | {"resourceVersion": ""}).encode()
        found[f"/core/configmaps/default/{name}"] = StoredValue(data, len(data) - 2)
    return found


def _read(records: dict[str, StoredValue], generated: dict[str, str] | None = None, *ignore: str) -> State:
    return StateReader({}, ignore).read_state(records, generated or {})


def test_what_the_server_chooses_makes_no_difference() -> None:
    first = {"metadata": {"uid": "11111111-1111-4111-8111-111111111111", "generation": 1}, "at": "2026-01-01T00:00:00Z"}
    other = {"metadata": {"uid": "22222222-2222-4222-8222-222222222222", "generation": 3}, "at": "2026-02-02T10:00:00Z"}
    assert compare_states(_read(_records(one=first)), _read(_records(one=other))) == []


def test_a_reference_by_uid_is_known_by_what_it_refers_to() -> None:
    def state(uid: str, referred: str) -> Any:
        owner = {"metadata": {"uid": uid}}
        return _read(_records(owner=owner, child={"owner": referred}))

    uids = [f"{digit * 8}-1111-4111-8111-111111111111" for digit in "123"]
    assert compare_states(state(uids[0], uids[0]), state(uids[1], uids[1])) == []
    [line] = compare_states(state(uids[0], uids[0]), state(uids[1], uids[2]))
    assert "<uid of nothing>" in line


def test_a_generated_name_is_known_by_its_order() -> None:
    one = _read(_records(bed_abc={}), {"bed_abc": "bed_*1"})
    other = _read(_records(bed_xyz={}), {"bed_xyz": "bed_*1"})
    assert compare_states(one, other) == []


def test_differences_name_places_and_fields() -> None:
    expected = _read(_records(both={"data": {"a": "1"}}, gone={}))
    found = _read(_records(both={"data": {"a": "2"}}, extra={}))
    assert compare_states(expected, found) == [
        "-configmaps default/gone",
        "+configmaps default/extra",
        'configmaps default/both data.a: "2" instead of "1"',
    ]


def test_ignored_fields_may_differ() -> None:
    records = [_records(one={"status": {"parts": [{"seen": seen}]}}) for seen in ("a", "b")]
    states = [_read(each, {}, "status.parts.*.seen") for each in records]
    assert compare_states(*states) == []


def test_what_was_there_before_is_read_once_and_reads_the_same() -> None:
    uid = "11111111-1111-4111-8111-111111111111"
    start = _records(old={"metadata": {"uid": uid}}, kept={"data": {"a": "1"}})
    reader = StateReader(start)
    later = start | _records(old={"metadata": {"uid": uid}, "data": {"a": "2"}}, child={"owner": uid})
    assert reader.read_state(later, {}) == _read(later)
    assert reader.read_state(start, {}) == _read(start)
    assert reader.read_state(later, {})["configmaps default/child"]["owner"] == "<uid of configmaps default/old>"
