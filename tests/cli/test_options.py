"""Options are declared once, and everything that is told of them comes from there."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Iterator
from dataclasses import MISSING
from pathlib import Path
from typing import Any

import pytest

from podless import OIDC, Audit, Limits, Server, StartError
from podless.apis import features
from podless.app import Settings
from podless.cli import main, options
from podless.runtime.option import Option, Section, declared_options
from podless.store.history import Keep


def every(of: type = Settings) -> Iterator[tuple[str, Any, Option]]:
    for name, default, told in declared_options(of):
        if isinstance(told, Section):
            yield from every(told.of)
        else:
            yield name, default, told


def parsed(*arguments: str) -> Settings:
    parser = argparse.ArgumentParser()
    options.add_options(parser)
    return options.read_settings(parser.parse_args(arguments))


def test_every_field_is_declared_and_documented() -> None:
    for name, _, told in every():
        assert told.help, name
        assert (told.flag == "") or told.flag.startswith("--"), name


def test_the_help_lists_every_option() -> None:
    parser = argparse.ArgumentParser()
    options.add_options(parser)
    shown = parser.format_help()
    assert [told.flag for _, _, told in every() if told.flag and told.flag not in shown] == []


def test_the_texts_of_defaults_are_the_defaults() -> None:
    for name, default, told in every():
        if told.default is not None and default is not MISSING and name not in ("data", "port"):
            assert told.parse(told.default) == default, name


def test_the_command_without_options_is_told_what_a_program_is_by_default() -> None:
    given = parsed("--memory", "--port", "0")
    assert given == Settings()
    assert (parsed().data, parsed().port) == (Path("podless-data"), 6443)


def test_what_the_command_is_told() -> None:
    given = parsed(
        *("--no-garbage-collector", "--insecure-http", "--event-ttl", "1m30s", "--max-watches", "7"),
        *("--service", "a/b=h:1", "--service", "a/c:2=h:3", "--audit-log-path", "-", "--audit-log-maxsize", "2"),
        *("--oidc-issuer-url", "https://i", "--oidc-client-id", "c", "--oidc-required-claim", "a=b"),
    )
    assert (given.garbage_delay, given.tls, given.event_ttl) == (None, False, 90.0)
    assert given.limits == Limits(watches=7)
    assert given.services == {"a/b": "h:1", "a/c:2": "h:3"}
    assert given.audit == Audit(Path("-"), size=2 << 20)
    assert given.oidc == OIDC("https://i", "c", required={"a": "b"})


def test_repeated_maps_and_lists_are_joined_as_in_kube_apiserver() -> None:
    given = parsed(
        *("--feature-gates", "WatchList=false", "--feature-gates", "AllAlpha=true,WatchList=true"),
        *("--controllers", "job,ready", "--controllers", "deployment", "--controllers", "job"),
        *("--tls-san", "a,b", "--tls-san", "c", "--disable-builtin", "v1/pods", "--disable-builtin", "apps/v1"),
    )
    assert given.feature_gates == {"WatchList": True, "AllAlpha": True}
    assert given.controllers == ("deployment", "job", "ready")
    assert (given.tls_names, given.disable_builtin) == (("a", "b", "c"), ("v1/pods", "apps/v1"))
    with pytest.raises(StartError, match="--etcd-servers: some are https and some http"):
        parsed("--store", "etcd", "--etcd-servers", "http://a:1", "--etcd-servers", "https://b:1")


def test_half_a_provider_is_no_provider() -> None:
    with pytest.raises(StartError, match="--oidc-client-id requires --oidc-issuer-url"):
        parsed("--oidc-client-id", "c")
    with pytest.raises(StartError, match="--oidc-issuer-url requires --oidc-client-id"):
        parsed("--oidc-issuer-url", "https://i")
    with pytest.raises(StartError, match="an OIDC issuer must be an https URL, not 'http://i'"):
        parsed("--oidc-issuer-url", "http://i", "--oidc-client-id", "c")


@pytest.mark.parametrize("option", ["runtime-config", "disable-builtin"])
def test_an_error_names_its_option_once(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parsed(f"--{option}", "nonsense=true" if option == "runtime-config" else "nonsense")
    said = capsys.readouterr().err
    assert f"argument --{option}: nonsense is " in said


@pytest.mark.parametrize("text", ["a=h:1", "a/b", "a/b=h", "a/b=h:x", "a/b/c=h:1", "/b=h:1", "a/=h:1", "a/b:x=h:1"])
def test_what_is_no_service(text: str) -> None:
    with pytest.raises(SystemExit):
        parsed("--service", text)


def test_a_server_takes_what_the_settings_have() -> None:
    assert list(inspect.signature(Server).parameters) == list(inspect.signature(Settings).parameters)
    with pytest.raises(TypeError):
        Server(nonsense=1)  # type: ignore[call-arg]


def test_whatever_cannot_work_is_one_kind_of_error() -> None:
    for wrong in ({"authorization": "x"}, {"runtime_config": {"x": True}}, {"tls": False, "bind": "0.0.0.0"}):
        with pytest.raises(StartError):
            Server(**wrong)


def test_each_engine_has_its_own_history() -> None:
    etcd = ("--store", "etcd", "--etcd-servers", "http://127.0.0.1:1")
    given = parsed(*etcd, "--etcd-compaction-interval", "0")
    assert given.etcd is not None
    assert given.etcd.compaction == 0.0
    assert parsed(*etcd, "--history", "2h").bounds.default == Keep(age=7200.0)
    assert parsed(*etcd, "--history-log", "3h,1Gi,7").bounds.default == Keep(3 * 3600.0, 1 << 30, 7)
    assert not parsed(*etcd, "--no-history-authors").bounds.keeps_any
    assert not parsed("--history", "2h").bounds.keeps_any
    with pytest.raises(StartError, match="--etcd-compaction-interval requires --etcd-servers"):
        parsed("--etcd-compaction-interval", "1m")


@pytest.mark.parametrize(
    ("given", "chaos"), [([], False), (["--chaos"], True), (["--chaos", "0"], 0), (["--chaos=7"], 7)]
)
def test_a_flag_may_stand_alone(given: list[str], chaos: int | bool) -> None:
    found = parsed(*given).chaos
    assert (found, type(found)) == (chaos, type(chaos))


def test_a_seed_is_a_number() -> None:
    with pytest.raises(SystemExit):
        parsed("--chaos", "x")


def test_help_names_the_release_that_is_served_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["serve", "--help"])
    assert f"(default: {features.DEFAULT})" in capsys.readouterr().out
