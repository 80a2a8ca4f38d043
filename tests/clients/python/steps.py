"""The steps that every client in this folder's neighbours takes, for a library of Python that is adapted to them."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from abc import abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

from podless.runtime.jsonobject import Object

GROUP, PLURAL, KIND = "clients.example.com", "widgets", "Widget"
API = f"{GROUP}/v1"
TIME = 30.0  # seconds that a step may take
TICK = 0.02


class Refused(Exception):
    """The server refused something; code: of its answer."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(f"{code}: {text}")
        self.code = code


class Missing(Exception):
    """The library has no such thing; the text says what."""


class Library:
    """What the steps need of a library. Objects are dicts; all but `watch` raise Refused."""

    @abstractmethod
    async def make(self, obj: Object, namespace: str = "") -> Object:
        """Create an object of any kind that the steps know."""

    @abstractmethod
    async def get(self, namespace: str, name: str) -> Object:
        """A widget."""

    @abstractmethod
    async def replace(self, namespace: str, obj: Object) -> Object:
        """Update a widget."""

    @abstractmethod
    async def replace_status(self, namespace: str, obj: Object) -> Object:
        """Update a widget's status."""

    async def apply(self, namespace: str, obj: Object, manager: str, force: bool) -> Object:
        """Apply a widget on the server."""
        raise Missing("it has no server-side apply")

    @abstractmethod
    async def delete(self, namespace: str, name: str) -> None:
        """Delete a widget."""

    @abstractmethod
    async def established(self) -> bool:
        """Whether the definition is."""

    @abstractmethod
    async def list(self, namespace: str) -> tuple[list[Object], str]:
        """The widgets, and from which revision on to watch."""

    @abstractmethod
    def watch(self, namespace: str, revision: str) -> AsyncIterator[tuple[str, Object]]:
        """What happens to widgets, until the watch ends. Raises Refused with 410 where history is gone."""

    async def close(self) -> None:
        """The end."""


async def in_thread(events: Iterator[Any]) -> AsyncIterator[Any]:
    """The items of an iterator that blocks."""
    nothing = object()
    while (item := await asyncio.to_thread(next, events, nothing)) is not nothing:
        yield item


def widget(name: str, size: int, **more: Any) -> Object:
    return {"apiVersion": API, "kind": KIND, "metadata": {"name": name}, "spec": {"size": size}} | more


def namespaced(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def definition() -> Object:
    shape = {
        "type": "object",
        "properties": {
            "spec": {"type": "object", "properties": {"size": {"type": "integer"}, "color": {"type": "string"}}},
            "status": {"type": "object", "properties": {"phase": {"type": "string"}}},
        },
    }
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": shape}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{PLURAL}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"plural": PLURAL, "singular": "widget", "kind": KIND},
            "versions": [version | {"subresources": {"status": {}}}],
        },
    }


async def refused(code: int, call: Awaitable[object]) -> str:
    """The message of a refusal with a code; anything else is an error."""
    try:
        await call
    except Refused as error:
        if error.code == code:
            return str(error)
        raise
    raise AssertionError(f"a {code} was expected")


class Informer:
    """A copy of a namespace's widgets: listed, watched from there on, and listed anew where history is gone."""

    def __init__(self, library: Library, namespace: str) -> None:
        self._library = library
        self._namespace = namespace
        self.known: dict[str, Object] = {}
        self._changed = asyncio.Condition()
        self._task = asyncio.create_task(self._follow())

    async def _follow(self) -> None:
        revision = ""
        while True:
            if not revision:
                items, revision = await self._library.list(self._namespace)
                await self._put({item["metadata"]["name"]: item for item in items})
            try:
                async for type_, obj in self._library.watch(self._namespace, revision):
                    revision = obj["metadata"]["resourceVersion"]
                    name = obj["metadata"]["name"]
                    rest = {key: value for key, value in self.known.items() if key != name}
                    await self._put(rest if type_ == "DELETED" else rest | {name: obj})
            except Refused as error:
                if error.code != 410:
                    raise
                revision = ""

    async def _put(self, known: dict[str, Object]) -> None:
        async with self._changed:
            self.known = known
            self._changed.notify_all()

    async def until(self, reached: Callable[[dict[str, Object]], bool]) -> None:
        async def wait() -> None:
            async with self._changed:
                await self._changed.wait_for(lambda: reached(self.known))

        waiting = asyncio.create_task(wait())
        await asyncio.wait((waiting, self._task), return_when=asyncio.FIRST_COMPLETED)
        if not waiting.done():
            waiting.cancel()
            await self._task

    def stop(self) -> None:
        self._task.cancel()


class Steps:
    """The steps, with one library."""

    def __init__(self, library: Library) -> None:
        self._on = library

    async def definition(self) -> None:
        for name in ("work", "cut", "expired"):
            await self._on.make(namespaced(name))
        await self._on.make(definition())
        while not await self._on.established():  # noqa: ASYNC110
            await asyncio.sleep(TICK)

    async def informer(self) -> None:
        await self._on.make(widget("before", 1), "work")
        informer = Informer(self._on, "work")
        await informer.until(lambda known: "before" in known)
        made = await self._on.make(widget("after", 1), "work")
        await informer.until(lambda known: "after" in known)
        await self._on.replace("work", made | {"spec": {"size": 2}})
        await informer.until(lambda known: known["after"]["spec"]["size"] == 2)
        for name in ("before", "after"):
            await self._on.delete("work", name)
        await informer.until(lambda known: not known)
        informer.stop()

    async def apply(self) -> None:
        await self._on.apply("work", widget("applied", 1), "first", False)
        await refused(409, self._on.apply("work", widget("applied", 2), "second", False))
        taken = await self._on.apply("work", widget("applied", 2), "second", True)
        owners = [field["manager"] for field in taken["metadata"]["managedFields"]]
        assert (taken["spec"]["size"], owners) == (2, ["second"]), f"{taken['spec']}, owned by {owners}"
        message = await refused(409, self._on.apply("work", widget("applied", 3), "first", False))
        assert ".spec.size" in message, f"a conflict that names no field: {message}"

    async def finalizers(self) -> None:
        held = widget("held", 1)
        held["metadata"]["finalizers"] = [f"{GROUP}/held"]
        await self._on.make(held, "work")
        await self._on.delete("work", "held")
        marked = await self._on.get("work", "held")
        assert marked["metadata"]["deletionTimestamp"], "nothing says that it is being deleted"
        await self._on.replace("work", marked | {"metadata": marked["metadata"] | {"finalizers": []}})
        await refused(404, self._on.get("work", "held"))

    async def status(self) -> None:
        seen = await self._on.make(widget("busy", 1, status={"phase": "Ignored"}), "work")
        assert not seen.get("status"), "a create set the status"
        await self._on.replace("work", seen | {"spec": {"size": 2}})
        await refused(409, self._on.replace_status("work", seen | {"status": {"phase": "Late"}}))
        now = await self._on.get("work", "busy")
        await self._on.replace_status("work", now | {"status": {"phase": "Ready"}, "spec": {"size": 9}})
        now = await self._on.get("work", "busy")
        shown = now["status"]["phase"], now["spec"]["size"], now["metadata"]["generation"]
        assert shown == ("Ready", 2, 2), f"phase, size and generation are {shown}"

    async def resumed(self, namespace: str) -> None:
        informer = Informer(self._on, namespace)
        for number in range(8):
            await self._on.make(widget(f"n{number}", number), namespace)
            await informer.until(lambda known, name=f"n{number}": name in known)  # type: ignore[misc]
        await self._on.delete(namespace, "n0")
        await informer.until(lambda known: len(known) == 7)
        informer.stop()


async def _walk(open_: Callable[[str], Awaitable[Library]]) -> bool:
    library = await open_(os.environ["KUBECONFIG"])
    steps = Steps(library)
    well = True
    work: dict[str, Callable[[], Awaitable[None]]] = {
        "definition": steps.definition,
        "informer": steps.informer,
        "apply": steps.apply,
        "finalizers": steps.finalizers,
        "status": steps.status,
        "watch-cut": lambda: steps.resumed("cut"),
        "watch-expired": lambda: steps.resumed("expired"),
    }
    for name, step in work.items():
        try:
            await asyncio.wait_for(step(), TIME)
            print(f"ok {name}")
        except Missing as error:
            print(f"none {name}: {error}")
        except Exception as error:
            well = False
            print(f"FAILED {name}: {json.dumps(str(error) or repr(error))}")
    for name in ("resync", "leader-election", "controller"):
        print(f"none {name}: it is not tried")
    sys.stdout.flush()
    return well


def main(open_: Callable[[str], Awaitable[Library]]) -> None:
    """Take all steps. open_: makes the library of a kubeconfig. A watch that still blocks a thread is left behind."""

    async def run() -> None:
        os._exit(0 if await _walk(open_) else 1)

    asyncio.run(run())
