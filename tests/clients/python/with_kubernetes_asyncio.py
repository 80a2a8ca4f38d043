"""The steps with kubernetes_asyncio."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable
from typing import Any

from kubernetes_asyncio import client, config, watch

from podless.runtime.jsonobject import Object
from tests.clients.python.steps import GROUP, PLURAL, Library, Refused, main


class KubernetesAsyncio(Library):
    """Custom objects through their API, namespaces and definitions through theirs."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._objects = client.CustomObjectsApi(connection)
        self._core = client.CoreV1Api(connection)
        self._definitions = client.ApiextensionsV1Api(connection)

    async def _call(self, call: Awaitable[Any]) -> Any:
        try:
            return await call
        except client.ApiException as error:
            raise Refused(error.status, str(error.body)) from error

    def _where(self, namespace: str, name: str = "") -> dict[str, str]:
        where = {"group": GROUP, "version": "v1", "namespace": namespace, "plural": PLURAL}
        return where | {"name": name} if name else where

    async def make(self, obj: Object, namespace: str = "") -> Object:
        if namespace:
            made = await self._call(
                self._objects.create_namespaced_custom_object(**self._where(namespace), body=obj),
            )
            return dict(made)
        known = {
            "Namespace": self._core.create_namespace,
            "CustomResourceDefinition": self._definitions.create_custom_resource_definition,
        }
        await self._call(known[obj["kind"]](body=obj))
        return obj

    async def get(self, namespace: str, name: str) -> Object:
        return dict(await self._call(self._objects.get_namespaced_custom_object(**self._where(namespace, name))))

    async def replace(self, namespace: str, obj: Object) -> Object:
        where = self._where(namespace, obj["metadata"]["name"])
        return dict(await self._call(self._objects.replace_namespaced_custom_object(**where, body=obj)))

    async def replace_status(self, namespace: str, obj: Object) -> Object:
        where = self._where(namespace, obj["metadata"]["name"])
        return dict(await self._call(self._objects.replace_namespaced_custom_object_status(**where, body=obj)))

    async def apply(self, namespace: str, obj: Object, manager: str, force: bool) -> Object:
        where = self._where(namespace, obj["metadata"]["name"])
        more = {"field_manager": manager, "force": force, "_content_type": "application/apply-patch+yaml"}
        await self._call(self._objects.patch_namespaced_custom_object(**where, body=obj, **more))
        return await self.get(namespace, obj["metadata"]["name"])  # of what a patch has created it returns nothing

    async def delete(self, namespace: str, name: str) -> None:
        await self._call(self._objects.delete_namespaced_custom_object(**self._where(namespace, name)))

    async def established(self) -> bool:
        found = await self._call(self._definitions.read_custom_resource_definition(f"{PLURAL}.{GROUP}"))
        conditions = found.status.conditions or ()
        return any((condition.type, condition.status) == ("Established", "True") for condition in conditions)

    async def list(self, namespace: str) -> tuple[list[Object], str]:
        found = await self._call(self._objects.list_namespaced_custom_object(**self._where(namespace)))
        return found["items"], found["metadata"]["resourceVersion"]

    async def watch(self, namespace: str, revision: str) -> AsyncIterator[tuple[str, Object]]:
        listing = self._objects.list_namespaced_custom_object
        stream = watch.Watch().stream(listing, **self._where(namespace), resource_version=revision)
        try:
            async for event in stream:
                yield event["type"], event["object"]
        except client.ApiException as error:
            raise Refused(error.status, str(error.reason)) from error


async def connect(path: str) -> Library:
    return KubernetesAsyncio(await config.new_client_from_config(path))


main(connect)
