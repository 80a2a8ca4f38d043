"""A kind is immutable; what is made of it is made once; what is stored may lack what it shows."""

from __future__ import annotations

import dataclasses
import gc
import weakref
from functools import partial
from typing import Any

import pytest

from podless.apis.core.group import EVENTS
from podless.apis.events.group import NEW_EVENTS
from podless.cache.entry import Entry
from podless.codec import serializer
from podless.kinds import view
from podless.kinds.fromdefinition import compile_kind
from podless.kinds.kind import Kind, Version, serve_versions
from podless.kinds.version import GivenSchema
from podless.runtime.jsonobject import Object
from podless.store import Record
from tests.apis.test_offline import definition
from tests.cost import Allowance, metered


def kind(*names: str, unserved: tuple[str, ...] = (), **version: Any) -> Kind:
    part = {"type": "object", "properties": {"color": {"type": "string", "default": "red"}}}
    schema = {"type": "object", "properties": {"spec": {**part, "default": {}}, "status": version.pop("status", part)}}
    versions = [
        {
            "name": name,
            "served": name not in unserved,
            "storage": name == names[0],
            "schema": {"openAPIV3Schema": schema},
            **version,
        }
        for name in names
    ]
    made = definition(versions=versions)
    return compile_kind(made, serializer.encode_json(made))


def entry(of: Kind, obj: Object) -> Entry:
    return Entry(Record(of.key("ns", "a"), view.encode_object(of, obj), 5, 5))


def test_nothing_of_a_kind_can_be_changed() -> None:
    one = kind("v1", "v2", unserved=("v2",))
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.plural = "other"  # type: ignore[misc]
    with pytest.raises(TypeError):
        one.by_version["v3"] = one.versions[0]  # type: ignore[index]
    assert (list(one.by_version), [version.name for version in one.versions]) == (["v1", "v2"], ["v1"])
    assert list(serve_versions(kind("v1", "v2"), {"v2"}).by_version) == ["v2", "v1"]


def test_what_is_made_of_a_kind_is_made_once() -> None:
    one = kind("v1")
    assert one.derive("key", lambda: 7) == one.derive("key", lambda: 8) == 7
    assert dataclasses.replace(one).derive("key", lambda: 8) == 8


def test_kinds_that_show_the_same_objects_know_each_other() -> None:
    assert EVENTS.views == NEW_EVENTS.views == (EVENTS, NEW_EVENTS)


def test_defaults_of_the_storage_version_are_shown_and_not_stored_with_another_version() -> None:
    of = kind("v1", "v2")
    stored = of.strategy.make_stored(of, {"apiVersion": "example.com/v2", "kind": "Gadget", "metadata": {}, "spec": {}})
    assert stored["spec"] == {}
    shown = serializer.decode_json(view.encode_body(of, of.by_version["v1"], entry(of, stored)))
    assert shown["spec"] == {"color": "red"}
    assert not of.reads_as_stored
    assert kind("v1").reads_as_stored


def test_a_long_schema_is_read_without_the_collector_and_charged() -> None:
    """The collector would look through the objects that are made again and again."""
    properties = {f"field{number}": {"type": "string"} for number in range(20_000)}
    versions = [{"name": "v1", "schema": {"openAPIV3Schema": {"type": "object", "properties": properties}}}]
    stored = serializer.encode_json({"spec": {"versions": versions}})
    runs = 0

    def count_run(phase: str, info: object) -> None:
        nonlocal runs
        runs += phase == "start"

    meter = Allowance()
    gc.callbacks.append(count_run)
    try:
        assert metered(meter, lambda given: given(), GivenSchema(stored, "v1")) > 0
    finally:
        gc.callbacks.remove(count_run)
    assert runs <= 3  # of the objects that live when it ends
    assert meter.charged >= len(stored) // 100


class Seen(dict[str, Any]):
    """A schema that is seen to go."""


def test_to_be_shown_a_kind_keeps_no_schema() -> None:
    of = kind("v1", "v2")
    read: list[weakref.ref[Seen]] = []

    def seen(version: Version) -> Seen:
        made = Seen(version.schema or {})
        read.append(weakref.ref(made))
        return made

    versions = tuple(dataclasses.replace(version, source=partial(seen, version)) for version in of.versions)
    of = dataclasses.replace(of, versions=versions)
    assert not of.reads_as_stored
    assert read
    assert not any(one() for one in read)


def test_a_default_of_the_status_is_shown_and_not_stored() -> None:
    of = kind("v1", subresources={"status": {}}, status={"type": "object", "default": {}})
    obj = of.strategy.make_stored(of, {"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {}, "spec": {}})
    assert "status" not in obj
    assert serializer.decode_json(view.encode_body(of, of.versions[0], entry(of, obj)))["status"] == {}
