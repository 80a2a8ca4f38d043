"""What is compiled from configurations is never older than what another request has seen."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from podless.admission.configuration import ConfigurationLister
from podless.admission.matching import ApplicableItems
from podless.admission.validating import ValidatingPolicy
from podless.cel.policies import Environment, Expression
from tests.apis import test_offline


class Stored:
    """One stored object. while_decoded: called while it is decoded, as other requests run while that is suspended."""

    def __init__(self, key: str, revision: int, while_decoded: Callable[[], None] = lambda: None) -> None:
        self.key = key
        self.revision = revision
        self._while_decoded = while_decoded

    def decode(self) -> str:
        self._while_decoded()
        return f"{self.key}{self.revision}"


def test_a_state_that_is_compiled_late_does_not_replace_a_later_one() -> None:
    collection: Any = SimpleNamespace(changed=5, entries=[])
    collection.list_entries = lambda: [*collection.entries]
    cache: Any = SimpleNamespace(collection=lambda _: collection)
    kind: Any = SimpleNamespace(keys=None, prefix="")
    lister: ConfigurationLister[Any] = ConfigurationLister(cache, kind, lambda obj: obj)
    seen = []

    def change() -> None:
        collection.changed = 6
        collection.entries = [Stored("a", 6), Stored("b", 5)]
        seen.append(lister.list_items())

    collection.entries = [Stored("a", 5, change), Stored("b", 5)]
    assert lister.list_items() == ["a6", "b5"]
    assert seen == [["a6", "b5"]]
    assert lister.list_items() == ["a6", "b5"]


def test_a_cache_that_has_gone_back_is_compiled_again() -> None:
    collection: Any = SimpleNamespace(changed=5, list_entries=lambda: [Stored("a", collection.changed)])
    cache: Any = SimpleNamespace(collection=lambda _: collection)
    kind: Any = SimpleNamespace(keys=None, prefix="")
    lister: ConfigurationLister[Any] = ConfigurationLister(cache, kind, lambda obj: obj)
    assert lister.list_items() == ["a5"]
    collection.changed = 3
    assert lister.list_items() == ["a3"]


def test_items_that_are_replaced_while_some_are_chosen_are_chosen_again() -> None:
    kind = test_offline.kind()

    def covers(item: str, *_: object) -> bool:
        if item == "old":
            items.set_items(["new"])
        return True

    items: ApplicableItems[str] = ApplicableItems(covers, lambda _: False)
    items.set_items(["old"])
    assert items.select_items("CREATE", kind, "") == ["old"]
    assert items.select_items("CREATE", kind, "") == ["new"]


def test_requests_that_compile_a_policy_at_once_share_its_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = {
        "matchConstraints": {},
        "variables": [{"name": "v", "expression": "1"}],
        "validations": [{"expression": "request.name != 'x'"}],
    }
    policy = ValidatingPolicy({"metadata": {"name": "p"}, "spec": spec})
    real, others = Environment.declare_variable, [lambda: policy.validations]

    def declare(self: Environment, name: str, source: str) -> Expression:
        while others:
            others.pop()()  # another request, while this one is suspended
        return real(self, name, source)

    monkeypatch.setattr(Environment, "declare_variable", declare)
    assert policy.environment
    assert [validation.expression.names for validation in policy.validations] == [("request",)]
    assert policy.environment.used_variables == {"request"}
