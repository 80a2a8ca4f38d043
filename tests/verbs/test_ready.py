"""A kind is made ready for work off the loop once for all who wait for it."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from podless.kinds.kind import Kind
from podless.meta.errors import Timeout
from podless.offload.offloop import OffLoop
from podless.verbs.call import API
from podless.verbs.ready import make_ready
from tests.kinds.test_kind import kind


@pytest.fixture
def completed(monkeypatch: pytest.MonkeyPatch) -> list[Kind]:
    """The kinds that were completed, each time that they were."""
    found: list[Kind] = []
    complete = Kind.complete

    def told(self: Kind, *more: Callable[[], object]) -> Callable[[], None]:
        found.append(self)
        return complete(self, *more)

    monkeypatch.setattr(Kind, "complete", told)
    return found


def run(work: Callable[[API], Any]) -> Any:
    """Work with as much of an API as is needed."""
    api = SimpleNamespace(off_loop=OffLoop(), readying={})

    async def done() -> Any:
        try:
            return await work(cast(API, api))
        finally:
            api.off_loop.close()

    found = asyncio.run(done())
    assert api.readying == {}
    return found


def test_all_who_wait_for_a_kind_wait_for_the_same(completed: list[Kind]) -> None:
    of = kind("v1")

    async def work(api: API) -> None:
        await asyncio.gather(*(make_ready(api, of) for _ in range(5)))
        await make_ready(api, of)

    run(work)
    assert completed == [of]
    assert of.is_complete


def test_who_goes_away_does_not_end_it_for_others(completed: list[Kind]) -> None:
    of = kind("v1")

    async def work(api: API) -> None:
        first, second = (asyncio.ensure_future(make_ready(api, of)) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        await second

    run(work)
    assert completed == [of]
    assert of.is_complete


def test_one_that_took_too_long_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    of = kind("v1")

    async def work(api: API) -> None:
        with monkeypatch.context() as patched:

            def late(*_: object) -> None:
                raise Timeout("late", {})

            patched.setattr(Kind, "complete", late)
            found = await asyncio.gather(*(make_ready(api, of) for _ in range(2)), return_exceptions=True)
            assert [type(one) for one in found] == [Timeout, Timeout]
        assert not of.is_complete
        await make_ready(api, of)

    run(work)
    assert of.is_complete


IMPORTS = """
import asyncio, json, sys, threading
from podless.app import App, Settings
from podless.http.message import HTTPRequest, settle_answer

found = []

class Finder:
    def find_spec(self, name, path=None, target=None):
        if threading.current_thread() is threading.main_thread():
            found.append(name)

async def main(path, body):
    app = App(Settings(port=0, tls=False))
    await app.start()
    sys.meta_path.insert(0, Finder())
    head = {"authorization": f"Bearer {app.token}", "content-type": "application/json"}
    request = HTTPRequest.of("POST", path, head)
    request.body = json.dumps(body).encode()
    answer = await settle_answer(app.handler(request))
    sys.meta_path.pop(0)
    assert answer.status == 201, b"".join(answer.chunks)
    await app.stop()

asyncio.run(main(sys.argv[1], json.loads(sys.argv[2])))
print(json.dumps(found))
"""
RULES = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}]
CONDITIONS = [{"name": "a", "expression": "object.metadata.name == 'a'"}]
HOOK = {
    "name": "a.b.c",
    "clientConfig": {"url": "https://localhost/"},
    "rules": RULES,
    "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
    "matchConditions": CONDITIONS,
}
POLICY = {"matchConstraints": {"resourceRules": RULES}, "validations": [{"expression": "object.metadata.name == 'a'"}]}
POD = {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "a", "image": "a"}]}}
SLOW = ("podless.apis.core.pods", "podless.apis.podspec.spec", "podless.cel", "cryptography", "jwt")
ADMISSION = "/apis/admissionregistration.k8s.io/v1"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (f"{ADMISSION}/validatingadmissionpolicies", {"metadata": {"name": "a"}, "spec": POLICY}),
        (f"{ADMISSION}/validatingwebhookconfigurations", {"metadata": {"name": "a"}, "webhooks": [HOOK]}),
        ("/api/v1/namespaces/default/serviceaccounts/default/token", {"spec": {"expirationSeconds": 600}}),
        ("/api/v1/namespaces/default/pods", POD),
    ],
)
def test_what_takes_long_to_import_is_not_imported_on_the_loop(path: str, body: Any) -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS, path, json.dumps(body)], capture_output=True, text=True, check=True
    )
    slow = [name for name in json.loads(done.stdout) if name.startswith(SLOW)]
    assert slow == []
