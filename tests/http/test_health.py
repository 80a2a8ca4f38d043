"""Health as a client sees it: each check looks at the thing itself."""

from __future__ import annotations

import pytest

from podless.app import App, Settings
from podless.http.message import HTTPRequest, Response, settle_answer
from podless.store import StoreError
from tests.conftest import Client


@pytest.fixture
async def app():  # type: ignore[no-untyped-def]
    running = App(Settings(tls=False))
    await running.start()
    yield running
    await running.stop()


async def ask(app: App, target: str) -> tuple[int, str]:
    assert app.handler is not None
    answer = await settle_answer(app.handler(HTTPRequest.of("GET", target, {"authorization": f"Bearer {app.token}"})))
    assert isinstance(answer, Response)
    return answer.status, b"".join(answer.chunks).decode()


async def test_every_check_is_named_and_can_be_asked_alone(app: App) -> None:
    for place in ("healthz", "livez", "readyz"):
        code, text = await ask(app, f"/{place}?verbose")
        assert code == 200
        *lines, end, rest = text.split("\n")
        assert (end, rest) == (f"{place} check passed", "")
        names = [line.removeprefix("[+]").removesuffix(" ok") for line in lines]
        assert names[:3] == ["ping", "log", "etcd"]
        assert "poststarthook/rbac/bootstrap-roles" in names
        assert ("etcd-readiness" in names) == ("shutdown" in names) == (place == "readyz")
        for name in names:
            assert await ask(app, f"/{place}/{name}") == (200, "ok")
    assert (await ask(app, "/livez/shutdown"))[0] == 404
    assert (await ask(app, "/livez/none"))[0] == 404
    assert (await ask(app, "/livez/"))[0] == 404


# from test/e2e/apimachinery/health_handlers.go of Kubernetes, with the names of 1.36
REQUIRED = """
start-apiserver-admission-initializer generic-apiserver-start-informers start-apiextensions-informers
start-apiextensions-controllers crd-informer-synced bootstrap-controller start-system-namespaces-controller
scheduling/bootstrap-system-priority-classes start-cluster-authentication-info-controller
start-kube-aggregator-informers apiservice-registration-controller apiservice-status-local-available-controller
apiservice-status-remote-available-controller kube-apiserver-autoregistration apiservice-openapi-controller
"""


async def test_the_checks_of_a_real_server_are_there_in_its_order(app: App) -> None:
    for place in ("healthz", "livez", "readyz"):
        lines = (await ask(app, f"/{place}?verbose"))[1].split("\n")
        names = [line.removeprefix("[+]").removesuffix(" ok") for line in lines if line.startswith("[+]")]
        assert {*(f"poststarthook/{name}" for name in REQUIRED.split()), "autoregister-completion"} <= set(names)
        assert ("informer-sync" in names) == (place == "readyz")
        assert names.index("poststarthook/rbac/bootstrap-roles") < names.index("autoregister-completion")
        assert names.index("autoregister-completion") < names.index("garbage-collector-controller")
    assert names[-1] == "shutdown"


async def test_a_name_of_a_real_server_stands_for_the_controller_that_does_it_here(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert app.cluster is not None
    known = {controller.name: controller for controller in app.cluster._controllers}
    known["poststarthook/bootstrap-controller"]._faults["key"] = "no"
    for name in ("bootstrap-controller", "priority-and-fairness-config-producer"):
        assert await ask(app, f"/livez/poststarthook/{name}") == (500, "internal server error: no\n")


async def test_a_store_that_does_not_answer_is_told(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(prefix: str) -> None:
        raise StoreError("disk I/O error")

    assert app.cluster is not None
    for controller in app.cluster._controllers:
        await controller.stop()  # what they read would fail too
    monkeypatch.setattr(app.cluster.store, "read_range", broken)
    code, text = await ask(app, "/livez")
    assert code == 500
    assert "[+]ping ok\n[+]log ok\n[-]etcd failed: reason withheld\n" in text
    assert text.endswith("livez check failed\n")
    assert await ask(app, "/livez/etcd") == (500, "internal server error: disk I/O error\n")
    assert await ask(app, "/livez?exclude=etcd") == (200, "ok")
    assert "[+]etcd excluded: ok\n" in (await ask(app, "/livez?exclude=etcd&verbose"))[1]


async def test_a_controller_that_has_failed_says_so(app: App) -> None:
    assert app.cluster is not None
    app.cluster.health.add_check("mine", lambda: None)
    assert await ask(app, "/healthz/mine") == (200, "ok")
    roles = app.cluster._controllers[0]
    roles._faults["all"] = "it does not go on"
    answer = await ask(app, "/readyz/poststarthook/rbac/bootstrap-roles")
    assert answer == (500, "internal server error: it does not go on\n")
    assert (await ask(app, "/readyz"))[0] == 500


async def test_who_is_about_to_stop_is_not_ready(app: App) -> None:
    assert app.cluster is not None
    app.cluster.mark_stopping()
    assert "[-]shutdown failed: reason withheld\n" in (await ask(app, "/readyz"))[1]
    assert (await ask(app, "/livez"))[0] == 200


async def test_what_cannot_be_excluded_is_told(app: App) -> None:
    warned = 'warn: some health checks cannot be excluded: no matches for "a","b"\n'
    assert warned in (await ask(app, "/livez?verbose&exclude=b&exclude=a"))[1]


def test_one_check_that_is_well_says_so_plainly(client: Client) -> None:
    assert "X-Content-Type-Options" in client.get("/livez").headers
    assert "X-Content-Type-Options" not in client.get("/livez/ping").headers
