"""What a set-up stores beside a definition: columns, versions, policies, limits, rights, webhooks, watches, objects."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

from podless.runtime.jsonobject import Object
from tests.fuzz.adversary.fields import RULES, names

GROUP = "adversary.example.com"
ADMISSION = "/apis/admissionregistration.k8s.io/v1"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
_RBAC = "rbac.authorization.k8s.io"
JSON, MERGE, OPERATIONS, STRATEGIC, APPLY, YAML = (
    "application/json",
    "application/merge-patch+json",
    "application/json-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
    "application/yaml",
)
ADMIN, PLAIN = "adversary", "plain"


class Ask(NamedTuple):
    """A request. body: sent as JSON where it is not bytes. watch: whether it stays open."""

    method: str
    path: str
    body: Any = None
    media: str = JSON
    accept: str = JSON
    user: str = ADMIN
    watch: bool = False


class Place(NamedTuple):
    """Where a pair works: a namespace and a kind of its own."""

    space: str
    plural: str

    @property
    def core(self) -> str:
        return f"/api/v1/namespaces/{self.space}"

    def group(self, group: str) -> str:
        return f"/apis/{group}/namespaces/{self.space}"

    def things(self, version: str = "v1") -> str:
        return f"/apis/{GROUP}/{version}/namespaces/{self.space}/{self.plural}"


More = Callable[[Random, int, Place], list[Ask]]


def post(path: str, body: Object, **more: Any) -> Ask:
    return Ask("POST", path, body, **more)


def named(name: str, **more: Any) -> Object:
    return {"metadata": {"name": name}, **more}


def config(name: str, many: int) -> Object:
    return named(name, data=dict.fromkeys(names("k", many), "v"))


# columns

COLUMNS = (
    "..a",
    "..*",
    ".spec..k",
    ".spec.f0[*]",
    ".spec.f0[?(@.a=='v1')].a",
    ".spec.f0[0:5:2]",
    ".spec.f0[*].l[*].l[*]",
)


def columns(random: Random, size: int) -> list[Object]:
    """Columns that look everywhere."""
    kinds = ("string", "integer", "number", "boolean", "date")
    return [
        {"name": name, "type": random.choice(kinds), "jsonPath": random.choice(COLUMNS), "priority": index % 2}
        for index, name in enumerate(names("c", min(size, 80)))
    ]


# admission

POLICIES = (
    *(rule.replace("self.", "object.spec.f0.").replace("self ", "object.spec.f0 ") for rule in RULES[:6]),
    "object.data.all(a, object.data.all(b, a != b || true))",
    "object.data.map(a, object.data[a] + a).join(',').size() >= 0",
    "object.data.all(a, object.data[a].matches('^[a-z]{1,200}x'))",
    "object.metadata.labels.all(a, object.metadata.labels.exists(b, a == b))",
    "variables.v.all(a, variables.v.all(b, a != b || true))",
    "string(object).size() > 0",
    "object == oldObject || object != oldObject",
    "[object, object, object, object].all(a, [object, object].all(b, a == b))",
    "authorizer.group('').resource('pods').namespace(object.metadata.namespace).check('get').allowed() || true",
)
EVERYTHING = {"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"], "operations": ["CREATE", "UPDATE"]}


def _mine(place: Place) -> Object:
    return {"matchLabels": {"kubernetes.io/metadata.name": place.space}}


def policies(random: Random, size: int, place: Place) -> list[Ask]:
    """Some policies, each with some expressions over the whole object."""
    asked: list[Ask] = []
    for number in range(random.choice((1, 3, 5))):
        name = f"{place.space}-{number}"
        checks = [
            {"expression": f"{number} >= 0 && ({random.choice(POLICIES)})", "messageExpression": "string(object)"}
            for _ in range(min(size, random.choice((1, 3, 20))))
        ]
        source = random.choice(("object.data.map(k, k)", "object.spec.f0", "[1, 2, 3]"))
        spec = {
            "failurePolicy": random.choice(("Ignore", "Fail")),
            "matchConstraints": {"resourceRules": [EVERYTHING], "namespaceSelector": _mine(place)},
            "variables": [{"name": "v", "expression": source}],
            "validations": checks,
            "auditAnnotations": [{"key": "k", "valueExpression": "string(object.metadata)"}],
        }
        asked.append(post(f"{ADMISSION}/validatingadmissionpolicies", named(name, spec=spec)))
        bound = {"policyName": name, "validationActions": [random.choice(("Deny", "Warn", "Audit"))]}
        asked.append(post(f"{ADMISSION}/validatingadmissionpolicybindings", named(name, spec=bound)))
    return asked


MUTATIONS = (
    ("JSONPatch", "[JSONPatch{op: 'add', path: '/metadata/annotations', value: {'a': string(object)}}]"),
    ("JSONPatch", "object.data.map(k, JSONPatch{op: 'replace', path: '/data/' + k, value: k + k})"),
    ("JSONPatch", "object.data.map(k, JSONPatch{op: 'copy', from: '/data', path: '/data/' + k})"),
    ("ApplyConfiguration", "Object{metadata: Object.metadata{annotations: {'a': string(object.metadata)}}}"),
)


def mutations(random: Random, size: int, place: Place) -> list[Ask]:
    """Policies that change the object by as much as it has."""
    asked: list[Ask] = []
    for number in range(random.choice((1, 2))):
        name = f"{place.space}-{number}"
        kind, expression = random.choice(MUTATIONS)
        field = "jsonPatch" if kind == "JSONPatch" else "applyConfiguration"
        spec = {
            "failurePolicy": "Ignore",
            "reinvocationPolicy": random.choice(("Never", "IfNeeded")),
            "matchConstraints": {"resourceRules": [EVERYTHING], "namespaceSelector": _mine(place)},
            "mutations": [{"patchType": kind, field: {"expression": expression}}],
        }
        asked.append(post(f"{ADMISSION}/mutatingadmissionpolicies", named(name, spec=spec)))
        asked.append(post(f"{ADMISSION}/mutatingadmissionpolicybindings", named(name, spec={"policyName": name})))
    return asked


def webhooks(random: Random, size: int, place: Place) -> list[Ask]:
    """Webhooks that are never called, for what their conditions say."""
    conditions = [
        {"name": f"c{number}", "expression": f"{random.choice(POLICIES[6:10])} && {number} >= 0"}
        for number in range(20)
    ]
    hook = {
        "clientConfig": {"url": "https://127.0.0.1:1/none"},
        "rules": [EVERYTHING] * random.choice((1, 20)),
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "failurePolicy": "Ignore",
        "namespaceSelector": _mine(place),
        "objectSelector": _selector(random, random.choice((1, 500))),
        "matchConditions": [*conditions, {"name": "last", "expression": "false"}],
    }
    hooks = [{**hook, "name": f"h{number}.example.com"} for number in range(min(size, 30))]
    kind = random.choice(("validating", "mutating"))
    return [post(f"{ADMISSION}/{kind}webhookconfigurations", named(place.space, webhooks=hooks))]


def _selector(random: Random, many: int) -> Object:
    listed = [{"key": f"k{number}", "operator": "DoesNotExist"} for number in range(many)]
    return {"matchExpressions": [*listed, {"key": "a", "operator": "NotIn", "values": names("v", many)}]}


# limits

POD_RESOURCES = "example.com/r"


def _amounts(size: int) -> dict[str, str]:
    return dict.fromkeys(names(POD_RESOURCES, size), "1")


def ranges(random: Random, size: int, place: Place) -> list[Ask]:
    """LimitRanges of very many resources."""
    words = random.choice((("default", "defaultRequest"), ("min", "max"), ("max", "maxLimitRequestRatio"), ("max",)))
    limit = {"type": random.choice(("Container", "Container", "Pod")), **{word: _amounts(size) for word in words}}
    if limit["type"] == "Pod":
        limit = {key: value for key, value in limit.items() if not key.startswith("default")}
    return [
        post(f"{place.core}/limitranges", named(f"l{number}", spec={"limits": [limit]}))
        for number in range(random.choice((1, 3)))
    ]


def quotas(random: Random, size: int, place: Place) -> list[Ask]:
    """Quotas over everything, and over very many resources."""
    hard = {f"requests.{name}": "1000000" for name in _amounts(size)} | {"pods": "100000", "services": "1000"}
    hard |= {"count/configmaps": "100000", f"count/{place.plural}.{GROUP}": "100000", "requests.storage": "100Ti"}
    return [
        post(f"{place.core}/resourcequotas", named(f"q{number}", spec={"hard": hard}))
        for number in range(random.choice((1, 5)))
    ]


def runtime(random: Random, size: int, place: Place) -> list[Ask]:
    overhead = {"podFixed": _amounts(size)}
    return [post("/apis/node.k8s.io/v1/runtimeclasses", named(place.space, handler="h", overhead=overhead))]


# rights


def bindings(random: Random, size: int, place: Place) -> list[Ask]:
    """Roles of many rules for many subjects, of whom everybody is one."""
    kind = random.choice(("Group", "User", "ServiceAccount"))
    subject: Object = {
        "kind": kind,
        **({"namespace": place.space} if kind == "ServiceAccount" else {"apiGroup": _RBAC}),
    }
    subjects = [{**subject, "name": name} for name in names("g", size)]
    subjects.append({"kind": "Group", "apiGroup": _RBAC, "name": "system:authenticated"})
    rules = [{"verbs": ["get"], "apiGroups": [f"g{number}"], "resources": [f"r{number}"]} for number in range(size)]
    asked = []
    for number in range(random.choice((1, 4))):
        name = f"{place.space}-{number}"
        labels = {"metadata": {"name": name, "labels": {"in": place.space}}}
        asked.append(post(f"{RBAC}/clusterroles", labels | {"rules": rules}))
        reference = {"apiGroup": _RBAC, "kind": "ClusterRole", "name": name}
        body = named(name, subjects=subjects, roleRef=reference)
        asked.append(post(f"{RBAC}/namespaces/{place.space}/rolebindings", body))
    if random.random() < 0.3:
        aggregated = {"clusterRoleSelectors": [{"matchLabels": {"in": place.space}}] * random.choice((1, 50))}
        asked.append(post(f"{RBAC}/clusterroles", named(f"{place.space}-all", rules=[], aggregationRule=aggregated)))
    own = {"verbs": ["*"], "apiGroups": [_RBAC], "resources": ["roles"]}
    asked.append(post(f"{RBAC}/namespaces/{place.space}/roles", named("own", rules=[own])))
    user = {"kind": "User", "apiGroup": _RBAC, "name": PLAIN}
    reference = {"apiGroup": _RBAC, "kind": "Role", "name": "own"}
    path = f"{RBAC}/namespaces/{place.space}/rolebindings"
    return [*asked, post(path, named("own", subjects=[user], roleRef=reference))]


# watches and objects


def selector(random: Random, size: int, number: int) -> str:
    """A long selector, another for each number."""
    form = random.randrange(4)
    many = min(size, 3000)
    if form == 0:
        return ",".join(f"!{number}x{label:x}" for label in range(many))
    if form == 1:
        return f"a{number}+notin+({','.join(names('v', many))})"
    if form == 2:
        return ",".join(f"a{label}!=v{number}" for label in range(many))
    return ",".join(f"a{label}+notin+(x,y{number})" for label in range(min(many, 1500)))


def watches(random: Random, size: int, place: Place) -> list[Ask]:
    """Watches of two kinds, each by a selector of its own, some as tables."""
    asked = []
    for number in range(random.choice((5, 30, 100))):
        path = place.things() if random.random() < 0.5 else f"{place.core}/configmaps"
        accept = random.choice((JSON, JSON, TABLE))
        query = f"watch=1&labelSelector={selector(random, size, number)}"
        if random.random() < 0.2:
            names_ = ",".join(f"metadata.name!={number}x{name:x}" for name in range(min(size, 2000)))
            query = f"watch=1&fieldSelector={names_}"
        asked.append(Ask("GET", f"{path}?{query}", accept=accept, watch=True))
    return asked


TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


def maps(random: Random, size: int, place: Place) -> list[Ask]:
    """Many config maps, or a few that are long."""
    if random.random() < 0.5:
        return [post(f"{place.core}/configmaps", config(f"m{number}", 3)) for number in range(min(size, 300))]
    return [post(f"{place.core}/configmaps", config(f"m{number}", size * 10)) for number in range(3)]


def claims(random: Random, size: int, place: Place) -> list[Ask]:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    path = f"{place.core}/persistentvolumeclaims"
    return [post(path, named(f"m{number}", spec=spec)) for number in range(min(size, 300))]


def owned(random: Random, size: int, place: Place) -> list[Ask]:
    """An object that a controller sees in many others."""
    many = min(size, 300)
    spec = {"selector": {f"k{number}": "v" for number in range(size)}, "ports": [{"port": 80}]}
    budget = {"minAvailable": "50%", "selector": _selector(random, min(size, 500))}
    services = [post(f"{place.core}/services", named(f"s{number}", spec=spec)) for number in range(min(many, 20))]
    path = f"{place.group('policy/v1')}/poddisruptionbudgets"
    return [*services, *(post(path, named(f"b{number}", spec=budget)) for number in range(min(many, 10)))]


MORE: dict[str, More] = {
    "policies": policies,
    "mutating policies": mutations,
    "webhooks": webhooks,
    "limit ranges": ranges,
    "quotas": quotas,
    "a runtime class": runtime,
    "bindings": bindings,
    "watches": watches,
    "config maps": maps,
    "claims": claims,
    "services and budgets": owned,
}
