"""Rules for CustomResourceDefinitions; the texts are those recorded from kube-apiserver 1.36."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from podless.apis.apiextensions.definition import fill, schemas, status, validate
from podless.cel.rules import DefinitionRules
from podless.meta.validation import is_condition_true
from podless.runtime.jsonobject import Object
from podless.structs import structs
from podless.structs.structfiles import load_struct

CUSTOM_RESOURCE_DEFINITION = load_struct("apiextensions/v1", "CustomResourceDefinition")


NOW, LATER = "2024-01-01T00:00:00Z", "2024-01-02T00:00:00Z"
SCHEMA = {"openAPIV3Schema": {"type": "object"}}
LABEL = "a DNS-1035 label must consist of lower case alphanumeric characters or '-'"


def version(name: str = "v1", storage: bool = True, **more: Any) -> Object:
    return {"name": name, "served": True, "storage": storage, "schema": copy.deepcopy(SCHEMA)} | more


def crd(*versions: Object, name: str = "widgets.example.com", **spec: Any) -> Object:
    given = {
        "metadata": {"name": name},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": list(versions or [version()]),
            **spec,
        },
    }
    decoded = structs.decode_struct(CUSTOM_RESOURCE_DEFINITION, given)
    fill.set_defaults(decoded)
    fill.prepare_create(decoded)
    return decoded


def created(*versions: Object, **spec: Any) -> list[str]:
    return [str(error) for error in validate.validate_create(crd(*versions, **spec))]


def updated(new: Object, old: Object) -> list[str]:
    fill.prepare_update(new, old)
    return [str(error) for error in validate.validate_update(new, old)]


def named(plural: str, kind: str, *short: str) -> Object:
    names = {"plural": plural, "kind": kind, "shortNames": list(short)}
    return crd(name=f"{plural}.example.com", names=names)


def accepted(new: Object, *others: Object) -> Object:
    names, verdict = status.accepted_names(new, others)
    new["status"]["acceptedNames"] = names
    status.set_condition(new, verdict["type"], verdict["status"], verdict["reason"], verdict["message"], NOW)
    return new


def established(given: Object) -> Object:
    status.set_condition(accepted(given), "Established", "True", "InitialNamesAccepted", "", NOW)
    return given


def test_what_is_missing_is_filled_in() -> None:
    spec = crd()["spec"]
    assert list(spec) == ["group", "names", "scope", "versions", "conversion"]
    assert spec["names"] == {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"}
    assert list(spec["names"]) == ["plural", "singular", "kind", "listKind"]
    assert spec["conversion"] == {"strategy": "None"}


def test_a_new_definition_has_no_status_but_its_stored_version() -> None:
    given = crd(version("v1", False), version("v2"))
    assert given["metadata"]["generation"] == 1
    assert given["status"] == {
        "conditions": None,
        "acceptedNames": {"plural": "", "kind": ""},
        "storedVersions": ["v2"],
    }


def test_the_port_of_a_webhook_is_443() -> None:
    service = {"namespace": "n", "name": "s"}
    webhook = {"clientConfig": {"service": service}, "conversionReviewVersions": ["v1"]}
    given = crd(conversion={"strategy": "Webhook", "webhook": webhook})
    assert given["spec"]["conversion"]["webhook"]["clientConfig"]["service"] == service | {"port": 443}
    assert validate.validate_create(given) == []


def test_metadata_in_defaults_of_embedded_resources_is_an_object_meta() -> None:
    default = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "ok", "other": 1}}
    embedded = {
        "type": "object",
        "x-kubernetes-embedded-resource": True,
        "x-kubernetes-preserve-unknown-fields": True,
        "default": default,
    }
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"pod": embedded}}}
    given = crd(version(schema=schema))
    kept = given["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["pod"]["default"]
    assert kept == default | {"metadata": {"name": "ok"}}


def test_the_object_is_named_after_what_it_defines() -> None:
    assert created(name="other.example.com") == [
        'metadata.name: Invalid value: "other.example.com": must be spec.names.plural+"."+spec.group'
    ]


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ({"scope": ""}, "spec.scope: Required value"),
        ({"scope": "All"}, 'spec.scope: Unsupported value: "All": supported values: "Cluster", "Namespaced"'),
        (
            {"preserveUnknownFields": True},
            "spec.preserveUnknownFields: Invalid value: true: cannot set to true,"
            " set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
        ),
        (
            {"conversion": {"strategy": "Magic"}},
            'spec.conversion.strategy: Unsupported value: "Magic": supported values: "None", "Webhook"',
        ),
        (
            {"conversion": {"strategy": "None", "webhook": {"conversionReviewVersions": ["v1"]}}},
            "spec.conversion.conversionReviewVersions:"
            " Forbidden: should not be set when strategy is not set to Webhook",
        ),
        (
            {"names": {"plural": "widgets", "kind": "Widget", "listKind": "Widget"}},
            'spec.names.listKind: Invalid value: "Widget": kind and listKind may not be the same',
        ),
    ],
)
def test_the_spec_has_rules(spec: Object, text: str) -> None:
    assert created(**spec) == [text]


def test_groups_are_domains() -> None:
    assert created(group="nodots", name="widgets.nodots") == [
        'spec.group: Invalid value: "nodots": should be a domain with at least one dot'
    ]
    assert created(group="", name="widgets.") == ["spec.group: Required value"]


def test_names_are_labels() -> None:
    names = {"plural": "widgets", "kind": "9W", "shortNames": ["ok", "A"], "categories": ["b c"]}
    starts = [text[: text.index(LABEL)] for text in created(names=names)]
    mixed = "may have mixed case, but should otherwise match: "
    assert starts == [
        'spec.names.singular: Invalid value: "9w": ',
        f'spec.names.kind: Invalid value: "9W": {mixed}',
        f'spec.names.listKind: Invalid value: "9WList": {mixed}',
        'spec.names.shortNames[1]: Invalid value: "A": ',
        'spec.names.categories[0]: Invalid value: "b c": ',
    ]


def test_one_version_is_stored_and_names_are_unique() -> None:
    assert [text.rpartition("]: ")[2] for text in created(version(), version(storage=False))] == [
        "must contain unique version names"
    ]
    apart: Object = {"subresources": {"status": {}}}
    second = version(storage=False, schema={"openAPIV3Schema": {"type": "object", "oneOf": [{}]}})
    told = [text.partition(": ")[0] for text in created(version(**apart), second)]
    assert told == [
        "spec.versions[1].schema.openAPIV3Schema",
        "spec.versions",
    ]  # has the status of the first of its name
    none, stored = created(version(storage=False))
    assert none.startswith('spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":false,"Deprecated":fal')
    assert none.endswith(
        '"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}]: '
        "must have exactly one version marked as storage version"
    )
    assert stored == "status.storedVersions: Invalid value: null: must have at least one stored version"


def test_what_all_versions_share_is_told_once() -> None:
    columns: Object = {"additionalPrinterColumns": [{"name": "A", "type": "text", "jsonPath": ".a"}]}
    fault = 'additionalPrinterColumns[0].type: Invalid value: "text": must be one of boolean,date,integer,number,string'
    assert created(version(**columns)) == [f"spec.{fault}"]
    assert created(version(**columns), version("v2", False, **columns)) == [f"spec.{fault}"]
    assert created(version(), version("v2", False, **columns)) == [f"spec.versions[1].{fault}"]


def test_every_version_needs_a_schema() -> None:
    assert created(version(), {"name": "v2", "served": False, "storage": False}) == [
        "spec.versions[1].schema.openAPIV3Schema: Required value"
    ]


def test_columns_say_what_and_where() -> None:
    columns = [{}, {"name": "A", "type": "string", "format": "uuid", "jsonPath": "a"}]
    assert created(version(additionalPrinterColumns=columns)) == [
        "spec.additionalPrinterColumns[0].name: Required value",
        "spec.additionalPrinterColumns[0].type: Required value: must be one of boolean,date,integer,number,string",
        "spec.additionalPrinterColumns[0].JSONPath: Required value",
        'spec.additionalPrinterColumns[1].format: Invalid value: "uuid":'
        " must be one of byte,date,date-time,double,float,int32,int64,password",
        'spec.additionalPrinterColumns[1].JSONPath: Invalid value: "a": must be a simple json path starting with .',
    ]


def test_scale_paths_lead_into_spec_and_status() -> None:
    scale = {"specReplicasPath": ".status.r", "statusReplicasPath": "", "labelSelectorPath": ".metadata.labels"}
    path = "spec.subresources.scale"
    assert created(version(subresources={"scale": scale})) == [
        f'{path}.specReplicasPath: Invalid value: ".status.r": should be a json path under .spec',
        f"{path}.statusReplicasPath: Required value",
        f'{path}.labelSelectorPath: Invalid value: ".metadata.labels":'
        " should be a json path under either .spec or .status",
    ]


def selectable(*paths: str) -> list[str]:
    properties = {"a": {"type": "string"}, "n": {"type": "number"}, "m": {"type": "object"}}
    more = {f"f{number}": {"type": "integer"} for number in range(9)}
    schema = {"openAPIV3Schema": {"type": "object", "properties": properties | more}}
    fields = [{"jsonPath": path} for path in paths]
    errors = created(version(schema=schema, selectableFields=fields))
    return [text.removeprefix("spec.selectableFields") for text in errors]


def test_selectable_fields_need_a_structural_schema() -> None:
    schema = {"openAPIV3Schema": {"type": "object", "definitions": {"a": {"type": "string"}}}}
    told = "spec.schema.openAPIV3Schema: Invalid value: \"\": OpenAPIV3Schema 'definitions' is not supported"
    assert told in created(version(schema=schema, selectableFields=[{"jsonPath": ".spec.a"}]))


def test_selectable_fields_are_scalars_of_the_schema() -> None:
    assert selectable(".a", ".f1") == []
    wrong = "must point to a field of type string, boolean or integer."
    assert [text.partition(" Enum")[0] for text in selectable(".n", ".x", "a", ".m[0]", ".", "", ".a", ".a")] == [
        f'[0].jsonPath: Invalid value: ".n": {wrong}',
        '[1].jsonPath: Invalid value: ".x": is an invalid path: does not refer to a valid field',
        '[2].jsonPath: Invalid value: "a": is an invalid path: expected [ or . but got: a',
        '[3].jsonPath: Invalid value: ".m[0]": is an invalid path: array notation is not allowed',
        '[4].jsonPath: Invalid value: ".": is an invalid path: unexpected end of JSON path',
        "[5].jsonPath: Required value",
        '[7].jsonPath: Duplicate value: ".a"',
    ]
    assert selectable(*(f".f{number}" for number in range(9))) == [": Too many: 9: must have at most 8 items"]


def test_deprecation_warnings_are_short_and_printable() -> None:
    def faults(text: str, deprecated: bool = True) -> list[str]:
        given = version(deprecated=deprecated, deprecationWarning=text)
        return [error.rpartition(": ")[2] for error in created(given)]

    assert faults("gone soon") == []
    assert faults("x", deprecated=False) == ["can only be set for deprecated versions"]
    assert faults("") == ["must not be an empty string"]
    assert faults("x" * 257) == ["must be <= 256 characters long"]
    assert faults("é\n") == ["must only contain printable UTF-8 characters; non-printable character found at index 2"]


def webhook(reviews: list[str] | None = None, **client: Any) -> list[str]:
    given = {"clientConfig": client, "conversionReviewVersions": ["v1"] if reviews is None else reviews}
    errors = created(conversion={"strategy": "Webhook", "webhook": given})
    return [text.removeprefix("spec.conversion.") for text in errors]


def test_webhooks_have_one_address() -> None:
    service = {"name": "s", "namespace": "n"}
    one = ["webhookClientConfig: Required value: exactly one of url or service is required"]
    assert webhook() == one
    assert webhook(url="https://a", service=service) == one
    assert webhook(url="https://a.example.com:9443/c") == []
    form = "; desired format: https://host[/path]"
    assert webhook(url="http://u@a?q#f") == [
        f"webhookClientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL scheme{form}",
        'webhookClientConfig.url: Invalid value: "u": user information is not permitted in the URL',
        'webhookClientConfig.url: Invalid value: "f": fragments are not permitted in the URL',
        'webhookClientConfig.url: Invalid value: "q": query parameters are not permitted in the URL',
    ]
    # a real server takes name and namespace for each other
    assert webhook(service={"name": "s"}) == ["webhookClientConfig.service.name: Required value"]
    assert webhook(service=service | {"port": 0, "path": "a/b/"}) == [
        "webhookClientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive",
        "webhookClientConfig.service.path: Invalid value: \"a/b/\": must start with a '/'",
        'webhookClientConfig.service.path: Invalid value: "a/b/": segment[0] may not be empty',
    ]


def test_webhooks_know_a_review_version() -> None:
    url = "https://a"
    assert webhook([], url=url) == ["conversionReviewVersions: Required value"]
    assert webhook(["v2", "v2"], url=url) == [
        'conversionReviewVersions[1]: Invalid value: "v2": duplicate version',
        'conversionReviewVersions: Invalid value: ["v2","v2"]: must include at least one of v1, v1beta1',
    ]


def test_a_bad_bundle_is_let_be_until_the_definition_is_established() -> None:
    def bundled(text: str) -> Object:
        client = {"url": "https://a", "caBundle": text}
        given = {"clientConfig": client, "conversionReviewVersions": ["v1"]}
        return crd(conversion={"strategy": "Webhook", "webhook": given})

    assert validate.validate_create(bundled("Cg==")) == []
    assert updated(bundled("Cg=="), established(bundled(""))) == [
        'spec.conversion.webhookClientConfig.caBundle: Invalid value: "Cg==":'
        " unable to load root certificates: unable to parse bytes as PEM block"
    ]
    assert updated(bundled("Cg=="), established(bundled("YQ=="))) == []


def test_kind_and_scope_are_fixed_once_established_and_the_rest_always() -> None:
    names = {"plural": "others", "kind": "Other"}
    new = crd(group="x.example.com", scope="Cluster", names=names)
    always = [
        'spec.group: Invalid value: "x.example.com": field is immutable',
        'spec.names.plural: Invalid value: "others": field is immutable',
    ]
    assert updated(copy.deepcopy(new), crd()) == always
    assert updated(new, established(crd())) == [
        'spec.scope: Invalid value: "Cluster": field is immutable',
        'spec.names.kind: Invalid value: "Other": field is immutable',
        *always,
    ]


def test_a_stored_version_stays_until_it_is_migrated() -> None:
    new = crd(version("v2"))
    assert updated(new, crd()) == [
        'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions;'
        " v1 was previously a storage version, and must remain in spec.versions"
        " until a storage migration ensures no data remains persisted in v1"
        " and removes v1 from status.storedVersions"
    ]
    assert new["status"]["storedVersions"] == ["v1", "v2"]


def test_a_status_write_is_checked_for_its_names_only() -> None:
    new = crd()
    new["status"] |= {"storedVersions": ["v9"], "acceptedNames": {"plural": "A", "kind": ""}}
    (error,) = validate.validate_status(new)
    assert str(error).startswith(f'status.acceptedNames.plural: Invalid value: "A": {LABEL}')


def protected(annotation: str | None) -> Object:
    given = crd(group="x.k8s.io", name="widgets.x.k8s.io")
    if annotation is not None:
        given["metadata"]["annotations"] = {"api-approved.kubernetes.io": annotation}
    return given


@pytest.mark.parametrize(
    ("annotation", "fault", "state", "reason"),
    [
        (None, "FieldValueRequired", "False", "MissingAnnotation"),
        ("", "FieldValueRequired", "False", "MissingAnnotation"),
        ("because", "FieldValueInvalid", "False", "InvalidAnnotation"),
        ("unapproved, testing", "", "False", "UnapprovedAnnotation"),
        ("https://github.com/kubernetes/enhancements/pull/1111", "", "True", "ApprovedAnnotation"),
    ],
)
def test_community_groups_need_approval(annotation: str | None, fault: str, state: str, reason: str) -> None:
    given = protected(annotation)
    errors = validate.validate_create(given)
    assert [(error.reason, error.field) for error in errors] == (
        [(fault, "metadata.annotations[api-approved.kubernetes.io]")] if fault else []
    )
    status.set_approval(given, NOW)
    (condition,) = given["status"]["conditions"]
    assert (condition["type"], condition["status"]) == ("KubernetesAPIApprovalPolicyConformant", state)
    assert condition["reason"] == reason
    assert updated(protected(annotation), given) == []


def test_other_groups_need_none() -> None:
    given = crd()
    status.set_approval(given, NOW)
    assert given["status"]["conditions"] is None


def test_a_condition_keeps_its_time_while_its_status_is_the_same() -> None:
    given = crd()
    status.set_condition(given, "A", "False", "R", "m", NOW)
    status.set_condition(given, "A", "False", "S", "n", LATER)
    status.set_condition(given, "B", "True", "R", "m", LATER)
    assert given["status"]["conditions"] == [
        {"type": "A", "status": "False", "lastTransitionTime": NOW, "reason": "S", "message": "n"},
        {"type": "B", "status": "True", "lastTransitionTime": LATER, "reason": "R", "message": "m"},
    ]
    status.set_condition(given, "A", "True", "S", "n", LATER)
    assert given["status"]["conditions"][0] == {
        "type": "A", "status": "True", "lastTransitionTime": LATER, "reason": "S", "message": "n"
    }  # fmt: skip
    assert is_condition_true(given, "A")
    assert not is_condition_true(given, "C")


def test_names_that_are_free_are_accepted() -> None:
    names, verdict = status.accepted_names(named("apples", "Apple", "ap"), [])
    assert names == named("apples", "Apple", "ap")["spec"]["names"]
    assert list(names) == ["plural", "singular", "shortNames", "kind", "listKind"]
    assert verdict == {
        "type": "NamesAccepted",
        "status": "True",
        "reason": "NoConflicts",
        "message": "no conflicts found",
    }


def test_names_that_are_taken_are_not_and_the_last_conflict_is_told() -> None:
    first = accepted(named("apples", "Fruit", "ap", "fr"))
    names, verdict = status.accepted_names(named("pears", "Fruit", "fr", "ap"), [first])
    assert names == {"plural": "pears", "kind": ""}
    assert (verdict["reason"], verdict["message"]) == ("ListKindConflict", '"FruitList" is already in use')
    names, verdict = status.accepted_names(named("pears", "Pear", "fr", "pe", "ap"), [first])
    assert names == {"plural": "pears", "singular": "pear", "kind": "Pear", "listKind": "PearList"}
    assert verdict["status"] == "False"
    assert verdict["reason"] == "ShortNamesConflict"
    assert verdict["message"] == '["fr" is already in use, "ap" is already in use]'


def test_names_that_were_accepted_are_kept_in_a_conflict() -> None:
    first, second = accepted(named("apples", "Apple", "ap")), accepted(named("pears", "Pear", "pr"))
    second["spec"]["names"] |= {"shortNames": ["ap"], "categories": ["fruit"]}
    names, verdict = status.accepted_names(second, [first])
    assert names["shortNames"] == ["pr"]
    assert names["categories"] == ["fruit"]
    assert verdict["reason"] == "ShortNamesConflict"


def test_formats_that_nothing_checks_draw_a_warning_when_they_are_new() -> None:
    def formatted(*names: str) -> Object:
        properties = {name: {"type": "string", "format": name} for name in names}
        return crd(version(schema={"openAPIV3Schema": {"type": "object", "properties": properties}}))

    assert schemas.warn_of_formats(formatted("date-time", "sha256")) == ['unrecognized format "sha256"']
    assert schemas.warn_of_formats(formatted("sha256", "odd"), formatted("sha256")) == ['unrecognized format "odd"']


def test_a_schema_that_was_found_good_is_still_refused_where_more_is_asked() -> None:
    def faults(legacy: bool = False, **given: Any) -> list[str]:
        made = crd(version(schema={"openAPIV3Schema": schema}, **given))
        return [str(error) for error in validate.validate_create(made, DefinitionRules(), legacy=legacy)]

    properties = {"spec": {"type": "string", "default": "a"}}
    schema = {"type": "object", "title": "found good once", "properties": properties, "oneOf": [{}]}
    assert (faults(), faults()) == ([], [])
    assert "cannot set default values in apiextensions.k8s.io/v1beta1 CRDs" in "".join(faults(legacy=True))
    assert "fields are allowed at the root of the schema" in "".join(faults(subresources={"status": {}}))
