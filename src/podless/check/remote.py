"""Definitions and objects of a running API, to check with."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from podless.check.sources import CannotCheck, SourceFile
from podless.codec import serializer
from podless.runtime.jsonobject import Object

_PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def fetch_definitions(config: Path | None, context: str) -> list[Object]:
    """Return all CustomResourceDefinitions of a server. context: of the kubeconfig, "" for the current one.

    Raises CannotCheck.
    """
    listed = _send_requests(config, context, [_PATH])[0]
    head = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    return [head | item for item in listed["items"]]


def fetch_objects(config: Path | None, context: str, definitions: Sequence[Object]) -> list[SourceFile]:
    """Return the custom resources of some definitions on a server, each kind as a file. Raises CannotCheck."""
    paths = []
    for definition in definitions:
        spec = definition["spec"]
        version = next(version_entry["name"] for version_entry in spec["versions"] if version_entry.get("served"))
        paths.append(f"/apis/{spec['group']}/{version}/{spec['names']['plural']}")
    return [
        SourceFile.of(path, serializer.encode_json(listed))
        for path, listed in zip(paths, _send_requests(config, context, paths), strict=True)
    ]


def _send_requests(config: Path | None, context: str, paths: Sequence[str]) -> list[Object]:
    """Return the server's responses to GET requests. Raises CannotCheck."""
    from podless.remote import RemoteError
    from podless.remote import kubeconfig as configs
    from podless.remote.cluster import RemoteCluster

    async def fetch_all() -> list[Object]:
        async with RemoteCluster(access, "podless-check") as cluster:
            return [await cluster.send("GET", path) for path in paths]

    try:
        access = configs.read_kubeconfig(config or configs.find_kubeconfig(), context)
        return asyncio.run(fetch_all())
    except (configs.BadKubeconfig, RemoteError) as error:
        raise CannotCheck(str(error)) from None
