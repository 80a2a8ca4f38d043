"""Definitions that were sent to kube-apiserver 1.36, and what it said of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from podless.apis.apiextensions.definition import fill, schemas, validate
from podless.meta import names, objectmeta
from podless.structs import structs
from podless.structs.structfiles import load_struct
from tests.conformance import recorded

CUSTOM_RESOURCE_DEFINITION = load_struct("apiextensions/v1", "CustomResourceDefinition")

# areas whose refusals come from elsewhere: expressions and policies
APART = {"cel", "admission"}
# what other parts of a server say of a request for a definition
ELSEWHERE = ("dryRun", "fieldValidation", "metadata.namespace")


def posted() -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Name, body and recorded answer of each definition that was sent."""
    for recording in recorded.scenarios(*recorded.areas()):
        for number, step in enumerate(recording["steps"]):
            answer = (step.get("expect") or {}).get("body")
            is_post = step.get("method") == "POST" and step["path"].endswith("/customresourcedefinitions")
            if is_post and isinstance(step.get("body"), dict) and isinstance(answer, dict):
                yield f"{recording['area']}/{recording['name']}-{number}", step["body"], step["expect"]


def causes(answer: dict[str, Any]) -> list[tuple[str, str, str]] | None:
    """The recorded causes; None where the answer is none of these checks'."""
    if answer.get("kind") == "CustomResourceDefinition":
        return []
    found = (answer.get("details") or {}).get("causes") or []
    if (
        answer.get("code") != 422
        or "kind" not in answer
        or any(cause.get("field", "dryRun") in ELSEWHERE for cause in found)
    ):
        return None
    return sorted((cause.get("reason", ""), cause["field"], cause["message"]) for cause in found)


def decode(body: dict[str, Any], unknown: list[str]) -> tuple[dict[str, Any], str]:
    """The definition, or why there is none."""
    try:
        return structs.decode_struct(CUSTOM_RESOURCE_DEFINITION, body, unknown), ""
    except structs.DecodeError as error:
        return {}, str(error)


def test_decoding_is_that_of_a_real_server() -> None:
    for name, body, expected in posted():
        message = expected["body"].get("message") or ""
        unknown: list[str] = []
        decoded, fault = decode(body, unknown)
        if fault:
            assert message.endswith(f"cannot be handled as a CustomResourceDefinition: {fault}"), name
            continue
        told = [f'unknown field "{path}"' for path in unknown]
        if "strict decoding error" in message:
            assert message.rpartition("strict decoding error: ")[2] == ", ".join(told), name
        else:
            assert "cannot be handled" not in message, name
        spec = expected["body"].get("spec")
        if spec and name != "schema/schema-default-embedded-4":
            assert json.dumps(decoded["spec"]["versions"]) == json.dumps(spec["versions"]), name


def full(value: Any) -> Any:
    """Without empty values, which answers leave out in most places."""
    if isinstance(value, list):
        return [full(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: full(item) for key, item in value.items() if item}


@pytest.mark.slow
def test_definitions_of_real_projects_keep_all_that_they_say() -> None:
    count = 0
    for name, body, _ in posted():
        if name.startswith("realworld/"):
            unknown: list[str] = []
            decoded, fault = decode(body, unknown)
            assert (fault, unknown) == ("", []), name
            assert full(decoded["spec"]["versions"]) == full(body["spec"]["versions"]), name
            count += 1
    assert count >= 64


def test_refusals_and_defaults_are_those_of_a_real_server() -> None:
    count = 0
    for name, body, expected in posted():
        wanted = causes(expected["body"])
        if name.partition("/")[0] in APART or wanted is None:
            continue
        crd, fault = decode(body, [])
        if fault:
            continue
        fill.set_defaults(crd)
        fill.prepare_create(crd)
        crd["metadata"].pop("namespace", None)  # the write path does that
        errors = objectmeta.validate_metadata(crd["metadata"], namespaced=False, naming=names.SUBDOMAINS)
        errors += validate.validate_create(crd)
        assert sorted((error.reason, error.field, error.body) for error in errors) == wanted, name
        if not wanted and "spec" in expected["body"]:
            assert json.dumps(crd["spec"]) == json.dumps(expected["body"]["spec"]), name
            assert crd["status"] == expected["body"]["status"], name
            told = [text for text in expected.get("warnings") or [] if "unrecognized format" in text]
            assert len(told) == len(schemas.warn_of_formats(crd)), name
        count += 1
    assert count > 400
