"""Hooks stand where webhooks stand: the same matching, reviews and failure policies."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from podless import Server, StartError, hooks
from podless.remote.cluster import Refused
from podless.runtime.jsonobject import Object


def config(name: str = "a", labels: Object | None = None, **data: str) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": labels or {}}, "data": data}


def refusal(work: Callable[[], Any]) -> str:
    with pytest.raises(Refused) as found:
        work()
    return str(found.value)


def test_a_hook_denies_with_its_code_reason_and_words() -> None:
    @hooks.validate("configmaps")
    def check(obj: Object) -> None:
        raise hooks.Denied("no tea", code=418, reason="Teapot", details={"name": "pot"})

    with Server(hooks=check) as server, pytest.raises(Refused) as found:
        server.create(config())
    assert str(found.value) == 'admission hook "check" denied the request: no tea'
    assert found.value.code == 418
    assert found.value.status["details"] == {"name": "pot"}


def test_a_hook_is_told_what_an_admission_request_has() -> None:
    seen: list[Any] = []

    @hooks.validate("configmaps", operations=["CREATE", "UPDATE", "DELETE"])
    def look(obj: Object | None, old: Object | None, request: hooks.Request) -> None:
        seen.append((request.operation, request.name, request.namespace, request.user["username"], request.dry_run))
        seen.append(((obj or {}).get("data"), (old or {}).get("data")))

    with Server(hooks=look) as server:
        server.create(config(x="1"))
        server.apply(config(x="2"))
        server.delete("configmap", "a")
    assert [one for one in seen if len(one) == 5] == [
        (operation, "a", "default", "admin", False) for operation in ("CREATE", "UPDATE", "DELETE")
    ]
    assert [one for one in seen if len(one) == 2] == [({"x": "1"}, None), ({"x": "2"}, {"x": "1"}), (None, {"x": "2"})]


def test_mutating_hooks_change_in_place_or_return_another_object() -> None:
    @hooks.mutate("configmaps")
    def first(obj: Object) -> None:
        obj["data"]["first"] = "1"

    @hooks.mutate("configmaps")
    def second(obj: Object) -> Object:
        return {**obj, "data": {**obj["data"], "second": obj["data"]["first"]}}

    with Server(hooks=[first, second]) as server:
        assert server.create(config(x="1"))["data"] == {"x": "1", "first": "1", "second": "1"}


def test_defaults_fill_in_and_never_replace_and_come_before_changes() -> None:
    @hooks.mutate("configmaps")
    def change(obj: Object) -> None:
        obj["data"]["seen"] = obj["data"]["mode"]

    @hooks.default("configmaps")
    def fill(obj: Object) -> None:
        obj["data"] = {"mode": "fast", "x": "mine"}

    with Server(hooks=[change, fill]) as server:
        assert server.create(config(x="1"))["data"] == {"x": "1", "mode": "fast", "seen": "fast"}


def test_a_hook_that_wants_to_be_asked_again_sees_later_changes() -> None:
    @hooks.mutate("configmaps", reinvocation_policy="IfNeeded")
    def first(obj: Object) -> None:
        obj["data"]["calls"] = obj["data"].get("calls", "") + "1"

    @hooks.mutate("configmaps")
    def second(obj: Object) -> None:
        obj["data"]["second"] = "yes"

    with Server(hooks=[first, second]) as server:
        assert server.create(config(x="1"))["data"] == {"x": "1", "calls": "11", "second": "yes"}


def test_selectors_conditions_and_operations_decide_which_writes_are_meant() -> None:
    @hooks.validate(
        "configmaps",
        operations="CREATE",
        object_selector={"matchLabels": {"ask": "yes"}},
        match_conditions={"red": "object.data.color == 'red'"},
    )
    def check() -> None:
        raise hooks.Denied("asked")

    with Server(hooks=check) as server:
        server.create(config("a", color="red"))
        server.create(config("b", {"ask": "yes"}, color="blue"))
        server.create(config("c", {"ask": "no"}, color="red"))
        assert refusal(lambda: server.create(config("d", {"ask": "yes"}, color="red"))).endswith(": asked")
        server.apply(config("b", {"ask": "yes"}, color="red"))


def test_a_failure_counts_by_the_failure_policy() -> None:
    @hooks.validate("configmaps", failure_policy="Ignore")
    def ignored() -> None:
        raise RuntimeError

    @hooks.mutate("secrets")
    def counted() -> None:
        raise RuntimeError

    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}}
    with Server(hooks=[ignored, counted]) as server:
        server.create(config())
        said = refusal(lambda: server.create(secret))
        assert server.get("secret", "a") is None
    assert said.startswith('Internal error occurred: failed calling hook "counted": it raised an exception')


def test_a_dry_run_is_refused_where_a_hook_has_side_effects() -> None:
    @hooks.validate("configmaps", side_effects="Some")
    def check() -> None:
        """Nothing is wrong."""

    with Server(hooks=check) as server:
        server.create(config())
        said = refusal(lambda: _dry(server))
    assert said == 'admission hook "check" does not support dry run'


def _dry(server: Server) -> None:
    from podless.testing.ask import ask_app

    assert server._loop is not None
    work = ask_app(server._get_app(), "POST", "/api/v1/namespaces/default/configmaps", config("b"), dryRun="All")
    asyncio.run_coroutine_threadsafe(work, server._loop).result()


def test_coroutines_run_together() -> None:
    async def wait(request: hooks.Request) -> None:
        met.append(request.name)
        await both_are_there.wait()

    met: list[str] = []
    both_are_there = asyncio.Barrier(2)
    hook = hooks.validate("configmaps")(wait)

    with Server(hooks=hook) as server:

        async def both() -> None:
            await asyncio.gather(*(server.client.create(config(name)) for name in "ab"))

        asyncio.run(both())
    assert sorted(met) == ["a", "b"]


@dataclass
class Meta:
    name: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    extra_: Object = field(default_factory=dict)


@dataclass
class ConfigMap:
    apiVersion: str  # noqa: N815
    kind: str
    metadata: Meta
    data: dict[str, str] = field(default_factory=dict)


def test_a_parameter_with_a_class_gets_an_instance() -> None:
    @hooks.mutate("configmaps")
    def change(obj: ConfigMap) -> None:
        obj.data["name"] = obj.metadata.name

    with Server(hooks=change) as server:
        made = server.create(config(x="1"))
    assert made["data"] == {"x": "1", "name": "a"}
    assert made["metadata"]["uid"]


def test_wrong_results_count_as_failures_and_are_named() -> None:
    @hooks.validate("configmaps")
    def check() -> bool:
        return True

    @hooks.mutate("secrets")
    def change() -> list[int]:
        return [1]

    with Server(hooks=[check, change]) as server:
        assert "it returned bool: a validate hook returns None or raises Denied" in refusal(
            lambda: server.create(config())
        )
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}}
        assert "it returned list, not an object" in refusal(lambda: server.create(secret))


def test_what_a_hook_makes_is_checked_as_what_a_webhook_makes() -> None:
    @hooks.mutate("configmaps")
    def change(obj: Object) -> Object:
        return {**obj, "kind": "Secret"}

    with Server(hooks=change) as server:
        said = refusal(lambda: server.create(config()))
    assert "Secret" in said


@pytest.mark.parametrize(
    ("declare", "said"),
    [
        (lambda: hooks.validate(), "name at least one resource"),
        (lambda: hooks.validate("a", timeout=31), "a timeout is a whole number from 1 to 30 seconds, not 31"),
        (lambda: hooks.validate("a", reinvocation_policy="Never"), "a hook has no option 'reinvocation_policy'"),
        (lambda: hooks.validate(".x"), "'.x' names no resource"),
    ],
)
def test_declarations_that_cannot_work_are_refused(declare: Callable[[], Any], said: str) -> None:
    def hook() -> None:
        """Nothing is wrong."""

    with pytest.raises(ValueError) as found:
        declare()(hook)
    assert said in str(found.value)


def test_a_function_with_unknown_parameters_is_no_hook() -> None:
    with pytest.raises(ValueError, match=r"a validate hook knows no parameter 'spec'; it has obj, old, request"):
        hooks.validate("a")(lambda spec: None)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"operations": ["MAKE"]}, 'Unsupported value: "MAKE"'),
        ({"failure_policy": "Maybe"}, 'Unsupported value: "Maybe"'),
        ({"match_conditions": {"x": "object."}}, "compilation failed"),
        ({"object_selector": "red"}, "wrong type"),
    ],
)
def test_a_server_takes_only_what_a_configuration_could_say(options: Object, said: str) -> None:
    @hooks.validate("configmaps", **options)
    def check() -> None:
        """Nothing is wrong."""

    with pytest.raises(StartError) as found, Server(hooks=check):
        pass
    assert str(found.value).startswith("--hooks: hook check: ")
    assert said in str(found.value)
