"""Schemas, rules, columns, roles, policies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bench.asks.ask import CRDS, MAX, ROLES, Ask, ask, crd, text


def definitions() -> Iterator[tuple[str, Ask]]:
    """Schemas, rules, columns."""
    dry = f"{CRDS}?dryRun=All"
    deep: dict[str, Any] = {"type": "object"}
    for _ in range(50):
        deep = {"type": "object", "properties": {"p": deep}}
    wide = {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(10_000)}}
    nested = {
        "type": "object",
        "properties": {
            f"p{n}": {
                "type": "object",
                "properties": {f"q{m}": {"type": "string", "maxLength": 5, "default": "a"} for m in range(100)},
            }
            for n in range(100)
        },
    }
    enum = {"type": "object", "properties": {"e": {"type": "string", "enum": [f"v{n}" for n in range(100_000)]}}}
    required = {"type": "object", "required": [f"v{n}" for n in range(100_000)]}
    values = {
        "type": "object",
        "properties": {"d": {"type": "array", "items": {"type": "integer"}, "default": list(range(200_000))}},
    }
    rules = {
        "type": "object",
        "properties": {"s": {"type": "string", "maxLength": 10}},
        "x-kubernetes-validations": [{"rule": f"self.s == '{n}'"} for n in range(3000)],
    }
    long_rule = {
        "type": "object",
        "properties": {"s": {"type": "string", "maxLength": 10}},
        "x-kubernetes-validations": [{"rule": " && ".join(["self.s == 'a'"] * 20_000)}],
    }
    nest_rule = {
        "type": "object",
        "properties": {"l": {"type": "array", "maxItems": 5, "items": {"type": "string", "maxLength": 5}}},
        "x-kubernetes-validations": [{"rule": "self.l.all(a, " * 10 + "true" + ")" * 10}],
    }
    any_of = {
        "type": "object",
        "properties": {"x": {"type": "string", "anyOf": [{"pattern": f"a{n}"} for n in range(20_000)]}},
    }
    for name, schema in (
        ("deep", deep),
        ("10,000 properties", wide),
        ("10,000 nested properties", nested),
        ("an enum", enum),
        ("required", required),
        ("a default", values),
        ("3,000 rules", rules),
        ("a long rule", long_rule),
        ("nested macros", nest_rule),
        ("anyOf", any_of),
    ):
        body = text(crd("defined", schema))
        if len(body) < MAX:
            yield f"definition: {name}", ask("POST", dry, body)
    columns = [{"name": f"c{n}", "type": "string", "jsonPath": ".spec.a[?(@.b=='c')].d"} for n in range(20_000)]
    yield (
        "definition: columns",
        ask("POST", dry, text(crd("defined", {"type": "object"}, additionalPrinterColumns=columns))),
    )
    path = [{"name": "c", "type": "string", "jsonPath": ".a" * 500_000}]
    yield (
        "definition: a long path",
        ask("POST", dry, text(crd("defined", {"type": "object"}, additionalPrinterColumns=path))),
    )
    versions = crd("defined", {"type": "object"})
    versions["spec"]["versions"] += [
        dict(versions["spec"]["versions"][0], name=f"v{n}", storage=False) for n in range(2, 20_000)
    ]
    yield "definition: versions", ask("POST", dry, text(versions))
    wide_rule = {
        "verbs": [f"v{n}" for n in range(80)],
        "resources": [f"r{n}" for n in range(80)],
        "apiGroups": [f"g{n}" for n in range(80)],
    }
    yield (
        "role: 80 x 80 x 80",
        ask("POST", f"{ROLES}?dryRun=All", text({"metadata": {"name": "x"}, "rules": [wide_rule]})),
    )
    many = [{"verbs": ["get"], "resources": [f"r{n}"], "apiGroups": [""]} for n in range(40_000)]
    yield "role: 40,000 rules", ask("POST", f"{ROLES}?dryRun=All", text({"metadata": {"name": "x"}, "rules": many}))
    policy = {
        "metadata": {"name": "x"},
        "spec": {
            "matchConstraints": {
                "resourceRules": [{"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"], "operations": ["*"]}]
            },
            "validations": [{"expression": f"object.metadata.name != '{n}'"} for n in range(5000)],
        },
    }
    yield (
        "policy: 5,000 rules",
        ask("POST", "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies?dryRun=All", text(policy)),
    )
    hooks = {
        "metadata": {"name": "x"},
        "webhooks": [
            {
                "name": f"h{n}.example.com",
                "clientConfig": {"url": "https://h"},
                "sideEffects": "None",
                "admissionReviewVersions": ["v1"],
                "matchConditions": [{"name": "a", "expression": f"{n} == 1"}],
            }
            for n in range(5000)
        ],
    }
    yield (
        "webhooks: 5,000",
        ask("POST", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations?dryRun=All", text(hooks)),
    )
    review = {
        "spec": {
            "resourceAttributes": {
                "verb": "get",
                "fieldSelector": {
                    "requirements": [{"key": "a", "operator": "In", "values": [f"v{n}" for n in range(200_000)]}]
                },
            }
        }
    }
    yield "review: a selector", ask("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", text(review))
    yield (
        "review: a token",
        ask("POST", "/apis/authentication.k8s.io/v1/tokenreviews", text({"spec": {"token": "a." * (MAX // 2 - 100)}})),
    )
    event = {
        "metadata": {"name": "x", "namespace": "default"},
        "involvedObject": {"namespace": "default"},
        "message": "m" * (MAX - 300),
    }
    yield "event: a message", ask("POST", "/api/v1/namespaces/default/events?dryRun=All", text(event))
