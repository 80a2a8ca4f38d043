"""Webhooks and policies (rows K and L)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.webhooks import Raw

from bench.asks.ask import CRDS, GROUP, MAPS, Ask, config, named
from bench.attacks.attack import BINDINGS, POLICIES, Attack, Site, defined, merge, numbers, objects, operations, post

_ANY = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def _converted(site: Site) -> Sequence[Ask]:
    """A kind whose other version a webhook makes."""
    definition = defined(_ANY)
    versions = definition["spec"]["versions"]
    versions.append({**versions[0], "name": "v2", "storage": False})
    webhook = {"clientConfig": site.hook.config, "conversionReviewVersions": ["v1"]}
    definition["spec"]["conversion"] = {"strategy": "Webhook", "webhook": webhook}
    site.post(CRDS, definition)
    site.post(objects(), named({"a": 1}))
    return [merge(f"/apis/{GROUP}/v2/namespaces/default/things/a", {"spec": {"a": 2}})]


def _many_items(site: Site, review: Any) -> Any:
    request = review["request"]
    done = [
        {**obj, "apiVersion": request["desiredAPIVersion"], "spec": {"l": ["a"] * site.many(300_000)}}
        for obj in request["objects"]
    ]
    response = {"uid": request["uid"], "result": {"status": "Success"}, "convertedObjects": done}
    return {"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response}


def _error(site: Site, review: Any) -> Any:
    return Raw((500, "application/json", b'{"message":"' + b'\\"' * site.many(1_400_000) + b'"}'))


def _reviewed(site: Site) -> Sequence[Ask]:
    hook = {
        "name": "a.example.com",
        "clientConfig": site.hook.config,
        "rules": [{"apiGroups": [""], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["configmaps"]}],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "default"}},
        "matchConditions": [{"name": "mine", "expression": "object.metadata.name.startsWith('hooked')"}],
    }
    site.post(
        "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
        {"metadata": {"name": "h"}, "webhooks": [hook]},
    )
    return [post(MAPS, config("hooked", {"a": "b"}))]


def _many_patches(site: Site, review: Any) -> Any:
    patch = [{"op": "add", "path": f"/data/k{number}", "value": "v"} for number in range(site.many(20_000))]
    response = {"uid": review["request"]["uid"], "allowed": True, "patchType": "JSONPatch", "patch": operations(patch)}
    return {"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response}


def _policies(expression: str, many: int) -> Any:
    def setup(site: Site) -> Sequence[Ask]:
        rule = {"apiGroups": [""], "apiVersions": ["*"], "resources": ["configmaps"], "operations": ["*"]}
        for name in numbers("p", many):
            own = f"object.metadata.name != '{name}' && {expression}"
            spec = {"matchConstraints": {"resourceRules": [rule]}, "validations": [{"expression": own}]}
            condition = {"name": "mine", "expression": "object.metadata.name == 'attacked'"}
            site.post(POLICIES, {"metadata": {"name": name}, "spec": {**spec, "matchConditions": [condition]}})
            site.post(
                BINDINGS,
                {"metadata": {"name": name}, "spec": {"policyName": name, "validationActions": ["Deny"]}},
            )
        return [post(MAPS, config("attacked", dict.fromkeys(numbers("k", site.many(2000)), "v")))]

    return setup


def _params(site: Site) -> Sequence[Ask]:
    """A policy that is evaluated for each of its params."""
    for name in numbers("p", site.many(1500)):
        site.post(MAPS, config(name, {"a": "b"}) | {"metadata": {"name": name, "labels": {"param": "1"}}})
    rule = {"apiGroups": [""], "apiVersions": ["*"], "resources": ["configmaps"], "operations": ["*"]}
    spec = {
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "matchConstraints": {"resourceRules": [rule]},
        "matchConditions": [{"name": "mine", "expression": "object.metadata.name == 'attacked'"}],
        "validations": [{"expression": "params.data.all(a, object.data.all(b, a != b || true))"}],
    }
    site.post(POLICIES, {"metadata": {"name": "p"}, "spec": spec})
    reference = {
        "selector": {"matchLabels": {"param": "1"}},
        "namespace": "default",
        "parameterNotFoundAction": "Allow",
    }
    bound = {"policyName": "p", "validationActions": ["Deny"], "paramRef": reference}
    site.post(BINDINGS, {"metadata": {"name": "p"}, "spec": bound})
    return [post(f"{MAPS}?dryRun=All", config("attacked", dict.fromkeys(numbers("k", site.many(500)), "v")))] * 3


_NESTED = "object.data.all(a, object.data.all(b, a != b || true))"

ATTACKS = [
    Attack("K1", "a conversion webhook answers 300,000 items to a patch of 17 bytes", _converted, hook=_many_items),
    Attack("K2", "a conversion webhook answers an error of 2.8 MB", _converted, hook=_error, fails=True),
    Attack("K3", "a mutating webhook answers 20,000 operations", _reviewed, hook=_many_patches, fails=True),
    Attack("L1", "a policy of nested all, a config map of 2,000 keys", _policies(_NESTED, 1)),
    Attack("L2", "five policies of nested all, a config map of 2,000 keys", _policies(_NESTED, 5)),
    Attack("L3", "a policy with 1,500 params, 3 dry runs", _params),
]
