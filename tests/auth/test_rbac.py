"""Decisions from what is stored, held against a naive reading of all bindings, through random changes."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from podless.auth.attributes import Attributes
from podless.auth.rbac import RBAC
from podless.auth.user import User
from podless.cache.cache import Cache
from podless.kinds import view
from podless.kinds.builtin import rbac
from podless.kinds.kind import Kind
from podless.store import Operation
from podless.store.sqlite import SQLiteStore
from tests.auth.test_rules import any_rule, paths, plainly, resources

SPACES = ["one", "two"]
USERS = [
    User("ann", "", ("devs", "system:authenticated")),
    User("bob", "", ("ops",)),
    User("system:serviceaccount:one:robot", "", ("system:serviceaccounts", "system:serviceaccounts:one")),
]
SUBJECTS = [
    {"kind": "User", "apiGroup": rbac.GROUP, "name": "ann"},
    {"kind": "User", "apiGroup": rbac.GROUP, "name": "system:serviceaccount:one:robot"},
    {"kind": "Group", "apiGroup": rbac.GROUP, "name": "devs"},
    {"kind": "Group", "apiGroup": rbac.GROUP, "name": "ops"},
    {"kind": "ServiceAccount", "name": "robot", "namespace": "one"},
    {"kind": "ServiceAccount", "name": "robot"},
]

names = st.sampled_from(["x", "y"])
spaces = st.sampled_from(SPACES)
roles = st.lists(any_rule, max_size=2)
refs = st.tuples(st.sampled_from(["Role", "ClusterRole"]), names)
subjects = st.lists(st.sampled_from(SUBJECTS), max_size=2)
changes = st.one_of(
    st.tuples(st.just(rbac.ROLES), spaces, names, st.none() | roles),
    st.tuples(st.just(rbac.CLUSTER_ROLES), st.just(""), names, st.none() | roles),
    st.tuples(st.just(rbac.ROLE_BINDINGS), spaces, names, st.none() | st.tuples(refs, subjects)),
    st.tuples(
        st.just(rbac.CLUSTER_ROLE_BINDINGS),
        st.just(""),
        names,
        st.none() | st.tuples(st.tuples(st.just("ClusterRole"), names), subjects),
    ),
)
Model = dict[str, Any]


def document(kind: Kind, namespace: str, name: str, body: Any) -> dict[str, Any]:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    obj: dict[str, Any] = {"kind": kind.kind, "apiVersion": f"{rbac.GROUP}/v1", "metadata": metadata}
    if kind in (rbac.ROLES, rbac.CLUSTER_ROLES):
        return obj | {"rules": body}
    (role_kind, role), whom = body
    return obj | {"subjects": whom, "roleRef": {"apiGroup": rbac.GROUP, "kind": role_kind, "name": role}}


def applies(subject: dict[str, str], user: User, namespace: str) -> bool:
    if subject["kind"] == "User":
        return subject["name"] == user.name
    if subject["kind"] == "Group":
        return subject["name"] in user.groups
    space = subject.get("namespace") or namespace
    return bool(space) and user.name == f"system:serviceaccount:{space}:{subject['name']}"


def naively(model: Model, user: User, asked: Attributes) -> bool:
    for key, obj in model.items():
        if "roleRef" not in obj:
            continue
        namespace = obj["metadata"].get("namespace", "")
        if "/rolebindings/" in key and namespace != asked.namespace:
            continue
        if not any(applies(subject, user, namespace) for subject in obj["subjects"]):
            continue
        ref = obj["roleRef"]
        where = (rbac.ROLES, namespace) if ref["kind"] == "Role" else (rbac.CLUSTER_ROLES, "")
        role = model.get(where[0].key(where[1], ref["name"]))
        if role is not None and any(plainly(rule, asked) for rule in role["rules"]):
            return True
    return False


async def play(steps: list[Any], questions: list[Attributes]) -> None:
    store = SQLiteStore(None)
    cache = Cache(store)
    await store.open()
    await cache.open()
    authorizer = RBAC(cache)
    half = len(steps) // 2
    model: Model = {}
    revisions: dict[str, int] = {}
    for number, (kind, namespace, name, body) in enumerate(steps):
        if number == half:
            await authorizer.start()
        key = kind.key(namespace, name)
        if body is None:
            if model.pop(key, None) is not None:
                await store.commit([Operation(key, None, revisions.pop(key))])
        else:
            model[key] = document(kind, namespace, name, body)
            stored = view.encode(kind, dict(model[key]))
            revisions[key] = await store.commit([Operation(key, stored, revisions.get(key, 0))])
        if number >= half:
            for asked in questions:
                for user in USERS:
                    assert authorizer.allowed(user, asked) == naively(model, user, asked)
    await store.close()


@settings(deadline=None)
@given(
    st.lists(changes, min_size=1, max_size=8),
    st.lists(
        st.builds(lambda asked, space: asked._replace(namespace=space), resources, st.sampled_from(["", *SPACES]))
        | paths,
        min_size=1,
        max_size=3,
    ),
)
def test_decisions_are_those_of_a_naive_reading(steps: list[Any], questions: list[Attributes]) -> None:
    asyncio.run(play(steps, questions))


async def test_decisions_about_long_names_are_not_kept() -> None:
    store = SQLiteStore(None)
    await store.open()
    authorizer = RBAC(Cache(store))
    await authorizer.start()
    for name, kept in (("short", True), ("x" * 2000, False)):
        asked = Attributes("get", "g.io", "v1", "cogs", "", "one", name)
        first, second = authorizer.decide(USERS[0], asked), authorizer.decide(USERS[0], asked)
        assert first == second
        assert (first is second) == kept
    await store.close()
