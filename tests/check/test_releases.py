"""Checks against several releases at once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

import pytest

from podless.apis import features
from podless.check import CheckOptions, Report, SourceFile, check_files
from podless.check.documents import DocumentChecker, Outcome, Strictness, find_dropped
from podless.check.output import FORMS, render_report
from podless.codec.documents import Document
from podless.runtime.option import StartError
from tests.apis.test_offline import definition


def _crd(rule: str, **more: Any) -> dict[str, Any]:
    made: dict[str, Any] = definition()
    schema = made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["x-kubernetes-validations"] = [{"rule": rule}]
    schema["properties"] |= {"small": {"type": "integer", "format": "int32"}, **more}
    return made


def _gadget(**more: Any) -> dict[str, Any]:
    return {"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": "a", "namespace": "a"}, **more}


def _service(name: str = "a", **spec: Any) -> dict[str, Any]:
    spec = {"selector": {"a": "b"}, "ports": [{"port": 80}], **spec}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec}


def _deployment(**pod: Any) -> dict[str, Any]:
    container = {"name": "c", "image": "i", "resources": {"limits": {"cpu": "1"}}}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [container], **pod}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}, "spec": spec}


def _policy(expression: str) -> dict[str, Any]:
    rules = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}]
    spec = {"matchConstraints": {"resourceRules": rules}, "validations": [{"expression": expression}]}
    kind = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy"}
    return {**kind, "metadata": {"name": "a"}, "spec": spec}


def _check(releases: Sequence[str], *objects: Any, dropped: bool = False) -> Report:
    sources = [SourceFile.of(f"{index}.json", json.dumps(entry).encode()) for index, entry in enumerate(objects)]
    rules = Strictness(dropped=dropped)
    return check_files(sources, options=CheckOptions(rules=rules, processes=1, releases=releases))


PLAIN, SEMVER = "self.small < 3", "!isSemver('1.0.0')"
MANIFESTS = {
    "a rule that all releases take": [_crd(PLAIN), _gadget(small=1)],
    "a rule that is broken": [_crd(PLAIN), _gadget(small=5)],
    "a new function": [_crd(SEMVER), _gadget(small=1)],
    "two rules alike": [_crd(SEMVER), {**_crd(SEMVER), "metadata": {"name": "b", "creationTimestamp": None}}],
    "a new macro": [_crd("[1].all(i, v, v < 2 && i < 1)")],
    "a rule of no release": [_crd("self.nothing")],
    "a policy": [_policy("isSemver('1.0.0')"), _policy("object.metadata.name != ''"), _policy("object.")],
    "a format of a number": [_crd(PLAIN), _gadget(small=1 << 40)],
    "an unknown format": [_crd(PLAIN, odd={"type": "string", "format": "odd"}, n={"type": "integer", "format": "a"})],
    "a relaxed name": [_service("1a"), _service("a_")],
    "a distribution": [_service(trafficDistribution="PreferSameNode"), _service(trafficDistribution="PreferClose")],
    "a warning": [_service(clusterIP="None", sessionAffinity="ClientIP"), _service(externalIPs=["1.2.3.4"])],
    "a new field": [_deployment(volumes=[{"name": "v", "projected": {"sources": [{"podCertificate": {}}]}}])],
    "a field whose gate is off": [_deployment(resources={"limits": {"cpu": "1"}})],
    "a wrong value": [_deployment(restartPolicy={}), _deployment(restartPolicy="No", volumes=[{"name": ""}])],
    "a new kind": [{"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "a"}, "spec": {}}],
    "no object": [{"kind": "Pod"}, {}],
}


@pytest.mark.parametrize("name", MANIFESTS)
def test_several_releases_find_what_each_alone_finds(name: str) -> None:
    objects = MANIFESTS[name]
    alone = {
        (str(finding), release)
        for release in features.NAMES
        for finding in _check([release], *objects, dropped=True).findings
    }
    together = _check(features.NAMES, *objects, dropped=True).findings
    assert len({*together}) == len(together)
    found = set()
    for finding in together:
        plain = str(finding).replace(f": {finding.releases}: ", ": ", 1)
        found |= {(plain, release.name) for release in features.choose_all(finding.releases)}
    assert found == alone


def test_a_finding_names_the_releases_that_it_holds_for() -> None:
    [finding] = _check(["1.31", "1.33", "1.36"], _crd(SEMVER)).findings
    assert finding.releases == "1.31-1.33"
    assert "undeclared reference to 'isSemver'" in finding.message
    assert ": error: 1.31-1.33: spec.validation" in str(finding)
    assert [entry.releases for entry in _check(["1.33"], _crd(SEMVER)).findings] == [""]


def test_objects_are_checked_where_their_definition_is_sound() -> None:
    found = _check(["1.31", "1.36"], _crd(SEMVER), _gadget(small="x")).findings
    assert {(one.releases, one.severity) for one in found if one.file == "1.json"} == {
        ("1.31", "warning"),
        ("1.36", "error"),
    }


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_tell_the_releases(form: str) -> None:
    report = _check(["1.33", "1.34"], _crd(SEMVER))
    shown = render_report(report, form, lambda _: None)
    assert "1.33" in shown
    if form == "sarif":
        assert json.loads(shown)["runs"][0]["results"][0]["properties"] == {"releases": "1.33"}
    if form == "json":
        assert [finding["releases"] for finding in json.loads(shown)["findings"]] == ["1.33"]
        [alone] = json.loads(render_report(_check(["1.33"], _crd(SEMVER)), form, lambda _: None))["findings"]
        assert "releases" not in alone
    if form == "junit":
        assert ElementTree.fromstring(shown).attrib["failures"] == "1"


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[Document]:
    """What was judged, each time."""
    found: list[Document] = []
    judge = DocumentChecker.check_document

    def count(self: DocumentChecker, document: Document, *, definitions: bool, reported: bool = False) -> Outcome:
        found.append(document)
        return judge(self, document, definitions=definitions, reported=reported)

    monkeypatch.setattr(DocumentChecker, "check_document", count)
    return found


def test_equal_documents_are_judged_once(judged: list[Document]) -> None:
    plain = _crd(PLAIN)
    plain["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = {
        "type": "object",
        "properties": {"small": {"type": "integer"}},
    }
    _check(features.NAMES, _deployment(), _service(), {**plain, "status": {}}, _gadget(small=1))
    assert len(judged) == 4


def test_rules_are_judged_once_for_releases_that_estimate_alike(judged: list[Document]) -> None:
    plain = _crd(PLAIN, small={"type": "integer"})  # releases judge formats of numbers in different ways
    _check(["1.33", "1.34", "1.35", "1.36"], {**plain, "status": {}}, _gadget(small=1))
    assert len(judged) == 2


@pytest.mark.slow
def test_many_processes_find_what_one_finds() -> None:
    sources = [
        SourceFile.of(f"{index}.json", json.dumps(one).encode())
        for index, one in enumerate([_crd(SEMVER), *(_gadget(small=index) for index in range(4000))])
    ]
    one, two = (
        check_files(sources, options=CheckOptions(processes=number, releases=["1.33", "1.36"])) for number in (1, 2)
    )
    assert one == two
    assert one.objects == 4000


@pytest.mark.parametrize("span", ["1.29", "1.31,1.40", "x", "1.31,,1.33", "2.1-"])
def test_other_releases_are_refused(span: str) -> None:
    with pytest.raises(StartError, match="kubernetes-version"):
        features.choose_all(span)


@pytest.mark.parametrize(
    ("span", "names"),
    [
        ("1.31,1.36", "1.31 1.36"),
        ("1.34-", "1.34 1.35 1.36 1.37"),
        ("-1.31", "1.30 1.31"),
        ("1.36,1.31-1.32", "1.31 1.32 1.36"),
    ],
)
def test_spans_choose_releases(span: str, names: str) -> None:
    assert [release.name for release in features.choose_all(span)] == names.split()


@pytest.mark.parametrize(
    ("given", "kept", "paths"),
    [
        ({"a": {"b": 1}}, {"a": {}}, [("a", "b")]),
        ({"a": [{"b": 1}, {"c": 1}]}, {"a": [{"b": 1}, {}]}, [("a", 1, "c")]),
        ({"a": {}, "b": [], "c": None, "d": "", "e": 0}, {}, []),  # Go leaves them out
        ({"a": [1, 2]}, {"a": [1]}, []),
        ({"a": 1}, {"a": "1", "b": 2}, []),
    ],
)
def test_dropped_fields_are_found(given: Any, kept: Any, paths: list[Any]) -> None:
    assert [*find_dropped(given, kept)] == paths
