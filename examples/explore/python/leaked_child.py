"""A controller that gives each garden a bed, a ConfigMap with a generated name, and notes the name in the status.

The defect: it creates the bed first and notes it afterwards. If it is killed in between, it creates a second bed and
forgets the first. With --mended it names the bed after the garden, so that a second create finds it there. With
--leader-elect several instances elect a leader; a leader that was deposed unnoticed creates a second bed, too.
"""

from __future__ import annotations

import sys

from informer import Informer, Key, Worker, key_of
from leader import wait_until_leading
from lightkube import ApiError, Client
from lightkube.generic_resource import create_namespaced_resource
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import ConfigMap
from lightkube.types import PatchType

MENDED = "--mended" in sys.argv
Garden = create_namespaced_resource("example.com", "v1", "Garden", "gardens")
client = Client()


def reconcile(key: Key) -> None:
    garden = gardens.objects.get(key)
    if garden is None or (garden.status or {}).get("bed"):
        return
    namespace, name = key
    if MENDED:
        bed = ConfigMap(metadata=ObjectMeta(name=f"{name}-bed", namespace=namespace), data={"garden": name})
    else:
        bed = ConfigMap(metadata=ObjectMeta(generateName=f"{name}-bed-", namespace=namespace), data={"garden": name})
    try:
        bed = client.create(bed)
    except ApiError as error:
        if error.status.reason != "AlreadyExists" or not MENDED:
            raise
    client.patch(
        Garden.Status, name, {"status": {"bed": bed.metadata.name}}, namespace=namespace, patch_type=PatchType.MERGE
    )


if "--leader-elect" in sys.argv:
    wait_until_leading(client, "gardener")
worker = Worker(reconcile)
gardens = Informer(client, Garden, lambda garden: worker.add(key_of(garden)), lambda garden: None)
worker.run()
