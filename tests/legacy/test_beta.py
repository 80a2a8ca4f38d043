"""apiextensions.k8s.io/v1beta1: what is looser there, and how both versions show the same definition."""

from __future__ import annotations

from typing import Any

from podless import Server
from tests.conftest import CRDS, Client, definition, gadget
from tests.legacy.conftest import BETA, beta, watch
from tests.schema.test_remodel import VIOLATIONS
from tests.webhooks import webhook

DEPRECATED = (
    '299 - "apiextensions.k8s.io/v1beta1 CustomResourceDefinition is deprecated in v1.16+, unavailable in v1.22+; '
    'use apiextensions.k8s.io/v1 CustomResourceDefinition"'
)


def objects(group: str, version: str = "v1") -> str:
    return f"/apis/{group}/{version}/namespaces/default/gadgets"


def conditions(crd: dict[str, Any]) -> dict[str, Any]:
    return {condition["type"]: condition for condition in crd["status"]["conditions"]}


def causes(answer: Any) -> list[tuple[str, str]]:
    return [(cause["field"], cause["message"]) for cause in answer.body["details"]["causes"]]


def test_it_is_off_unless_asked_for(client: Client) -> None:
    with Server() as plain:
        other = Client(plain.url, plain.token)
        assert other.get(BETA).status == 404
        versions = other.get("/apis/apiextensions.k8s.io").body["versions"]
        assert [version["version"] for version in versions] == ["v1"]
        other.close()
    versions = client.get("/apis/apiextensions.k8s.io").body
    assert [version["version"] for version in versions["versions"]] == ["v1", "v1beta1"]
    assert versions["preferredVersion"]["version"] == "v1"


def test_little_needs_to_be_said(client: Client) -> None:
    group = "little.example.com"
    made = client.post(BETA, beta(group))
    assert made.status == 201
    assert made.headers["Warning"] == DEPRECATED
    spec = made.body["spec"]
    assert list(spec) == ["group", "version", "names", "scope", "versions", "conversion", "preserveUnknownFields"]
    assert spec["scope"] == "Namespaced"
    assert spec["names"] == {"plural": "gadgets", "singular": "gadget", "kind": "Gadget", "listKind": "GadgetList"}
    assert spec["versions"] == [{"name": "v1", "served": True, "storage": True}]
    assert spec["conversion"] == {"strategy": "None"}
    assert spec["preserveUnknownFields"] is True

    current = client.get(f"{CRDS}/gadgets.{group}")
    assert "Warning" not in current.headers
    assert current.body["apiVersion"] == "apiextensions.k8s.io/v1"
    assert current.body["spec"]["preserveUnknownFields"] is True
    assert current.body["spec"]["versions"] == [{"name": "v1", "served": True, "storage": True}]
    owners = {field["manager"]: field["apiVersion"] for field in current.body["metadata"]["managedFields"]}
    assert owners.pop("kube-apiserver") == "apiextensions.k8s.io/v1"
    assert list(owners.values()) == ["apiextensions.k8s.io/v1beta1"]


def test_objects_keep_all_that_they_are_given(client: Client) -> None:
    group = "keeps.example.com"
    client.post(BETA, beta(group))
    made = client.post(objects(group), gadget(group, "one", anything={"a": [1, None, {"b": 2.5}]}, other=None))
    assert made.status == 201
    assert (made.body["anything"], made.body["other"]) == ({"a": [1, None, {"b": 2.5}]}, None)
    assert "Warning" not in made.headers
    changed = client.merge(f"{objects(group)}/one", {"more": {"x": "y"}})
    assert changed.body["more"] == {"x": "y"}
    assert changed.body["metadata"]["generation"] == 2


def test_what_all_versions_share_stands_at_the_top(client: Client) -> None:
    group = "top.example.com"
    schema = {"type": "object", "properties": {"spec": {"type": "object"}, "status": {"type": "object"}}}
    column = {"name": "Size", "type": "integer", "JSONPath": ".spec.size", "description": "How big"}
    versions = [{"name": "v1", "served": True, "storage": True}, {"name": "v2", "served": True, "storage": False}]
    given = beta(
        group,
        versions=versions,
        validation={"openAPIV3Schema": schema},
        subresources={"status": {}},
        additionalPrinterColumns=[column],
    )
    made = client.post(BETA, given)
    assert made.status == 201
    for name in ("validation", "subresources", "additionalPrinterColumns", "versions"):
        assert made.body["spec"][name] == given["spec"][name]

    shown = client.get(f"{CRDS}/gadgets.{group}").body["spec"]
    assert "validation" not in shown
    for version in shown["versions"]:
        assert version["schema"] == {"openAPIV3Schema": schema}
        assert version["subresources"] == {"status": {}}
        renamed = {key.replace("JSONPath", "jsonPath"): value for key, value in column.items()}
        assert version["additionalPrinterColumns"] == [renamed]

    # written through v1 so that versions differ, each shows its own in v1beta1
    current = client.get(f"{CRDS}/gadgets.{group}").body
    del current["spec"]["versions"][1]["additionalPrinterColumns"]
    assert client.send("PUT", f"{CRDS}/gadgets.{group}", current).status == 200
    again = client.get(f"{BETA}/gadgets.{group}").body["spec"]
    assert "additionalPrinterColumns" not in again
    assert again["versions"][0]["additionalPrinterColumns"] == [column]
    assert again["validation"] == {"openAPIV3Schema": schema}


def test_top_and_versions_exclude_each_other(client: Client) -> None:
    group = "exclusive.example.com"
    schema = {"openAPIV3Schema": {"type": "object"}}
    column = [{"name": "A", "type": "string", "JSONPath": ".a"}]
    one = {"name": "v1", "served": True, "storage": True}
    other = {"name": "v2", "served": True, "storage": False}
    version = one | {"schema": schema, "subresources": {"status": {}}, "additionalPrinterColumns": column}
    both = beta(
        group,
        versions=[version, other],
        validation=schema,
        subresources={"status": {}},
        additionalPrinterColumns=column,
    )
    refused = client.post(BETA, both)
    assert refused.status == 422
    assert causes(refused) == [
        (f"spec.{name}", f"Forbidden: top-level and per-version {noun} are mutually exclusive")
        for name, noun in (
            ("validation", "schemas"),
            ("subresources", "subresources"),
            ("additionalPrinterColumns", "additionalPrinterColumns"),
        )
    ]
    same = client.post(BETA, beta(group, versions=[one | {"schema": schema}, other | {"schema": schema}]))
    assert (
        "per-version schemas may not all be set to identical values (top-level validation should be used instead)"
        in (same.body["message"])
    )
    wrong = client.post(BETA, beta(group, version="v2", versions=[one]))
    assert causes(wrong) == [("spec.version", 'Invalid value: "v2": must match the first version in spec.versions')]


def test_defaults_come_through_v1_only(client: Client) -> None:
    group = "defaults.example.com"
    schema = {"type": "object", "properties": {"size": {"type": "integer", "default": 3}}}
    refused = client.post(BETA, beta(group, validation={"openAPIV3Schema": schema}, preserveUnknownFields=False))
    assert causes(refused) == [
        (
            "spec.validation.openAPIV3Schema.properties[size].default",
            "Forbidden: must not be set (cannot set default values in apiextensions.k8s.io/v1beta1 CRDs, must use "
            "apiextensions.k8s.io/v1)",
        )
    ]
    assert client.post(CRDS, definition(group, schema={"openAPIV3Schema": schema})).status == 201
    assert client.post(objects(group), gadget(group, "one")).body["size"] == 3
    # what v1 has set is kept when the rest changes through v1beta1
    shown = client.get(f"{BETA}/gadgets.{group}").body
    assert shown["spec"]["preserveUnknownFields"] is False
    shown["spec"]["names"]["shortNames"] = ["gd"]
    assert client.send("PUT", f"{BETA}/gadgets.{group}", shown).status == 200
    assert client.post(objects(group), gadget(group, "two")).body["size"] == 3


def test_pruning_is_chosen(client: Client) -> None:
    group = "pruning.example.com"
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"a": {"type": "string"}}}}}
    missing = client.post(BETA, beta(group, preserveUnknownFields=False))
    assert causes(missing) == [
        ("spec.versions[0].schema.openAPIV3Schema", "Required value: because otherwise all fields are pruned")
    ]
    made = client.post(BETA, beta(group, validation={"openAPIV3Schema": schema}, preserveUnknownFields=False))
    assert made.status == 201
    assert "NonStructuralSchema" not in conditions(client.get(f"{BETA}/gadgets.{group}").body)
    kept = client.post(objects(group), gadget(group, "one", spec={"a": "b", "c": 1}))
    assert kept.body["spec"] == {"a": "b"}
    bare = client.post(
        BETA, beta("bare." + group, validation={"openAPIV3Schema": {"properties": {}}}, preserveUnknownFields=False)
    )
    assert causes(bare) == [("spec.validation.openAPIV3Schema.type", "Required value: must not be empty at the root")]


def test_every_violation_of_structure_is_listed(client: Client) -> None:
    """The document's third example, with the six violations that it names."""
    group = "violations.example.com"
    assert client.post(BETA, beta(group, validation={"openAPIV3Schema": VIOLATIONS})).status == 201
    found = conditions(client.get(f"{BETA}/gadgets.{group}").body)["NonStructuralSchema"]
    assert (found["status"], found["reason"]) == ("True", "Violations")
    at = "spec.versions[0].schema.openAPIV3Schema"
    for text in (
        "spec.preserveUnknownFields: Invalid value: true: must be false",
        f"{at}.type: Required value: must not be empty at the root",
        f"{at}.properties[foo].type: Required value: must not be empty for specified object fields",
        f"{at}.properties[bar]: Required value: because it is defined in {at}.anyOf[0].properties[bar]",
        f"{at}.anyOf[0].properties[bar].type: Forbidden: must be empty to be structural",
        f"{at}.anyOf[0].description: Forbidden: must be empty to be structural",
        f"{at}.properties[metadata]: Forbidden: must not specify anything other than name and generateName, "
        "but metadata is implicitly specified",
    ):
        assert text in found["message"]
    # it validates all the same
    refused = client.post(objects(group), gadget(group, "abc", bar=41))
    assert "bar in body should be greater than or equal to 42" in refused.body["message"]
    assert client.post(objects(group), gadget(group, "xyz", bar=43)).status == 422
    kept = client.post(objects(group), gadget(group, "abc", bar=43, other={"x": 1}))
    assert (kept.status, kept.body["other"]) == (201, {"x": 1})
    # and what is not structural is not published
    published = client.get(f"/openapi/v3/apis/{group}/v1").body["components"]["schemas"]
    assert "properties" not in published["com.example.violations.v1.Gadget"]

    # a structural schema without pruning leaves one violation, with pruning none
    better = {"type": "object", "properties": {"bar": {"type": "integer"}}}
    client.merge(f"{BETA}/gadgets.{group}", {"spec": {"validation": None}})
    client.merge(f"{BETA}/gadgets.{group}", {"spec": {"validation": {"openAPIV3Schema": better}}})
    message = conditions(client.get(f"{BETA}/gadgets.{group}").body)["NonStructuralSchema"]["message"]
    assert message == "spec.preserveUnknownFields: Invalid value: true: must be false"
    client.merge(f"{BETA}/gadgets.{group}", {"spec": {"preserveUnknownFields": False}})
    assert "NonStructuralSchema" not in conditions(client.get(f"{BETA}/gadgets.{group}").body)
    assert client.merge(f"{objects(group)}/abc", {"metadata": {"labels": {"a": "b"}}}).body.get("other") is None


def test_extensions_need_a_structural_schema(client: Client) -> None:
    schema = {"properties": {"a": {"x-kubernetes-int-or-string": True}}}
    refused = client.post(BETA, beta("extended.example.com", validation={"openAPIV3Schema": schema}))
    assert causes(refused) == [
        ("spec.validation.openAPIV3Schema.type", "Required value: must not be empty at the root")
    ]


def test_a_webhook_keeps_its_settings_in_both_versions(client: Client) -> None:
    group = "webhook.example.com"
    config = {"service": {"namespace": "default", "name": "convert", "path": "/convert"}}
    made = client.post(
        BETA,
        beta(
            group,
            validation={"openAPIV3Schema": {"type": "object"}},
            preserveUnknownFields=False,
            conversion={"strategy": "Webhook", "webhookClientConfig": config},
        ),
    )
    assert made.status == 201
    client_config = {"service": config["service"] | {"port": 443}}
    assert made.body["spec"]["conversion"] == {
        "strategy": "Webhook",
        "webhookClientConfig": client_config,
        "conversionReviewVersions": ["v1beta1"],
    }
    shown = client.get(f"{CRDS}/gadgets.{group}").body["spec"]["conversion"]
    assert shown == {
        "strategy": "Webhook",
        "webhook": {"clientConfig": client_config, "conversionReviewVersions": ["v1beta1"]},
    }
    refused = client.post(
        BETA, beta("kept." + group, conversion={"strategy": "Webhook", "webhookClientConfig": config})
    )
    assert (
        "spec.conversion.strategy",
        'Invalid value: "Webhook": must be None if spec.preserveUnknownFields is true',
    ) in (causes(refused))


def test_v1_may_not_begin_to_keep_unknown_fields_but_may_go_on(client: Client) -> None:
    group = "goes-on.example.com"
    client.post(BETA, beta(group))
    changed = client.merge(f"{CRDS}/gadgets.{group}", {"spec": {"names": {"shortNames": ["go"]}}})
    assert changed.status == 200
    assert changed.body["spec"]["preserveUnknownFields"] is True
    assert client.post(objects(group), gadget(group, "one", free=1)).body["free"] == 1


def test_server_side_apply_knows_owners_of_both_versions(client: Client) -> None:
    group = "owners.example.com"
    path = f"gadgets.{group}?fieldManager="
    apply = {"Content_Type": "application/apply-patch+yaml"}
    schema = {"openAPIV3Schema": {"type": "object", "description": "good"}}
    given = beta(group, scope="Namespaced", validation=schema, preserveUnknownFields=False)
    assert client.send("PATCH", f"{BETA}/{path}old", given, **apply).status == 201
    # the same said in v1 by the same manager changes nothing; by another one it shares
    shown = client.get(f"{CRDS}/gadgets.{group}").body
    said = {key: shown[key] for key in ("apiVersion", "kind")} | {
        "metadata": {"name": f"gadgets.{group}"},
        "spec": {key: shown["spec"][key] for key in ("group", "names", "scope", "versions")},
    }
    shared = client.send("PATCH", f"{CRDS}/{path}new", said, **apply)
    assert shared.status == 200, shared.body
    assert shared.body["metadata"]["generation"] == 1
    # owners in one version are seen by those in the other
    said["spec"]["versions"][0]["schema"] = {"openAPIV3Schema": {"type": "object", "description": "better"}}
    conflict = client.send("PATCH", f"{CRDS}/{path}third", said, **apply)
    assert conflict.status == 409
    assert conflict.body["details"]["causes"][0]["field"] == ".spec.versions"
    given["spec"]["validation"] = {"openAPIV3Schema": {"type": "object", "description": "worse"}}
    conflict = client.send("PATCH", f"{BETA}/{path}third", given, **apply)
    assert conflict.status == 409
    found = {(cause["message"], cause["field"]) for cause in conflict.body["details"]["causes"]}
    assert found == {
        ('conflict with "new"', ".spec.versions"),
        ('conflict with "old"', ".spec.validation.openAPIV3Schema.description"),
    }
    # "old" gives up its version of the schema; "new" still owns it
    del given["spec"]["validation"]
    given["spec"]["versions"] = [{"name": "v1", "served": True, "storage": True}]
    forced = client.send("PATCH", f"{BETA}/{path}old", given, **apply)
    assert forced.status == 200, forced.body
    assert forced.body["spec"]["validation"] == schema


def test_lists_watches_and_tables_in_both_versions(client: Client, server: Server) -> None:
    group = "both.example.com"
    client.post(BETA, beta(group))
    for path, version in ((BETA, "v1beta1"), (CRDS, "v1")):
        found = client.get(path).body
        assert found["apiVersion"] == f"apiextensions.k8s.io/{version}"
        mine = next(one for one in found["items"] if one["metadata"]["name"] == f"gadgets.{group}")
        assert ("validation" in mine["spec"], "version" in mine["spec"]) == (False, version == "v1beta1")
        table = client.get(path, Accept="application/json;as=Table;v=v1;g=meta.k8s.io").body
        assert [definition["name"] for definition in table["columnDefinitions"]] == ["Name", "Created At"]
        start = str(int(mine["metadata"]["resourceVersion"]) - 1)
        assert next(watch(server, path, start))[1] == f"gadgets.{group}"


def test_protobuf_in_both_versions(client: Client) -> None:
    from podless.structs import protobuf
    from podless.structs.structfiles import load_struct

    definition = load_struct("apiextensions/v1beta1", "CustomResourceDefinition")
    group = "proto.example.com"
    columns = [{"name": "A", "type": "string", "JSONPath": ".a"}]
    schema = {"openAPIV3Schema": {"properties": {"a": {"enum": ["x", 1], "type": "string"}}}}
    given = beta(group, scope="Namespaced", validation=schema, additionalPrinterColumns=columns)
    body = protobuf.write_object(definition, given)
    media = "application/vnd.kubernetes.protobuf"
    made = client.send("POST", BETA, body, Content_Type=media, Accept=media)
    assert made.status == 201
    _, _, message = protobuf.open_envelope(made.body)
    shown = protobuf.decode_message(definition, message)
    assert shown["spec"]["validation"] == schema
    assert shown["spec"]["additionalPrinterColumns"] == columns
    assert client.get(f"{CRDS}/gadgets.{group}").body["spec"]["versions"][0]["schema"] == schema


def test_the_documents_of_the_api_name_its_own_fields(client: Client) -> None:
    found = client.get("/openapi/v3/apis/apiextensions.k8s.io/v1beta1").body["components"]["schemas"]
    prefix = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1beta1."
    assert found[f"{prefix}CustomResourceDefinitionSpec"]["required"] == ["group", "names", "scope"]
    assert "JSONPath" in found[f"{prefix}CustomResourceColumnDefinition"]["properties"]
    assert all(one.get("description") for name, one in found.items() if name.startswith(prefix) and "JSON" not in name)
    swagger = client.get("/openapi/v2").body["definitions"]
    assert "validation" in swagger[f"{prefix}CustomResourceDefinitionSpec"]["properties"]


def test_status_is_written_by_itself(client: Client) -> None:
    group = "status.example.com"
    client.post(BETA, beta(group, versions=[{"name": "v1", "served": True, "storage": True}]))
    path = f"{BETA}/gadgets.{group}"
    shown = client.get(path).body
    shown["status"]["conditions"].append({"type": "Mine", "status": "True", "lastTransitionTime": None})
    shown["spec"]["names"]["shortNames"] = ["no"]
    written = client.send("PUT", f"{path}/status", shown)
    assert written.status == 200, written.body
    assert "Mine" in conditions(client.get(f"{CRDS}/gadgets.{group}").body)
    assert "shortNames" not in client.get(path).body["spec"]["names"]
    patched = client.merge(f"{path}/status", {"status": {"storedVersions": ["v1"]}})
    assert (patched.status, patched.body["apiVersion"]) == (200, "apiextensions.k8s.io/v1beta1")


def test_patches_of_every_kind(client: Client) -> None:
    group = "patches.example.com"
    client.post(BETA, beta(group, additionalPrinterColumns=[{"name": "A", "type": "string", "JSONPath": ".a"}]))
    path = f"{BETA}/gadgets.{group}"
    for kind, patch, path_of_it in (
        ("json-patch", [{"op": "replace", "path": "/spec/additionalPrinterColumns/0/JSONPath", "value": ".b"}], ".b"),
        (
            "merge-patch",
            {"spec": {"additionalPrinterColumns": [{"name": "A", "type": "string", "JSONPath": ".c"}]}},
            ".c",
        ),
        (
            "strategic-merge-patch",
            {"spec": {"additionalPrinterColumns": [{"name": "A", "type": "string", "JSONPath": ".d"}]}},
            ".d",
        ),
    ):
        answer = client.send("PATCH", path, patch, Content_Type=f"application/{kind}+json")
        assert answer.status == 200, answer.body
        (column,) = client.get(f"{CRDS}/gadgets.{group}").body["spec"]["versions"][0]["additionalPrinterColumns"]
        assert column["jsonPath"] == path_of_it
    wrong = client.merge(
        path, {"spec": {"additionalPrinterColumns": [{"name": "A", "type": "string", "JSONPath": "a"}]}}
    )
    assert causes(wrong) == [
        (
            "spec.additionalPrinterColumns[0].JSONPath",
            'Invalid value: "a": must be a simple json path starting with .',
        )
    ]


def test_a_dry_run_shows_the_version_of_the_path(client: Client) -> None:
    group = "dry-run.example.com"
    made = client.post(f"{BETA}?dryRun=All", beta(group))
    assert (made.status, made.body["spec"]["version"]) == (201, "v1")
    assert client.get(f"{BETA}/gadgets.{group}").status == 404


def test_it_is_deleted_through_either_version(client: Client, server: Server) -> None:
    for path, group in ((BETA, "ends-beta.example.com"), (CRDS, "ends-v1.example.com")):
        client.post(BETA, beta(group))
        client.post(objects(group), gadget(group, "one"))
        start = client.get(CRDS).body["metadata"]["resourceVersion"]
        assert client.send("DELETE", f"{path}/gadgets.{group}").status == 200
        assert list(watch(server, CRDS, start, "DELETED"))[-1] == ("DELETED", f"gadgets.{group}")
        assert client.get(objects(group)).status == 404


def test_policies_see_the_version_that_they_name(client: Client) -> None:
    policies = "/apis/admissionregistration.k8s.io/v1"
    rule = {
        "apiGroups": ["apiextensions.k8s.io"],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["customresourcedefinitions"],
    }
    matched = {"matchPolicy": "Equivalent", "resourceRules": [rule]}
    check = {
        "expression": "!object.metadata.name.endsWith('.policy.example.com') || "
        "object.spec.versions.all(v, has(v.additionalPrinterColumns) && v.additionalPrinterColumns[0].jsonPath == '.a')"
    }
    spec = {"matchConstraints": matched, "validations": [check], "failurePolicy": "Fail"}
    client.post(f"{policies}/validatingadmissionpolicies", {"metadata": {"name": "columns"}, "spec": spec})
    bound = {"policyName": "columns", "validationActions": ["Deny"]}
    client.post(f"{policies}/validatingadmissionpolicybindings", {"metadata": {"name": "columns"}, "spec": bound})
    column = {"name": "A", "type": "string", "JSONPath": ".a"}
    assert client.post(BETA, beta("a.policy.example.com")).status == 422
    assert client.post(BETA, beta("b.policy.example.com", additionalPrinterColumns=[column])).status == 201
    client.send("DELETE", f"{policies}/validatingadmissionpolicybindings/columns")


def test_an_object_is_validated_by_types_inside_of_logic(client: Client) -> None:
    """What is no structural schema says types where v1 would not have them."""
    group = "logic.example.com"
    port = {"anyOf": [{"type": "string", "pattern": "^http"}, {"type": "integer", "minimum": 1}]}
    closed = {"type": "object", "additionalProperties": False, "properties": {}}
    schema = {
        "properties": {"spec": {"properties": {"port": port, "closed": closed, "list": {"type": "array"}}}},
        "additionalProperties": True,
    }
    assert client.post(BETA, beta(group, validation={"openAPIV3Schema": schema})).status == 201
    for index, (spec, fine) in enumerate(
        (
            ({"port": "https", "list": [1, "a", {"b": None}]}, True),
            ({"port": 80, "free": {"x": 1}}, True),
            ({"port": 0}, False),
            ({"port": "ftp"}, False),
            ({"port": True}, False),
            ({"closed": {"x": 1}}, False),
            ({"list": {}}, False),
        )
    ):
        answer = client.post(objects(group), gadget(group, f"g{index}", spec=spec))
        assert answer.status == (201 if fine else 422), (spec, answer.body)
        if fine:
            assert answer.body["spec"] == spec


def test_a_webhook_that_speaks_v1beta1_converts(client: Client) -> None:
    group = "converts.example.com"

    def answer(body: Any) -> Any:
        objects = [entry | {"apiVersion": body["request"]["desiredAPIVersion"]} for entry in body["request"]["objects"]]
        response = {"uid": body["request"]["uid"], "convertedObjects": objects, "result": {"status": "Success"}}
        return {"apiVersion": body["apiVersion"], "kind": "ConversionReview", "response": response}

    with webhook(answer) as hook:
        given = beta(
            group,
            version="v1",
            versions=[{"name": name, "served": True, "storage": name == "v1"} for name in ("v1", "v2")],
            validation={"openAPIV3Schema": {"type": "object", "properties": {"a": {"type": "string"}}}},
            preserveUnknownFields=False,
            conversion={"strategy": "Webhook", "webhookClientConfig": hook.config},
        )
        assert client.post(BETA, given).status == 201
        assert client.post(objects(group), gadget(group, "one", a="x")).status == 201
        found = client.get(f"{objects(group, 'v2')}/one").body
        assert (found["apiVersion"], found["a"]) == (f"{group}/v2", "x")
        assert hook.calls[0]["apiVersion"] == "apiextensions.k8s.io/v1beta1"


def test_server_side_apply_to_objects_that_keep_fields(client: Client) -> None:
    group = "kept-apply.example.com"
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"a": {"type": "string"}}}}}
    client.post(BETA, beta(group, validation={"openAPIV3Schema": schema}))
    where, media = f"{objects(group)}/one?fieldManager=", "application/apply-patch+yaml"
    first = gadget(group, "one", spec={"a": "x", "deep": {"b": 1, "c": 2}})
    assert client.send("PATCH", f"{where}me", first, Content_Type=media).status == 201
    second = gadget(group, "one", spec={"deep": {"c": 3}})
    conflict = client.send("PATCH", f"{where}you", second, Content_Type=media)
    assert [cause["field"] for cause in conflict.body["details"]["causes"]] == [".spec.deep.c"]
    third = client.send("PATCH", f"{where}me", gadget(group, "one", spec={"deep": {"c": 2}}), Content_Type=media)
    assert third.body["spec"] == {"deep": {"c": 2}}
