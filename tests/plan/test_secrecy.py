"""Data of Secrets is in nothing that a plan prints, keeps or shows to a program."""

from __future__ import annotations

import base64
import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import podless
from podless.plan import Action
from podless.plan.manifests import Identity
from podless.plan.options import MODES, PlanOptions
from podless.plan.output import FORMS, render_plan
from podless.plan.planfile import write_plan
from podless.plan.secrecy import HIDDEN, MESSAGE, hide_message

SECRET = Identity("v1", "Secret", "default", "a")
POLICY = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: chatty}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: ["*"], resources: [secrets]}]
  validations:
  - expression: '!has(object.metadata.labels) || !("chatty" in object.metadata.labels)'
    messageExpression: '"no " + (has(object.data) ? object.data.map(k, object.data[k]).join(" ") : "")'
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: chatty}
spec: {policyName: chatty, validationActions: [%s]}
"""
# values are told from other words by their beginning
texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=4, max_size=30).map("zqx7".__add__)
blobs = st.binary(min_size=6, max_size=40)
numbers = st.integers(7_000_000_000, 7_999_999_999) | st.floats(7e9, 8e9, allow_nan=False)
odd = numbers | st.lists(texts, max_size=2) | st.dictionaries(st.just("k"), texts, min_size=1, max_size=1)
encoded = (texts.map(str.encode) | blobs).map(lambda raw: base64.b64encode(raw).decode())
types = st.sampled_from(
    ("Opaque", "kubernetes.io/dockerconfigjson", "kubernetes.io/tls", "kubernetes.io/basic-auth", "example.com/own")
)
keys = st.sampled_from(("password", ".dockerconfigjson", "tls.crt", "username", "not allowed"))
values = st.fixed_dictionaries(
    {"type": types},
    optional={
        "data": st.dictionaries(keys, encoded | texts | odd, max_size=2) | texts,
        "stringData": st.dictionaries(keys, texts | odd, max_size=2),
        "immutable": st.booleans(),
        "chatty": st.booleans(),
        "record": st.sampled_from(("kubectl.kubernetes.io/last-applied-configuration", "kapp.k14s.io/original")),
    },
)


def make_secret(number: int, given: dict[str, Any]) -> dict[str, Any]:
    held = {key: value for key, value in given.items() if key not in ("chatty", "record")}
    metadata: dict[str, Any] = {"name": f"s{number}"}
    if given.get("chatty"):
        metadata["labels"] = {"chatty": "true"}
    if "record" in given:
        metadata["annotations"] = {given["record"]: json.dumps(held)}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, **held}


def find_values(value: Any) -> set[str]:
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return {found for one in inner for found in find_values(one)}
    if not isinstance(value, str):
        return {str(value), json.dumps(value)} if isinstance(value, int | float) else set()
    found = {value, json.dumps(value)[1:-1], base64.b64encode(value.encode()).decode()}
    with contextlib.suppress(ValueError):
        found.add(base64.b64decode(value, validate=True).decode())
    return {one for one in found if len(one) >= 6}


@settings(
    max_examples=8, phases=[Phase.explicit, Phase.generate], deadline=None, suppress_health_check=list(HealthCheck)
)
@given(st.lists(st.tuples(values, values), min_size=6, max_size=6), st.sampled_from(MODES), st.booleans())
def test_no_output_has_a_value(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[Any], mode: str, denied: bool
) -> None:
    folder = tmp_path_factory.mktemp("secrets")
    old, new = ([make_secret(number, pair[side]) for number, pair in enumerate(pairs)] for side in (0, 1))
    policy = folder / "before.yaml"
    policy.write_text(POLICY % ("Deny" if denied else "Warn"))
    (folder / "old.json").write_text("\n".join(map(json.dumps, old)))
    # what is there is made without policies, as far as the server takes it
    (folder / "set.json").write_text("\n".join(map(json.dumps, new)))
    before = folder / "state"
    before.mkdir()
    (folder / "old.json").rename(before / "old.json")
    policy.rename(before / "policy.yaml")
    plan = podless.plan(folder / "set.json", source=before, mode=mode)
    assert len(plan.changes) >= len(new)
    plan.api = {"url": "https://127.0.0.1:1", "uid": "u"}
    write_plan(folder / "plan", plan, PlanOptions(mode=mode))
    shown = [render_plan(plan, form, details=details) for form in FORMS for details in (False, True)]
    shown += [repr(plan), repr(plan.changes), (folder / "plan").read_text(), *map(str, plan.missing), *plan.warnings]
    words = {word for one in (*old, *new) for name in ("data", "stringData") for word in find_values(one.get(name))}
    leaks = [(word, text[max(0, text.index(word) - 80) :][:200]) for text in shown for word in words if word in text]
    assert not leaks
    assert (folder / "plan").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "text",
    [
        "stringData: {password: *zqx7opensesame}",
        "data: {password: 'zqx7opensesame}",
        'data: {"password": zqx7opensesame: b}',
    ],
)
def test_documents_that_cannot_be_read_are_not_quoted(text: str, tmp_path: Path) -> None:
    (tmp_path / "set.yaml").write_text(f"apiVersion: v1\nkind: Secret\nmetadata: {{name: a}}\n{text}\n")
    plan = podless.plan(tmp_path / "set.yaml")
    assert [change.action for change in plan.changes] == [Action.REFUSED]
    assert not [form for form in FORMS if "zqx7" in render_plan(plan, form)]
    assert "zqx7" not in repr(plan)


def test_messages_without_a_value_are_shown() -> None:
    held = {"data": {"password": "b3BlbnNlc2FtZQ=="}, "stringData": {"pin": 42, "flag": True}}
    for text in ("data[a b]: Invalid value: a valid key", "the server is away", "line 421"):
        assert hide_message(SECRET, text, held) == text
    for text in ("got b3BlbnNlc2FtZQ==", "got opensesame", "got opensesa...", "expected string, got 42", "is true"):
        assert hide_message(SECRET, text, held) == MESSAGE
    other = Identity("example.com/v1", "Secret", "default", "a")
    assert hide_message(other, "got opensesame", held) == "got opensesame"


def test_a_hidden_field_says_that_it_changes(tmp_path: Path) -> None:
    for name, value in (("old", "one-value"), ("new", "two-values")):
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "stringData": {"password": value}}
        (tmp_path / f"{name}.json").write_text(json.dumps(secret))
    plan = podless.plan(tmp_path / "new.json", source=tmp_path / "old.json")
    assert f"data.password: {HIDDEN} -> {HIDDEN}, changed" in render_plan(plan, "text")
    assert "one-value" not in repr(plan)
