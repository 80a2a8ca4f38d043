"""The kinds of admissionregistration.k8s.io: defaults, rules, protobuf."""

from __future__ import annotations

from typing import Any

import pytest

from podless.apis.admissionregistration.group import (
    MUTATING_BINDINGS,
    MUTATING_POLICIES,
    MUTATING_WEBHOOKS,
    VALIDATING_BINDINGS,
    VALIDATING_POLICIES,
    VALIDATING_WEBHOOKS,
)
from podless.kinds.kind import Kind
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.structs import protobuf, structs
from podless.structs.structfiles import load_struct

NAMED_RULE_WITH_OPERATIONS = load_struct("admissionregistration/v1", "NamedRuleWithOperations")
VALIDATING_WEBHOOK_CONFIGURATION = load_struct("admissionregistration/v1", "ValidatingWebhookConfiguration")


RULE = {"apiGroups": ["a.io"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["things"]}
HOOK = {
    "name": "a.b.example.com",
    "clientConfig": {"url": "https://h.example.com/x"},
    "rules": [RULE],
    "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
}


def decoded(kind: Kind, **parts: Any) -> Object:
    version = kind.versions[0]
    given = {"kind": kind.kind, "apiVersion": kind.api_version("v1"), "metadata": {"name": "x"}} | parts
    return kind.strategy.decode(kind, version, given, [])


def errors(kind: Kind, **parts: Any) -> list[str]:
    found: list[FieldError] = list(kind.strategy.validate(kind.versions[0], decoded(kind, **parts), None))
    return [str(error) for error in found]


def policy(**spec: Any) -> list[str]:
    base = {"matchConstraints": {"resourceRules": [RULE]}, "validations": [{"expression": "true"}]}
    return errors(VALIDATING_POLICIES, spec=base | spec)


def mutating(**mutation: Any) -> list[str]:
    constraints = {"resourceRules": [RULE]}
    spec = {"matchConstraints": constraints, "mutations": [mutation], "reinvocationPolicy": "Never"}
    return errors(MUTATING_POLICIES, spec=spec)


def test_rules_are_flat_in_json_and_nested_in_protobuf() -> None:
    rule = {"resourceNames": ["x"], "operations": ["CREATE"], "apiGroups": [""], "resources": ["a/b"], "scope": "*"}
    raw = protobuf.encode_message(NAMED_RULE_WITH_OPERATIONS, rule)
    # resourceNames = 1, ruleWithOperations = 2 {operations = 1, rule = 2 {apiGroups = 1, resources = 3, scope = 4}}
    inner = b"\x0a\x00" + b"\x1a\x03a/b" + b"\x22\x01*"
    operations = b"\x0a\x06CREATE" + b"\x12" + bytes([len(inner)]) + inner
    assert raw == b"\x0a\x01x" + b"\x12" + bytes([len(operations)]) + operations
    assert protobuf.decode_message(NAMED_RULE_WITH_OPERATIONS, raw) == rule


def test_a_configuration_survives_protobuf() -> None:
    obj = decoded(VALIDATING_WEBHOOKS, webhooks=[HOOK])
    struct = VALIDATING_WEBHOOK_CONFIGURATION
    there = protobuf.decode_message(struct, protobuf.encode_message(struct, obj))
    assert there["webhooks"] == obj["webhooks"]
    assert list(there["webhooks"][0]) == list(obj["webhooks"][0])


def test_an_unknown_field_of_a_rule_is_told() -> None:
    unknown: list[str] = []
    structs.decode_struct(NAMED_RULE_WITH_OPERATIONS, RULE | {"rule": {}}, unknown)
    assert unknown == ["rule"]


def test_defaults_stand_in_the_order_of_the_struct() -> None:
    hook = decoded(MUTATING_WEBHOOKS, webhooks=[HOOK])["webhooks"][0]
    assert hook["failurePolicy"] == "Fail"
    assert hook["timeoutSeconds"] == 10
    assert hook["reinvocationPolicy"] == "Never"
    assert hook["rules"][0]["scope"] == "*"
    ranks = {name: rank for rank, name in enumerate(hook)}
    assert ranks["rules"] < ranks["failurePolicy"] < ranks["sideEffects"] < ranks["timeoutSeconds"]


@pytest.mark.parametrize(
    ("resources", "said"),
    [
        (["*", "pods"], "if '*' is present, must not specify other resources without subresources"),
        (["*/*", "pods/log"], "if '*/*' is present, must not specify other resources"),
        (["pods/*", "pods/log"], "if 'pods/*' is present, must not specify pods/log"),
        (["*/log", "pods/log"], "if '*/log' is present, must not specify pods/log"),
    ],
)
def test_wildcards_stand_alone(resources: list[str], said: str) -> None:
    assert said in errors(VALIDATING_WEBHOOKS, webhooks=[HOOK | {"rules": [RULE | {"resources": resources}]}])[0]


def test_a_sound_configuration_is_accepted() -> None:
    resources = ["*", "*/scale", "pods/log"]
    hook = HOOK | {"rules": [RULE | {"resources": resources}], "matchConditions": [{"name": "a", "expression": "true"}]}
    assert errors(VALIDATING_WEBHOOKS, webhooks=[hook]) == []


def test_what_was_wrong_in_the_old_webhooks_may_stay() -> None:
    kind, version = VALIDATING_WEBHOOKS, VALIDATING_WEBHOOKS.versions[0]
    obj = decoded(kind, webhooks=[HOOK | {"sideEffects": "Some"}])
    assert len([*kind.strategy.validate(version, obj, None)]) == 1
    assert not [*kind.strategy.validate(version, obj, obj)]


def test_variables_see_those_before_them() -> None:
    two = [{"name": "a", "expression": "1"}, {"name": "b", "expression": "variables.a + 1"}]
    assert policy(variables=two, validations=[{"expression": "variables.b == 2"}]) == []
    assert "undefined field 'a'" in policy(variables=two[::-1])[0]


def test_params_are_there_with_a_param_kind_only() -> None:
    asked = [{"expression": "params.x == 1"}]
    assert "undeclared reference to 'params'" in policy(validations=asked)[0]
    assert policy(validations=asked, paramKind={"apiVersion": "v1", "kind": "ConfigMap"}) == []


def test_messages_may_not_ask_the_authorizer() -> None:
    source = "authorizer.path('/x').check('get').reason()"
    assert policy(validations=[{"expression": "true", "messageExpression": "'x'"}]) == []
    found = policy(validations=[{"expression": "true", "messageExpression": source}])
    assert "undeclared reference to 'authorizer'" in found[0]


def test_mutations_have_the_patch_of_their_type() -> None:
    sound = {"patchType": "JSONPatch", "jsonPatch": {"expression": "[JSONPatch{op: 'test', path: '/a', value: 1}]"}}
    assert mutating(**sound) == []
    other = {"applyConfiguration": {"expression": "Object{}"}}
    assert "must not be specified when patchType is JSONPatch" in mutating(**sound, **other)[0]
    found = mutating(patchType="JSONPatch", jsonPatch={"expression": "[JSONPatch{operation: 'test'}]"})
    assert "expected type of field 'operation' is '' but provided type is 'string'" in found[0]


def test_only_mutations_may_make_objects() -> None:
    assert "undeclared reference to 'Object'" in policy(validations=[{"expression": "Object{} == Object{}"}])[0]


def test_a_binding_names_params_or_selects_them() -> None:
    spec = {"policyName": "p", "validationActions": ["Deny"]}
    assert errors(VALIDATING_BINDINGS, spec=spec) == []
    both = {"name": "a", "selector": {}, "parameterNotFoundAction": "Deny"}
    assert len(errors(VALIDATING_BINDINGS, spec=spec | {"paramRef": both})) == 2


def test_deletes_are_not_changed() -> None:
    rule = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["UPDATE", "DELETE"], "resources": ["*"]}
    spec = {"policyName": "p", "validationActions": ["Deny"], "matchResources": {"resourceRules": [rule]}}
    assert errors(VALIDATING_BINDINGS, spec=spec) == []
    (error,) = errors(MUTATING_BINDINGS, spec=spec)
    assert "spec.matchResources.resourceRules.operations: Unsupported value: " in str(error)


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ({"failurePolicy": ""}, 'spec.failurePolicy: Unsupported value: "": supported values: "Fail", "Ignore"'),
        (
            {"matchConstraints": {"resourceRules": [RULE], "matchPolicy": ""}},
            'spec.matchConstraints.matchPolicy: Unsupported value: "": supported values: "Equivalent", "Exact"',
        ),
    ],
)
def test_an_empty_choice_is_not_missing_but_unsupported(spec: Object, wanted: str) -> None:
    assert policy(**spec) == [wanted]


@pytest.mark.parametrize("url", ["https://[", "https://[::1", "https://a[b]/"])
def test_a_host_with_wrong_brackets_is_an_error(url: str) -> None:
    (found,) = errors(VALIDATING_WEBHOOKS, webhooks=[HOOK | {"clientConfig": {"url": url}}])
    assert found.startswith(f'webhooks[0].clientConfig.url: Required value: url must be a valid URL: parse "{url}": ')


def test_warnings_of_type_checking_need_a_text() -> None:
    obj = decoded(VALIDATING_POLICIES, spec={}, status={"typeChecking": {"expressionWarnings": [{"warning": " "}]}})
    found = VALIDATING_POLICIES.strategy.validate_status(VALIDATING_POLICIES.versions[0], obj, obj)
    assert [str(error.at) for error in found] == ["status.typeChecking.expressionWarnings[0].fieldRef"]
