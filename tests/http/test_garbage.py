"""What a request was about is free once it is answered: nothing of it waits for the collector of cycles."""

from __future__ import annotations

import asyncio
import gc
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from types import FrameType, FunctionType

import pytest

import podless
from podless.auth.user import User
from podless.http import fairness
from podless.http.limits import Limits
from podless.http.message import HTTPRequest, Response
from podless.meta.errors import BadRequest
from podless.offload import offloop
from tests.conftest import CRDS, Client, definition, gadget
from tests.cost import Allowance

SOURCE = str(Path(podless.__file__).parent)
MAPS = "/api/v1/namespaces/default/configmaps"
POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
BINDINGS = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
TEXT = {"type": "string"}


def freeing_threads() -> list[Thread]:
    """The threads that still free large values, see `free_values`."""
    return [thread for thread in threading.enumerate() if thread.name == "podless-free"]


@contextmanager
def no_garbage_left() -> Iterator[None]:
    """Fails where objects of ours are in circles after what is done within it."""
    while gc.collect() or freeing_threads():  # what other tests leave; finalizers and these threads can leave more
        for thread in freeing_threads():
            thread.join(60)
    gc.disable()
    try:
        yield
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        gc.set_debug(0)
        left = [name for found in gc.garbage if (name := name_ours(found))]
        gc.garbage.clear()
    finally:
        gc.set_debug(0)
        gc.enable()
    assert not left, left


def name_ours(found: object) -> str:
    """The name of a frame, a function or an instance of ours, "" where it is none."""
    if isinstance(found, FrameType | FunctionType):
        code = found.f_code if isinstance(found, FrameType) else found.__code__
        return code.co_qualname if code.co_filename.startswith(SOURCE) or code.co_filename[0] == "<" else ""
    return f"{kind.__module__}.{kind.__qualname__}" if (kind := type(found)).__module__.startswith("podless.") else ""


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b'{"a": 1e999}', 400),
        (b'{"metadata": {"name": "a"}, "data": {"a": 1}}', 400),
        (b'{"metadata": {"name": "a"}, "data": {' + b'"a": "b", ' * 30_000, 400),
        (b'{"metadata": {"name": "a"}, "data": {"a/b": "' + b"x" * 300_000 + b'"}}', 422),
        (b'{"metadata": {"name": "a", "labels": {"a": "' + b"x" * 40_000 + b'"}}}', 422),
    ],
    ids=["number", "type", "long and cut off", "long and invalid", "a long label"],
)
def test_bodies_that_are_refused(client: Client, body: bytes, status: int) -> None:
    with no_garbage_left():
        for _ in range(3):
            assert client.post(MAPS, body).status == status


def test_bodies_whose_work_is_cut_off(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    body = (
        b'{"metadata": {"name": "a"}, "data": {' + b", ".join(b'"k%d": "v"' % number for number in range(5000)) + b"}}"
    )
    monkeypatch.setattr(offloop, "make_meter", lambda seconds, loop: Allowance(1000))
    with no_garbage_left():
        for _ in range(3):
            assert client.post(MAPS, body).status == 504


def wait_for(client: Client, path: str, status: int) -> None:
    for _ in range(1000):
        if client.get(path).status == status:
            return
    raise AssertionError(path)


def test_a_definition_that_is_used_and_deleted(client: Client) -> None:
    spec = {
        "type": "object",
        "properties": {"size": {"type": "integer"}, "names": {"type": "object", "properties": {"a": TEXT}}},
        "x-kubernetes-validations": [{"rule": "!has(self.size) || self.size >= 0 && self.names.a != 'b'"}],
    }
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    with no_garbage_left():
        for number in range(2):
            group = f"garbage{number}.io"
            assert client.post(CRDS, definition(group, schema=schema)).status == 201
            gadgets = f"/apis/{group}/v1/namespaces/default/gadgets"
            wait_for(client, gadgets, 200)
            assert client.post(gadgets, gadget(group, "a", spec={"size": 1, "names": {"a": "a"}})).status == 201
            assert client.post(gadgets, gadget(group, "b", spec={"size": -1, "names": {}})).status == 422
            assert client.send("DELETE", f"{CRDS}/gadgets.{group}").status == 200
            wait_for(client, gadgets, 404)


def test_a_policy_that_denies_and_is_deleted(client: Client) -> None:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
    spec = {
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": "object.metadata.name != 'garbage'"}],
    }
    binding = {"policyName": "garbage", "validationActions": ["Deny"]}
    bad = {"metadata": {"name": "garbage"}}
    with no_garbage_left():
        assert client.post(POLICIES, {"metadata": {"name": "garbage"}, "spec": spec}).status == 201
        assert client.post(BINDINGS, {"metadata": {"name": "garbage"}, "spec": binding}).status == 201
        for _ in range(1000):
            if client.post(f"{MAPS}?dryRun=All", bad).status == 422:
                break
        assert client.post(f"{MAPS}?dryRun=All", bad).status == 422
        assert client.send("DELETE", f"{BINDINGS}/garbage").status == 200
        assert client.send("DELETE", f"{POLICIES}/garbage").status == 200
        wait_for(client, f"{POLICIES}/garbage", 404)


UNREACHABLE = {"url": "https://127.0.0.1:1/"}


def test_webhooks_that_do_not_answer(client: Client) -> None:
    hooks = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
    rule = {"apiGroups": ["garbage.io"], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["gadgets"]}
    hook = {"admissionReviewVersions": ["v1"], "sideEffects": "None", "clientConfig": UNREACHABLE, "rules": [rule]}
    hooked = {"metadata": {"name": "garbage"}, "webhooks": [hook | {"name": "garbage.example.com"}]}
    crd = definition("garbage.io")
    crd["spec"]["versions"].append(crd["spec"]["versions"][0] | {"name": "v2", "storage": False})
    asked = {"conversionReviewVersions": ["v1"], "clientConfig": UNREACHABLE}
    crd["spec"]["conversion"] = {"strategy": "Webhook", "webhook": asked}
    gadgets = "/apis/garbage.io/v1/namespaces/default/gadgets"
    assert client.post(CRDS, crd).status == 201
    wait_for(client, gadgets, 200)
    assert client.post(gadgets, gadget("garbage.io", "a")).status == 201
    assert client.post(hooks, hooked).status == 201
    with no_garbage_left():
        for _ in range(3):
            assert client.get(gadgets.replace("v1", "v2")).status == 500
            assert client.post(gadgets, gadget("garbage.io", "b")).status == 500
    assert client.send("DELETE", f"{hooks}/garbage").status == 200
    assert client.send("DELETE", f"{CRDS}/gadgets.garbage.io").status == 200
    wait_for(client, gadgets, 404)


def test_bodies_that_end_early(client: Client, server: podless.Server) -> None:
    host, port = server.url.removeprefix("http://").split(":")
    head = f"POST {MAPS} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {server.token}\r\nContent-Length: 9999\r\n\r\n"
    with no_garbage_left():
        for _ in range(3):
            with socket.create_connection((host, int(port))) as connection:
                connection.sendall(head.encode() + b"{")
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(4096):
                    pass
        assert client.get("/version").status == 200


async def test_a_request_that_waited_and_was_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fairness, "_TURN", 0.0)  # nothing is begun at once

    def refuse(request: HTTPRequest) -> Response:
        raise BadRequest("no")

    flow = fairness.PriorityAndFairness(Limits())
    flow.wrap_handler(refuse)
    flow._remaining = 0.0
    request = HTTPRequest.of("GET", "/", {})
    request.user = User("a")
    answer = flow._handle_shared("a", request)
    monkeypatch.setattr(fairness, "_TURN", 0.002)
    assert asyncio.iscoroutine(answer)
    with no_garbage_left():
        with pytest.raises(BadRequest):
            await answer
        del answer
