"""What a request costs for what was stored before: both grow, and in no pair the one multiplies the other.

Each body is sent beside each thing that can be stored, in two sizes of both. Where Kubernetes asks for something of
each item and each stored part (a rule for each item, a column of each row) the pair is in PRODUCTS, and may cost that.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any, NamedTuple

import pytest

from podless.cache import events
from podless.runtime import slices
from podless.runtime.jsonobject import Object
from podless.testing import ask as asking
from tests.conftest import CRDS, definition
from tests.cost import Lines
from tests.http.test_request_cost import CORE, named, numbers
from tests.inside import Ask, Inside, applied, merge, operations

pytestmark = pytest.mark.slow

ADMISSION = "/apis/admissionregistration.k8s.io/v1"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
GROUP_OF_RBAC = "rbac.authorization.k8s.io"
TABLE = {"accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
SIZE = 24  # of what is stored, and of a body; the other size is twice as much
EACH = 0.5  # lines or steps for each item of a body and each stored part that do not count
GROWTH = 2.3  # times that a request may cost where both are twice as large
SLACK = 10 * SIZE  # lines
PRODUCT = 4.4  # the same where one is asked for each of the other
ATTEMPTS = 3
TURN = itertools.count()


class Place(NamedTuple):
    """Where a pair is: a kind and names of its own."""

    turn: int

    @property
    def group(self) -> str:
        return f"g{self.turn}.stored.example.com"

    @property
    def gadgets(self) -> str:
        return f"/apis/{self.group}/v1/namespaces/default/gadgets"

    @property
    def name(self) -> str:
        return f"n{self.turn}"


class Stored(NamedTuple):
    """What there is before. text, obj: keywords of the schema of each text and each object.

    spec, version: more of the schema and of its version. asks: what is created beside it.
    """

    text: Object = {}
    obj: Object = {}
    spec: Object = {}
    version: Object = {}
    asks: list[Ask] = []


# what may be stored, in any size


def posted(path: str, body: Object) -> Ask:
    return Ask("POST", path, body)


def rules(size: int, subject: str = "self") -> list[Object]:
    return [{"rule": f"{subject} != 'v{number}'"} for number in range(size)]


def policy(place: Place, *expressions: str, **spec: Any) -> list[Ask]:
    written = ["CREATE", "UPDATE"]
    rule = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": written, "resources": ["configmaps", "gadgets"]}
    whole: Object = {
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": e} for e in expressions],
    }
    bound = {"policyName": place.name, "validationActions": ["Deny"]}
    return [
        posted(f"{ADMISSION}/validatingadmissionpolicies", named({"spec": whole | spec}, name=place.name)),
        posted(f"{ADMISSION}/validatingadmissionpolicybindings", named({"spec": bound}, name=place.name)),
    ]


def parameters(place: Place, size: int) -> list[Ask]:
    """A policy whose binding selects one of many parameters, which has as many values."""
    chosen = {"selector": {"matchLabels": {"of": place.name}}, "parameterNotFoundAction": "Deny"}
    made = policy(place, "params.data.k0 == 'v'", paramKind={"apiVersion": "v1", "kind": "ConfigMap"})
    made[1].body["spec"]["paramRef"] = chosen
    values = dict.fromkeys(numbers(size, "k"), "v")
    maps = [named({"data": values}, name=f"{place.name}-{n}", labels={"of": "others"}) for n in range(size)]
    maps[0]["metadata"]["labels"]["of"] = place.name
    return [*objects(place, f"{CORE}/configmaps", maps), *made]


def hooks(place: Place, size: int) -> list[Ask]:
    conditions = [{"name": f"c{number}", "expression": f"object.metadata.name != 'v{number}'"} for number in range(60)]
    hook = {
        "clientConfig": {"url": "https://127.0.0.1:1/"},
        "rules": [{"apiGroups": [""], "apiVersions": ["*"], "operations": ["*"], "resources": ["configmaps"]}],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "matchConditions": [*conditions, {"name": "no", "expression": "false"}],
    }
    named_hooks = [{**hook, "name": f"h{number}.example.com"} for number in range(max(1, size // 20))]
    return [posted(f"{ADMISSION}/validatingwebhookconfigurations", named({"webhooks": named_hooks}, name=place.name))]


def amounts(size: int) -> dict[str, str]:
    return dict.fromkeys((f"example.com/{name}" for name in numbers(size, "r")), "1")


def limits(place: Place, **limit: Any) -> list[Ask]:
    return [
        posted(f"{CORE}/limitranges", named({"spec": {"limits": [{"type": "Container", **limit}]}}, name=place.name))
    ]


def quota(place: Place, hard: dict[str, str]) -> list[Ask]:
    return [posted(f"{CORE}/resourcequotas", named({"spec": {"hard": hard}}, name=place.name))]


def claim(name: str) -> Object:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return named({"spec": spec}, name=name, labels={"a": "b"})


def bound(place: Place, size: int) -> list[Ask]:
    """A binding for many groups, of which the last is asked for."""
    subjects = [{"kind": "Group", "apiGroup": GROUP_OF_RBAC, "name": name} for name in [*numbers(size, "s"), "last"]]
    reference = {"apiGroup": GROUP_OF_RBAC, "kind": "ClusterRole", "name": "view"}
    body = {"subjects": subjects, "roleRef": reference}
    return [posted(f"{RBAC}/namespaces/default/rolebindings", named(body, name=place.name))]


def granted(place: Place, size: int) -> list[Ask]:
    """A role of many rules for one user, who may write roles."""
    listed = [{"verbs": ["get"], "apiGroups": ["x"], "resources": [name]} for name in numbers(size, "r")]
    own = {"verbs": ["*"], "apiGroups": [GROUP_OF_RBAC], "resources": ["roles"]}
    reference = {"apiGroup": GROUP_OF_RBAC, "kind": "ClusterRole", "name": place.name}
    user = {"kind": "User", "apiGroup": GROUP_OF_RBAC, "name": "writer"}
    body = {"subjects": [user], "roleRef": reference}
    return [
        posted(f"{RBAC}/clusterroles", named({"rules": [own, *listed]}, name=place.name)),
        posted(f"{RBAC}/clusterrolebindings", named(body, name=place.name)),
    ]


def objects(place: Place, path: str, bodies: Iterable[Object]) -> list[Ask]:
    return [posted(path, body) for body in bodies]


def many_maps(place: Place, size: int) -> list[Ask]:
    return objects(place, f"{CORE}/configmaps", (named({}, name=f"{place.name}-{n}") for n in range(size)))


def many_services(place: Place, size: int) -> list[Ask]:
    ports = [{"port": 80}]
    specs = ({"type": "NodePort", "ports": ports, "selector": {"a": "b"}} for _ in range(size))
    return objects(
        place, f"{CORE}/services", (named({"spec": spec}, name=f"{place.name}-{n}") for n, spec in enumerate(specs))
    )


def branches(keyword: str, size: int) -> Object:
    return {keyword: [{"maxLength": 0, "pattern": f"^v{number}$"} for number in range(size)] + [{"pattern": "^i"}]}


def properties(size: int) -> Object:
    return {"properties": {name: {"type": "string"} for name in numbers(size, "p")}}


def default(size: int) -> Object:
    return {"properties": {name: {"type": "string", "default": "d"} for name in numbers(size, "d")}}


def listed(size: int) -> Object:
    return {"properties": {"l": {"type": "array", "items": {"type": "integer"}, "default": list(range(size))}}}


def columns(size: int, path: str) -> Object:
    kinds = [{"name": name, "type": "string", "jsonPath": path} for name in numbers(size, "c")]
    return {"additionalPrinterColumns": kinds}


SCHEMAS: dict[str, Callable[[int], Stored]] = {
    "an enum of texts": lambda size: Stored(text={"enum": [*numbers(size * 2, "e"), *numbers(size * 4, "i")]}),
    "an enum of objects": lambda size: Stored(obj={"enum": [*({"k": name} for name in numbers(size * 4, "i"))]}),
    "anyOf": lambda size: Stored(text=branches("anyOf", size)),
    "oneOf": lambda size: Stored(text=branches("oneOf", size)),
    "allOf": lambda size: Stored(text={"allOf": [{"maxLength": 100 + number} for number in range(size)]}),
    "not": lambda size: Stored(text={"not": branches("allOf", size)}),
    "patterns": lambda size: Stored(text={"allOf": [{"pattern": f"^[a-z]{{0,{n}}}"} for n in range(size)]}),
    "default fields of items": lambda size: Stored(obj=default(size)),
    "a default of items": lambda size: Stored(obj=listed(size)),
    "default fields": lambda size: Stored(spec=default(size)),
    "fields": lambda size: Stored(spec=properties(size)),
    "fields of items": lambda size: Stored(obj=properties(size)),
    "fields that are missing": lambda size: Stored(obj={"required": numbers(size, "q")}),
    "rules": lambda size: Stored(spec={"x-kubernetes-validations": rules(size, "self.s")}),
    "rules of items": lambda size: Stored(text={"x-kubernetes-validations": rules(size), "maxLength": 9}),
    "columns": lambda size: Stored(version=columns(size, ".spec.s")),
    "columns of items": lambda size: Stored(version=columns(size, ".spec.texts[*]")),
    "columns of everything": lambda size: Stored(version=columns(size, "..k")),
}
BESIDE: dict[str, Callable[[Place, int], list[Ask]]] = {
    "a policy of many rules": lambda place, size: policy(
        place, *(f"object.metadata.name != 'v{number}'" for number in range(size))
    ),
    "a policy of rules over items": lambda place, size: policy(
        place, *(f"!has(object.data) || object.data.all(k, k != 'v{number}')" for number in range(size))
    ),
    "a policy of variables": lambda place, size: policy(
        place, "variables.v1 == 1", variables=[{"name": f"v{number}", "expression": "1"} for number in range(size)]
    ),
    "a policy with parameters": parameters,
    "webhooks": hooks,
    "limits": lambda place, size: limits(place, default=amounts(size), defaultRequest=amounts(size)),
    "bounds": lambda place, size: limits(place, max=amounts(size)),
    "a quota of resources": lambda place, size: quota(place, {f"requests.{name}": "9" for name in amounts(size)}),
    "a quota and what it counts": lambda place, size: [
        *objects(place, f"{CORE}/persistentvolumeclaims", map(claim, numbers(size, place.name))),
        *quota(place, {"persistentvolumeclaims": "100000", "requests.storage": "100Ti"}),
    ],
    "subjects": bound,
    "rights": granted,
    "config maps": many_maps,
    "services": many_services,
}
STORED = [*SCHEMAS, *BESIDE]


# what may be sent, in any size


def gadget(place: Place, spec: Object, name: str = "x") -> Object:
    return named({"apiVersion": f"{place.group}/v1", "kind": "Gadget", "spec": {"s": "a", **spec}}, name=name)


def life(place: Place, spec: Object) -> list[Ask]:
    path = f"{place.gadgets}/x"
    return [
        posted(place.gadgets, gadget(place, spec)),
        merge(path, {"metadata": {"labels": {"a": "b"}}}),
        applied(path, gadget(place, spec)),
        Ask("GET", path, None, TABLE),
        Ask("GET", place.gadgets, None, TABLE),
        Ask("DELETE", path),
    ]


def config(place: Place, size: int) -> list[Ask]:
    path = f"{CORE}/configmaps"
    body = named(
        {"data": dict.fromkeys(numbers(size, "k"), "v")}, name="x", labels=dict.fromkeys(numbers(size, "l"), "v")
    )
    changes = [{"op": "add", "path": f"/data/{name}", "value": "w"} for name in numbers(size, "k")]
    return [posted(path, body), operations(f"{path}/x", changes), Ask("DELETE", f"{path}/x")]


def pod(place: Place, size: int) -> list[Ask]:
    containers = [{"name": name, "image": "i"} for name in numbers(size, "c")]
    return [posted(f"{CORE}/pods?dryRun=All", named({"spec": {"containers": containers}}, name="x"))]


def review(place: Place, size: int) -> list[Ask]:
    about = {"verb": "get", "resource": "pods", "namespace": "default"}
    names = numbers(size, f"t{next(TURN)}x")
    path = "/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews"
    spec = {"user": "u", "groups": [*names, "last"], "resourceAttributes": about}
    return [posted(path, {"metadata": {"namespace": "default"}, "spec": spec})]


def role(place: Place, size: int) -> list[Ask]:
    """By one whose rules allow all that is in it, if there are as many."""
    listed_rules = [{"verbs": ["get"], "apiGroups": ["x"], "resources": [name]} for name in numbers(size, "r")]
    headers = {"impersonate-user": "writer", "impersonate-group": "system:authenticated"}
    path = f"{RBAC}/namespaces/default/roles?dryRun=All"
    return [Ask("POST", path, named({"rules": listed_rules}, name="x"), headers)]


def ports(place: Place, size: int) -> list[Ask]:
    spec = {"type": "NodePort", "ports": [{"name": name, "port": n + 1} for n, name in enumerate(numbers(size, "p"))]}
    path = f"{CORE}/services"
    return [posted(path, named({"spec": spec}, name="x")), Ask("DELETE", f"{path}/x")]


def claimed(place: Place, size: int) -> list[Ask]:
    path = f"{CORE}/persistentvolumeclaims"
    labels = dict.fromkeys(numbers(size, "l"), "v")
    body = claim("x")
    return [posted(f"{path}?dryRun=All", {**body, "metadata": {**body["metadata"], "labels": labels}})]


def selected(place: Place, size: int) -> list[Ask]:
    names = numbers(size, "l" * 30)  # so long that what short ones mean is not kept
    chosen = ",".join(f"!{name}" for name in names)
    fields = ",".join(f"metadata.name!={name}" for name in names)
    path = f"{CORE}/configmaps"
    return [Ask("GET", f"{path}?labelSelector={chosen}"), Ask("GET", f"{path}?fieldSelector={fields}")]


BODIES: dict[str, Callable[[Place, int], list[Ask]]] = {
    "texts": lambda place, size: life(place, {"texts": numbers(size, "i")}),
    "wrong texts": lambda place, size: [
        posted(f"{place.gadgets}?dryRun=All", gadget(place, {"texts": numbers(size, "w")}))
    ],
    "objects": lambda place, size: life(place, {"objects": [{"k": name} for name in numbers(size, "i")]}),
    "wrong objects": lambda place, size: [
        posted(f"{place.gadgets}?dryRun=All", gadget(place, {"objects": [{"k": "w"}] * size}))
    ],
    "a map": lambda place, size: life(place, {"map": dict.fromkeys(numbers(size, "m"), "v")}),
    "a config map": config,
    "a pod": pod,
    "a review": review,
    "a role": role,
    "ports": ports,
    "a claim": claimed,
    "selectors": selected,
}
OF_GADGETS = {"texts", "wrong texts", "objects", "wrong objects", "a map"}
# something is asked of each item and each stored part, or every item gets each of them
PRODUCTS = {
    *(("anyOf", body) for body in ("texts", "wrong texts")),
    *(("oneOf", body) for body in ("texts", "wrong texts")),
    *(("allOf", body) for body in ("texts", "wrong texts")),
    *(("not", body) for body in ("texts", "wrong texts")),
    *(("patterns", body) for body in ("texts", "wrong texts")),
    *(("default fields of items", body) for body in ("objects", "wrong objects")),
    *(("a default of items", body) for body in ("objects", "wrong objects")),
    *(("fields that are missing", body) for body in ("objects", "wrong objects")),
    ("an enum of texts", "wrong texts"),  # each error lists all values
    ("an enum of objects", "wrong objects"),
    *(("rules of items", body) for body in ("texts", "wrong texts")),
    ("columns of items", "texts"),
    *(("columns of everything", body) for body in ("texts", "objects", "a map")),
    ("a policy of rules over items", "a config map"),
    *((stored, "a pod") for stored in ("limits", "bounds")),
    ("config maps", "selectors"),
}


def schema(stored: Stored) -> Object:
    parts: Object = {
        "s": {"type": "string", "maxLength": 9},
        "texts": {"type": "array", "maxItems": 500, "items": {"type": "string", **stored.text}},
        "objects": {"type": "array", "items": {"type": "object", **stored.obj}},
        "map": {"type": "object", "additionalProperties": {"type": "string"}},
    }
    parts["objects"]["items"]["properties"] = {"k": {"type": "string"}, **stored.obj.get("properties", {})}
    spec = {"type": "object", **stored.spec, "properties": parts | stored.spec.get("properties", {})}
    turn = {"description": f"{next(TURN)}"}  # nothing is known of a schema from before
    return {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}, **turn}}


class Counts(NamedTuple):
    """What a request cost, in lines and in steps that were charged."""

    lines: int
    steps: int


def counted(inside: Inside, asked: list[Ask]) -> list[Counts]:
    found = []
    for ask in asked:
        status, told, lines = inside.ask(ask)
        assert status < 500, (status, ask.method, ask.target, told[:300])
        found.append(Counts(lines, inside.charged))
    return found


def beside(inside: Inside, name: str, bodies: Iterable[str], size: int) -> dict[tuple[str, int], list[Counts]]:
    """What the requests of some bodies cost in two sizes, beside what is stored in one."""
    place = Place(next(TURN))
    stored = SCHEMAS[name](size) if name in SCHEMAS else Stored(asks=BESIDE[name](place, size))
    crd = definition(place.group, schema=schema(stored), **stored.version)
    made = [posted(CRDS, crd), *stored.asks]
    for ask in made:
        status, told = inside.send(ask)
        assert status == 201, (ask.target, told[:500])
    found: dict[tuple[str, int], list[Counts]] = {}
    for body in bodies:
        for ask in BODIES[body](place, SIZE * 2):  # what is only done once
            inside.send(ask)
        for times in (1, 2):
            found[body, times] = counted(inside, BODIES[body](place, SIZE * times))
    for ask in reversed(made):
        path = ask.target.partition("?")[0] + "/" + ask.body["metadata"]["name"]
        inside.send(merge(path, {"metadata": {"finalizers": None}}))
        inside.send(Ask("DELETE", path))
    return found


def fault(counts: dict[tuple[int, int], int], product: bool, steps: bool = False) -> str:
    """What is wrong with the costs of a request, by sizes of the body and of what is stored.

    steps: they are charged from a number of items on only, and may begin anywhere.
    """
    both, one = counts[2, 2], counts[1, 1]
    if not steps and both > (PRODUCT if product else GROWTH) * one + SLACK:
        return f"grows {both / max(one, 1):.1f} times"
    more = both - counts[2, 1] - counts[1, 2] + one  # what is for each of both together
    if not product and more > EACH * SIZE * SIZE:
        return f"takes {more / SIZE / SIZE:.1f} for each of both"
    return ""


@pytest.mark.parametrize("stored", STORED)
def test_what_is_sent_and_what_is_stored(inside: Inside, stored: str) -> None:
    """A schema is nothing to requests of other kinds: beside one only its own objects are sent."""
    least: dict[tuple[str, int, int], list[Counts]] = {}
    wrong = {body: "" for body in BODIES if body in OF_GADGETS or stored not in SCHEMAS}
    for _ in range(ATTEMPTS):  # what a controller does meanwhile can make a request begin again
        for size in (1, 2):
            for (body, times), found in beside(inside, stored, wrong, SIZE * size).items():
                before = least.get((body, times, size), found)
                pairs = zip(found, before, strict=True)
                least[body, times, size] = [Counts(*map(min, new, old)) for new, old in pairs]
        wrong = {body: told for body in wrong if (told := faults(least, stored, body))}
        if not wrong:
            return
    assert not wrong, "\n".join(wrong.values())


def faults(least: dict[tuple[str, int, int], list[Counts]], stored: str, body: str) -> str:
    """What is wrong with the costs of the requests of a body, by its name and both sizes."""
    product = (stored, body) in PRODUCTS
    wrong: list[str] = []
    for (place, ask), part in itertools.product(enumerate(BODIES[body](Place(0), 1)), Counts._fields):
        counts = {(times, size): getattr(least[body, times, size][place], part) for times in (1, 2) for size in (1, 2)}
        if told := fault(counts, product, part == "steps"):
            wrong.append(f"{body}: {ask.method} {ask.target[:80]}: {part} {told}: {counts}")
    return "\n".join(wrong)


WATCHES: dict[str, Callable[[int], list[str]]] = {
    "many watches": lambda size: [f"a!=v{number}" for number in range(size)],
    "many watches of one label": lambda size: [f"a=v{number}" for number in range(size)],
    "a long selector": lambda size: [",".join(f"!x{label}" for label in range(size))],
    "a selector of many values": lambda size: [f"a notin ({','.join(numbers(size, 'v'))})"],
}


@pytest.mark.parametrize("form", WATCHES)
def test_watches(inside: Inside, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change, with all that the loop does until the last watch is told of it.

    The times stand still: a delivery that is slow takes more turns of the loop, and a turn costs lines, too.
    """
    monkeypatch.setattr(events, "_clock", lambda: 0.0)
    monkeypatch.setattr(slices, "SLICE", math.inf)
    least: dict[tuple[int, int], int] = {}
    told = ""
    for _ in range(ATTEMPTS):
        for size in (1, 2):
            for times in (1, 2):
                found = inside._loop.run_until_complete(_delivered(inside, WATCHES[form](SIZE * size), SIZE * times))
                least[times, size] = min(found, least.get((times, size), found))
        told = fault(least, False)
        if not told:
            return
    assert not told, (told, least)


class _Ours(Lines):
    """Counts lines of podless alone: how often the loop turns meanwhile is by chance.

    Those of codec do not count: the readers decode each event, which takes more lines for some random uids than others.
    """

    def __init__(self) -> None:
        super().__init__()
        every = self._trace

        def trace(frame: FrameType, event: str, arg: Any) -> Any:
            file = frame.f_code.co_filename
            return every(frame, event, arg) if "/podless/" in file and "/podless/codec/" not in file else None

        self._trace = trace


async def _delivered(inside: Inside, selectors: list[str], labels: int) -> int:
    """The lines of a create of a config map of so many labels, and of its delivery."""
    path, name = f"{CORE}/configmaps", f"w{next(TURN)}"
    open_ = [await asking.Lines.of(inside._app, path, labelSelector=each) for each in selectors]
    last = await asking.Lines.of(inside._app, path, fieldSelector=f"metadata.name={name}")
    body = named({}, name=name, labels=dict.fromkeys(numbers(labels, "l"), "v"))
    count = _Ours()
    with count:  # all but the request's own steps, which it counts itself
        status, _, lines = await inside._ask(posted(path, body))
        await last.next()
    assert status == 201
    for each in (*open_, last):
        each.stop()
    await inside._ask(Ask("DELETE", f"{path}/{name}"))
    return lines + count.number
