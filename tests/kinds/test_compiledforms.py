"""Compiled forms of definitions are on an account, and a dropped form is compiled again."""

from __future__ import annotations

import copy
import gc
from collections.abc import Iterator
from typing import Any

import pytest

from podless.codec import serializer
from podless.kinds import compiledforms
from podless.kinds.fromdefinition import compile_kind
from podless.kinds.kind import Kind
from podless.kinds.registry import Registry
from podless.runtime.bounded import WeightAccount
from podless.verbs import ready
from tests.apis.test_offline import definition
from tests.kinds.test_complete import BAD, GOOD, custom, off_loop, whole, write

TOTAL = 1 << 20
RULE = {"rule": "self.size() < 3"}


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Iterator[WeightAccount]:
    """An account for these tests, smaller than that of the process."""
    account = WeightAccount("tests.kinds.test_compiled", compiledforms._MIN, TOTAL)
    monkeypatch.setattr(compiledforms, "_account", account)
    yield account
    account.drop_all()


def wide(name: str, fields: int = 20) -> Kind:
    spec = {
        "type": "object",
        "properties": {f"f{i}": {"type": "array", "items": {"type": "string", "maxLength": i}} for i in range(fields)},
    }
    schema = {"type": "object", "properties": {"spec": spec}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    made = definition(versions=[version])
    made["spec"]["group"] = f"{name}.example.com"
    return compile_kind(made, serializer.encode_json(made))


def complete(kind: Kind) -> None:
    kind.strategy.form.pin()
    off_loop(lambda: ready._complete_kind(kind))()
    kind.strategy.form.unpin()


@pytest.mark.slow
def test_many_complete_kinds_stay_below_the_total(account: WeightAccount) -> None:
    kinds = [wide(f"g{i}") for i in range(30)]
    for kind in kinds:
        complete(kind)
        assert account.weight <= TOTAL
    kept = [kind for kind in kinds if kind.is_complete]
    assert kept == kinds[-len(kept) :]
    assert 1 < len(kept) < 15


def test_what_the_loop_compiles_bit_by_bit_is_counted_too(account: WeightAccount) -> None:
    kinds = [wide(f"g{i}") for i in range(30)]
    for kind in kinds:
        version, obj = kind.versions[0], {f"f{i}": ["a" * i] for i in range(20)}
        assert not [*kind.strategy.validate(version, {"metadata": {"name": "a"}, "spec": obj}, None)]
        assert account.weight <= TOTAL
    assert [bool(kind.strategy.form.schemas) for kind in (kinds[0], kinds[-1])] == [False, True]  # type: ignore[attr-defined]


def test_the_count_of_the_loop_is_near_the_weight(account: WeightAccount) -> None:
    bit_by_bit, whole_form = wide("a", 40), wide("b", 40)
    write_all(bit_by_bit)
    counted = account.weight
    assert counted > 0
    complete(whole_form)
    assert 0.2 < counted / (account.weight - counted) < 3


def write_all(kind: Kind) -> None:
    version = kind.versions[0]
    obj: dict[str, Any] = {"metadata": {}, "spec": {f"f{i}": ["a" * i] for i in range(40)}}
    obj |= {"apiVersion": kind.api_version("v1"), "kind": kind.kind}
    kind.strategy.decode(kind, version, obj, [])
    assert not [*kind.strategy.validate(version, obj, None)]


def test_a_dropped_kind_still_validates(account: WeightAccount) -> None:
    kind = custom()
    assert write(kind) == []
    complete(kind)
    for _ in range(2):
        account.drop_all()
        assert not kind.is_complete
        assert not kind._derived
        assert account.weight == 0
        assert write(kind) == []
        assert account.weight > 0
    complete(kind)
    assert off_loop(lambda: write(kind)) == []


@pytest.mark.slow
def test_a_pinned_kind_stays_complete(account: WeightAccount) -> None:
    kind = custom()
    kind.strategy.form.pin()
    off_loop(lambda: ready._complete_kind(kind))()
    for i in range(30):
        complete(wide(f"g{i}"))
    assert kind.is_complete
    assert off_loop(lambda: write(kind)) == []
    kind.strategy.form.unpin()
    for i in range(30):
        complete(wide(f"h{i}"))
    assert not kind.is_complete


def test_a_form_that_is_dropped_in_the_middle_of_its_use_does_its_work(account: WeightAccount) -> None:
    kind = custom()
    version = kind.versions[0]
    schema = kind.strategy.get_schema(version)  # type: ignore[attr-defined]
    account.drop_all()
    assert not schema.validate(whole(GOOD))
    assert all(schema.validate(whole(bad)) for bad in copy.deepcopy(BAD))


def test_a_deleted_definition_leaves_the_account(account: WeightAccount) -> None:
    kind = custom()
    complete(kind)
    assert account.weight > 0
    del kind
    gc.collect()
    assert account.weight == 0


def test_a_kind_that_is_no_longer_served_leaves_the_account_at_once(account: WeightAccount) -> None:
    kind, registry = custom(), Registry()
    complete(kind)
    registry.put_kind(kind)
    kind.strategy.form.pin()
    registry.remove_kind(kind.group, kind.plural)
    assert kind.is_complete
    kind.strategy.form.unpin()
    registry.put_kind(kind)
    registry.remove_kind(kind.group, kind.plural)
    assert account.weight == 0
    assert not kind.is_complete
    complete(kind)
    assert off_loop(lambda: write(kind)) == []


def test_rules_are_counted(account: WeightAccount) -> None:
    def weigh(rules: list[dict[str, Any]]) -> int:
        form = compiledforms.CompiledDefinition()
        form.count_rules({"type": "object", "properties": {"a": {"x-kubernetes-validations": rules}}})
        return form._weight

    assert weigh([RULE] * 20) == 20 * weigh([RULE]) > 0
