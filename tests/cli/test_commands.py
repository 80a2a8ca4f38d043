"""commands.txt declares the options and arguments of all commands."""

from __future__ import annotations

import re

import pytest

from podless.apis import features
from podless.cli import build_parser
from podless.cli.commands import COMMANDS, SHARED


def test_all_shared_options_are_included_by_a_command() -> None:
    included = re.findall(r"^  <(.*)>$", "".join(text for _, text in COMMANDS.values()), re.MULTILINE)
    assert set(included) == set(SHARED)


def test_every_command_has_a_summary_and_a_description() -> None:
    for name, (summary, text) in COMMANDS.items():
        assert summary, name
        assert text.partition("\n\n")[0].strip(), name


def test_names_of_modules_stand_for_their_values() -> None:
    with pytest.raises(SystemExit):
        build_parser(("plan",)).parse_args(["plan", "--kubernetes-version", "1.1", "x"])
    for release in features.NAMES:
        chosen = build_parser(("plan",)).parse_args(["plan", "--kubernetes-version", release, "x"])
        assert chosen.kubernetes_version == release


def test_signs_after_a_placeholder_tell_how_often_a_value_is_given() -> None:
    parse = build_parser(("plan", "show", "check")).parse_args
    assert parse(["check"]).paths == []
    assert parse(["plan", "a", "b"]).paths == ["a", "b"]
    assert parse(["plan", "a", "--as-group", "x", "--as-group", "y"]).groups == ["x", "y"]
    for missing in (["plan"], ["show", "cm", "name"]):
        with pytest.raises(SystemExit):
            parse(missing)


def test_defaults_have_the_type_of_the_option() -> None:
    assert build_parser(("plan",)).parse_args(["plan", "a"]).timeout == 30.0
    assert build_parser(("log",)).parse_args(["log"]).limit is None
