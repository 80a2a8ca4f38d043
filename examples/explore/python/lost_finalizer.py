"""A controller that fills a bed, a ConfigMap, for each garden, and empties it when the garden is deleted.

The defect: it removes its finalizer with an update, and takes a conflict for success. The garden then stays for ever,
because nothing reconciles it again. With --mended a conflict is an error like any other, and is tried again. The bed
names the garden as its owner, so that the garbage collector deletes what is created from an old view of a garden.
"""

from __future__ import annotations

import copy
import sys

from informer import Informer, Key, Worker, key_of
from lightkube import ApiError, Client
from lightkube.generic_resource import create_namespaced_resource
from lightkube.models.meta_v1 import ObjectMeta, OwnerReference
from lightkube.resources.core_v1 import ConfigMap

FINALIZER = "gardens.example.com/bed"
MENDED = "--mended" in sys.argv
Garden = create_namespaced_resource("example.com", "v1", "Garden", "gardens")
client = Client()


def ignore(reason: str, error: ApiError) -> None:
    if error.status.reason != reason:
        raise error


def reconcile(key: Key) -> None:
    garden = gardens.objects.get(key)
    if garden is None:
        return
    namespace, name = key
    finalizers = garden.metadata.finalizers or []
    changed = copy.deepcopy(garden)
    if garden.metadata.deletionTimestamp:
        if FINALIZER not in finalizers:
            return
        try:
            client.delete(ConfigMap, f"{name}-bed", namespace=namespace)
        except ApiError as error:
            ignore("NotFound", error)
        changed["metadata"]["finalizers"] = [one for one in finalizers if one != FINALIZER]
    elif FINALIZER not in finalizers:
        changed["metadata"]["finalizers"] = [*finalizers, FINALIZER]
    else:
        owner = OwnerReference(apiVersion="example.com/v1", kind="Garden", name=name, uid=garden.metadata.uid)
        metadata = ObjectMeta(name=f"{name}-bed", namespace=namespace, ownerReferences=[owner])
        try:
            client.create(ConfigMap(metadata=metadata))
        except ApiError as error:
            ignore("AlreadyExists", error)
        return
    try:
        client.replace(changed)
    except ApiError as error:
        if MENDED:
            raise
        ignore("Conflict", error)


worker = Worker(reconcile)
gardens = Informer(client, Garden, lambda garden: worker.add(key_of(garden)), lambda garden: None)
worker.run()
