"""The steps with pykube-ng."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pykube

from podless.runtime.jsonobject import Object
from tests.clients.python.steps import API, GROUP, KIND, PLURAL, Library, Refused, in_thread, main


class Widget(pykube.objects.NamespacedAPIObject):  # type: ignore[misc]
    version, endpoint, kind = API, PLURAL, KIND


class Pykube(Library):
    """Its objects, with a class for the kind."""

    def __init__(self, path: str) -> None:
        self._api = pykube.HTTPClient(pykube.KubeConfig.from_file(path))

    async def _call(self, call: Callable[[], Any]) -> Any:
        try:
            return await asyncio.to_thread(call)
        except pykube.exceptions.ObjectDoesNotExist as error:
            raise Refused(404, str(error)) from error
        except pykube.exceptions.HTTPError as error:
            raise Refused(error.code, str(error)) from error

    def _there(self, namespace: str) -> Any:
        return Widget.objects(self._api, namespace=namespace)

    async def make(self, obj: Object, namespace: str = "") -> Object:
        known = {"Namespace": pykube.Namespace, "CustomResourceDefinition": pykube.CustomResourceDefinition}
        kind = known.get(obj["kind"], Widget)
        metadata = obj["metadata"] | ({"namespace": namespace} if namespace else {})
        made = kind(self._api, obj | {"metadata": metadata})
        await self._call(made.create)
        return dict(made.obj)

    async def get(self, namespace: str, name: str) -> Object:
        return dict((await self._call(lambda: self._there(namespace).get_by_name(name))).obj)

    async def replace(self, namespace: str, obj: Object, subresource: str | None = None) -> Object:
        now = Widget(self._api, obj)
        sent = {"data": json.dumps(obj), **now.api_kwargs(subresource=subresource)}

        def put() -> Any:
            answer = self._api.put(**sent)
            self._api.raise_for_status(answer)
            return answer.json()

        return dict(await self._call(put))

    async def replace_status(self, namespace: str, obj: Object) -> Object:
        return await self.replace(namespace, obj, "status")

    async def delete(self, namespace: str, name: str) -> None:
        found = await self._call(lambda: self._there(namespace).get_by_name(name))
        await self._call(found.delete)

    async def established(self) -> bool:
        kind = pykube.CustomResourceDefinition
        found = await self._call(lambda: kind.objects(self._api).get_by_name(f"{PLURAL}.{GROUP}"))
        conditions = found.obj.get("status", {}).get("conditions", ())
        return any((condition["type"], condition["status"]) == ("Established", "True") for condition in conditions)

    async def list(self, namespace: str) -> tuple[list[Object], str]:
        found = await self._call(lambda: self._there(namespace).response)
        return found["items"], found["metadata"]["resourceVersion"]

    async def watch(self, namespace: str, revision: str) -> AsyncIterator[tuple[str, Object]]:
        async for event in in_thread(iter(self._there(namespace).watch(since=revision))):
            if event.type == "ERROR":
                raise Refused(event.object.obj["code"], event.object.obj["message"])
            yield event.type, dict(event.object.obj)


async def connect(path: str) -> Library:
    return await asyncio.to_thread(Pykube, path)


main(connect)
