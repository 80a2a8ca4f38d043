"""The steps with lightkube."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable
from typing import Any

import lightkube
from lightkube.codecs import from_dict
from lightkube.core.exceptions import ApiError
from lightkube.generic_resource import create_namespaced_resource
from lightkube.resources.apiextensions_v1 import CustomResourceDefinition
from lightkube.types import OnErrorAction, OnErrorResult

from podless.runtime.jsonobject import Object
from tests.clients.python.steps import GROUP, KIND, PLURAL, Library, Refused, main

WIDGET: Any = create_namespaced_resource(GROUP, "v1", KIND, PLURAL)


class Lightkube(Library):
    """Generic resources, on its asynchronous client."""

    def __init__(self, path: str) -> None:
        self._client: Any = lightkube.AsyncClient(config=lightkube.KubeConfig.from_file(path))

    async def _call(self, call: Awaitable[Any]) -> Any:
        try:
            return await call
        except ApiError as error:
            raise Refused(error.status.code or 0, str(error.status.message)) from error

    async def make(self, obj: Object, namespace: str = "") -> Object:
        more = {"namespace": namespace} if namespace else {}
        return dict((await self._call(self._client.create(from_dict(obj), **more))).to_dict())

    async def get(self, namespace: str, name: str) -> Object:
        return dict((await self._call(self._client.get(WIDGET, name, namespace=namespace))).to_dict())

    async def replace(self, namespace: str, obj: Object) -> Object:
        return dict((await self._call(self._client.replace(WIDGET.from_dict(obj), namespace=namespace))).to_dict())

    async def replace_status(self, namespace: str, obj: Object) -> Object:
        name = obj["metadata"]["name"]
        call = self._client.replace(WIDGET.Status.from_dict(obj), name, namespace=namespace)
        return dict((await self._call(call)).to_dict())

    async def apply(self, namespace: str, obj: Object, manager: str, force: bool) -> Object:
        call = self._client.apply(WIDGET.from_dict(obj), namespace=namespace, field_manager=manager, force=force)
        return dict((await self._call(call)).to_dict())

    async def delete(self, namespace: str, name: str) -> None:
        await self._call(self._client.delete(WIDGET, name, namespace=namespace))

    async def established(self) -> bool:
        await self._client.wait(CustomResourceDefinition, f"{PLURAL}.{GROUP}", for_conditions=["Established"])
        return True

    async def list(self, namespace: str) -> tuple[list[Object], str]:
        found = self._client.list(WIDGET, namespace=namespace)
        items = [item.to_dict() async for item in found]
        return items, found.resourceVersion

    async def watch(self, namespace: str, revision: str) -> AsyncIterator[tuple[str, Object]]:
        def stop(error: Exception, count: int) -> OnErrorResult:
            return OnErrorResult(OnErrorAction.RAISE)

        stream = self._client.watch(WIDGET, namespace=namespace, resource_version=revision, on_error=stop)
        try:
            async for type_, obj in stream:
                yield type_, obj.to_dict()
        except ApiError as error:
            raise Refused(error.status.code or 0, str(error.status.message)) from error


async def connect(path: str) -> Library:
    return Lightkube(path)


main(connect)
