"""Arguments of the Python API: names and types are checked, and the error says what to give."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

import podless
from podless import Audit, Etcd, Keep, Limits, Server, StartError, User, hooks


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"port": "80"}, "port: expected a whole number, not '80'"),
        ({"port": True}, "port: expected a whole number, not True"),
        ({"port": -1}, "port: expected a number from 0, not -1"),
        ({"port": 65536}, "port: expected a port from 0 to 65535, not 65536"),
        ({"event_ttl": "1h"}, "event_ttl: expected a number, not '1h'"),
        ({"garbage_delay": "x"}, "garbage_delay: expected a number or None, not 'x'"),
        ({"tls": "no"}, "tls: expected True or False, not 'no'"),
        ({"data": 5}, "data: expected a text or a path or None, not 5"),
        ({"controllers": "ready"}, "controllers: expected a list of texts, not 'ready'"),
        ({"controllers": [1]}, "controllers: expected a list of texts, not 1"),
        ({"feature_gates": {"A": "on"}}, "feature_gates: expected a mapping from texts to True or False, not 'on'"),
        ({"tokens": {"secret": "zoe"}}, "tokens: expected a mapping from texts to podless.User, not 'zoe'"),
        ({"tokens": ["secret"]}, "tokens: expected a mapping from texts to podless.User, not a list"),
        ({"history": "1h"}, "history: expected podless.Keep, not '1h'"),
        ({"history_for": {"events": "off"}}, "history_for: expected a mapping from texts to podless.Keep or None, not"),
        ({"etcd": {"servers": []}}, "etcd: expected podless.Etcd or None, not a dict"),
        ({"limits": Limits(in_flight="3")}, "limits.in_flight: expected a whole number, not '3'"),  # type: ignore[arg-type]
        ({"services": {"a": "b"}}, "services: 'a': 'b': expected 'NAMESPACE/NAME': 'HOST:PORT'"),
    ],
)
def test_a_value_of_another_type_keeps_a_server_from_being_made(given: dict[str, Any], said: str) -> None:
    with pytest.raises(StartError) as error:
        Server(**given)
    assert str(error.value).startswith(said)


def test_an_unknown_argument_is_named_with_the_one_most_like_it() -> None:
    with pytest.raises(TypeError, match="Server has no argument 'kubernetes_verson'; did you mean kubernetes_version"):
        Server(kubernetes_verson="1.33")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="Server: too many positional arguments"):
        Server(*cast(Any, [None] * 100))
    with pytest.raises(TypeError, match=r"^plan has no argument 'modes'; did you mean mode\?$"):
        podless.plan(".", modes="create")
    with pytest.raises(TypeError, match=r"^explore has no argument 'run'; did you mean runs\?$"):
        podless.explore("true", run=3)
    with pytest.raises(ValueError, match=r"^a fault has no field 'verbs'; did you mean verb\?$"):
        Server().faults.add(verbs="get")


def test_all_declared_arguments_can_be_given(tmp_path: Path) -> None:
    Server(
        "data",
        history=Keep(age=60.0),
        history_for={"events": None, "pods": Keep()},
        tokens={"secret": User("zoe", groups=("team",))},
        audit=Audit("audit.log", policy=tmp_path / "policy"),
        services={"default/hook": "127.0.0.1:8443"},
        hooks=lambda: None,
        garbage_delay=1,
        chaos=True,
        tls_names=["a.example.com"],
    )
    Server(store="etcd", etcd=Etcd(["https://etcd:2379"], cafile="ca.crt"))


def test_a_running_server_cannot_be_started_again() -> None:
    server = Server(tls=False)
    with server, pytest.raises(RuntimeError, match="already running"), server:
        pass
    with server:
        assert server.get("namespace", "default")


def test_calls_with_another_type_say_what_to_give() -> None:
    with Server(tls=False) as server:
        with pytest.raises(TypeError, match="create takes an object as a dict, not str; apply takes texts and paths"):
            server.create("crd.yaml")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="get needs the name of an object"):
            server.get("configmap", "")
        with pytest.raises(TypeError, match="wait takes a condition, a CEL expression or a function, not int"):
            server.wait("configmap", "a", 5)  # type: ignore[arg-type]
        with pytest.raises(LookupError, match=r"no kind 'configmapz' is served; did you mean configmaps\?"):
            server.get("configmapz", "a")


def test_a_hook_without_resources_says_how_to_name_them() -> None:
    def check() -> None:
        pass

    declarations: tuple[Callable[..., Any], ...] = hooks.validate, hooks.mutate, hooks.convert, hooks.subresource
    for declare in declarations:
        with pytest.raises(ValueError, match=r'^check: write @hooks\.\w+\("widgets\.example\.com'):
            declare(check)
