"""Servers of older releases: what users see of them."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from podless import Server
from podless.runtime.option import StartError
from tests.conformance.wire import Client
from tests.conftest import definition

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def _definition(rule: str = "true", **version: Any) -> dict[str, Any]:
    spec: dict[str, Any] = {"type": "object", "properties": {"n": {"type": "integer", "format": "int32"}}}
    schema: dict[str, Any] = {"type": "object", "properties": {"spec": spec}}
    schema["x-kubernetes-validations"] = [{"rule": rule}]
    return definition("example.com", "gears", "Gear", **{"schema": {"openAPIV3Schema": schema}, **version})


class _Asked:
    """A client of a server that answers with status and body."""

    def __init__(self, server: Server) -> None:
        self._wire = Client(server.url, server.token)

    def send(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        status, _, raw = self._wire.send(method, path, body)
        return status, json.loads(raw) if raw.startswith(b"{") else raw


def test_the_version_says_which_release_it_is() -> None:
    with Server(tls=False, kubernetes_version="1.32") as server:
        _, told = _Asked(server).send("GET", "/version")
        assert told["gitVersion"].startswith("v1.32.")
        assert (told["minor"], told["minCompatibilityMinor"]) == ("32", "31")


def test_several_releases_run_in_one_process() -> None:
    rule = _definition("[1, 2].reverse() == [2, 1]")
    with Server(tls=False, kubernetes_version="1.34") as older, Server(tls=False) as newest:
        status, told = _Asked(older).send("POST", CRDS, rule)
        assert status == 422
        assert "undeclared reference to 'reverse'" in told["message"]
        assert _Asked(newest).send("POST", CRDS, rule)[0] == 201


@pytest.mark.parametrize(("release", "status"), [("1.33", 404), ("1.34", 200)])
def test_a_kind_is_served_from_its_release_on(release: str, status: int) -> None:
    with Server(tls=False, kubernetes_version=release) as server:
        assert _Asked(server).send("GET", "/apis/resource.k8s.io/v1/deviceclasses")[0] == status


@pytest.mark.parametrize(("gates", "kept"), [({}, False), ({"CustomResourceFieldSelectors": True}, True)])
def test_a_field_whose_gate_is_off_is_dropped(gates: dict[str, bool], kept: bool) -> None:
    with Server(tls=False, kubernetes_version="1.30", feature_gates=gates) as server:
        body = _definition(selectableFields=[{"jsonPath": ".spec.n"}])
        status, made = _Asked(server).send("POST", CRDS, body)
        assert status == 201, made
        assert ("selectableFields" in made["spec"]["versions"][0]) is kept


def test_an_unknown_gate_or_release_keeps_the_server_from_starting() -> None:
    with pytest.raises(StartError, match="feature-gates"):
        Server(feature_gates={"Nothing": True})
    with pytest.raises(StartError, match=r"1\.29"):
        Server(kubernetes_version="1.29")
    with pytest.raises(StartError, match="feature_gates: expected a mapping from texts to True or False"):
        Server(feature_gates="Nothing=true")  # type: ignore[arg-type]


def test_pods_have_no_generation_before_it_was_tracked() -> None:
    pod = {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    with Server(tls=False, kubernetes_version="1.32", default_accounts=False) as server:
        _, made = _Asked(server).send("POST", "/api/v1/namespaces/default/pods", pod)
        assert "generation" not in made["metadata"], made


def test_what_a_newer_release_took_is_looked_at_again() -> None:
    rule = _definition("[3, 3].distinct() == [3]")
    with Server(tls=False) as newest, Server(tls=False, kubernetes_version="1.34") as older:
        assert _Asked(newest).send("POST", CRDS, rule)[0] == 201
        assert _Asked(older).send("POST", CRDS, rule)[0] == 422


def test_a_data_folder_is_opened_by_other_releases(tmp_path: Path) -> None:
    gear = {"apiVersion": "example.com/v1", "kind": "Gear", "spec": {"n": 1}}
    gears, classes = "/apis/example.com/v1/namespaces/default/gears", "/apis/resource.k8s.io/v1/deviceclasses"
    rule = _definition("[3, 3].distinct() == [3]", selectableFields=[{"jsonPath": ".spec.n"}])
    with Server(tls=False, data=tmp_path) as newest:
        asked = _Asked(newest)
        assert asked.send("POST", CRDS, rule)[0] == 201
        assert asked.send("POST", gears, gear | {"metadata": {"name": "a"}})[0] == 201
        assert asked.send("POST", classes, {"metadata": {"name": "c"}, "spec": {}})[0] == 201
    with Server(tls=False, data=tmp_path, kubernetes_version="1.33") as older:
        asked = _Asked(older)
        assert asked.send("GET", f"{gears}/a")[1]["spec"] == {"n": 1}
        assert asked.send("POST", gears, gear | {"metadata": {"name": "b"}})[0] == 201  # by a stored rule
        definition = asked.send("GET", f"{CRDS}/gears.example.com")[1]
        schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        assert asked.send("PUT", f"{CRDS}/gears.example.com", definition)[0] == 200
        schema["x-kubernetes-validations"][0]["rule"] += " && true"
        assert asked.send("PUT", f"{CRDS}/gears.example.com", definition)[0] == 422
        assert asked.send("GET", f"{classes}/c")[0] == 404
    with Server(tls=False, data=tmp_path) as newest:
        asked = _Asked(newest)
        assert asked.send("GET", f"{classes}/c")[0] == 200
        listed = asked.send("GET", f"{gears}?fieldSelector=spec.n%3D1")[1]["items"]
        assert [one["metadata"]["name"] for one in listed] == ["a", "b"]


@pytest.mark.parametrize("release", ["1.30", "1.31", "1.32", "1.33"])
def test_a_watch_needs_no_revision_without_watch_lists(release: str) -> None:
    with Server(tls=False, kubernetes_version=release) as server:
        status, _ = _Asked(server).send("GET", "/api/v1/namespaces/default/configmaps?watch=1&timeoutSeconds=1")
        assert status == 200


@pytest.mark.parametrize(("release", "status"), [("1.34", 500), ("1.35", 400)])
def test_delete_options_that_do_not_decode(release: str, status: int) -> None:
    with Server(tls=False, kubernetes_version=release) as server:
        for body in ({"gracePeriodSeconds": "0"}, ["x"]):
            path = "/api/v1/namespaces/default/configmaps/a"
            assert _Asked(server).send("DELETE", path, body)[0] == status


@pytest.mark.parametrize(
    ("release", "query", "status"),
    [("1.32", "", 500), ("1.32", "&limit=2", 400), ("1.33", "", 400)],
)
def test_a_list_at_no_revision(release: str, query: str, status: int) -> None:
    with Server(tls=False, kubernetes_version=release) as server:
        path = f"/api/v1/namespaces/default/configmaps?resourceVersion=abc{query}"
        assert _Asked(server).send("GET", path)[0] == status


def _pod(**container: Any) -> dict[str, Any]:
    return {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "c", "image": "i"} | container]}}


@pytest.mark.parametrize(("release", "status"), [("1.33", 422), ("1.35", 201)])
def test_the_restart_policy_of_a_container(release: str, status: int) -> None:
    with Server(tls=False, kubernetes_version=release, default_accounts=False) as server:
        path = "/api/v1/namespaces/default/pods"
        assert _Asked(server).send("POST", path, _pod(restartPolicy="Always"))[0] == status


@pytest.mark.parametrize(("release", "kept"), [("1.32", False), ("1.33", True)])
def test_fields_whose_gates_are_off_are_dropped_from_pods(release: str, kept: bool) -> None:
    pod = _pod(resizePolicy=[{"resourceName": "cpu", "restartPolicy": "NotRequired"}])
    pod["spec"]["hostUsers"] = True
    with Server(tls=False, kubernetes_version=release, default_accounts=False) as server:
        _, made = _Asked(server).send("POST", "/api/v1/namespaces/default/pods", pod)
        assert ("resizePolicy" in made["spec"]["containers"][0]) is kept
        assert ("hostUsers" in made["spec"]) is kept


@pytest.mark.parametrize(("release", "version", "status"), [
    ("1.33", "latest", 201), ("1.33", "v1.34", 201), ("1.34", "latest", 403), ("1.34", "v1.33", 201),
])  # fmt: skip
def test_the_latest_pod_security_standard_is_that_of_the_release(release: str, version: str, status: int) -> None:
    prefix = "pod-security.kubernetes.io/enforce"
    labels = {prefix: "baseline", f"{prefix}-version": version}
    pod = _pod(livenessProbe={"httpGet": {"port": 80, "host": "example.com"}})  # forbidden since 1.34
    with Server(tls=False, kubernetes_version=release, default_accounts=False) as server:
        asked = _Asked(server)
        asked.send("POST", "/api/v1/namespaces", {"metadata": {"name": "safe", "labels": labels}})
        assert asked.send("POST", "/api/v1/namespaces/safe/pods", pod)[0] == status


def test_app_armor_profiles_were_annotations_too() -> None:
    pod = _pod(securityContext={"appArmorProfile": {"type": "RuntimeDefault"}})
    with Server(tls=False, kubernetes_version="1.33", default_accounts=False) as server:
        _, made = _Asked(server).send("POST", "/api/v1/namespaces/default/pods", pod)
        assert made["metadata"]["annotations"] == {
            "container.apparmor.security.beta.kubernetes.io/c": "runtime/default"
        }


@pytest.mark.parametrize(("release", "status"), [("1.33", 201), ("1.34", 422)])
def test_templates_of_stateful_sets_are_validated(release: str, status: int) -> None:
    labels = {"labels": {"a": "b"}}
    template = {"metadata": labels, "spec": {"containers": [{"name": "UPPER", "image": "i"}]}}
    spec = {"serviceName": "s", "selector": {"matchLabels": {"a": "b"}}, "template": template}
    with Server(tls=False, kubernetes_version=release) as server:
        body = {"metadata": {"name": "a"}, "spec": spec}
        assert _Asked(server).send("POST", "/apis/apps/v1/namespaces/default/statefulsets", body)[0] == status


@pytest.mark.parametrize(
    ("release", "plural", "names"),
    [
        ("1.32", "resourcequotas", ["Name", "Age", "Request", "Limit"]),
        ("1.33", "resourcequotas", ["Name", "Request", "Limit", "Age"]),
        ("1.34", "serviceaccounts", ["Name", "Secrets", "Age"]),
        ("1.35", "serviceaccounts", ["Name", "Age"]),
    ],
)
def test_columns_of_tables(release: str, plural: str, names: list[str]) -> None:
    with Server(tls=False, kubernetes_version=release) as server:
        accept = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
        wire = Client(server.url, server.token)
        _, _, raw = wire.send("GET", f"/api/v1/namespaces/default/{plural}", None, accept)
        assert [column["name"] for column in json.loads(raw)["columnDefinitions"]] == names


@pytest.mark.parametrize(("release", "status"), [("1.32", 422), ("1.33", 201)])
def test_the_cost_of_what_is_dynamic(release: str, status: int) -> None:
    with Server(tls=False, kubernetes_version=release) as server:
        assert _Asked(server).send("POST", CRDS, _definition("dyn(1) == dyn(1.0)"))[0] == status


def test_fields_that_are_dropped_count_as_a_generation() -> None:
    with Server(tls=False, kubernetes_version="1.30") as server:
        _, made = _Asked(server).send("POST", CRDS, _definition())
        made["spec"]["versions"][0]["selectableFields"] = [{"jsonPath": ".spec.n"}]
        patch, media = {"spec": made["spec"]}, {"Content-Type": "application/merge-patch+json"}
        _, _, raw = Client(server.url, server.token).send("PATCH", f"{CRDS}/gears.example.com", patch, media)
        changed = json.loads(raw)
        assert "selectableFields" not in changed["spec"]["versions"][0]
        assert changed["metadata"]["generation"] == made["metadata"]["generation"] + 1


@pytest.mark.parametrize(("release", "warned"), [("1.32", False), ("1.33", True)])
def test_endpoints_are_deprecated(release: str, warned: bool) -> None:
    with Server(tls=False, kubernetes_version=release) as server:
        _, headers, _ = Client(server.url, server.token).send("GET", "/api/v1/namespaces/default/endpoints")
        assert ("Warning" in headers) is warned


_VERSION_IN_GO = (
    '[]apiextensions.CustomResourceDefinitionVersion{apiextensions.CustomResourceDefinitionVersion{Name:"v1", '
    "Served:true, Storage:false, Deprecated:false, DeprecationWarning:(*string)(nil), "
    "Schema:(*apiextensions.CustomResourceValidation)(nil), "
    "Subresources:(*apiextensions.CustomResourceSubresources)(0xc000000000), AdditionalPrinterColumns:"
    '[]apiextensions.CustomResourceColumnDefinition{apiextensions.CustomResourceColumnDefinition{Name:"N", '
    'Type:"integer", Format:"", Description:"", Priority:0, JSONPath:".spec.n"}}, '
    "SelectableFields:[]apiextensions.SelectableField(nil)}, "
)
_BYTES = "[]uint8{0x7b, 0x22, 0x61, 0x22, 0x3a, 0x20, 0x31, 0x7d}"
_UNKNOWN = (
    'runtime.Unknown{TypeMeta:runtime.TypeMeta{APIVersion:"", Kind:""}, '
    f'Raw:{_BYTES}, ContentEncoding:"", ContentType:"application/json"}}'
)
_EXTENSION = f"runtime.RawExtension{{Raw:{_BYTES}, Object:runtime.Object(nil)}}"


@pytest.mark.parametrize(("release", "time", "data"), [("1.30", None, _UNKNOWN), ("1.33", str, _EXTENSION)])
def test_held_pods_and_revisions_of_old_releases(release: str, time: type | None, data: str) -> None:
    spec = {"containers": [{"name": "c", "image": "i"}], "schedulingGates": [{"name": "a"}]}
    with Server(tls=False, kubernetes_version=release) as server:
        asked = _Asked(server)
        _, pod = asked.send("POST", "/api/v1/namespaces/default/pods", {"metadata": {"name": "a"}, "spec": spec})
        [held] = pod["status"]["conditions"]
        assert isinstance(held["lastTransitionTime"], time or type(None))
        path = "/apis/apps/v1/namespaces/default/controllerrevisions"
        asked.send("POST", path, {"metadata": {"name": "a"}, "revision": 1, "data": {"a": 2}})
        raw = b'{"metadata": {"name": "a"}, "revision": 1, "data": {"a": 1}}'
        _, refused = asked.send("PUT", f"{path}/a", raw)
        assert refused["message"].endswith(f"data: Invalid value: {data}: field is immutable")


@pytest.mark.parametrize(("release", "shown"), [("1.33", _VERSION_IN_GO), ("1.34", '[{"Name":"v1","Served":true,')])
def test_versions_in_errors(release: str, shown: str) -> None:
    with Server(tls=False, kubernetes_version=release) as server:
        column = {"name": "N", "type": "integer", "jsonPath": ".spec.n"}
        given = _definition(storage=False, additionalPrinterColumns=[column], subresources={"status": {}})
        other = _definition(storage=False, name="v2")["spec"]["versions"]
        given["spec"]["versions"] += other  # the schema, which both have, is moved out of them
        _, refused = _Asked(server).send("POST", CRDS, given)
        told = [cause["message"] for cause in refused["details"]["causes"] if cause["field"] == "spec.versions"]
        assert told[0].startswith(f"Invalid value: {shown}")
        assert told[0].endswith(": must have exactly one version marked as storage version")


def _resize(server: Server, name: str, before: str, after: str, policy: str) -> str:
    """Return what a resize from one limit of memory to another is refused for; "" if it is not."""
    limits = {"cpu": "1", **({"memory": before} if before else {})}
    policies = [{"resourceName": "memory", "restartPolicy": policy}]
    container = {"name": "c", "image": "i", "resources": {"limits": limits, "requests": limits}}
    pod = {"metadata": {"name": name}, "spec": {"containers": [{**container, "resizePolicy": policies}]}}
    pods, asked = "/api/v1/namespaces/default/pods", Client(server.url, server.token)
    asked.send("POST", pods, pod)
    changed = {"name": "c", "resources": {"limits": {"memory": after}, "requests": {"memory": after}}}
    media = {"Content-Type": "application/strategic-merge-patch+json"}
    _, _, raw = asked.send("PATCH", f"{pods}/{name}/resize", {"spec": {"containers": [changed]}}, media)
    return str(json.loads(raw).get("message", ""))


def test_memory_limits_do_not_shrink_before_they_may() -> None:
    where = "spec.containers[0].resources.limits[memory]: Forbidden: memory limits cannot be"
    with Server(tls=False, kubernetes_version="1.33") as server:
        assert f"{where} decreased unless resizePolicy" in _resize(server, "a", "2Gi", "1Gi", "NotRequired")
        assert f"{where} added unless resizePolicy" in _resize(server, "b", "", "1Gi", "NotRequired")
        assert _resize(server, "c", "2Gi", "1Gi", "RestartContainer") == ""
        assert _resize(server, "d", "1Gi", "1025Mi", "NotRequired") == ""
    with Server(tls=False, kubernetes_version="1.34") as server:
        assert _resize(server, "a", "2Gi", "1Gi", "NotRequired") == ""


def test_a_release_that_is_not_recorded_words_errors_as_its_server_does() -> None:
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "reader"},
        "rules": [{"apiGroups": [""], "resources": ["pods"]}],
    }
    said = {}
    for release in ("1.36", "1.37"):
        with Server(tls=False, kubernetes_version=release) as server:
            _, told = _Asked(server).send("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", role)
            said[release] = told["details"]["causes"][0]["message"]
    assert said == {"1.36": "Required value: verbs must contain at least one value", "1.37": "Required value"}


def test_fields_of_a_newer_release_come_back_with_it(tmp_path: Path) -> None:
    path = "/api/v1/namespaces/default/pods/a"
    pod = {
        "metadata": {"name": "a"},
        "spec": {"hostnameOverride": "b", "containers": [{"name": "c", "image": "i"}]},
    }
    options: dict[str, Any] = {"tls": False, "default_accounts": False}
    with Server(tmp_path, kubernetes_version="1.36", **options) as server:
        status, made = _Asked(server).send("POST", path[:-2], pod)
        assert status == 201, made
    with Server(tmp_path, kubernetes_version="1.33", **options) as server:
        asked = _Asked(server)
        _, seen = asked.send("GET", path)
        assert "hostnameOverride" not in seen["spec"]
        assert seen["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]
        _, listed = asked.send("GET", path[:-2])
        assert "hostnameOverride" not in listed["items"][0]["spec"]
    with Server(tmp_path, kubernetes_version="1.36", **options) as server:
        asked = _Asked(server)
        assert asked.send("GET", path)[1]["spec"]["hostnameOverride"] == "b"
    with Server(tmp_path, kubernetes_version="1.33", **options) as server:
        seen["metadata"]["labels"] = {"written": "by-1.33"}
        status, told = _Asked(server).send("PUT", path, seen)
        assert status == 200, told
    with Server(tmp_path, kubernetes_version="1.36", **options) as server:
        _, seen = _Asked(server).send("GET", path)
        assert seen["metadata"]["labels"] == {"written": "by-1.33"}
        assert "hostnameOverride" not in seen["spec"]


@pytest.mark.parametrize(("release", "known"), [("1.30", False), ("1.33", True)])
def test_rules_of_the_first_releases(release: str, known: bool) -> None:
    bindings = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
    matching = {"namespaceSelector": {"matchLabels": {"\n": "x"}}}
    spec = {"policyName": "p", "validationActions": ["Deny"], "matchResources": matching}
    with Server(tls=False, kubernetes_version=release, default_accounts=False) as server:
        asked = _Asked(server)
        status, _ = asked.send("GET", "/api/v1/services?fieldSelector=spec.type%3DNodePort")
        assert status == (200 if known else 400)
        _, told = asked.send("POST", bindings, {"metadata": {"name": "b"}, "spec": spec})
        resources = "matchResources" if known else "matchResouces"
        (cause,) = told["details"]["causes"]
        assert cause["field"] == f"spec.{resources}.namespaceSelector.matchLabels"
        assert asked.send("GET", "/api/v1/componentstatuses/nope")[0] == (404 if known else 500)
        assert asked.send("GET", "/api/v1/pods?resourceVersion=999999&resourceVersionMatch=Exact")[0] == 500
        client = {"url": "https://x.example.com", "caBundle": "Cg=="}
        webhook = {"conversionReviewVersions": ["v1"], "clientConfig": client}
        definition = _definition()
        definition["spec"]["conversion"] = {"strategy": "Webhook", "webhook": webhook}
        assert asked.send("POST", CRDS, definition)[0] == 201
        _, seen = asked.send("GET", f"{CRDS}/gears.example.com")
        established = {condition["type"]: condition["status"] for condition in seen["status"]["conditions"]}[
            "Established"
        ]
        assert established == ("False" if known else "True")


def test_templates_name_images_of_volumes_in_the_newest_release() -> None:
    volumes = [{"name": "v", "image": {}}]
    template = {
        "metadata": {"labels": {"a": "b"}},
        "spec": {"containers": [{"name": "c", "image": "i"}], "volumes": volumes},
    }
    body = {"metadata": {"name": "d"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template}}
    told = {}
    for release in ("1.36", "1.37"):
        with Server(tls=False, kubernetes_version=release, default_accounts=False) as server:
            status, answer = _Asked(server).send("POST", "/apis/apps/v1/namespaces/default/deployments", body)
            told[release] = [cause["field"] for cause in answer["details"]["causes"]] if status == 422 else []
    assert told == {"1.36": [], "1.37": ["spec.template.spec.volumes[0].image.reference"]}


@pytest.mark.parametrize(("release", "placed"), [("1.36", False), ("1.37", True)])
def test_rules_of_the_newest_release(release: str, placed: bool) -> None:
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "", "uid": "u"}
    maps = "/api/v1/namespaces/default/configmaps"
    with Server(tls=False, kubernetes_version=release, default_accounts=False) as server:
        asked = _Asked(server)
        _, told = asked.send("POST", maps, {"metadata": {"name": "a", "ownerReferences": [owner]}})
        (cause,) = told["details"]["causes"]
        assert cause["field"] == ("metadata.ownerReferences[0].name" if placed else "metadata.ownerReferences.name")
        assert cause["reason"] == ("FieldValueRequired" if placed else "FieldValueInvalid")
        _, told = asked.send("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {"spec": {}})
        (cause,) = told["details"]["causes"]
        assert cause["field"] == ("spec" if placed else "spec.resourceAttributes")
        wire = Client(server.url, server.token)
        media = {"Content-Type": "application/merge-patch+json"}
        status, _, raw = wire.send("PATCH", f"{maps}/none", b"{", media)
        assert (status, json.loads(raw)["message"]) == (
            (400, "invalid JSON patch") if placed else (404, 'configmaps "none" not found')
        )


def test_names_of_variables_are_strict_in_releases_without_the_relaxed_ones() -> None:
    body = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i", "env": [{"name": "1 a"}]}]}}
    said = {}
    for release in ("1.31", "1.32"):
        with Server(tls=False, kubernetes_version=release, default_accounts=False) as server:
            said[release], _ = _Asked(server).send("POST", "/api/v1/namespaces/default/pods?dryRun=All", body)
    assert said == {"1.31": 422, "1.32": 201}


def test_kinds_of_subresources_are_those_of_the_release() -> None:
    known = {}
    for release in ("1.36", "1.37"):
        with Server(tls=False, kubernetes_version=release, default_accounts=False) as server:
            _, document = _Asked(server).send("GET", "/openapi/v3/api/v1")
            known[release] = document["components"]["schemas"]["io.k8s.api.authentication.v1.TokenRequestSpec"]
    assert "attestations" not in known["1.36"]["properties"]
    assert "attestations" in known["1.37"]["properties"]


def test_owners_are_told_anew_for_each_error_that_has_addresses() -> None:
    owners = [{"apiVersion": "v1", "kind": "Pod", "name": name, "uid": name, "controller": True} for name in "ab"]
    gears = "/apis/example.com/v1/namespaces/default/gears"
    gear = {"apiVersion": "example.com/v1", "kind": "Gear", "metadata": {"name": "a"}}
    for release, times in (("1.33", 3), ("1.34", 1)):
        with Server(tls=False, kubernetes_version=release, default_accounts=False) as server:
            asked = _Asked(server)
            asked.send("POST", CRDS, _definition())
            _, made = asked.send("POST", gears, gear)
            metadata = made["metadata"] | {"ownerReferences": owners}
            _, told = asked.send("PUT", f"{gears}/a", gear | {"metadata": metadata})
            assert told["message"].count("Only one reference") == times


def test_pods_keep_names_of_variables_that_a_newer_release_took(tmp_path: Path) -> None:
    pods = "/api/v1/namespaces/default/pods"
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i", "env": [{"name": "1 a"}]}]}}
    options: dict[str, Any] = {"tls": False, "default_accounts": False}
    with Server(tmp_path, kubernetes_version="1.36", **options) as server:
        assert _Asked(server).send("POST", pods, pod)[0] == 201
    with Server(tmp_path, kubernetes_version="1.30", **options) as server:
        asked = _Asked(server)
        _, kept = asked.send("GET", f"{pods}/p")
        kept["metadata"]["labels"] = {"a": "b"}
        assert asked.send("PUT", f"{pods}/p", kept)[0] == 200


def test_an_image_volume_goes_with_its_mounts_while_its_gate_is_off() -> None:
    mounts = [{"name": "files", "mountPath": "/f"}, {"name": "tmp", "mountPath": "/t"}]
    volumes = [{"name": "files", "image": {"reference": "a"}}, {"name": "tmp", "emptyDir": {}}]
    context = {"procMount": "Unmasked"}
    container = {"name": "c", "image": "i", "volumeMounts": mounts, "securityContext": context}
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [container], "volumes": volumes, "hostUsers": False}}
    with Server(tls=False, kubernetes_version="1.32", default_accounts=False) as server:
        status, made = _Asked(server).send("POST", "/api/v1/namespaces/default/pods", pod)
    assert status == 201
    assert [volume["name"] for volume in made["spec"]["volumes"]] == ["tmp"]
    [held] = made["spec"]["containers"]
    assert [mount["name"] for mount in held["volumeMounts"]] == ["tmp"]
    assert held["securityContext"] == {"procMount": "Default"}


_ONCE = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
_NO_SHARE = {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}
_REJECTED = (
    (
        "1.33",
        "/apis/apps/v1/namespaces/default/deployments",
        {"spec": {"selector": {"matchLabels": {"a": "b"}}, "strategy": _NO_SHARE, "template": _ONCE}},
        'Invalid value: intstr.IntOrString{Type:0, IntVal:0, StrVal:""}: may not be 0 when `maxSurge` is 0',
    ),
    (
        "1.33",
        "/apis/networking.k8s.io/v1/servicecidrs",
        {"spec": {"cidrs": ["a", "b", "c"]}},
        'Invalid value: networking.ServiceCIDRSpec{CIDRs:[]string{"a", "b", "c"}}: may only hold up to 2 values',
    ),
    (
        "1.33",
        "/api/v1/namespaces/default/secrets",
        {"data": {"/foo": "YQ=="}},
        'Invalid value: "/foo": a valid config key must consist of',
    ),
    (
        "1.32",
        "/api/v1/namespaces/default/services",
        {"spec": {"type": "LoadBalancer", "ports": [{"port": 10250}]}},
        "Invalid value: 10250: may not expose port 10250 externally since it is used by kubelet",
    ),
)


@pytest.mark.parametrize(("release", "path", "body", "told"), _REJECTED)
def test_errors_of_older_releases(release: str, path: str, body: dict[str, Any], told: str) -> None:
    with Server(tls=False, kubernetes_version=release) as server:
        status, answer = _Asked(server).send("POST", path, {"metadata": {"name": "x"}, **body})
    assert status == 422
    assert told in answer["details"]["causes"][0]["message"]


@pytest.mark.parametrize(("release", "part"), [("1.34", "tolerations.tolerations"), ("1.35", "tolerations")])
def test_paths_of_tolerations_of_runtime_classes(release: str, part: str) -> None:
    kind = {"metadata": {"name": "x"}, "handler": "h", "scheduling": {"tolerations": [{"operator": "X"}]}}
    with Server(tls=False, kubernetes_version=release) as server:
        _, answer = _Asked(server).send("POST", "/apis/node.k8s.io/v1/runtimeclasses", kind)
    assert {cause["field"] for cause in answer["details"]["causes"]} >= {f"scheduling.{part}[0].operator"}


@pytest.mark.parametrize(("release", "status"), [("1.34", 422), ("1.35", 200)])
def test_the_volume_limit_of_a_driver_was_immutable(release: str, status: int) -> None:
    path = "/apis/storage.k8s.io/v1/csinodes"
    driver = {"name": "d.example.com", "nodeID": "n", "topologyKeys": None}
    with Server(tls=False, kubernetes_version=release) as server:
        asked = _Asked(server)
        _, made = asked.send("POST", path, {"metadata": {"name": "n"}, "spec": {"drivers": [driver]}})
        made["spec"]["drivers"][0]["allocatable"] = {"count": 3}
        assert asked.send("PUT", f"{path}/n", made)[0] == status


@pytest.mark.parametrize(("release", "at"), [("1.33", "status.conditions[1].type"), ("1.34", "status.conditions")])
def test_a_certificate_request_that_is_approved_and_denied(release: str, at: str) -> None:
    path = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
    conditions = [{"type": sort, "status": "True", "reason": "R"} for sort in ("Approved", "Denied")]
    key = ec.generate_private_key(ec.SECP256R1())
    made = x509.CertificateSigningRequestBuilder(x509.Name([])).sign(key, hashes.SHA256())
    request = base64.b64encode(made.public_bytes(serialization.Encoding.PEM)).decode()
    spec = {"request": request, "signerName": "example.com/x", "usages": ["client auth"]}
    with Server(tls=False, kubernetes_version=release) as server:
        asked = _Asked(server)
        _, stored = asked.send("POST", path, {"metadata": {"name": "x"}, "spec": spec})
        stored["status"] = {"conditions": conditions}
        _, told = asked.send("PUT", f"{path}/x/approval", stored)
    assert [cause["field"] for cause in told["details"]["causes"]] == [at]


@pytest.mark.parametrize(("release", "kept"), [("1.35", False), ("1.36", True)])
def test_fields_of_devices_whose_gates_are_off_are_dropped(release: str, kept: bool) -> None:
    taint = {"key": "example.com/a", "effect": "NoSchedule"}
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "d.example.com", "pool": pool, "allNodes": True, "devices": [{"name": "d", "taints": [taint]}]}
    with Server(tls=False, kubernetes_version=release) as server:
        path = "/apis/resource.k8s.io/v1/resourceslices"
        status, made = _Asked(server).send("POST", path, {"metadata": {"name": "s"}, "spec": spec})
    assert status == 201, made
    assert ("taints" in made["spec"]["devices"][0]) is kept
