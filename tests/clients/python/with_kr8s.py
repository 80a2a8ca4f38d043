"""The steps with kr8s."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable
from typing import Any

import httpx
import kr8s.asyncio
from kr8s.asyncio.objects import CustomResourceDefinition, Namespace, new_class

from podless.runtime.jsonobject import Object
from tests.clients.python.steps import API, GROUP, KIND, PLURAL, Library, Refused, main

WIDGET: Any = new_class(kind=KIND, version=API, namespaced=True, plural=PLURAL)


class Kr8s(Library):
    """Its objects; what they have no method for goes through the API's own call."""

    def __init__(self, api: Any) -> None:
        self._api = api

    async def _call(self, call: Awaitable[Any]) -> Any:
        try:
            return await call
        except kr8s.NotFoundError as error:
            raise Refused(404, str(error)) from error
        except kr8s.ServerError as error:
            raise Refused(error.response.status_code if error.response is not None else 0, str(error)) from error
        except httpx.HTTPStatusError as error:
            raise Refused(error.response.status_code, error.response.text) from error

    async def _send(self, method: str, namespace: str, path: str, obj: Object) -> Object:
        async with self._api.call_api(method, version=API, namespace=namespace, url=path, json=obj) as answer:
            return dict(answer.json())

    async def make(self, obj: Object, namespace: str = "") -> Object:
        kind: Any = {"Namespace": Namespace, "CustomResourceDefinition": CustomResourceDefinition}.get(
            obj["kind"], WIDGET
        )
        metadata = obj["metadata"] | ({"namespace": namespace} if namespace else {})
        made = await kind(obj | {"metadata": metadata}, api=self._api)
        await self._call(made.create())
        return dict(made.raw)

    async def get(self, namespace: str, name: str) -> Object:
        return dict((await self._call(WIDGET.get(name, namespace=namespace, api=self._api))).raw)

    async def replace(self, namespace: str, obj: Object) -> Object:
        return dict(await self._call(self._send("PUT", namespace, f"{PLURAL}/{obj['metadata']['name']}", obj)))

    async def replace_status(self, namespace: str, obj: Object) -> Object:
        return dict(await self._call(self._send("PUT", namespace, f"{PLURAL}/{obj['metadata']['name']}/status", obj)))

    async def delete(self, namespace: str, name: str) -> None:
        found = await self._call(WIDGET.get(name, namespace=namespace, api=self._api))
        await self._call(found.delete())

    async def established(self) -> bool:
        found = await self._call(CustomResourceDefinition.get(f"{PLURAL}.{GROUP}", api=self._api))
        conditions = found.raw.get("status", {}).get("conditions", ())
        return any((condition["type"], condition["status"]) == ("Established", "True") for condition in conditions)

    async def list(self, namespace: str) -> tuple[list[Object], str]:
        async with self._api.call_api("GET", version=API, namespace=namespace, url=PLURAL) as answer:
            found = answer.json()
        return found["items"], found["metadata"]["resourceVersion"]

    async def watch(self, namespace: str, revision: str) -> AsyncIterator[tuple[str, Object]]:
        async for type_, obj in self._api.async_watch(WIDGET, namespace=namespace, since=revision):
            if type_ == "ERROR":
                raise Refused(obj.raw["code"], obj.raw["message"])
            yield type_, dict(obj.raw)


async def connect(path: str) -> Library:
    return Kr8s(await kr8s.asyncio.api(kubeconfig=path))


main(connect)
