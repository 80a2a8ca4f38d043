"""Answers of webhooks, whatever they are: a verdict or a clear refusal, never anything else."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from podless.admission import calls
from podless.admission.webhooks import webhook_refusal
from podless.apis.schemes import make_review_scheme
from podless.http import status
from podless.kinds import webhookreviews

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
FIELDS = ("uid", "allowed", "status", "patch", "patchType", "auditAnnotations", "warnings")
STATUS = st.dictionaries(st.sampled_from(["code", "message", "reason", "details", "metadata", "status"]), JSON)
RESPONSES = st.dictionaries(st.sampled_from(FIELDS), JSON)
SOUND = st.fixed_dictionaries({"uid": st.just("u"), "status": STATUS, "warnings": st.lists(st.text(), max_size=2)})
ANSWERS = st.fixed_dictionaries(
    {
        "kind": st.just("AdmissionReview"),
        "apiVersion": st.just("admission.k8s.io/v1"),
        "response": RESPONSES | SOUND | JSON,
    }
)


@given(ANSWERS | JSON, st.booleans(), st.booleans(), st.sampled_from(["", "application/vnd.kubernetes.protobuf"]))
def test_any_answer_is_a_verdict_or_is_refused(answer: Any, mutating: bool, old: bool, accept: str) -> None:
    scheme = make_review_scheme("admission.k8s.io")
    try:
        review = webhookreviews.decode_review(json.dumps(answer).encode(), calls.REVIEWS, "admission.k8s.io/v1", scheme)
        verdict = calls._old_verdict(review, mutating) if old else calls._check_v1(review, "u", mutating)
    except webhookreviews.InvalidReview:
        return
    assert mutating or not verdict.patch
    if not verdict.allowed:
        rendered = status.render_error(webhook_refusal("hook.example.com", verdict.result), accept)
        assert status.warning_headers(verdict.warnings) is not None
        assert rendered.status >= 400
        assert b"denied the request" in b"".join(rendered.chunks)


def test_a_warning_that_is_given_many_times_is_kept_once() -> None:
    answer = {"uid": "u", "allowed": True, "warnings": ["a", "a", "", "b", "a"]}
    review = {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "response": answer}
    assert calls._check_v1(review, "u", mutating=False).warnings == ["a", "", "b"]
