"""Requests that are sent to a set-up: each verb, with bodies that are expensive for what is stored."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from podless.runtime.jsonobject import Object
from tests.fuzz.adversary.fields import names
from tests.fuzz.adversary.stored import (
    APPLY,
    GROUP,
    JSON,
    MERGE,
    OPERATIONS,
    PLAIN,
    POD_RESOURCES,
    RBAC,
    STRATEGIC,
    TABLE,
    YAML,
    Ask,
    Place,
    config,
    named,
    post,
    selector,
)

# a random source, the size of bodies, where, and what makes the `spec` of an object of the kind for a size
Act = Callable[[Random, int, Place, Callable[[int], Object]], list[Ask]]
_ACCESS = "authorization.k8s.io/v1"
QUERIES = ("", "?dryRun=All", "?fieldValidation=Strict", "?fieldValidation=Warn")


def thing(place: Place, spec: Object, name: str = "x", version: str = "v1") -> Object:
    return {"apiVersion": f"{GROUP}/{version}", "kind": place.plural.title(), **named(name, spec=spec)}


def create(random: Random, size: int, place: Place, spec: Callable[[int], Object]) -> list[Ask]:
    media = random.choice((JSON, JSON, YAML))
    return [post(f"{place.things()}{random.choice(QUERIES)}", thing(place, spec(size)), media=media)]


def create_and_change(random: Random, size: int, place: Place, spec: Callable[[int], Object]) -> list[Ask]:
    """As much again in place of what there is: old and new are compared."""
    path = f"{place.things()}/x"
    changes = [
        Ask("PATCH", path, {"spec": spec(size)}, MERGE),
        Ask("PATCH", path, [{"op": "add", "path": "/spec", "value": spec(size)}], OPERATIONS),
        Ask("PATCH", f"{path}?fieldManager=a&force=true", thing(place, spec(size)), APPLY),
        Ask("PATCH", f"{path}?fieldManager=b", thing(place, spec(size)), APPLY),
        Ask("PUT", path, thing(place, spec(size))),
        Ask("PATCH", path, {"metadata": {"labels": {"a": "b"}}}, MERGE),
        Ask("PATCH", path, {"spec": None}, MERGE),
    ]
    return [post(place.things(), thing(place, spec(size))), *random.sample(changes, k=3)]


def apply(random: Random, size: int, place: Place, spec: Callable[[int], Object]) -> list[Ask]:
    """Some managers, one after the other."""
    path = f"{place.things()}/applied"
    return [
        Ask("PATCH", f"{path}?fieldManager={name}&force=true", thing(place, spec(size), "applied"), APPLY)
        for name in ("a", "b", "c")
    ]


def operations(random: Random, size: int, place: Place, spec: Callable[[int], Object]) -> list[Ask]:
    """A JSON patch that copies and moves what grows by that."""
    path = f"{place.core}/configmaps/patched"
    form = random.choice(
        (
            [{"op": "copy", "from": "/data", "path": "/metadata/annotations"}] * min(size, 2000),
            [{"op": "test", "path": "/data", "value": {}}] * size,
            [{"op": "add", "path": f"/data/n{number}", "value": "v" * 9} for number in range(size)],
            [{"op": "move", "from": f"/data/k{n}", "path": f"/data/k{n + 1}"} for n in range(min(size, 2000))],
            [{"op": "add", "path": "/metadata/finalizers", "value": ["a/b"]}]
            + [{"op": "add", "path": "/metadata/finalizers/0", "value": f"a/b{n}"} for n in range(min(size, 2000))],
        )
    )
    return [post(f"{place.core}/configmaps", config("patched", size)), Ask("PATCH", path, form, OPERATIONS)]


def strategic(random: Random, size: int, place: Place, spec: Callable[[int], Object]) -> list[Ask]:
    """Lists by keys, of which each item is looked for, ordered or deleted."""
    path = f"{place.core}/pods/strategic"
    envs = [{"name": f"e{number}", "value": "v"} for number in range(size)]
    body = named("strategic", spec={"containers": [{"name": "c", "image": "i", "env": envs}], "restartPolicy": "Never"})
    own = [{"apiVersion": "v1", "kind": "A", "name": f"o{n}", "uid": f"u{n}"} for n in range(min(size, 2000))]
    changes: list[Object] = [
        {"metadata": {"ownerReferences": own}},
        {"metadata": {"$deleteFromPrimitiveList/finalizers": names("x/", size)}},
        {"spec": {"tolerations": [{"key": f"k{number}", "operator": "Exists"} for number in range(size)]}},
        {"metadata": {"labels": dict.fromkeys(names("l", size), "v")}},
        {"spec": {"containers": [{"name": "c", "image": "j", "$setElementOrder/env": [{"name": "e1"}] * size}]}},
    ]
    return [post(f"{place.core}/pods", body), *(Ask("PATCH", path, each, STRATEGIC) for each in changes)]


def pods(random: Random, size: int, place: Place, spec: Callable[[int], Object]) -> list[Ask]:
    """Containers that limits, quotas and an overhead add much to."""
    form = random.randrange(4)
    containers: list[Object] = [{"name": f"c{number}", "image": "i"} for number in range(min(size, 1000))]
    if form == 1:
        amounts = dict.fromkeys(names(POD_RESOURCES, size), "1")
        containers = [{**each, "resources": {"requests": amounts, "limits": amounts}} for each in containers[:10]]
    body: Object = {"containers": containers}
    if form == 2:
        body["initContainers"] = [{**each, "name": f"i{place_}"} for place_, each in enumerate(containers)]
        body["volumes"] = [{"name": f"v{number}", "emptyDir": {}} for number in range(min(size, 1000))]
    body |= random.choice(({}, {"runtimeClassName": place.space}))
    template = {"metadata": {"labels": {"a": "b"}}, "spec": body}
    made = named("x", spec={"replicas": 2, "selector": {"matchLabels": {"a": "b"}}, "template": template})
    if form == 3:
        return [post(f"{place.group('apps/v1')}/deployments", made)]
    return [post(f"{place.core}/pods{random.choice(QUERIES)}", named("p", spec=body))] * 2


def config_maps(random: Random, size: int, place: Place, spec: Callable[[int], Object]) -> list[Ask]:
    path = f"{place.core}/configmaps"
    body = config("mapped", size)
    changed = {"data": dict.fromkeys(names("k", size), "w")}
    media = random.choice((MERGE, STRATEGIC))
    return [post(path, body), Ask("PATCH", f"{path}/mapped", changed, media), Ask("DELETE", f"{path}/mapped")]


def small_writes(random: Random, size: int, place: Place, spec: Callable[[int], Object]) -> list[Ask]:
    """What watches, quotas and indexes see many of."""
    asked = [post(f"{place.core}/configmaps", config(f"s{number}", 1)) for number in range(8)]
    asked += [post(place.things(), thing(place, spec(1), f"s{number}")) for number in range(4)]
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return [*asked, post(f"{place.core}/persistentvolumeclaims", named("s", spec=claim))]


def services(random: Random, size: int, place: Place, spec: Callable[[int], Object]) -> list[Ask]:
    ports = [{"name": f"p{number}", "port": number + 1} for number in range(min(size * 3, 10_000))]
    kind = random.choice(("ClusterIP", "NodePort", "LoadBalancer"))
    path = f"{place.core}/services"
    changed = {"spec": {"ports": [{"port": port["port"], "targetPort": 5} for port in ports]}}
    body = named("x", spec={"type": kind, "ports": ports})
    return [post(path + random.choice(QUERIES), body), Ask("PATCH", f"{path}/x", changed, STRATEGIC)]


def autoscalers(random: Random, size: int, place: Place, spec: Callable[[int], Object]) -> list[Ask]:
    target = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}
    metrics = [{"type": "Resource", "resource": target}] * size
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"}
    body = named("x", spec={"maxReplicas": 3, "scaleTargetRef": reference, "metrics": metrics})
    path = place.group("autoscaling/v1") + "/horizontalpodautoscalers/x"
    return [post(f"{place.group('autoscaling/v2')}/horizontalpodautoscalers", body), Ask("GET", path)]


def policies(random: Random, size: int, place: Place, spec: Callable[[int], Object]) -> list[Ask]:
    """A network policy of many peers, each with a selector."""
    peers = [{"podSelector": {"matchLabels": {f"k{number}": "v"}}} for number in range(size)]
    rules = [{"from": peers[:50], "ports": [{"port": 1}] * 50} for _ in range(max(1, size // 50))]
    body = named("x", spec={"podSelector": {}, "ingress": rules})
    return [post(f"{place.group('networking.k8s.io/v1')}/networkpolicies", body)]


def reviews(random: Random, size: int, place: Place, spec: Callable[[int], Object]) -> list[Ask]:
    """Whether users of very many groups may do something, all new ones."""
    turn = random.randrange(1000)
    groups = [*names(f"n{turn}x", size * 4), f"g{size - 1}"]
    about: Object = {"namespace": place.space, "verb": "get", "resource": "pods"}
    resource = f"{_ACCESS}/namespaces/{place.space}/localsubjectaccessreviews"
    asked = [
        post(f"/apis/{resource}", {"metadata": {"namespace": place.space}, "spec": each})
        for each in (
            {"user": f"g{size - 1}", "groups": groups, "resourceAttributes": about},
            {"user": "u", "groups": groups, "extra": {"a": groups}, "resourceAttributes": about | {"name": "x" * 900}},
        )
    ]
    mine = {"spec": {"namespace": place.space}}
    requirement = {"key": "a", "operator": "In", "values": groups}
    own = {"spec": {"resourceAttributes": about | {"labelSelector": {"requirements": [requirement] * 3}}}}
    return [
        *asked,
        post(f"/apis/{_ACCESS}/selfsubjectrulesreviews", mine, user=PLAIN),
        post(f"/apis/{_ACCESS}/selfsubjectaccessreviews", own, user=PLAIN),
        *(Ask("GET", f"{place.core}/pods/new{turn}x{number}", user=PLAIN) for number in range(4)),
    ]


def roles(random: Random, size: int, place: Place, spec: Callable[[int], Object]) -> list[Ask]:
    """A role by one who may write roles, and has what its rules allow or not."""
    stem = random.choice(("g", "o"))
    rules = [{"verbs": ["get"], "apiGroups": [f"{stem}{n}"], "resources": [f"r{n}"]} for n in range(size)]
    if random.random() < 0.3:
        few = names("x", max(2, round(size ** (1 / 3))))
        rules = [{"verbs": few, "apiGroups": few, "resources": few, "resourceNames": few}]
    body = named("x", rules=rules)
    return [post(f"{RBAC}/namespaces/{place.space}/roles", body, user=PLAIN)]


def reads(random: Random, size: int, place: Place, spec: Callable[[int], Object]) -> list[Ask]:
    """Lists, tables, pages and selections, in each version and form."""
    made = [post(place.things(), thing(place, spec(size), f"r{number}")) for number in range(3)]
    path = random.choice((place.things(), place.things("v2"), f"{place.core}/configmaps"))
    accepts = (
        JSON,
        TABLE,
        TABLE,
        "application/yaml",
        "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    )
    queries = ("", "?limit=2", f"?labelSelector={selector(random, size, 0)}", "?watch=1&timeoutSeconds=0")
    return [*made, *(Ask("GET", path + random.choice(queries[:3]), accept=random.choice(accepts)) for _ in range(3))]


def selected(random: Random, size: int, place: Place, spec: Callable[[int], Object]) -> list[Ask]:
    """Long selectors over what is stored, to list and to delete by."""
    path = random.choice((place.things(), f"{place.core}/configmaps"))
    chosen = selector(random, size, 1)
    return [Ask("GET", f"{path}?labelSelector={chosen}"), Ask("DELETE", f"{path}?labelSelector={chosen}")]


def versions(random: Random, size: int, place: Place, spec: Callable[[int], Object]) -> list[Ask]:
    """Written in one version, read and changed in another."""
    path = f"{place.things('v2')}/v"
    return [
        post(place.things(), thing(place, spec(size), "v")),
        Ask("GET", path),
        Ask("GET", place.things("v2"), accept=TABLE),
        Ask("PATCH", path, {"metadata": {"labels": {"a": "b"}}}, MERGE),
        Ask("PATCH", f"{path}?fieldManager=v&force=true", thing(place, spec(size), "v", "v2"), APPLY),
    ]


def subresources(random: Random, size: int, place: Place, spec: Callable[[int], Object]) -> list[Ask]:
    path = f"{place.things()}/s"
    scale = {"spec": {"replicas": 3}}
    return [
        post(place.things(), thing(place, spec(size), "s")),
        Ask("PATCH", f"{path}/status", {"status": spec(size)}, MERGE),
        Ask("GET", f"{path}/scale"),
        Ask("PATCH", f"{path}/scale", scale, MERGE),
        Ask("GET", f"{path}/status", accept=TABLE),
    ]


def redefined(random: Random, size: int, place: Place, spec: Callable[[int], Object]) -> list[Ask]:
    """The definition changes, and is used for the first time."""
    crd = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{place.plural}.{GROUP}"
    return [
        post(place.things(), thing(place, spec(size), "d")),
        Ask("PATCH", crd, {"spec": {"names": {"shortNames": ["y"]}}}, MERGE),
        Ask("GET", place.things(), accept=TABLE),
        Ask("PATCH", f"{place.things()}/d", {"metadata": {"labels": {"a": "b"}}}, MERGE),
        Ask("GET", f"/openapi/v3/apis/{GROUP}/v1"),
    ]


def documents(random: Random, size: int, place: Place, spec: Callable[[int], Object]) -> list[Ask]:
    """What is published of all kinds."""
    paths = ("/openapi/v2", f"/openapi/v3/apis/{GROUP}/v1", "/apis", f"/apis/{GROUP}/v1", "/metrics")
    crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    return [*(Ask("GET", path) for path in paths), Ask("GET", crds), Ask("GET", crds, accept=TABLE)]


def deleted(random: Random, size: int, place: Place, spec: Callable[[int], Object]) -> list[Ask]:
    """Many objects at once."""
    made = [post(place.things(), thing(place, spec(min(size, 20)), f"d{number}")) for number in range(5)]
    options = {
        "kind": "DeleteOptions",
        "apiVersion": "v1",
        "propagationPolicy": random.choice(("Background", "Orphan")),
    }
    path = random.choice((place.things(), f"{place.core}/configmaps"))
    return [*made, Ask("DELETE", path, options)]


ACTS: dict[str, Act] = {
    "create": create,
    "create and change": create_and_change,
    "apply": apply,
    "JSON patch": operations,
    "strategic patch": strategic,
    "pods": pods,
    "config maps": config_maps,
    "small writes": small_writes,
    "services": services,
    "autoscalers": autoscalers,
    "network policies": policies,
    "reviews": reviews,
    "roles": roles,
    "reads": reads,
    "selectors": selected,
    "versions": versions,
    "subresources": subresources,
    "a changed definition": redefined,
    "documents": documents,
    "delete": deleted,
}
# what is stored, and what it makes expensive: half of all pairs
FITTING: dict[str, tuple[str, ...]] = {
    "policies": ("config maps", "create", "create and change", "JSON patch"),
    "mutating policies": ("config maps", "create"),
    "webhooks": ("config maps", "create"),
    "limit ranges": ("pods",),
    "quotas": ("pods", "small writes", "services"),
    "a runtime class": ("pods",),
    "bindings": ("reviews", "roles"),
    "watches": ("small writes", "create", "create and change", "config maps"),
    "config maps": ("selectors", "reads", "delete"),
    "claims": ("small writes",),
    "services and budgets": ("pods", "small writes"),
}
