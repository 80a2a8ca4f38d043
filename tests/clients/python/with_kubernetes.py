"""The steps with kubernetes, the official client."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

from kubernetes import client, config, dynamic, watch

from podless.runtime.jsonobject import Object
from tests.clients.python.steps import API, GROUP, KIND, PLURAL, Library, Refused, in_thread, main


class Kubernetes(Library):
    """Any kind through the dynamic client; watches through the generated one, as its examples have them."""

    def __init__(self, connection: Any) -> None:
        self._dynamic = dynamic.DynamicClient(connection)  # type: ignore[no-untyped-call]
        self._objects = client.CustomObjectsApi(connection)

    async def _call(self, call: Callable[..., Any], *arguments: Any, **more: Any) -> Any:
        try:
            return await asyncio.to_thread(call, *arguments, **more)
        except client.ApiException as error:
            raise Refused(error.status, str(error.body)) from error

    def _kind(self, api: str = API, kind: str = KIND) -> Any:
        return self._dynamic.resources.get(api_version=api, kind=kind)

    async def make(self, obj: Object, namespace: str = "") -> Object:
        kind = await asyncio.to_thread(self._kind, obj["apiVersion"], obj["kind"])
        return dict((await self._call(kind.create, body=obj, namespace=namespace or None)).to_dict())

    async def get(self, namespace: str, name: str) -> Object:
        return dict((await self._call(self._kind().get, name=name, namespace=namespace)).to_dict())

    async def replace(self, namespace: str, obj: Object) -> Object:
        return dict((await self._call(self._kind().replace, body=obj, namespace=namespace)).to_dict())

    async def replace_status(self, namespace: str, obj: Object) -> Object:
        return dict((await self._call(self._kind().status.replace, body=obj, namespace=namespace)).to_dict())

    async def apply(self, namespace: str, obj: Object, manager: str, force: bool) -> Object:
        more = {"field_manager": manager, "force_conflicts": force}
        name = obj["metadata"]["name"]
        kind = self._kind()
        return dict((await self._call(kind.server_side_apply, obj, name=name, namespace=namespace, **more)).to_dict())

    async def delete(self, namespace: str, name: str) -> None:
        await self._call(self._kind().delete, name=name, namespace=namespace)

    async def established(self) -> bool:
        kind = self._kind("apiextensions.k8s.io/v1", "CustomResourceDefinition")
        found = (await self._call(kind.get, name=f"{PLURAL}.{GROUP}")).to_dict()
        conditions = found.get("status", {}).get("conditions", ())
        return any((condition["type"], condition["status"]) == ("Established", "True") for condition in conditions)

    async def list(self, namespace: str) -> tuple[list[Object], str]:
        found = await self._call(self._objects.list_namespaced_custom_object, GROUP, "v1", namespace, PLURAL)
        return found["items"], found["metadata"]["resourceVersion"]

    async def watch(self, namespace: str, revision: str) -> AsyncIterator[tuple[str, Object]]:
        listing = self._objects.list_namespaced_custom_object
        where = (GROUP, "v1", namespace, PLURAL)
        stream: Any = watch.Watch  # none of its methods has types
        events = stream().stream(listing, *where, resource_version=revision)
        try:
            async for event in in_thread(events):
                yield event["type"], event["object"]
        except client.ApiException as error:
            raise Refused(error.status, str(error.reason)) from error


async def connect(path: str) -> Library:
    configuration: Any = config
    return await asyncio.to_thread(lambda: Kubernetes(configuration.new_client_from_config(path)))


main(connect)
