"""A check of files: what is found, where, and how it is told."""

from __future__ import annotations

import json
import subprocess
import textwrap
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podless import check
from podless.check import CannotCheck, CheckOptions, Report, SourceFile, Strictness
from podless.check.catalog import read_kinds
from podless.check.output import FORMS, render_report
from tests.apis.test_offline import definition
from tests.conftest import tries

CRD = json.dumps(definition())
HEAD = "apiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: a, namespace: x}\n"


def report(*texts: str, options: CheckOptions | None = None, old: str = "", known: str = "") -> Report:
    given = [SourceFile.of(f"{index}.yaml", textwrap.dedent(text).encode()) for index, text in enumerate(texts)]
    before = [SourceFile.of("old.yaml", old.encode())] if old else []
    others = [SourceFile.of("known.json", known.encode())] if known else []
    return check.check_files(given, old=before, known=others, options=options)


def said(*texts: str, **more: Any) -> list[str]:
    return [str(finding) for finding in report(*texts, **more).findings]


def test_objects_are_held_to_definitions_that_come_anywhere() -> None:
    assert said(HEAD + "spec: {size: 0}\n", CRD) == [
        "0.yaml:4:14: error: spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1"
    ]
    assert said(HEAD + "spec:\n  size: 11\n", known=CRD) == ["0.yaml:4:1: error: spec: Invalid value: too big"]


def test_unknown_fields_are_errors_warnings_or_nothing() -> None:
    text = HEAD + "spec: {size: 1, odd: 2}\n"
    assert said(text, CRD) == ['0.yaml:4:17: error: unknown field "spec.odd"']
    assert said(text, CRD, options=CheckOptions(Strictness("warn"))) == [
        '0.yaml:4:17: warning: unknown field "spec.odd"'
    ]
    assert said(text, CRD, options=CheckOptions(Strictness("ignore"))) == []


def test_repeated_keys_are_found_where_they_are() -> None:
    assert said(CRD, HEAD + "spec: {size: 1}\nspec: {size: 2}\n") == [
        '1.yaml:5:1: error: line 5: key "spec" already set in map'
    ]


def test_kinds_that_nobody_knows() -> None:
    text = "apiVersion: odd.io/v1\nkind: Odd\nmetadata: {name: a}\n"
    assert said(text) == ['0.yaml:2:7: error: no matches for kind "Odd" in version "odd.io/v1"']
    found = report(text, options=CheckOptions(Strictness(ignore_unknown=True)))
    assert (found.findings, found.skipped) == ([], {"Odd.odd.io": 1})
    assert said("a: 1\n") == ["0.yaml:1:1: error: apiVersion not set"]
    assert said("[a]\n")[0].startswith("0.yaml:1:1: error: couldn't get version/kind")


def test_items_of_lists_are_objects() -> None:
    text = "apiVersion: v1\nkind: List\nitems:\n- " + HEAD.replace("\n", "\n  ").rstrip() + "\n  spec: {size: 0}\n"
    [finding] = report(json.dumps({"apiVersion": "v1", "kind": "List", "items": [definition()]}), text).findings
    assert (finding.line, finding.column, finding.about) == (7, 16, "Gadget x/a")


def test_objects_of_an_unsound_definition_are_not_judged() -> None:
    bad = json.dumps(definition(scope="Odd"))
    found = report(bad, HEAD + "spec: {size: 0}\n").findings
    assert [(finding.file, finding.severity, finding.rule) for finding in found] == [
        ("0.yaml", "error", "FieldValueNotSupported"),
        ("1.yaml", "warning", "Unchecked"),
    ]


def test_built_in_kinds_have_their_own_rules() -> None:
    assert said("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: A}\ndata: {a b: c}\n")[1].startswith(
        '0.yaml:4:13: error: data[a b]: Invalid value: "a b": a valid config key must consist of'
    )


def test_updates_are_held_to_what_was_before() -> None:
    rule = {"rule": "self.size >= oldSelf.size", "message": "must not shrink"}
    schema = {"type": "object", "properties": {"size": {"type": "integer"}}, "x-kubernetes-validations": [rule]}
    version = {"name": "v1", "served": True, "storage": True}
    whole = {"type": "object", "properties": {"spec": schema}}
    crd = json.dumps(definition(versions=[{**version, "schema": {"openAPIV3Schema": whole}}]))
    assert said(crd, HEAD + "spec: {size: 2}\n", old=HEAD + "spec: {size: 3}\n") == [
        "1.yaml:4:7: error: spec: Invalid value: must not shrink"
    ]
    assert said(crd, HEAD + "spec: {size: 4}\n", old=HEAD + "spec: {size: 3}\n") == []


def test_definitions_are_held_to_what_was_before() -> None:
    found = said(json.dumps(definition(scope="Cluster"), indent=1), old=CRD)
    assert found == ['0.yaml:9:12: error: spec.scope: Invalid value: "Cluster": field is immutable']


def test_references_are_missed_where_objects_of_the_kind_are_given() -> None:
    owner = "ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: b, uid: u}]"
    text = f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: x\n  {owner}\n"
    strict = CheckOptions(references=True)
    assert said(text, options=strict) == [
        '0.yaml:6:61: error: metadata.ownerReferences[0].name: ConfigMap "b" is not among the given objects'
    ]
    other = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, namespace: x}\n"
    assert said(text + other, options=strict) == []
    space = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: z}\n"
    assert said(text + other + space, options=strict) == [
        '0.yaml:5:14: error: metadata.namespace: Namespace "x" is not among the given objects',
        '0.yaml:10:32: error: metadata.namespace: Namespace "x" is not among the given objects',
    ]


def test_many_processes_find_what_one_finds() -> None:
    texts = [f"{HEAD}spec: {{size: {place % 12}, note: {'x' * 3000}}}\n" for place in range(300)]
    one, many = (report(CRD, *texts, options=CheckOptions(processes=number)) for number in (1, 2))
    assert one == many
    assert one.errors == 375


def test_kinds_of_an_openapi_document(tmp_path: Path) -> None:
    gvk = [{"group": "odd.io", "version": "v1", "kind": "Odd"}]
    spec = {"type": "object", "properties": {"size": {"type": "integer"}, "again": {"$ref": "#/definitions/Odd"}}}
    properties = {"metadata": {"type": "object"}, "spec": spec, "apiVersion": {"type": "string"}}
    odd = {"type": "object", "properties": {**properties, "kind": {"type": "string"}}}
    file = tmp_path / "openapi.json"
    file.write_text(json.dumps({"definitions": {"Odd": {**odd, "x-kubernetes-group-version-kind": gvk}}}))
    options = CheckOptions(schemas=read_kinds([str(file)]))
    text = "apiVersion: odd.io/v1\nkind: Odd\nmetadata: {name: a}\nspec: {size: x, more: 1}\n"
    assert [line.partition("error: ")[2] for line in said(text, options=options)] == [
        'spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"',
        'unknown field "spec.more"',
    ]
    for wrong, why in (("[", "not JSON"), ("[]", "not an OpenAPI"), ('{"components": []}', "not an OpenAPI")):
        file.write_text(wrong)
        with pytest.raises(CannotCheck, match=rf"openapi\.json: {why}"):
            read_kinds([str(file)])


@pytest.mark.parametrize("form", FORMS)
def test_every_form_tells_of_every_finding(form: str) -> None:
    text = HEAD + "spec: {size: 0, odd: 1}\n"
    found = report(CRD, text)
    shown = render_report(found, form, lambda name: text.encode())
    assert shown.count("greater than or equal to 1") >= 1
    assert shown.count("spec.odd") >= 1
    if form in ("json", "sarif"):
        json.loads(shown)
    if form == "junit":
        assert ElementTree.fromstring(shown.encode()).get("failures") == "2"


def test_the_line_is_shown_with_a_caret() -> None:
    text = HEAD + "spec: {size: 0}\n"
    shown = render_report(report(text, CRD), "text", lambda name: text.encode(), color=True)
    plain = subprocess.run(
        ["sed", "s/\x1b\\[[0-9]*m//g"], input=shown, capture_output=True, text=True, check=True
    ).stdout
    assert plain.splitlines()[1:3] == ["    4 | spec: {size: 0}", "                     ^"]


SOUND = (HEAD + "spec: {size: 3, color: blue}\n---\n" + CRD).encode()


@settings(max_examples=tries(400), deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(SOUND) - 1), st.binary(max_size=4)), min_size=1, max_size=6))
def test_damaged_files_are_findings_and_no_tracebacks(damage: list[tuple[int, bytes]]) -> None:
    raw = bytearray(SOUND)
    for place, instead in damage:
        raw[place : place + len(instead)] = instead
    found = check.check_files([SourceFile.of("a.yaml", bytes(raw))], options=CheckOptions(processes=1))
    for finding in found.findings:
        assert 1 <= finding.line <= raw.count(b"\n") + 2


def test_an_event_in_a_file_may_leave_its_namespace_out() -> None:
    event = "apiVersion: v1\nkind: Event\nmetadata: {name: a}\ninvolvedObject: {namespace: b}\n"
    assert said(event) == []
    assert said(event.replace("{name: a}", "{name: a, namespace: c}")) != []
    new = event.replace("{namespace: b}", "{}") + "eventTime: '2020-01-01T00:00:00.000000Z'\n"
    assert not [one for one in said(new) if "namespace" in str(one)]
