"""Random writes by random users with every verb, compared with what the history tells of them afterwards."""

from __future__ import annotations

import random
from typing import Any, NamedTuple
from urllib.parse import urlencode

from podless import Server
from podless.app import App
from podless.auth.user import User
from podless.codec import serializer
from podless.http.message import HTTPRequest, Response, settle_answer
from podless.testing.ask import ask_app

LOG = "/apis/history.podless.dev/v1/namespaces/default/history"
USERS = {f"token-{name}": User(name, name, ("system:masters",)) for name in ("ann", "bob", "eve")}
BASE = "/apis/apps/v1/namespaces/default/deployments"
NAMES = ["a", "b"]
_MEDIA = {"patch": "application/merge-patch+json", "apply": "application/apply-patch+yaml"}


class Made(NamedTuple):
    """A change of an object. state: what a client read afterwards, None for a delete."""

    user: str
    verb: str
    subresource: str
    name: str
    state: Any


class Writer:
    """Writes to one server, and remembers the changes and the present states."""

    def __init__(self, chance: random.Random) -> None:
        self.made: list[Made] = []
        self.state: dict[str, Any] = {}
        self._chance = chance

    async def write(self, app: App) -> None:
        """Make one change, or none that changes anything."""
        token, name = self._chance.choice(sorted(USERS)), self._chance.choice(NAMES)
        verb, subresource = "create", ""
        if name in self.state:
            verb = self._chance.choice(["update", "update", "patch", "patch", "apply", "apply", "delete"])
            verb = "deletecollection" if verb == "delete" and self._chance.random() < 0.3 else verb
            subresource = self._chance.choice(["", "status", "scale"]) if verb in ("update", "patch") else ""
        path = BASE if verb in ("create", "deletecollection") else f"{BASE}/{name}"
        methods = {"create": "POST", "update": "PUT", "patch": "PATCH", "apply": "PATCH"}
        body = self._body(verb, subresource, name)
        media = _MEDIA.get(verb, "application/json")
        query = {"fieldManager": "applier", "force": "true"} if verb == "apply" else {}
        path = f"{path}/{subresource}" if subresource else path
        await _send(app, token, methods.get(verb, "DELETE"), path, body, media, query)
        for gone in sorted(self.state) if verb == "deletecollection" else [name]:
            await self._note(app, Made(USERS[token].name, verb, subresource, gone, None))

    async def _note(self, app: App, made: Made) -> None:
        known = self.state.pop(made.name, None)
        if not made.verb.startswith("delete"):
            read = await ask_app(app, "GET", f"{BASE}/{made.name}")
            self.state[made.name] = read
            if known == read:
                return
            made = made._replace(state=read)
        self.made.append(made)

    def _body(self, verb: str, subresource: str, name: str) -> Any:
        number = self._chance.randrange(4)
        if verb.startswith("delete"):
            return None
        if subresource == "scale":
            scale = {
                "apiVersion": "autoscaling/v1",
                "kind": "Scale",
                "metadata": {"name": name, "namespace": "default"},
            }
            return {**scale, "spec": {"replicas": number}}
        if subresource and verb == "patch":
            return {"status": {"replicas": number}}
        if verb == "patch":
            return {"metadata": {"annotations": {self._chance.choice("xyz"): self._chance.choice(["1", None])}}}
        labels = {"app": "one"}
        container = {"name": "one", "image": f"image:{number}"}
        spec = {"selector": {"matchLabels": labels}, "replicas": self._chance.randrange(3)}
        spec["template"] = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
        obj = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}
        return obj | {"status": {"replicas": number}} if subresource else obj


async def _send(app: App, token: str, method: str, path: str, body: Any, media: str, query: dict[str, str]) -> None:
    headers = {"authorization": f"Bearer {token}", "accept": "application/json", "user-agent": "test"}
    request = HTTPRequest.of(method, f"{path}?{urlencode(query)}" if query else path, headers)
    if body is not None:
        request.body = serializer.encode_json(body)
        request.length = len(request.body)
        headers["content-type"] = media
    assert app.handler is not None
    answer = await settle_answer(app.handler(request))
    assert isinstance(answer, Response)
    assert answer.status < 300, b"".join(answer.chunks)


async def write_and_compare(seed: int, options: dict[str, Any], *, writes: int) -> None:
    """Write to two servers, one after the other, with compactions, and compare the log and the states with it."""
    writer = Writer(random.Random(seed))
    for _ in range(2):
        async with Server(**options, tokens=USERS) as server:
            app = server._get_app()
            for number in range(writes // 2):
                await writer.write(app)
                if number % 10 == 9:
                    assert app.cluster is not None
                    store = app.cluster.api.store
                    await store.compact(await store.read_revision())
            await _compare(app, writer.made)


async def _compare(app: App, made: list[Made]) -> None:
    for name in NAMES:
        query = {"fieldSelector": f"object.group=apps,object.resource=deployments,object.name={name}", "state": "true"}
        log = (await ask_app(app, "GET", LOG, **query))["items"][::-1]
        mine = [one for one in made if one.name == name]
        told = [(one["author"]["user"], one["author"]["verb"], one["author"].get("subresource", "")) for one in log]
        assert told == [one[:3] for one in mine]
        assert [one.get("state") for one in log if one["operation"] != "delete"] == [
            one.state for one in mine if one.state is not None
        ]
        before = None
        for shown, one in zip(log, mine, strict=True):
            if one.state is None:
                assert shown["operation"] == "delete"
            elif before is not None:
                assert _told_fields(shown) == _changed_fields(before, one.state)
            before = one.state
            if one.state is not None:
                at = {"resourceVersion": one.state["metadata"]["resourceVersion"], "resourceVersionMatch": "Exact"}
                assert await ask_app(app, "GET", f"{BASE}/{name}", **at) == one.state


def _told_fields(change: Any) -> dict[str, Any]:
    """Return the changes of fields that `_changed_fields` looks at."""
    told = {field["path"]: (field.get("before"), field.get("after")) for field in change["fields"]}
    return {path: told[path] for path in told if path in ("spec.replicas", "status.replicas")}


def _changed_fields(before: Any, after: Any) -> dict[str, Any]:
    found = {}
    for field_name in ("spec", "status"):
        values = (before.get(field_name, {}).get("replicas"), after.get(field_name, {}).get("replicas"))
        if values[0] != values[1]:
            found[f"{field_name}.replicas"] = values
    return found
