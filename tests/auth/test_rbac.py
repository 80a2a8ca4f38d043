"""Decisions from what is stored, held against a naive reading of all bindings, through random changes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podless.apis.rbac import rbac
from podless.apis.rbac.group import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, ROLE_BINDINGS, ROLES
from podless.auth import rbac as module
from podless.auth.authorizer import Attributes
from podless.auth.rbac import RBAC
from podless.auth.rules import RoleRules
from podless.auth.user import User
from podless.cache.cache import Cache
from podless.cache.entry import Entry
from podless.kinds import view
from podless.kinds.kind import Kind
from podless.store import Operation, Record
from podless.store.sqlite import SQLiteStore
from tests.auth.test_rules import any_rule, paths, plainly, resources
from tests.cost import Allowance, metered, stretch

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
    st.tuples(st.just(ROLES), spaces, names, st.none() | roles),
    st.tuples(st.just(CLUSTER_ROLES), st.just(""), names, st.none() | roles),
    st.tuples(st.just(ROLE_BINDINGS), spaces, names, st.none() | st.tuples(refs, subjects)),
    st.tuples(
        st.just(CLUSTER_ROLE_BINDINGS),
        st.just(""),
        names,
        st.none() | st.tuples(st.tuples(st.just("ClusterRole"), names), subjects),
    ),
)
Model = dict[str, Any]


def document(kind: Kind, namespace: str, name: str, body: Any) -> dict[str, Any]:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    obj: dict[str, Any] = {"kind": kind.kind, "apiVersion": f"{rbac.GROUP}/v1", "metadata": metadata}
    if kind in (ROLES, CLUSTER_ROLES):
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
        where = (ROLES, namespace) if ref["kind"] == "Role" else (CLUSTER_ROLES, "")
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
            stored = view.encode_object(kind, dict(model[key]))
            revisions[key] = await store.commit([Operation(key, stored, revisions.get(key, 0))])
        if number >= half:
            for asked in questions:
                for user in USERS:
                    assert authorizer.is_allowed(user, asked) == naively(model, user, asked)
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


class Counted(str):
    """A name that counts how often it is compared."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


@asynccontextmanager
async def deciding(*objects: tuple[Kind, str, Any]) -> AsyncIterator[RBAC]:
    """What decides by these objects: each a kind, a name and what `document` takes; all of the namespace "one"."""
    store = SQLiteStore(None)
    cache = Cache(store)
    await store.open()
    await cache.open()
    authorizer = RBAC(cache)
    await authorizer.start()
    for kind, name, body in objects:
        space = "one" if kind.namespaced else ""
        obj = document(kind, space, name, body)
        await store.commit([Operation(kind.key(space, name), view.encode_object(kind, obj), 0)])
    yield authorizer
    await store.close()


def groups(*numbers: int) -> list[dict[str, str]]:
    return [{"kind": "Group", "apiGroup": rbac.GROUP, "name": f"g{number}"} for number in numbers]


def called(number: int) -> Attributes:
    return Attributes("get", "g.io", "v1", "cogs", "", "one", f"n{number}")


def rule(*names: str) -> dict[str, Any]:
    return {"verbs": ["get"], "apiGroups": ["g.io"], "resources": ["cogs"], "resourceNames": [*names]}


async def test_many_groups_meet_many_subjects_at_the_cost_of_both() -> None:
    bound = (("Role", "x"), groups(*range(3000)))
    async with deciding((ROLES, "x", [rule("n1")]), (ROLE_BINDINGS, "b", bound)) as authorizer:
        user = User("ann", "", tuple(Counted(f"g{number}") for number in range(2999, 6000)))
        Counted.compared = 0
        assert authorizer.decide(user, called(1)).reason.endswith('RoleBinding "b/one" of Role "x" to Group "g2999"')
        assert not authorizer.decide(user, called(2)).allowed
        assert Counted.compared < 10 * 3000


async def test_a_user_of_very_many_groups_is_judged_in_short_stretches() -> None:
    bound = (("Role", "x"), groups(*range(5000)))
    async with deciding((ROLES, "x", [rule("n1")]), (ROLE_BINDINGS, "b", bound)) as authorizer:
        for first, answer in ((4999, True), (5000, False)):
            user = User("ann", "", tuple(f"g{number}" for number in range(first, first + 50_000)))
            assert stretch(partial(authorizer.decide, user, called(1))) < 10_000
            assert authorizer.decide(user, called(1)).allowed is answer


async def test_the_subject_that_is_told_is_the_first_of_the_binding() -> None:
    accounts = [
        {"kind": "ServiceAccount", "name": "robot"},
        {"kind": "ServiceAccount", "name": "robot", "namespace": "one"},
        {"kind": "User", "apiGroup": rbac.GROUP, "name": "system:serviceaccount:one:robot"},
    ]
    user = User("system:serviceaccount:one:robot", "", ("g1", "g2"))
    for whom, told in (
        ([*accounts, *groups(1)], 'ServiceAccount "robot/"'),
        (accounts[1:], 'ServiceAccount "robot/one"'),
        (accounts[:0:-1], 'User "system:serviceaccount:one:robot"'),
        ([*groups(3, 2, 1), *accounts], 'Group "g2"'),
    ):
        binding = ROLE_BINDINGS, "b", (("Role", "x"), whom)
        async with deciding((ROLES, "x", [rule()]), binding) as authorizer:
            assert authorizer.decide(user, called(1)).reason.endswith(f'of Role "x" to {told}')


async def test_decisions_are_kept_by_their_length() -> None:
    async with deciding() as authorizer:
        for number in range(3):
            asked = User("ann", "", tuple(f"group-{number}-{group}" for group in range(10_000)))
            assert not authorizer.decide(asked, called(1)).allowed
        assert authorizer.cached_size == 0  # the question would be in memory for as long as the answer
        user = User("bob", "", tuple(f"group-{group}" for group in range(1000)))
        seen = []
        for number in range(2000):
            first = authorizer.decide(user, called(number))
            assert authorizer.decide(user, called(number)) is first
            seen.append(authorizer.cached_size)
        assert max(seen) <= 8 << 20  # as many as there is room for: one goes for one that comes
        assert min(seen[1500:]) > (8 << 20) - 32_000


async def test_a_new_name_costs_no_more_where_there_are_more_rules() -> None:
    costs = []
    for count in (500, 4000):
        rules = [rule(f"n{number}") for number in range(count)]
        everybody = (("Role", "x"), [{"kind": "User", "apiGroup": rbac.GROUP, "name": "ann"}])
        async with deciding((ROLES, "x", rules), (ROLE_BINDINGS, "b", everybody)) as authorizer:
            user, wanted = User("ann"), [rule("n7")]
            assert authorizer.decide(user, called(0)).allowed
            assert authorizer.find_missing_rules(user, "one", wanted) == ([], [])
            asked = metered(Allowance(), partial(authorizer.decide, user), called(count))
            granted = metered(Allowance(), partial(authorizer.find_missing_rules, user, "one"), wanted)
            costs.append((asked, granted))
    assert costs[0] == costs[1]


async def test_the_rules_of_long_roles_are_compiled_in_slices() -> None:
    bound = (("Role", "x"), [{"kind": "User", "apiGroup": rbac.GROUP, "name": "ann"}])
    rules = [rule(f"n{number}") for number in range(1000)]
    async with deciding((ROLES, "x", rules), (ROLE_BINDINGS, "b", bound)) as authorizer:
        user, asked = User("ann"), called(1)
        assert not authorizer.is_costly(User("bob"), asked)
        assert not authorizer.is_costly(user, asked._replace(namespace="two"))
        assert authorizer.is_costly(user, asked)
        meter = Allowance()
        metered(meter, lambda asked: authorizer.decide(user, asked), asked)
        assert meter.charged > 1000
        assert not authorizer.is_costly(user, called(2))


async def test_a_decision_is_not_kept_where_something_changes_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    bound = (("Role", "x"), [{"kind": "User", "apiGroup": rbac.GROUP, "name": "ann"}])
    async with deciding((ROLES, "x", [rule()]), (ROLE_BINDINGS, "b", bound)) as authorizer:

        def compiled(role: Any) -> RoleRules:
            authorizer._drop_decisions(())  # as if another request had its turn here
            return RoleRules(role.decode()["rules"])

        monkeypatch.setattr(authorizer, "_compile_rules", compiled)
        assert authorizer.decide(User("ann"), called(1)).allowed
        assert authorizer.cached_size == 0


async def test_a_long_role_that_changes_while_it_is_compiled_is_compiled_in_slices_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bound = (("Role", "x"), [{"kind": "User", "apiGroup": rbac.GROUP, "name": "ann"}])
    rules = [rule(f"n{number}") for number in range(1000)]
    async with deciding((ROLES, "x", rules), (ROLE_BINDINGS, "b", bound)) as authorizer:
        key, stored = ROLES.key("one", "x"), view.encode_object(ROLES, document(ROLES, "one", "x", rules))
        later = Entry(Record(key, stored, 9, 1))

        def compile_rules(given: Any) -> RoleRules:
            authorizer._note_role(later)  # as if another request had its turn here
            return RoleRules(given)

        monkeypatch.setattr(module, "RoleRules", compile_rules)
        assert authorizer.decide(User("ann"), called(1)).allowed
        assert authorizer.is_costly(User("ann"), called(2))
