"""Bodies that are no object of the kind, in the words of a real server."""

from __future__ import annotations

import json
from typing import Any

import pytest

from podless.apis.apiextensions.group import DEFINITIONS
from podless.kinds import bodies
from podless.kinds.bodies import Body
from podless.meta.errors import BadRequest
from tests.apis.test_offline import kind

SCHEME = 'in scheme "k8s.io/apiextensions-apiserver/pkg/apiserver/apiserver.go:55"'


def refusal(body: Body) -> str:
    with pytest.raises(BadRequest) as caught:
        bodies.read_body(body)
    return caught.value.message


@pytest.mark.parametrize(
    ("api_version", "name", "wanted"),
    [
        (
            "v1",
            "CustomResourceDefinition",
            f'no kind "CustomResourceDefinition" is registered for version "v1" {SCHEME}',
        ),
        (
            "apiextensions.k8s.io/v1",
            "Thing",
            f'no kind "Thing" is registered for version "apiextensions.k8s.io/v1" {SCHEME}',
        ),
    ],
)
def test_definitions_of_another_kind_or_api_are_not_registered(api_version: str, name: str, wanted: str) -> None:
    raw = json.dumps({"apiVersion": api_version, "kind": name}).encode()
    told = refusal(Body(DEFINITIONS, DEFINITIONS.versions[0], raw))
    assert told == f'{name} in version "v1" cannot be handled as a CustomResourceDefinition: {wanted}'


def test_a_known_version_of_definitions_at_the_wrong_path_is_a_mismatch() -> None:
    raw = b'{"apiVersion": "apiextensions.k8s.io/v1beta1", "kind": "CustomResourceDefinition"}'
    told = refusal(Body(DEFINITIONS, DEFINITIONS.versions[0], raw))
    assert told.startswith("the API version in the data (apiextensions.k8s.io/v1beta1) does not match")


def test_what_is_of_another_version_is_read_as_that_before_it_is_refused() -> None:
    column = {"name": "Size", "type": "integer", "jsonPath": ".spec.size"}
    spec = {"additionalPrinterColumns": [column], "scope": "Namespaced"}
    head = {"apiVersion": "apiextensions.k8s.io/v1beta1", "kind": "CustomResourceDefinition"}
    body = Body(DEFINITIONS, DEFINITIONS.versions[0], json.dumps({**head, "spec": spec}).encode())
    assert "does not match the expected API version" in refusal(body)
    assert body.warnings == ['unknown field "spec.additionalPrinterColumns[0].jsonPath"']
    told = refusal(Body(DEFINITIONS, DEFINITIONS.versions[0], body.body, validation="Strict"))
    assert told.endswith(f"strict decoding error: {body.warnings[0]}")
    raw = json.dumps({**head, "spec": {"scope": 1}}).encode()
    assert "cannot unmarshal number" in refusal(Body(DEFINITIONS, DEFINITIONS.versions[0], raw))


def custom(text: str, **options: Any) -> Body:
    of = kind()
    return Body(of, of.versions[0], text.encode(), **options)


def test_repeated_fields_come_before_a_version_that_does_not_match() -> None:
    text = '{"apiVersion": "x", "apiVersion": "a", "kind": "Gadget"}'
    found = 'Gadget in version "a" cannot be handled as a Gadget: strict decoding error: duplicate field "apiVersion"'
    assert refusal(custom(text, validation="Strict")) == found
    body = custom(text)
    assert "does not match" in refusal(body)
    assert body.warnings == ['duplicate field "apiVersion"']


def test_a_custom_object_of_another_version_is_read_as_far_as_it_is_known() -> None:
    head = '"kind": "Gadget", "metadata": {"name": "a", "more": 1}'
    body = custom(f'{{"apiVersion": "other/v1", {head}, "more": 1}}')
    assert "does not match" in refusal(body)
    assert body.warnings == ['unknown field "metadata.more"']
    body = custom(f'{{"apiVersion": "example.com/v9", {head}, "more": 1}}')
    assert "does not match" in refusal(body)
    assert body.warnings == ['unknown field "metadata.more"', 'unknown field "more"']
    told = refusal(custom('{"apiVersion": "other/v2", "kind": "Gadget", "metadata": {"name": 1}}'))
    assert told.startswith('Gadget in version "v2" cannot be handled as a Gadget: json: cannot unmarshal number')


def test_a_number_that_no_float_holds_is_found_after_the_kind() -> None:
    text = '{"apiVersion": "example.com/v1", "kind": "Gadget", "spec": {"size": 1e400}}'
    told = refusal(custom(text))
    assert told == (
        'Gadget in version "v1" cannot be handled as a Gadget:'
        " json: cannot unmarshal number 1e400 into Go value of type float64"
    )
    assert refusal(custom('{"spec": 1e400}')).startswith("the object provided is unrecognized")


def test_unknown_fields_of_custom_objects_are_named_as_they_are() -> None:
    body = custom('{"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"a\\"b\\\\": 1}, "c\\n": 1}')
    bodies.read_body(body)
    assert body.warnings == ['unknown field "metadata.a"b\\"', 'unknown field "c\n"']
    raw = b'{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "a\\"b": 1}'
    body = Body(DEFINITIONS, DEFINITIONS.versions[0], raw)
    bodies.read_body(body)
    assert body.warnings == ['unknown field "a\\"b"']


@pytest.mark.parametrize("literal", ["1.0", "1e3"])
def test_integers_are_written_without_a_point_and_an_exponent(literal: str) -> None:
    column = f'{{"name": "Size", "type": "integer", "jsonPath": ".a", "priority": {literal}}}'
    spec = f'{{"versions": [{{"additionalPrinterColumns": [{column}]}}]}}'
    raw = f'{{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": {spec}}}'.encode()
    where = (
        "Go struct field CustomResourceColumnDefinition.spec.versions.additionalPrinterColumns.priority of type int32"
    )
    told = refusal(Body(DEFINITIONS, DEFINITIONS.versions[0], raw))
    assert told.endswith(f"json: cannot unmarshal number {literal} into {where}")
    bodies.read_body(Body(DEFINITIONS, DEFINITIONS.versions[0], raw, "application/yaml"))


def test_a_kind_that_is_missing_is_taken_from_the_path_where_unknown_fields_are_ignored() -> None:
    text = '{"metadata": {"name": "a"}, "apiVersion": "example.com/v1", "kind": null}'
    assert refusal(custom(text)).startswith(
        "the object provided is unrecognized (must be of type Gadget): Object 'Kind'"
    )
    told = "Gadget in version \"v1\" cannot be handled as a Gadget: Object 'Kind' is missing in '"
    assert refusal(custom(text, validation="Ignore")) == f"{told}{text}'"
    yaml = custom(text, validation="Ignore", content_type="application/yaml")
    assert refusal(yaml) == told + '{"apiVersion":"example.com/v1","kind":null,"metadata":{"name":"a"}}' + "'"


@pytest.mark.parametrize("validation", ["Strict", "Warn", "Ignore"])
def test_a_version_that_is_null_is_no_text(validation: str) -> None:
    told = refusal(custom('{"apiVersion": null, "kind": "Gadget"}', validation=validation))
    assert told == (
        'Gadget in version "" cannot be handled as a Gadget: '
        ".apiVersion accessor error: <nil> is of the type <nil>, expected string"
    )
