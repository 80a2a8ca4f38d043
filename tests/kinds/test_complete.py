"""What work off the loop needs of a kind is made before it, and published by the loop: such work changes nothing."""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from typing import Any

import pytest

from podless.apis import catalog
from podless.codec import serializer
from podless.fields import managers
from podless.kinds import validation, view
from podless.kinds import version as kinds_version
from podless.kinds.fromdefinition import compile_kind
from podless.kinds.kind import Kind
from podless.meta.errors import Timeout
from podless.runtime import memo
from podless.runtime.meter import METER, CPUMeter
from podless.verbs import fieldmanager, ready
from podless.verbs.call import Call
from tests.apis.test_offline import definition
from tests.races import interleaved, state, together
from tests.schema.test_races import SORTS

RULES = [{"rule": "self.text != 'bad'", "messageExpression": "'not ' + self.text"}]
SPEC = {
    "type": "object",
    "properties": {name: sort.schema for name, sort in SORTS.items()},
    "x-kubernetes-validations": RULES,
}
GOOD = {name: sort.good for name, sort in SORTS.items()}
BAD = [{name: bad} for name, sort in SORTS.items() for bad in sort.bad]


def custom() -> Kind:
    versions: list[dict[str, Any]] = [
        {
            "name": name,
            "served": True,
            "storage": name == "v1",
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": SPEC}}},
            "subresources": {"status": {}},
        }
        for name in ("v1", "v2")
    ]
    made = definition(versions=versions)
    return compile_kind(made, serializer.encode_json(made))


def whole(spec: dict[str, Any], version: str = "v1") -> dict[str, Any]:
    return {
        "apiVersion": f"example.com/{version}",
        "kind": "Gadget",
        "metadata": {"name": "a", "namespace": "b"},
        "spec": copy.deepcopy(spec),
    }


def write(kind: Kind) -> list[Any]:
    """What the stages of writes do with an object that is good and with some that are not; what should not be."""
    told: list[Any] = []
    for version in kind.versions:
        call = Call(kind, version, "b", "a")
        unknown: list[str] = []
        obj = kind.strategy.decode(kind, version, whole(GOOD, version.name) | {"more": 1}, unknown)
        told += [] if unknown == ["more"] else [unknown]
        place = fieldmanager.find_target(call)
        entries = managers.update_managed_fields(place, None, obj, "me", "2020-01-01T00:00:00Z")
        changed = copy.deepcopy(obj)
        changed["spec"]["list"] = ["c"]
        managers.put_managed_fields(obj["metadata"], entries)
        managers.put_managed_fields(
            changed["metadata"], managers.update_managed_fields(place, obj, changed, "you", "2020-01-01T00:00:01Z")
        )
        told += validation.validate_new(kind, version, obj, [])
        told += validation.validate_change(kind, version, changed, obj, [], [], subresource="")
        view.encode_object(kind, kind.strategy.make_stored(kind, copy.deepcopy(obj)))
        for bad in BAD:
            refused = whole(bad, version.name)
            if not [*kind.strategy.validate(version, refused, None)]:
                told.append(bad)
        ruled = whole({**GOOD, "text": "bad"}, version.name)
        for floats in (False, True):
            if not kind.strategy.validate_rules(version, ruled, None, (), floats=floats):
                told.append("a rule")
    return told


def off_loop(work: Callable[[], Any]) -> Any:
    context = copy_context()
    context.run(memo.begin_work)
    return context.run(work)


def test_work_off_the_loop_changes_nothing_of_a_complete_kind() -> None:
    kind = custom()
    off_loop(partial(ready._complete_kind, kind))()
    assert kind.is_complete
    before = state(kind)
    assert off_loop(partial(write, kind)) == []
    assert before == state(kind)


def test_what_is_made_off_the_loop_is_not_there_before_the_loop_publishes_it() -> None:
    kind = custom()
    before = state(kind)
    publish = off_loop(partial(ready._complete_kind, kind))
    assert before == state(kind)
    assert not kind.is_complete
    assert write(kind) == []  # meanwhile the loop makes what it needs
    assert before != state(kind)
    publish()
    assert kind.is_complete
    assert off_loop(partial(write, kind)) == []


def test_work_on_a_kind_that_is_not_complete_is_found_out() -> None:
    with pytest.raises(AssertionError, match="off the loop"):
        off_loop(partial(write, custom()))


def test_a_server_does_such_work_and_keeps_nothing_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memo.Draft, "strict", False)
    kind = custom()
    before = state(kind)
    assert off_loop(partial(write, kind)) == []
    assert before == state(kind)


def test_completing_a_kind_that_takes_too_long_ends_and_leaves_nothing() -> None:
    kind = custom()
    before = state(kind)

    def work() -> None:
        METER.set(CPUMeter(-1.0))
        ready._complete_kind(kind)

    with pytest.raises(Timeout):
        off_loop(work)
    assert before == state(kind)


@pytest.mark.parametrize("kind", catalog.ALL, ids=lambda kind: kind.resource)
def test_a_built_in_kind_can_be_completed(kind: Kind) -> None:
    off_loop(partial(ready._complete_kind, kind))()
    assert kind.is_complete


@pytest.mark.parametrize("seed", range(4))
def test_no_check_of_a_kind_is_lost_wherever_a_thread_interrupts_the_other(seed: int) -> None:
    kind, told = custom(), list[Any]()
    work = [lambda: told.extend(write(kind))] * 2
    interleaved("podless/kinds/", *work, seed=seed)
    assert [*told, *write(kind)] == []


def test_no_check_of_a_kind_is_lost_when_two_threads_use_a_fresh_one() -> None:
    for _ in range(5):
        kind, told = custom(), list[Any]()
        work = [partial(_note, kind, told)] * 2
        together(*work)
        assert [*told, *write(kind)] == []


def _note(kind: Kind, told: list[Any]) -> None:
    told.extend(write(kind))


def test_the_shapes_of_fields_are_read_from_the_schema_that_the_walks_keep(monkeypatch: pytest.MonkeyPatch) -> None:
    kind, decoded = custom(), list[bytes]()

    def read(stored: bytes) -> dict[str, Any]:
        decoded.append(stored)
        return read_schemas(stored)

    read_schemas = kinds_version._read_schemas
    monkeypatch.setattr(kinds_version, "_read_schemas", read)
    for version in kind.versions:
        kind.strategy.decode(kind, version, whole(GOOD, version.name), [])
        fieldmanager.find_target(Call(kind, version, "b", "a"))
    assert len(decoded) == len(kind.versions)
