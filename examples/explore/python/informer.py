"""A small informer and work queue, as controllers in Go have them: one cache a kind, one worker."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from typing import Any

from lightkube import ApiError, Client
from lightkube.core.exceptions import ConfigError

Key = tuple[str, str]


class Informer:
    """The objects of a kind as a watch has shown them.

    changed, deleted: called with each object. tell_missed: call `deleted` also for objects that were there before a
    disconnect and are not in the next list.
    """

    def __init__(
        self,
        client: Client,
        kind: Any,
        changed: Callable[[Any], None],
        deleted: Callable[[Any], None],
        *,
        tell_missed: bool = True,
    ) -> None:
        self._tell_missed = tell_missed
        self.objects: dict[Key, Any] = {}
        self.synced = threading.Event()
        self._client, self._kind = client, kind
        self._changed, self._deleted = changed, deleted
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while True:
            try:
                listed = self._client.list(self._kind, namespace="*")
                found = {key_of(obj): obj for obj in listed}
                for key in self.objects.keys() - found.keys():
                    gone = self.objects.pop(key)
                    if self._tell_missed:
                        self._deleted(gone)
                self.objects.update(found)
                for obj in found.values():
                    self._changed(obj)
                self.synced.set()
                self._watch(listed.resourceVersion)
            except (ApiError, OSError, ConfigError) as error:
                print(f"list and watch again: {error}", flush=True)
            except Exception as error:  # the connection ended
                print(f"list and watch again: {error!r}", flush=True)
            time.sleep(0.02)

    def _watch(self, version: str) -> None:
        for event, obj in self._client.watch(self._kind, namespace="*", resource_version=version):
            if event == "DELETED":
                self.objects.pop(key_of(obj), None)
                self._deleted(obj)
            else:
                self.objects[key_of(obj)] = obj
                self._changed(obj)


class Worker:
    """Calls `reconcile` with the keys that were added, one at a time; after an error again, a little later."""

    def __init__(self, reconcile: Callable[[Key], None]) -> None:
        self._reconcile = reconcile
        self._queue: queue.Queue[Key] = queue.Queue()
        self._waiting: set[Key] = set()
        self._lock = threading.Lock()

    def add(self, key: Key) -> None:
        """Have a key reconciled soon; once, however often it is added before that."""
        with self._lock:
            if key not in self._waiting:
                self._waiting.add(key)
                self._queue.put(key)

    def run(self) -> None:
        """Work without end."""
        while True:
            key = self._queue.get()
            with self._lock:
                self._waiting.discard(key)
            try:
                self._reconcile(key)
            except Exception as error:
                print(f"reconcile {key} again: {error!r}", flush=True)
                threading.Timer(0.05, self.add, [key]).start()


def key_of(obj: Any) -> Key:
    """The namespace and name of an object."""
    return obj.metadata.namespace, obj.metadata.name
