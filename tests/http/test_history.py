"""The log over HTTP: what it tells, to whom, and objects as they were."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from podless.auth.user import User
from podless.history import reader
from podless.http.message import HTTPRequest, Response, settle_answer
from podless.remote.cluster import Refused, RemoteGone
from podless.server import Server
from podless.store.history import Keep
from podless.testing.ask import Lines, ask_app
from tests.conftest import tries
from tests.history.writes import write_and_compare

LOG = "/apis/history.podless.dev/v1"
USERS = {f"token-{name}": User(name, name, ("system:authenticated",)) for name in ("ann", "bob", "eve")}
NAMES = ["a", "b"]
NAMESPACES = ["default", "kube-public"]


def path_of(namespace: str, plural: str, name: str = "") -> str:
    return f"/api/v1/namespaces/{namespace}/{plural}" + (f"/{name}" if name else "")


async def ask_as(server: Server, token: str, method: str, path: str, body: Any = None, **query: str) -> Any:
    """The answer to a user: its status and its document."""
    from urllib.parse import urlencode

    from podless.codec import serializer

    app = server._get_app()
    headers = {"authorization": f"Bearer {token}", "accept": "application/json", "user-agent": "test"}
    request = HTTPRequest.of(method, f"{path}?{urlencode(query)}" if query else path, headers)
    if body is not None:
        request.body = serializer.encode_json(body)
        request.length = len(request.body)
        headers["content-type"] = "application/json"
    assert app.handler is not None
    answer = await settle_answer(app.handler(request))
    assert isinstance(answer, Response)
    return answer.status, serializer.decode_json(b"".join(answer.chunks))


def config_map(name: str, **data: str) -> Any:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


async def test_a_default_server_does_not_show_the_group_in_discovery() -> None:
    async with Server() as server:
        groups = (await ask_app(server._get_app(), "GET", "/apis"))["groups"]
        assert "history.podless.dev" not in [group["name"] for group in groups]
        with pytest.raises(Refused):
            await ask_app(server._get_app(), "GET", LOG)


async def test_with_the_history_log_discovery_and_openapi_have_it() -> None:
    async with Server(history_log=Keep()) as server:
        app = server._get_app()
        [resource] = (await ask_app(app, "GET", LOG))["resources"]
        assert (resource["name"], resource["kind"], resource["verbs"]) == (
            "history",
            "Change",
            ["get", "list", "watch"],
        )
        document = await ask_app(app, "GET", f"/openapi/v3{LOG}")
        assert "dev.podless.history.v1.Change" in document["components"]["schemas"]
        listed = await ask_app(app, "GET", f"{LOG}/namespaces/default/history")
        assert {one["object"]["resource"] for one in listed["items"]} >= {"serviceaccounts"}


async def test_nothing_can_be_written_to_it() -> None:
    async with Server() as server:
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            with pytest.raises(Refused) as refused:
                await ask_app(server._get_app(), method, f"{LOG}/namespaces/default/history/1", {})
            assert refused.value.code in (404, 405)


async def test_a_watch_tells_changes_as_they_are_made() -> None:
    async with Server() as server:
        app = server._get_app()
        lines = await Lines.of(app, f"{LOG}/namespaces/default/history", fieldSelector="object.name=one")
        await ask_app(app, "POST", path_of("default", "configmaps"), config_map("other"))
        await ask_app(app, "POST", path_of("default", "configmaps"), config_map("one"))
        await ask_app(app, "PUT", path_of("default", "configmaps", "one"), config_map("one", a="b"))
        for expected in ("create", "update"):
            event = await lines.next()
            assert event is not None
            assert (event["type"], event["object"]["operation"]) == ("ADDED", expected)
        lines.stop()


async def test_pages_have_every_change_once() -> None:
    async with Server() as server:
        app = server._get_app()
        for number in range(7):
            await ask_app(app, "POST", path_of("default", "configmaps"), config_map(f"c{number}"))
        query = {"fieldSelector": "object.resource=configmaps", "limit": "3"}
        found, token = [], ""
        while True:
            page = await ask_app(app, "GET", f"{LOG}/namespaces/default/history", **query, **{"continue": token})
            found += [one["object"]["name"] for one in page["items"]]
            token = page["metadata"]["continue"]
            if not token:
                break
        assert found == [f"c{number}" for number in reversed(range(7))]


async def test_a_page_ends_before_its_changed_fields_take_much_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "_PAGE_BYTES", 1 << 20)
    async with Server() as server:
        app = server._get_app()
        where = path_of("default", "configmaps")
        await ask_app(app, "POST", where, config_map("a"))
        for value in range(5):
            data = {f"k{number}": str(value) for number in range(2_000)}
            await ask_app(app, "PUT", f"{where}/a", config_map("a", **data))
        query = "fieldSelector=object.name=a"
        page = await ask_app(app, "GET", f"{LOG}/namespaces/default/history?{query}")
        assert 1 <= len(page["items"]) < 5
        rest = await ask_app(
            app, "GET", f"{LOG}/namespaces/default/history?{query}&continue={page['metadata']['continue']}"
        )
        assert rest["items"][0]["revision"] < page["items"][-1]["revision"]


async def test_the_log_is_listed_up_to_a_revision_as_objects_are() -> None:
    async with Server() as server:
        app = server._get_app()
        path, log = path_of("default", "configmaps"), f"{LOG}/namespaces/default/history"
        made = [await ask_app(app, "POST", path, config_map(f"c{number}")) for number in range(4)]
        revision = made[1]["metadata"]["resourceVersion"]

        async def read(**query: str) -> tuple[list[str], Any]:
            page = await ask_app(app, "GET", log, fieldSelector="object.resource=configmaps", **query)
            return [one["object"]["name"] for one in page["items"]], page["metadata"]

        names, metadata = await read(resourceVersion=revision, resourceVersionMatch="Exact")
        assert (names, metadata["resourceVersion"]) == (["c1", "c0"], revision)
        names, metadata = await read(resourceVersion=revision, limit="1")
        assert names == ["c1"]
        assert (await read(limit="1", **{"continue": metadata["continue"]}))[0] == ["c0"]
        for query in ({}, {"resourceVersionMatch": "NotOlderThan"}):
            assert len((await read(resourceVersion=revision, **query))[0]) == 4
        future = {"resourceVersion": "999999", "resourceVersionMatch": "NotOlderThan"}
        token = {"resourceVersion": revision, "continue": metadata["continue"]}
        for wrong in ({"resourceVersion": "x"}, token, future, {"resourceVersionMatch": "Exact"}):
            of_log, of_objects = [await refused(app, at, wrong) for at in (log, path)]
            if wrong is not token:  # each has a form of its own
                assert of_log["message"] == of_objects["message"].replace("configmaps", "history")
            assert of_log["code"] == of_objects["code"] >= 400


async def refused(app: Any, path: str, query: dict[str, str]) -> Any:
    with pytest.raises(Refused) as error:
        await ask_app(app, "GET", path, **query)
    return error.value.status


async def test_an_object_is_selected_without_its_group() -> None:
    async with Server() as server:
        app = server._get_app()
        await ask_app(app, "POST", path_of("default", "configmaps"), config_map("one"))
        lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "one"}}
        await ask_app(app, "POST", "/apis/coordination.k8s.io/v1/namespaces/default/leases", lease)
        for resource in ("leases", "configmaps"):
            query = f"object.resource={resource},object.name=one"
            page = await ask_app(app, "GET", f"{LOG}/namespaces/default/history", fieldSelector=query)
            assert [one["object"]["resource"] for one in page["items"]] == [resource]


async def test_objects_and_lists_can_be_read_at_every_revision_that_is_kept() -> None:
    keep = Keep(age=1e9, size=1 << 40, count=5)
    async with Server(history=keep, history_log=Keep(1e9, 1 << 40, 1 << 40)) as server:
        app = server._get_app()
        path = path_of("default", "configmaps")
        made = await ask_app(app, "POST", path, config_map("one", n="0"))
        states = {made["metadata"]["resourceVersion"]: "0"}
        for number in range(1, 60):
            changed = await ask_app(app, "PUT", f"{path}/one", config_map("one", n=str(number)))
            states[changed["metadata"]["resourceVersion"]] = str(number)
        store = app.cluster.store  # type: ignore[union-attr]
        while store._window._busy:  # type: ignore[union-attr] # noqa: ASYNC110
            await asyncio.sleep(0)
        assert store.compacted_revision > int(made["metadata"]["resourceVersion"])  # type: ignore[union-attr]
        for revision, value in states.items():
            at = {"resourceVersion": revision, "resourceVersionMatch": "Exact"}
            assert (await ask_app(app, "GET", f"{path}/one", **at))["data"] == {"n": value}
            listed = await ask_app(app, "GET", path, **at)
            assert [one["data"] for one in listed["items"]] == [{"n": value}]
            assert listed["metadata"]["resourceVersion"] == revision


async def test_an_earlier_list_is_read_without_loading_all_objects(tmp_path: Any) -> None:
    path = path_of("default", "configmaps")
    async with Server(tmp_path / "data") as server:
        made = await ask_app(server._get_app(), "POST", path, config_map("one", n="0"))
        await ask_app(server._get_app(), "PUT", f"{path}/one", config_map("one", n="1"))
    async with Server(tmp_path / "data") as server:
        app = server._get_app()
        at = {"resourceVersion": made["metadata"]["resourceVersion"], "resourceVersionMatch": "Exact"}
        for chosen in ({}, {"limit": "1"}, {"fieldSelector": "metadata.name=one"}):
            assert [one["data"] for one in (await ask_app(app, "GET", path, **at, **chosen))["items"]] == [{"n": "0"}]
        assert app.cluster is not None
        known = app.cluster.api.cache.find_collection("/core/configmaps/")
        assert known is not None
        assert not known.loaded
        assert [one["data"] for one in (await ask_app(app, "GET", path))["items"]] == [{"n": "1"}]


async def test_pages_of_an_earlier_list_are_read_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    keep = Keep(age=1e9, size=1 << 40, count=5)
    async with Server(history=keep, history_log=Keep(1e9, 1 << 40, 1 << 40)) as server:
        app = server._get_app()
        path = path_of("default", "configmaps")
        for number in range(7):
            labels = {"odd": str(number % 2)}
            obj = config_map(f"c{number}")
            made = await ask_app(app, "POST", path, obj | {"metadata": {"name": f"c{number}", "labels": labels}})
        for name in ("c1", "c4"):
            await ask_app(app, "DELETE", f"{path}/{name}")
        for number in range(60):
            await ask_app(app, "PUT", f"{path}/c2", config_map("c2", n=str(number)))
        assert app.cluster is not None
        store: Any = app.cluster.store
        while store._window._busy:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        revision = made["metadata"]["resourceVersion"]
        assert store.compacted_revision > int(revision)
        monkeypatch.setattr(store, "read_range_at", None)  # which reads all objects
        for selector, step in itertools.product(("", "odd=0"), (1, 2, 3, 100)):
            query = {"resourceVersion": revision, "resourceVersionMatch": "Exact", "limit": str(step)}
            query |= {"labelSelector": selector} if selector else {}
            found: list[str] = []
            while query:
                page = await ask_app(app, "GET", path, **query)
                assert page["metadata"]["resourceVersion"] == revision
                assert len(page["items"]) <= step
                found += [one["metadata"]["name"] for one in page["items"]]
                token = page["metadata"].get("continue")
                query = {"limit": str(step), "labelSelector": selector, "continue": token} if token else {}
            expected = [f"c{number}" for number in range(7) if not selector or not number % 2]
            assert [name for name in found if not name.startswith("kube-")] == expected


async def _ask_until_it_fails(ask: Callable[[], Awaitable[Any]]) -> None:
    """Repeat a request, because the history is trimmed behind the writes."""
    async with asyncio.timeout(60):
        while True:
            await ask()


async def test_a_forgotten_state_is_gone_and_a_future_one_is_not_there() -> None:
    async with Server(history=Keep(age=1e9, size=1 << 40, count=1)) as server:
        app = server._get_app()
        path = path_of("default", "configmaps")
        first = await ask_app(app, "POST", path, config_map("one"))
        for number in range(40):
            await ask_app(app, "PUT", f"{path}/one", config_map("one", n=str(number)))
        at = {"resourceVersionMatch": "Exact"}
        with pytest.raises(
            RemoteGone, match=r"oldest one in the history is revision \d+ \(20.*Z\). --history keeps more"
        ):
            await _ask_until_it_fails(
                lambda: ask_app(app, "GET", f"{path}/one", resourceVersion=first["metadata"]["resourceVersion"], **at)
            )
        with pytest.raises(RemoteGone, match=r"revision \d+ \(20"):
            await ask_app(app, "GET", f"{path}/one", at="2020-01-01T00:00:00Z")
        with pytest.raises(Refused) as refused:
            await ask_app(app, "GET", f"{path}/one", resourceVersion="999999999", **at)
        assert refused.value.code == 504
        with pytest.raises(Refused) as refused:
            await ask_app(app, "GET", path, at="yesterday")
        assert refused.value.code == 400


RULES = st.lists(
    st.tuples(
        st.sampled_from(sorted(USERS)),
        st.sampled_from(["configmaps", "secrets", "*"]),
        st.sampled_from([*NAMESPACES, ""]),
        st.sampled_from([*NAMES, ""]),
        st.sampled_from(["get", "list", "*"]),
    ),
    max_size=5,
)


async def grant(server: Server, rules: list[tuple[str, str, str, str, str]]) -> None:
    app = server._get_app()
    for number, (token, resource, namespace, name, verb) in enumerate(rules):
        rule: dict[str, Any] = {"apiGroups": [""], "resources": [resource], "verbs": [verb]}
        rule |= {"resourceNames": [name]} if name else {}
        kind, base = ("Role", f"/namespaces/{namespace}") if namespace else ("ClusterRole", "")
        rbac = "/apis/rbac.authorization.k8s.io/v1"
        role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": {"name": f"r{number}"}}
        await ask_app(app, "POST", f"{rbac}{base}/{kind.lower()}s", {**role, "rules": [rule]})
        binding = {
            **role,
            "kind": f"{kind}Binding",
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": f"r{number}"},
            "subjects": [{"kind": "User", "name": USERS[token].name, "apiGroup": "rbac.authorization.k8s.io"}],
        }
        await ask_app(app, "POST", f"{rbac}{base}/{kind.lower()}bindings", binding)


async def read_all(server: Server, rules: list[tuple[str, str, str, str, str]]) -> None:
    async with Server(tokens=USERS, history_log=Keep()) as server:
        app = server._get_app()
        everything = {"apiGroups": ["history.podless.dev"], "resources": ["history"], "verbs": ["*"]}
        meta = {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": "log"}}
        rbac = "/apis/rbac.authorization.k8s.io/v1"
        await ask_app(app, "POST", f"{rbac}/clusterroles", {**meta, "kind": "ClusterRole", "rules": [everything]})
        subject = {"kind": "Group", "name": "system:authenticated", "apiGroup": "rbac.authorization.k8s.io"}
        reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "log"}
        binding = {**meta, "kind": "ClusterRoleBinding", "roleRef": reference, "subjects": [subject]}
        await ask_app(app, "POST", f"{rbac}/clusterrolebindings", binding)
        for namespace in NAMESPACES:
            for name in NAMES:
                for plural, kind in (("configmaps", "ConfigMap"), ("secrets", "Secret")):
                    obj = {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}}
                    await ask_app(app, "POST", path_of(namespace, plural), obj)
        await ask_app(app, "DELETE", path_of("default", "secrets", "b"))
        await grant(server, rules)
        whole = await ask_app(app, "GET", f"{LOG}/history")
        for token in USERS:
            allowed = {}
            for one in whole["items"]:
                obj = one["object"]
                asked = (obj["group"], obj["resource"], obj["namespace"], obj["name"])
                if asked not in allowed:
                    attributes = {"verb": "get", "group": obj["group"], "resource": obj["resource"], "version": "v1"}
                    attributes |= {"namespace": obj["namespace"], "name": obj["name"]}
                    review = {
                        "apiVersion": "authorization.k8s.io/v1",
                        "kind": "SubjectAccessReview",
                        "spec": {
                            "user": USERS[token].name,
                            "groups": ["system:authenticated"],
                            "resourceAttributes": attributes,
                        },
                    }
                    told = await ask_app(app, "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)
                    allowed[asked] = told["status"]["allowed"]
            expected = [
                one["metadata"]["name"]
                for one in whole["items"]
                if allowed[tuple(one["object"][name] for name in ("group", "resource", "namespace", "name"))]
            ]
            status, shown = await ask_as(server, token, "GET", f"{LOG}/history")
            assert status == 200
            assert [one["metadata"]["name"] for one in shown["items"]] == expected
            for one in whole["items"]:
                if one["object"]["namespace"]:
                    base = f"{LOG}/namespaces/{one['object']['namespace']}/history/{one['metadata']['name']}"
                    status, _ = await ask_as(server, token, "GET", base)
                    assert status == (200 if one["metadata"]["name"] in expected else 404)


@settings(max_examples=tries(30), deadline=None, suppress_health_check=list(HealthCheck))
@given(rules=RULES)
def test_nobody_reads_of_objects_that_they_may_not_get(rules: list[tuple[str, str, str, str, str]]) -> None:
    asyncio.run(read_all(Server(), rules))


async def test_the_log_itself_needs_a_right() -> None:
    async with Server(tokens=USERS) as server:
        status, _ = await ask_as(server, "token-eve", "GET", f"{LOG}/history")
        assert status == 403
        status, _ = await ask_as(server, "token-eve", "GET", path_of("default", "secrets", "a"), at="1s")
        assert status == 403


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
async def test_states_authors_and_differences_are_those_that_were_written(seed: int, tmp_path: Any) -> None:
    """Random writes by random users, over compaction and restarts, against a list that keeps everything."""
    chance = random.Random(seed)
    model: list[tuple[str, str, str, dict[str, str] | None]] = []  # revision, user, name, data
    state: dict[str, dict[str, str]] = {}
    options: Any = {
        "history": Keep(1e9, 1 << 40, 10),
        "history_log": Keep(1e9, 1 << 40, 1 << 40),
        "tokens": USERS,
    }
    base = path_of("default", "configmaps")
    for round_ in range(3):
        async with Server(tmp_path / "data", **options) as server:
            app = server._get_app()
            if not round_:
                every = [(token, "*", "", "", "*") for token in sorted(USERS)]
                await grant(server, every)
            for _ in range(60):
                token, name = chance.choice(sorted(USERS)), chance.choice(NAMES)
                data = {chance.choice("xyz"): str(chance.randrange(3)) for _ in range(2)}
                if name not in state:
                    status, made = await ask_as(server, token, "POST", base, config_map(name, **data))
                elif chance.random() < 0.15:
                    status, made = await ask_as(server, token, "DELETE", f"{base}/{name}")
                    assert status == 200
                    model.append(("", USERS[token].name, name, None))
                    del state[name]
                    continue
                elif data == state[name]:
                    continue
                else:
                    status, made = await ask_as(server, token, "PUT", f"{base}/{name}", config_map(name, **data))
                assert status in (200, 201), made
                model.append((made["metadata"]["resourceVersion"], USERS[token].name, name, data))
                state[name] = data
            for name in NAMES:
                selector = f"object.group=,object.resource=configmaps,object.name={name}"
                log = await ask_app(
                    app, "GET", f"{LOG}/namespaces/default/history", fieldSelector=selector, state="true"
                )
                mine = [one for one in reversed(model) if one[2] == name]
                assert [one["author"]["user"] for one in log["items"]] == [one[1] for one in mine]
                previous: list[dict[str, str] | None] = [one[3] for one in mine[1:]]
                for shown, (revision, _, _, data_), before in zip(log["items"], mine, [*previous, None], strict=True):
                    if data_ is None:
                        assert shown["operation"] == "delete"
                        continue
                    assert shown["metadata"]["resourceVersion"] == revision
                    assert shown["state"]["data"] == data_
                    if before is None:
                        assert shown["operation"] == "create"
                        continue
                    changed = {field["path"]: (field.get("before"), field.get("after")) for field in shown["fields"]}
                    assert changed == {
                        f"data.{key}": (before.get(key), data_.get(key))
                        for key in {*before, *data_}
                        if before.get(key) != data_.get(key)
                    }
                    at = {"resourceVersion": revision, "resourceVersionMatch": "Exact"}
                    assert (await ask_app(app, "GET", f"{base}/{name}", **at))["data"] == data_


async def test_every_verb_is_told_as_it_was_over_compaction_and_a_restart(tmp_path: Any) -> None:
    await write_and_compare(3, {"data": tmp_path / "data", "history_log": Keep(1e9, 1 << 40, 1 << 40)}, writes=120)
