"""A controller that fills a bed, a ConfigMap, and reports in the status what it does and what the bed holds.

The defect: it notes which generation of the garden it has seen before it fills the bed. If it fails in between, the bed
keeps the old number. Two rules then undo each other without end: one sets `planted` to what the user wants and the
phase to Growing, the other sets `planted` to what the bed holds and the phase to Grown. With --mended it compares the
bed itself with what the user wants, and fills it first.
"""

from __future__ import annotations

import sys
from typing import Any

from informer import Informer, Key, Worker, key_of
from lightkube import ApiError, Client
from lightkube.generic_resource import create_namespaced_resource
from lightkube.models.meta_v1 import ObjectMeta, OwnerReference
from lightkube.resources.core_v1 import ConfigMap
from lightkube.types import PatchType

MENDED = "--mended" in sys.argv
Garden = create_namespaced_resource("example.com", "v1", "Garden", "gardens")
client = Client()


def note(key: Key, **status: Any) -> None:
    namespace, name = key
    client.patch(Garden.Status, name, {"status": status}, namespace=namespace, patch_type=PatchType.MERGE)


def fill_bed(garden: Any, plants: int) -> None:
    namespace, name = key_of(garden)
    data = {"plants": str(plants)}
    try:
        client.patch(ConfigMap, f"{name}-bed", {"data": data}, namespace=namespace, patch_type=PatchType.MERGE)
    except ApiError as error:
        if error.status.reason != "NotFound":
            raise
        owner = OwnerReference(apiVersion="example.com/v1", kind="Garden", name=name, uid=garden.metadata.uid)
        metadata = ObjectMeta(name=f"{name}-bed", namespace=namespace, ownerReferences=[owner])
        client.create(ConfigMap(metadata=metadata, data=data))


def count_plants(key: Key) -> int:
    namespace, name = key
    try:
        return int(client.get(ConfigMap, f"{name}-bed", namespace=namespace).data["plants"])
    except ApiError as error:
        if error.status.reason != "NotFound":
            raise
        return -1


def reconcile(key: Key) -> None:
    garden = gardens.objects.get(key)
    if garden is None:
        return
    wanted, status = garden.spec["plants"], garden.status or {}
    if MENDED:
        if count_plants(key) != wanted:
            fill_bed(garden, wanted)
        if (status.get("planted"), status.get("phase")) != (wanted, "Grown"):
            note(key, planted=wanted, phase="Grown")
    elif status.get("seen") != garden.metadata.generation:
        note(key, seen=garden.metadata.generation)
        fill_bed(garden, wanted)
    elif status.get("planted") != wanted:
        note(key, planted=wanted, phase="Growing")
    elif status.get("phase") == "Growing":
        note(key, planted=count_plants(key), phase="Grown")


worker = Worker(reconcile)
gardens = Informer(client, Garden, lambda garden: worker.add(key_of(garden)), lambda garden: None)
worker.run()
