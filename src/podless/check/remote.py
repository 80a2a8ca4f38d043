"""The definitions of a running API, to check objects against."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from podless.check.sources import CannotCheck
from podless.version import __version__

Object = dict[str, Any]

_PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def definitions(config: Path | None, context: str) -> list[Object]:
    """All CustomResourceDefinitions behind a context of a kubeconfig, "" for the current one. Raises CannotCheck."""
    from podless.remote import RemoteError
    from podless.remote import kubeconfig as configs
    from podless.remote.cluster import Cluster

    async def ask() -> list[Object]:
        async with Cluster(access, f"podless-check/{__version__}") as cluster:
            listed = await cluster.send("GET", _PATH)
        head = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
        return [head | item for item in listed["items"]]

    places = configs.places()
    try:
        access = configs.read(config or next((path for path in places if path.exists()), places[0]), context)
        return asyncio.run(ask())
    except (configs.BadKubeconfig, RemoteError) as error:
        raise CannotCheck(str(error)) from None
