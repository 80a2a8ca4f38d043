"""Each shape of object in each kind, form and verb: what nobody has thought of."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from bench.asks.ask import (
    APPLY,
    CRDS,
    GROUP,
    JSON,
    MAX,
    MERGE,
    PATCH,
    PROTOBUF,
    STRATEGIC,
    YAML,
    Ask,
    ask,
    crd,
    text,
    upto,
)
from bench.asks.schemas import RULED
from podless.apis.catalog import ALL
from podless.structs import protobuf, structs

Item = Callable[[int], bytes]
SIZE = MAX - 4096
ADMISSION = "/apis/admissionregistration.k8s.io/v1"


class Target(NamedTuple):
    """A kind. path: of its objects; one of them, as it is stored first. fields: where much may be, and what."""

    path: str
    obj: dict[str, Any]
    fields: dict[str, tuple[str, Item]]
    stored: bool = True


def sound(version: str, kind: str, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": f"every-{kind.lower()}"}, **fields}


def core(plural: str) -> str:
    return f"/api/v1/namespaces/default/{plural}"


CONTAINER = {"name": "c", "image": "i"}
SPEC = {"containers": [CONTAINER]}
HOOK = {
    "name": "h.example.com",
    "clientConfig": {"url": "https://h"},
    "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
    "failurePolicy": "Ignore",
}
RULE = {"apiGroups": ["none"], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["nones"]}
POD_FIELDS: dict[str, tuple[str, Item]] = {
    "containers": ("containers", lambda n: b'{"name":"c%d","image":"i"}' % n),
    "variables": ("containers.0.env", lambda n: b'{"name":"V%d","value":"v"}' % n),
    "ports": ("containers.0.ports", lambda n: b'{"containerPort":%d}' % (n % 65535 + 1)),
    "mounts": ("containers.0.volumeMounts", lambda n: b'{"name":"v%d","mountPath":"/m%d"}' % (n, n)),
    "arguments": ("containers.0.args", lambda n: b'"a$(B%d)"' % n),
    "volumes": ("volumes", lambda n: b'{"name":"v%d","emptyDir":{}}' % n),
    "items": ("volumes.0.configMap.items", lambda n: b'{"key":"k%d","path":"p/%d"}' % (n, n)),
    "tolerations": ("tolerations", lambda n: b'{"key":"k%d","operator":"Exists"}' % n),
    "affinity": (
        "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms",
        lambda n: b'{"matchExpressions":[{"key":"a%d","operator":"Exists"}]}' % n,
    ),
    "constraints": (
        "topologySpreadConstraints",
        lambda n: b'{"maxSkew":1,"topologyKey":"k%d","whenUnsatisfiable":"DoNotSchedule"}' % n,
    ),
}


def below(prefix: str, fields: dict[str, tuple[str, Item]]) -> dict[str, tuple[str, Item]]:
    return {name: (f"{prefix}.{path}", item) for name, (path, item) in fields.items()}


TARGETS: dict[str, Target] = {
    "ruled": Target(
        f"/apis/{GROUP}/v1/namespaces/default/ruleds",
        sound(f"{GROUP}/v1", "Ruleds", spec={}),
        {
            "items with rules": ("spec.items", lambda n: b'{"k":"k%d","v":%d}' % (n, n)),
            "strings with rules": ("spec.names", lambda n: b'"n%d"' % n),
            "map with rules": ("spec.map", lambda n: b'"k%d":%d' % (n, n)),
            "breaks rules": ("spec.items", lambda n: b'{"k":"","v":-1}'),
            "anything": ("spec.any.x", lambda n: b'{"a":[%d]}' % n),
            "numbers": ("spec.any.x", lambda n: b"%d" % (n % 10)),
            "floats": ("spec.any.x", lambda n: b"%d.5" % (n % 10)),
            "texts": ("spec.any.x", lambda n: b'"\\u00e9%d"' % n),
        },
    ),
    "config map": Target(
        core("configmaps"),
        sound("v1", "ConfigMap", data={"a": "b"}),
        {"data": ("data", lambda n: b'"k%d":"v"' % n), "bytes": ("binaryData", lambda n: b'"k%d":"AAAA"' % n)},
    ),
    "secret": Target(
        core("secrets"), sound("v1", "Secret", data={"a": ""}), {"data": ("data", lambda n: b'"k%d":"AAAA"' % n)}
    ),
    "service account": Target(
        core("serviceaccounts"),
        sound("v1", "ServiceAccount"),
        {"secrets": ("secrets", lambda n: b'{"name":"s%d"}' % n)},
    ),
    "quota": Target(
        core("resourcequotas"),
        sound("v1", "ResourceQuota", spec={"hard": {"pods": "1000"}}),
        {"hard": ("spec.hard", lambda n: b'"count/r%d.g":"1"' % n)},
    ),
    "pod": Target(core("pods"), sound("v1", "Pod", spec=SPEC), below("spec", POD_FIELDS)),
    "deployment": Target(
        "/apis/apps/v1/namespaces/default/deployments",
        sound(
            "apps/v1",
            "Deployment",
            spec={
                "selector": {"matchLabels": {"a": "b"}},
                "template": {"metadata": {"labels": {"a": "b"}}, "spec": SPEC},
            },
        ),
        below("spec.template.spec", {name: POD_FIELDS[name] for name in ("containers", "variables", "volumes")})
        | {"selector": ("spec.selector.matchExpressions", lambda n: b'{"key":"k%d","operator":"Exists"}' % n)},
    ),
    "service": Target(
        core("services"),
        sound("v1", "Service", spec={"ports": [{"port": 1}]}),
        {"ports": ("spec.ports", lambda n: b'{"name":"p%d","port":%d}' % (n, n % 65535 + 1))},
    ),
    "endpoints": Target(
        "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
        sound("discovery.k8s.io/v1", "EndpointSlice", addressType="IPv4", endpoints=[]),
        {"endpoints": ("endpoints", lambda n: b'{"addresses":["10.0.%d.%d"]}' % (n // 256 % 256, n % 256))},
    ),
    "network policy": Target(
        "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies",
        sound("networking.k8s.io/v1", "NetworkPolicy", spec={"podSelector": {}}),
        {"rules": ("spec.ingress", lambda n: b'{"from":[{"ipBlock":{"cidr":"10.0.0.0/8"}}]}')},
    ),
    "role": Target(
        "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles",
        sound("rbac.authorization.k8s.io/v1", "Role", rules=[]),
        {
            "rules": ("rules", lambda n: b'{"verbs":["v%d"],"apiGroups":[""],"resources":["r"]}' % n),
            "one rule": ("rules.0.resources", lambda n: b'"r%d"' % n),
        },
    ),
    "binding": Target(
        "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
        sound(
            "rbac.authorization.k8s.io/v1",
            "RoleBinding",
            roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
        ),
        {"subjects": ("subjects", lambda n: b'{"kind":"ServiceAccount","name":"s%d","namespace":"d"}' % n)},
    ),
    "definition": Target(
        CRDS,
        crd("everies", {"type": "object"}),
        {
            "properties": (
                "spec.versions.0.schema.openAPIV3Schema.properties",
                lambda n: b'"p%d":{"type":"string"}' % n,
            ),
            "ruled properties": (
                "spec.versions.0.schema.openAPIV3Schema.properties",
                lambda n: b'"p%d":{"type":"integer","x-kubernetes-validations":[{"rule":"self>%d"}]}' % (n, n),
            ),
            "wrong properties": ("spec.versions.0.schema.openAPIV3Schema.properties", lambda n: b'"p%d":{}' % n),
            "short names": ("spec.names.shortNames", lambda n: b'"s%d"' % n),
            "columns": (
                "spec.versions.0.additionalPrinterColumns",
                lambda n: b'{"name":"c%d","type":"string","jsonPath":".spec.a"}' % n,
            ),
            "selectable": ("spec.versions.0.selectableFields", lambda n: b'{"jsonPath":".spec.f%d"}' % n),
            "conditions": ("status.conditions", lambda n: b'{"type":"t%d","status":"True"}' % n),
        },
    ),
    "policy": Target(
        f"{ADMISSION}/validatingadmissionpolicies",
        sound(
            "admissionregistration.k8s.io/v1",
            "ValidatingAdmissionPolicy",
            spec={"matchConstraints": {"resourceRules": [RULE]}, "validations": [{"expression": "true"}]},
        ),
        {
            "validations": ("spec.validations", lambda n: b'{"expression":"object.a == %d"}' % n),
            "variables": ("spec.variables", lambda n: b'{"name":"v%d","expression":"1"}' % n),
            "rules": (
                "spec.matchConstraints.resourceRules",
                lambda n: b'{"apiGroups":["g%d"],"apiVersions":["*"],"operations":["*"],"resources":["*"]}' % n,
            ),
        },
    ),
    "webhook": Target(
        f"{ADMISSION}/validatingwebhookconfigurations",
        sound("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", webhooks=[HOOK]),
        {
            "webhooks": ("webhooks", lambda n: text({**HOOK, "name": f"h{n}.example.com"})),
            "rules": ("webhooks.0.rules", lambda n: text({**RULE, "apiGroups": [f"g{n}"]})),
            "selector": ("webhooks.0.objectSelector.matchLabels", lambda n: b'"k%d":"v"' % n),
        },
    ),
}
META: dict[str, tuple[str, Item]] = {
    "annotations": ("metadata.annotations", lambda n: b'"a%d":"v"' % n),
    "labels": ("metadata.labels", lambda n: b'"l%d":"v"' % n),
    "owners": (
        "metadata.ownerReferences",
        lambda n: b'{"apiVersion":"v1","kind":"ConfigMap","name":"o%d","uid":"u%d"}' % (n, n),
    ),
    "finalizers": ("metadata.finalizers", lambda n: b'"example.com/f%d"' % n),
    "managers": (
        "metadata.managedFields",
        lambda n: (
            b'{"manager":"m%d","operation":"Update","apiVersion":"v1","time":"2026-01-01T00:00:00Z",'
            b'"fieldsType":"FieldsV1","fieldsV1":{"f:a%d":{}}}' % (n, n)
        ),
    ),
    "unknown": ("", lambda n: b'"u%d":1' % n),
}
HOLE = "\0hole\0"


def setup() -> Iterator[Ask]:
    """What is to be there first."""
    yield ask("POST", CRDS, text(crd("ruleds", RULED)))
    for target in TARGETS.values():
        yield ask("POST", target.path, text(target.obj))


def grown(obj: dict[str, Any], path: str, item: Item, size: int) -> bytes:
    """The object with much at a path: a list, or a map where items are pairs."""
    whole = json.loads(text(obj))
    many = upto(item, size)
    pairs = not many.startswith((b"{", b"[")) and b'":' in many[:40]
    if not path:
        return text(whole)[:-1] + b"," + many + b"}"
    held: Any = whole
    steps: list[Any] = [int(step) if step.isdigit() else step for step in path.split(".")]
    for step, following in itertools.pairwise(steps):
        if isinstance(step, int):
            if not held:
                held.append({"name": "v"})
            held = held[step]
        else:
            held = held.setdefault(step, [] if isinstance(following, int) else {})
    held[steps[-1]] = HOLE
    return text(whole).replace(text(HOLE), b"{%b}" % many if pairs else b"[%b]" % many)


def as_protobuf(kind: str, body: bytes) -> bytes:
    """The same as protobuf, "" for what is none."""
    found = next((one for one in ALL if one.kind == kind and one.struct is not None), None)
    if found is None or found.struct is None:
        return b""
    try:
        return protobuf.write_object(found.struct, structs.decode_struct(found.struct, json.loads(body)))
    except ValueError:
        return b""


def kinds(only: str) -> Iterator[tuple[str, Ask]]:
    """The requests whose names have some words."""
    for name, target in TARGETS.items():
        for shape, (path, item) in (*target.fields.items(), *META.items()):
            forms = [f"{name}, {shape}, {form}" for form in FORMS]
            if any(only in form for form in forms):
                body = grown(target.obj, path, item, SIZE)
                for form, make in zip(forms, FORMS.values(), strict=True):
                    asked = make(target, body) if only in form else None
                    if asked is not None:
                        yield form, asked


def _new(target: Target, body: bytes, media: str = JSON, query: str = "") -> Ask:
    body = body.replace(b"every-", b"newer-", 1).replace(b'"everies.', b'"newers.')
    return ask("POST", f"{target.path}?dryRun=All{query}", body, media)


def _one(target: Target) -> str:
    return f"{target.path}/{target.obj['metadata']['name']}"


def _protobuf(target: Target, body: bytes) -> Ask | None:
    made = as_protobuf(target.obj["kind"], body.replace(b'"every-', b'"newer-', 1))
    return ask("POST", f"{target.path}?dryRun=All", made, PROTOBUF) if made else None


def _patch(target: Target, body: bytes, media: str) -> Ask | None:
    if media == STRATEGIC and GROUP in target.path:
        return None
    return ask(
        "PATCH", f"{_one(target)}?dryRun=All&fieldManager=m&force=true"[: None if media == APPLY else -11], body, media
    )


def _operations(target: Target, body: bytes) -> Ask:
    whole = json.loads(body)
    steps = [
        {"op": "add", "path": f"/{name}", "value": value}
        for name, value in whole.items()
        if name not in ("kind", "apiVersion")
    ]
    return ask("PATCH", f"{_one(target)}?dryRun=All", text(steps), PATCH)


FORMS: dict[str, Callable[[Target, bytes], Ask | None]] = {
    "create": _new,
    "create, strict": lambda target, body: _new(target, body, JSON, "&fieldValidation=Strict"),
    "create, YAML": lambda target, body: _new(target, body, YAML),
    "create, protobuf": _protobuf,
    "update": lambda target, body: ask("PUT", f"{_one(target)}?dryRun=All", body),
    "merge patch": lambda target, body: _patch(target, body, MERGE),
    "strategic patch": lambda target, body: _patch(target, body, STRATEGIC),
    "JSON patch": _operations,
    "apply": lambda target, body: _patch(target, body, APPLY),
    "apply, new": lambda target, body: ask(
        "PATCH",
        f"{_one(target).replace('every-', 'newer-')}?dryRun=All&fieldManager=m",
        body.replace(b'"every-', b'"newer-', 1),
        APPLY,
    ),
}
