"""Answers of webhooks are reviews of the version asked for, in JSON or YAML, or are refused in Go's words."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.admission.calls import REVIEWS
from podless.apis.schemes import make_review_scheme
from podless.codec.serializer import ParsedJSON
from podless.kinds import webhookreviews

V1 = "admission.k8s.io/v1"
TYPE_META = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'


def read(raw: bytes, version: str = "v1") -> object:
    return webhookreviews.decode_review(
        raw, REVIEWS, f"admission.k8s.io/{version}", make_review_scheme("admission.k8s.io")
    )


@pytest.mark.parametrize(
    "raw",
    [
        b'{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"u","allowed":true}}',
        b'\n {"response":{"uid":"u","allowed":true}}',
        b"kind: AdmissionReview\nresponse: {uid: u, allowed: true}\n",
        b'{"response":{"uid":"u","allowed":false},"response":{"allowed":true}}',
    ],
    ids=["in full", "types left out", "YAML", "twice"],
)
def test_what_is_read(raw: bytes) -> None:
    response = read(raw)["response"]  # type: ignore[index]
    assert (response["uid"], response["allowed"]) == ("u", True)


def test_a_long_answer_in_yaml_was_read_as_json_before() -> None:
    response = read(ParsedJSON.parse(b"response: {uid: u, allowed: true}"))["response"]  # type: ignore[index]
    assert (response["uid"], response["allowed"]) == ("u", True)


def test_yaml_is_read_up_to_a_length() -> None:
    with pytest.raises(webhookreviews.Undecodable, match="is read up to 3145728 bytes"):
        read(b"#" * (3 << 20) + b"\n")


def unconverted(given: str, wanted: str = "v1.AdmissionReview") -> str:
    return f"converting ({given}) to ({wanted}): unknown conversion"


@pytest.mark.parametrize(
    ("api_version", "kind", "said"),
    [
        ("admission.k8s.io/v1beta1", "AdmissionReview", unconverted("v1beta1.AdmissionReview")),
        ("v1", "Status", unconverted("v1.Status")),
        (V1, "DeleteOptions", unconverted("v1.DeleteOptions")),
        ("v1", "Pod", 'no kind "Pod" is registered for version "v1" in scheme '),
        (V1, "Foo", 'no kind "Foo" is registered for version "admission.k8s.io/v1" in scheme '),
        ("a/b/c", "Foo", "unexpected GroupVersion string: a/b/c"),
    ],
)
def test_objects_that_are_no_such_review(api_version: str, kind: str, said: str) -> None:
    with pytest.raises(webhookreviews.Undecodable) as refused:
        read(json.dumps({"apiVersion": api_version, "kind": kind}).encode())
    assert str(refused.value).startswith(said)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"hello", f"json: cannot unmarshal string into Go value of type {TYPE_META}"),
        (b"[]", f"json: cannot unmarshal array into Go value of type {TYPE_META}"),
        (b"{} {}", "invalid character '{' after top-level value"),
    ],
)
def test_what_is_no_object(raw: bytes, said: str) -> None:
    with pytest.raises(webhookreviews.Undecodable) as refused:
        read(raw)
    assert str(refused.value) == f"couldn't get version/kind; json parse error: {said}"


def test_types_are_named_in_the_version_asked_for() -> None:
    with pytest.raises(webhookreviews.Undecodable, match=r"of type v1beta1\.AdmissionResponse$"):
        read(b'{"response":"x"}', "v1beta1")


@given(st.binary(max_size=40))
def test_any_bytes_are_a_review_or_are_refused(raw: bytes) -> None:
    with contextlib.suppress(webhookreviews.Undecodable):
        assert isinstance(read(raw), dict)
