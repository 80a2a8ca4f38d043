"""The tables of gates, changes and texts by release."""

from __future__ import annotations

import re

import pytest

from podless.apis import features
from podless.apis.features import CHANGES, GATES, LATEST, NAMES, OLDEST, ROWS, choose_release, make_wording, parse_gates
from podless.runtime.option import StartError
from podless.runtime.release import covers
from podless.structs.structfiles import FOLDER, load_struct


def test_the_newest_recorded_release_has_everything_that_is_on_by_default() -> None:
    assert choose_release().name == features.DEFAULT == f"1.{features.RECORDED}"
    assert not choose_release().without
    assert choose_release().wording is None


@pytest.mark.parametrize("name", NAMES)
def test_every_release_can_be_chosen(name: str) -> None:
    release = choose_release(name)
    assert release.name == name
    assert choose_release(name) is release
    for gate in GATES.values():
        if gate.has_effect(release.minor):
            assert release.has_feature(gate.name) is gate.is_on(release.minor)
    for change, span in CHANGES.items():
        assert release.has_feature(change) is covers(span, release.minor)


@pytest.mark.parametrize("name", [f"1.{OLDEST - 1}", f"1.{LATEST + 1}", "2", ""])
def test_other_releases_are_refused_with_those_that_there_are(name: str) -> None:
    with pytest.raises(StartError, match=re.escape("1.30, 1.31")):
        choose_release(name)


def test_a_gate_is_set_beside_what_the_release_says() -> None:
    assert not choose_release("1.33").has_feature("WatchList")
    assert choose_release("1.33", {"WatchList": True}).has_feature("WatchList")
    assert not choose_release("1.36", {"WatchList": False}).has_feature("WatchList")


def test_only_a_release_that_is_not_recorded_reads_the_fields_that_come_with_it() -> None:
    def names(name: str) -> set[str]:
        struct = load_struct("core/v1", "VolumeMount", choose_release(name))
        return {field.name for field in struct.fields}

    newest = {field.name for field in load_struct("core/v1", "VolumeMount").fields}
    assert names("1.37") - names("1.36") == {"bindMountOptions"}
    assert names("1.36") == newest


def test_fields_of_a_release_say_ahead_and_before_until_it_is_recorded() -> None:
    options = re.compile(r"\b(since|until|ahead|before)=1\.(\d+)")
    wrong = [
        f"{file.parent.name}/{file.name}: {name}=1.{minor}"
        for file in FOLDER.glob("*/*.fields")
        for name, minor in options.findall(file.read_text())
        if (name in ("ahead", "before")) is (int(minor) <= features.RECORDED)
    ]
    assert not wrong


@pytest.mark.parametrize("span", ["1.36-1.31", ",", "1.31--1.33", "1.33, 1.34"])
def test_a_span_without_a_release_is_an_error(span: str) -> None:
    with pytest.raises(StartError, match="kubernetes-version"):
        features.choose_all(span)


def test_a_span_names_each_release_once() -> None:
    assert [one.name for one in features.choose_all("1.31-1.33,1.33,-1.31")] == ["1.30", "1.31", "1.32", "1.33"]


@pytest.mark.parametrize("text", ["=true", "WatchList", "WatchList=1.5"])
def test_a_malformed_gate_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"gate is missing|must be true or false"):
        parse_gates(text)


def test_gates_are_written_as_for_a_real_server() -> None:
    assert parse_gates("WatchList = true, StrictIPCIDRValidation=False,") == {
        "WatchList": True,
        "StrictIPCIDRValidation": False,
    }
    with pytest.raises(ValueError, match="must be true or false"):
        parse_gates("WatchList=on")


@pytest.mark.parametrize(
    ("minor", "at", "said", "told"),
    [
        (33, "spec.names", "must have at most 1 item", "must have at most 1 items"),
        (34, "spec.names", "must have at most 1 item", "must have at most 1 item"),
        (33, "spec.names", "must have at most 12 items", "must have at most 12 items"),
        (31, "metadata.name", "may not be more than 1 byte", "may not be longer than 1"),
        (31, "metadata.annotations", "may not be more than 8 bytes", "must have at most 8 bytes"),
        (33, "metadata.ownerReferences.uid", "must not be empty", "uid must not be empty"),
        (33, "spec.os.name", "", "cannot be empty"),
        (33, "webhooks[0].clientConfig.service.name", "", "service name is required"),
        (33, "spec.uid2", "must not be empty", "must not be empty"),
    ],
)
def test_a_text_is_that_of_the_release(minor: int, at: str, said: str, told: str) -> None:
    reword = make_wording(minor)
    assert (reword(at, said) if reword is not None else said) == told


def test_every_row_can_be_reached() -> None:
    for row in ROWS:
        assert any(covers(row.releases, int(name[2:])) for name in NAMES), row
