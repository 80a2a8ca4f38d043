"""Definitions and objects are checked without a server, and without what only a server needs."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from podless.apis import offline
from podless.kinds.kind import Kind
from podless.runtime.jsonobject import Object
from tests import conftest

SPEC: Object = {
    "type": "object",
    "required": ["size"],
    "properties": {"size": {"type": "integer", "minimum": 1}, "color": {"type": "string", "default": "red"}},
    "x-kubernetes-validations": [{"rule": "self.size < 10", "message": "too big"}],
}


def definition(**spec: Any) -> Object:
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": SPEC}}}
    made = conftest.definition("example.com", schema=schema)
    return {**made, "spec": {**made["spec"], **spec}}


def kind() -> Kind:
    made = offline.define_kind(definition())
    assert not made.errors
    assert made.kind is not None
    return made.kind


def check(text: str, content_type: str = "application/json") -> offline.Checked:
    of = kind()
    return offline.check_object(of, of.versions[0], text.encode(), content_type=content_type)


def test_a_sound_object_has_its_defaults() -> None:
    head = '"apiVersion": "example.com/v1", "kind": "Gadget"'
    found = check(f'{{{head}, "metadata": {{"name": "a"}}, "spec": {{"size": 3, "odd": 1}}}}')
    assert found.obj is not None
    assert found.obj["spec"] == {"size": 3, "color": "red"}
    assert (found.refusal, list(found.errors)) == ("", [])
    assert found.findings == ['unknown field "spec.odd"']


def test_an_object_in_yaml_is_held_to_schema_rules_and_names() -> None:
    found = check(
        "apiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: A}\nspec: {size: 0}\n", "application/yaml"
    )
    assert [error.field for error in found.errors] == ["metadata.name", "spec.size"]
    found = check(
        "apiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: a}\nspec: {size: 11}\n", "application/yaml"
    )
    assert [str(error) for error in found.errors] == ["spec: Invalid value: too big"]


def test_a_body_that_is_no_object_of_the_kind_is_refused() -> None:
    assert check("{").refusal.startswith("the object provided is unrecognized (must be of type Gadget)")
    assert "does not match the expected API version" in check('{"apiVersion": "x/v1", "kind": "Gadget"}').refusal
    [error] = check('{"apiVersion": "example.com/v1", "kind": "Other", "metadata": {"name": "a"}}').errors
    assert str(error) == 'kind: Invalid value: "Other": must be Gadget'


def test_a_definition_with_errors_makes_no_kind() -> None:
    made = offline.define_kind(definition(group="nodots"))
    assert made.kind is None
    assert [error.field for error in made.errors] == ["metadata.name", "spec.group"]


def test_nothing_that_serves_is_imported() -> None:
    script = f"""
import sys
from podless.apis import offline
made = offline.define_kind({definition()!r})
body = b'{{"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {{"name": "a"}}, "spec": {{"size": 11}}}}'
assert len(offline.check_object(made.kind, made.kind.versions[0], body).errors) == 1
refused = ("podless.http", "podless.store", "podless.auth", "podless.remote", "podless.verbs", "podless.cache")
others = ("aiohttp", "httptools", "uvloop", "sqlite3")
found = [name for name in sys.modules if name.startswith(refused) or name in others]
assert not found, found
"""
    subprocess.run([sys.executable, "-c", script], check=True)
