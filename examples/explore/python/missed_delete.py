"""A controller that notes for each garden in one ConfigMap, the register, how many plants it has.

The defect: it takes a garden out of the register when its watch shows the deletion. While it is disconnected it misses
that. With --mended it compares the whole register with the gardens that it knows, also when it starts.
"""

from __future__ import annotations

import sys
from typing import Any

from informer import Informer, Key, Worker, key_of
from lightkube import ApiError, Client
from lightkube.generic_resource import create_namespaced_resource
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import ConfigMap
from lightkube.types import PatchType

MENDED = "--mended" in sys.argv
Garden = create_namespaced_resource("example.com", "v1", "Garden", "gardens")
client = Client()


def register(changes: dict[str, str | None]) -> None:
    if not changes:
        return
    try:
        client.patch(ConfigMap, "register", {"data": changes}, namespace="default", patch_type=PatchType.MERGE)
    except ApiError as error:
        if error.status.reason != "NotFound":
            raise
        client.create(ConfigMap(metadata=ObjectMeta(name="register", namespace="default"), data=changes))


def read_register() -> dict[str, str]:
    try:
        return client.get(ConfigMap, "register", namespace="default").data or {}
    except ApiError as error:
        if error.status.reason != "NotFound":
            raise
        return {}


def reconcile(key: Key) -> None:
    if MENDED:
        gardens.synced.wait()
        wanted = {name: str(garden.spec["plants"]) for (_, name), garden in gardens.objects.items()}
        noted = read_register()
        changes: dict[str, Any] = {name: plants for name, plants in wanted.items() if noted.get(name) != plants}
        register(changes | dict.fromkeys(noted.keys() - wanted.keys()))
        return
    garden = gardens.objects.get(key)
    if garden is not None and read_register().get(key[1]) != str(garden.spec["plants"]):
        register({key[1]: str(garden.spec["plants"])})


def forget(garden: Any) -> None:
    if MENDED:
        worker.add(key_of(garden))
    else:
        register({garden.metadata.name: None})


worker = Worker(reconcile)
gardens = Informer(client, Garden, lambda garden: worker.add(key_of(garden)), forget, tell_missed=MENDED)
if MENDED:
    worker.add(("default", "register"))
worker.run()
