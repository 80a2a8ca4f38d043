"""An operator with kopf, on namespaces in which watches end early, too."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Any

import kopf
import lightkube
from lightkube.codecs import from_dict
from lightkube.core.exceptions import ApiError
from lightkube.generic_resource import create_namespaced_resource
from lightkube.resources.apiextensions_v1 import CustomResourceDefinition
from lightkube.types import PatchType

from tests.clients.python.steps import GROUP, KIND, PLURAL, TICK, TIME, definition, namespaced, widget

WIDGET: Any = create_namespaced_resource(GROUP, "v1", KIND, PLURAL)
MERGE = PatchType.MERGE
PLACES = ("work", "cut", "expired")


@kopf.on.startup()
def configure(settings: kopf.OperatorSettings, **_: Any) -> None:
    settings.posting.enabled = False
    settings.peering.standalone = True
    settings.watching.reconnect_backoff = TICK


@kopf.on.create(GROUP, "v1", PLURAL)
@kopf.on.update(GROUP, "v1", PLURAL, field="spec.size")
def sized(spec: Any, patch: Any, **_: Any) -> None:
    patch.status["phase"] = f"Size{spec['size']}"


@kopf.on.delete(GROUP, "v1", PLURAL)
def gone(**_: Any) -> None:
    """It has a finalizer for this."""


class Bench:
    """Who changes objects, and waits for what the operator makes of them."""

    def __init__(self) -> None:
        self._client: Any = lightkube.AsyncClient(config=lightkube.KubeConfig.from_file(os.environ["KUBECONFIG"]))

    async def prepare(self) -> None:
        for name in PLACES:
            await self._client.create(from_dict(namespaced(name)))
        shown = definition()
        shape = shown["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        shape["properties"]["status"]["x-kubernetes-preserve-unknown-fields"] = True
        await self._client.create(from_dict(shown))
        await self._client.wait(CustomResourceDefinition, f"{PLURAL}.{GROUP}", for_conditions=["Established"])

    async def until(self, namespace: str, name: str, reached: Callable[[Any], bool]) -> None:
        while not reached(await self._client.get(WIDGET, name, namespace=namespace)):  # noqa: ASYNC110
            await asyncio.sleep(TICK)

    async def make(self, namespace: str, name: str, size: int) -> None:
        await self._client.create(WIDGET.from_dict(widget(name, size)), namespace=namespace)
        await self.until(namespace, name, lambda one: (one.status or {}).get("phase") == f"Size{size}")

    async def grow(self, namespace: str, name: str, size: int) -> None:
        await self._client.patch(WIDGET, name, {"spec": {"size": size}}, namespace=namespace, patch_type=MERGE)
        await self.until(namespace, name, lambda one: (one.status or {}).get("phase") == f"Size{size}")

    async def drop(self, namespace: str, name: str) -> None:
        await self._client.delete(WIDGET, name, namespace=namespace)
        try:
            await self.until(namespace, name, lambda one: False)
        except ApiError as error:
            if error.status.code != 404:
                raise

    async def controller(self) -> None:
        await self.make("work", "one", 1)
        await self.grow("work", "one", 2)

    async def finalizers(self) -> None:
        await self.until("work", "one", lambda one: bool(one.metadata.finalizers))
        await self.drop("work", "one")

    async def resumed(self, namespace: str) -> None:
        for number in range(4):
            await self.make(namespace, f"n{number}", number)
        await self.drop(namespace, "n0")


async def walk() -> int:
    bench = Bench()
    await bench.prepare()
    stop = asyncio.Event()
    running: Any = kopf.operator
    operator = asyncio.create_task(running(namespaces=PLACES, stop_flag=stop))
    well = True
    steps: dict[str, Callable[[], Awaitable[None]]] = {
        "controller": bench.controller,
        "finalizers": bench.finalizers,
        "watch-cut": lambda: bench.resumed("cut"),
        "watch-expired": lambda: bench.resumed("expired"),
    }
    for name, step in steps.items():
        try:
            await asyncio.wait_for(step(), TIME)
            print(f"ok {name}", flush=True)
        except Exception as error:
            well = False
            print(f"FAILED {name}: {str(error) or repr(error)}", flush=True)
    for name in ("definition", "informer", "resync", "apply", "status", "leader-election"):
        print(f"none {name}: it is a framework for controllers")
    stop.set()
    await operator
    return 0 if well else 1


raise SystemExit(asyncio.run(walk()))
