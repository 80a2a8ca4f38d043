"""A definition takes the place of a ThirdPartyResource; a clash between the generations is refused."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from podless import Server
from podless.controllers.thirdparty import ThirdPartyController
from podless.store import StoreError
from tests.conftest import CRDS, Client, definition
from tests.eventually import until
from tests.legacy.conftest import BETA, RUNTIME, THIRD, beta, watch
from tests.legacy.test_third import causes, crontab, path, third
from tests.webhooks import webhook


def heir(group: str, plural: str = "crontabs", versions: tuple[str, ...] = ("v1", "v2"), **spec: Any) -> dict[str, Any]:
    crd = definition(group, plural, "CronTab")
    version = crd["spec"]["versions"][0]
    crd["spec"]["versions"] = [version | {"name": name, "storage": not index} for index, name in enumerate(versions)]
    crd["spec"] |= spec
    return crd


def test_objects_are_those_of_the_definition_from_then_on(client: Client, server: Server) -> None:
    group = "taken.example.com"
    client.post(THIRD, third(group))
    before = [client.post(path(group), crontab(group, name, image=name, odd={"x": 1})).body for name in ("one", "two")]
    start = client.get(path(group)).body["metadata"]["resourceVersion"]
    made = client.post(CRDS, heir(group))
    assert made.status == 201
    assert made.headers["Warning"] == (
        f'299 - "takes over the objects of thirdpartyresources.extensions cron-tab.{group}"'
    )
    assert client.get(f"{THIRD}/cron-tab.{group}").status == 404
    assert client.get(path(group)).body["items"] == before
    assert client.post(path(group, "v2"), crontab(group, "three", "v2")).status == 201
    # a watch that began before goes on
    assert list(watch(server, path(group), start, "ADDED")) == [("ADDED", "three")]
    assert list(watch(server, THIRD, start, "DELETED")) == [("DELETED", f"cron-tab.{group}")]
    # the definition's end takes them along, and a new one starts out empty
    start = client.get(CRDS).body["metadata"]["resourceVersion"]
    client.send("DELETE", f"{CRDS}/crontabs.{group}")
    assert list(watch(server, CRDS, start, "DELETED"))[-1] == ("DELETED", f"crontabs.{group}")
    assert client.post(THIRD, third(group)).status == 201
    assert client.get(path(group)).body["items"] == []


def test_they_move_where_the_plural_is_another(client: Client) -> None:
    group = "moved.example.com"
    client.post(THIRD, third(group))
    before = [client.post(path(group), crontab(group, f"c{place}", image="i")).body for place in range(300)]
    start = client.get(path(group)).body["metadata"]["resourceVersion"]
    assert client.post(CRDS, heir(group, "cronjobs")).status == 201
    assert client.get(path(group)).status == 404
    after = {one["metadata"]["name"]: one for one in client.get(f"/apis/{group}/v1/cronjobs").body["items"]}
    assert len(after) == 300
    for one in before:
        now = after[one["metadata"]["name"]]
        assert now | {"metadata": {}} == one | {"metadata": {}}
        assert now["metadata"] | {"resourceVersion": ""} == one["metadata"] | {"resourceVersion": ""}
        # told as new ones at their new place, later than anything that happened before
        assert int(now["metadata"]["resourceVersion"]) > int(start)


def test_watches_that_are_open_are_told(client: Client, server: Server) -> None:
    stays, goes = "stays-open.example.com", "goes-open.example.com"
    watches = {}
    for group in (stays, goes):
        client.post(THIRD, third(group))
        start = client.get(path(group)).body["metadata"]["resourceVersion"]
        watches[group] = watch(server, path(group), start)
        client.post(path(group), crontab(group, "one"))
        assert next(watches[group]) == ("ADDED", "one")
    client.post(CRDS, heir(stays))
    client.merge(f"{path(stays)}/one", {"image": "new"})
    assert next(watches[stays]) == ("MODIFIED", "one")
    watches[stays].close()  # type: ignore[attr-defined]
    # where the objects move they are gone from here, and then the stream ends
    client.post(CRDS, heir(goes, "cronjobs"))
    assert list(watches[goes]) == [("DELETED", "one")]


def test_a_schema_of_the_definition_holds_for_what_is_read(client: Client) -> None:
    group = "schema.example.com"
    client.post(THIRD, third(group, versions=("v1",)))
    client.post(path(group), crontab(group, "one", image="a", odd=1))
    schema = {"type": "object", "properties": {"image": {"type": "string"}, "size": {"type": "integer", "default": 1}}}
    crd = definition(group, "crontabs", "CronTab", schema={"openAPIV3Schema": schema})
    assert client.post(CRDS, crd).status == 201
    found = client.get(f"{path(group)}/one").body
    assert (found.get("odd"), found["image"], found["size"]) == (None, "a", 1)
    # what is stored is as it was, until somebody writes it
    kept = {"openAPIV3Schema": schema | {"x-kubernetes-preserve-unknown-fields": True}}
    client.merge(f"{CRDS}/crontabs.{group}", {"spec": {"versions": [crd["spec"]["versions"][0] | {"schema": kept}]}})
    assert client.get(f"{path(group)}/one").body["odd"] == 1


def test_a_definition_of_v1beta1_may_take_over_too(client: Client) -> None:
    group = "older.example.com"
    client.post(THIRD, third(group, versions=("v1",)))
    client.post(path(group), crontab(group, "one", odd=1))
    assert client.post(BETA, beta(group, "crontabs", "CronTab")).status == 201
    assert client.get(f"{path(group)}/one").body["odd"] == 1
    assert client.get(f"{THIRD}/cron-tab.{group}").status == 404


def test_a_dry_run_takes_nothing(client: Client) -> None:
    group = "dry.example.com"
    client.post(THIRD, third(group))
    client.post(path(group), crontab(group, "one"))
    assert client.post(f"{CRDS}?dryRun=All", heir(group)).status == 201
    assert client.get(f"{THIRD}/cron-tab.{group}").status == 200
    assert len(client.get(path(group)).body["items"]) == 1


def test_it_lasts(tmp_path: Any) -> None:
    group = "lasts.example.com"
    with Server(tmp_path, runtime_config=RUNTIME) as server:
        client = Client(server.url, server.token)
        client.post(THIRD, third(group))
        before = client.post(path(group), crontab(group, "one", image="a")).body
        client.post(CRDS, heir(group, "cronjobs"))
        client.close()
    with Server(tmp_path, runtime_config=RUNTIME) as server:
        client = Client(server.url, server.token)
        found = client.get(f"/apis/{group}/v1/namespaces/default/cronjobs/one").body
        assert found["metadata"]["uid"] == before["metadata"]["uid"]
        assert client.get(THIRD).body["items"] == []
        client.close()


@pytest.mark.parametrize(
    ("crd", "field", "text"),
    [
        ({"scope": "Cluster"}, "spec.scope", "must be Namespaced to take over the objects of the ThirdPartyResource"),
        ({"versions": ("v1",)}, "spec.versions", "must serve v2 as well to take over the objects of the ThirdParty"),
    ],
)
def test_a_definition_that_could_not_show_them_is_refused(client: Client, crd: Any, field: str, text: str) -> None:
    group = f"cannot-{field.removeprefix('spec.')}.example.com"
    client.post(THIRD, third(group))
    refused = client.post(CRDS, heir(group, **crd))
    assert refused.status == 422
    found = causes(refused)
    assert [one[0] for one in found] == [field]
    assert text in found[0][1]
    assert client.get(path(group)).status == 200


def test_other_kinds_need_other_names(client: Client) -> None:
    group = "clash.example.com"
    client.post(THIRD, third(group))
    refused = client.post(CRDS, definition(group, "crontabs", "Table"))
    assert causes(refused) == [
        ("spec.names.plural", f'Invalid value: "crontabs": is in use by the ThirdPartyResource cron-tab.{group}')
    ]
    short = definition(group, "tables", "Table")
    short["spec"]["names"] |= {"shortNames": ["crontab"], "listKind": "CronTabList"}
    assert [one[0] for one in causes(client.post(CRDS, short))] == ["spec.names.shortNames[0]", "spec.names.listKind"]
    # the same words in another group are no clash
    assert client.post(CRDS, definition("other-" + group, "crontabs", "Table")).status == 201


def test_a_third_party_resource_may_not_take_what_is_defined(client: Client) -> None:
    group = "defined.example.com"
    client.post(CRDS, definition(group, "crontabs", "CronTab"))
    refused = client.post(THIRD, third(group))
    assert causes(refused) == [
        (
            "metadata.name",
            f'Invalid value: "CronTab": CronTab (crontabs) is defined by the CustomResourceDefinition crontabs.{group}',
        )
    ]
    client.post(THIRD, third("two-" + group, "cron-tab"))
    twice = client.post(THIRD, third("two-" + group, "crontab"))
    assert "crontabs is defined by the ThirdPartyResource cron-tab.two-" in causes(twice)[0][1]


def test_nobody_may_define_what_the_server_has(client: Client) -> None:
    refused = client.post(THIRD, third("apiextensions.k8s.io", "custom-resource-definition"))
    assert "customresourcedefinitions.apiextensions.k8s.io is served by the server itself" in causes(refused)[0][1]
    crd = beta("coordination.k8s.io", "leases", "Lease")
    assert "is served by the server itself" in causes(client.post(BETA, crd))[0][1]
    assert client.get(BETA).status == 200


def test_one_that_ends_is_not_taken_over(client: Client) -> None:
    group = "ending.example.com"
    client.post(THIRD, third(group))
    held = crontab(group, "held")
    held["metadata"]["finalizers"] = ["example.com/hold"]
    client.post(path(group), held)
    client.send("DELETE", f"{THIRD}/cron-tab.{group}")
    refused = client.post(CRDS, heir(group))
    assert "is being deleted, with its objects" in causes(refused)[0][1]
    client.merge(f"{path(group)}/held", {"metadata": {"finalizers": None}})


def test_it_is_gone_on_with_after_a_crash(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The definition is stored, and then nothing more happens until the next start."""
    group = "crash.example.com"
    with monkeypatch.context() as patched:

        async def dies(self: ThirdPartyController, heir: Any) -> int:
            raise StoreError("no space left")

        patched.setattr(ThirdPartyController, "hand_over", dies)
        with Server(tmp_path, runtime_config=RUNTIME) as server:
            client = Client(server.url, server.token)
            client.post(THIRD, third(group))
            before = client.post(path(group), crontab(group, "one", image="a")).body
            assert client.post(CRDS, heir(group, "cronjobs")).status == 201  # that much is stored
            # until then all is where it was
            assert client.get(f"{path(group)}/one").body == before
            client.close()
    with Server(tmp_path, runtime_config=RUNTIME) as server:
        client = Client(server.url, server.token)
        found = client.get(f"/apis/{group}/v1/namespaces/default/cronjobs/one").body
        assert found["metadata"]["uid"] == before["metadata"]["uid"]
        assert client.get(path(group)).status == 404
        assert client.get(THIRD).body["items"] == []
        client.close()


def test_all_moves_in_one_transaction(tmp_path: Any) -> None:
    """Whoever reads the store sees all objects under one prefix, and never a part under each."""
    group = "step.example.com"
    batches: list[int] = []
    with Server(tmp_path, runtime_config=RUNTIME) as server:
        client = Client(server.url, server.token)
        client.post(THIRD, third(group))
        for place in range(50):
            client.post(path(group), crontab(group, f"c{place}"))
        app, loop = server._app, server._loop
        assert app is not None
        assert loop is not None

        async def follow() -> None:
            assert app.cluster is not None
            store = app.cluster.store
            assert store is not None
            store.watch(f"/{group}/", await store.read_revision(), lambda changes, _: batches.append(len(changes)))

        asyncio.run_coroutine_threadsafe(follow(), loop).result()
        client.post(CRDS, heir(group, "cronjobs"))
        client.close()
    assert [count for count in batches if count] == [100]


def test_what_is_written_meanwhile_is_not_lost(client: Client, server: Server) -> None:
    """Clients go on creating until the old path is gone: what was acknowledged is at the new one."""
    group = "meanwhile.example.com"
    client.post(THIRD, third(group))
    made: list[str] = []
    begun = threading.Barrier(9)

    def create(worker: int) -> None:
        mine = Client(server.url, server.token)
        begun.wait()
        for place in range(10_000):
            name = f"w{worker}-{place}"
            if mine.post(path(group), crontab(group, name)).status != 201:
                break
            made.append(name)
        mine.close()

    threads = [threading.Thread(target=create, args=(worker,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    begun.wait()
    until(lambda: len(made) >= 50)
    assert client.post(CRDS, heir(group, "cronjobs")).status == 201
    for thread in threads:
        thread.join()
    where = f"/apis/{group}/v1/namespaces/default/cronjobs"
    until(lambda: {one["metadata"]["name"] for one in client.get(where).body["items"]} == set(made))


def test_what_was_begun_before_and_ends_after_is_not_lost(client: Client, server: Server) -> None:
    """A slow webhook is asked about an object while the definition takes over."""
    group = "late.example.com"
    client.post(THIRD, third(group))
    asked, go_on = threading.Event(), threading.Event()
    answers: list[int] = []

    def answer(body: Any) -> Any:
        asked.set()
        go_on.wait(60)
        response = {"uid": body["request"]["uid"], "allowed": True}
        return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}

    def create() -> None:
        mine = Client(server.url, server.token)
        answers.append(mine.post(path(group), crontab(group, "late", image="a")).status)
        mine.close()

    with webhook(answer) as hook:
        rule = {"apiGroups": [group], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["*"]}
        one = {
            "name": "slow.example.com",
            "clientConfig": hook.config,
            "rules": [rule],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
        }
        hooks = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
        assert client.post(hooks, {"metadata": {"name": "slow"}, "webhooks": [one]}).status == 201
        thread = threading.Thread(target=create)
        thread.start()
        assert asked.wait(60)
        assert client.post(CRDS, heir(group, "cronjobs")).status == 201
        go_on.set()
        thread.join()
        client.send("DELETE", f"{hooks}/slow")
    assert answers == [201]
    until(lambda: client.get(f"/apis/{group}/v1/namespaces/default/cronjobs/late").status == 200)
    assert client.get(f"/apis/{group}/v1/namespaces/default/cronjobs/late").body["image"] == "a"


def test_a_definition_without_its_names_takes_nothing_yet(client: Client) -> None:
    group = "waits.example.com"
    client.post(THIRD, third(group))
    client.post(path(group), crontab(group, "one"))
    other = definition(group, "tables", "Table")
    other["spec"]["names"]["shortNames"] = ["ct"]
    client.post(CRDS, other)
    wanted = heir(group)
    wanted["spec"]["names"]["shortNames"] = ["ct"]
    assert client.post(CRDS, wanted).status == 201
    assert client.get(f"{THIRD}/cron-tab.{group}").status == 200
    assert client.post(path(group), crontab(group, "two")).status == 201
    # given up it leaves all as it was
    client.send("DELETE", f"{CRDS}/crontabs.{group}")
    until(lambda: client.get(f"{CRDS}/crontabs.{group}").status == 404)
    assert [one["metadata"]["name"] for one in client.get(path(group)).body["items"]] == ["one", "two"]
    # and where the names are free it takes over
    client.post(CRDS, wanted)
    client.send("DELETE", f"{CRDS}/tables.{group}")
    until(lambda: client.get(f"{THIRD}/cron-tab.{group}").status == 404)
    assert [one["metadata"]["name"] for one in client.get(path(group)).body["items"]] == ["one", "two"]
