"""/metrics: the server's figures in the text format of Prometheus.

Almost nothing is counted while requests are answered: figures are read when they are requested.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from podless.cache.cache import Cache
from podless.http.families import Sample, render_family
from podless.http.held import ClientMemory
from podless.http.measured import RequestMetrics
from podless.kinds.registry import Registry
from podless.offload.fairqueue import FairQueue
from podless.runtime import clock, system
from podless.runtime.watchdog import Watchdog
from podless.store import Store

if TYPE_CHECKING:
    from podless.http.audit.backend import Backend

_TOGETHER = 512  # lines that are sent together
Samples = Mapping[str, list[Sample]]
MEDIA = b"text/plain; version=0.0.4; charset=utf-8; escaping=underscores"


class Metrics:
    """The figures of one server."""

    def __init__(
        self,
        cache: Cache,
        registry: Registry,
        memory: ClientMemory,
        watchdog: Watchdog,
        turns: FairQueue,
        measured: RequestMetrics,
        store: Store,
        audit: Backend | None = None,
    ) -> None:
        self._cache = cache
        self._registry = registry
        self._memory = memory
        self._watchdog = watchdog
        self._turns = turns
        self._measured = measured
        self._store = store
        self._audit = audit
        self._started = clock.wall_time()

    def make_pieces(self) -> Callable[[], Iterator[bytes]]:
        """Return a function that yields the metrics in pieces; most figures are read now, request counts later."""
        of_server = {**self._list_resources(), **self._list_store(), **self._list_audit(), **self._list_clients()}
        return partial(self._join_lines, {**_list_process(self._started), **of_server})

    def _join_lines(self, families: Samples) -> Iterator[bytes]:
        lines = (line for name, samples in families.items() for line in render_family(name, samples))
        waiting: list[str] = []
        for line in chain(lines, self._measured.format_lines()):
            waiting.append(line)
            if len(waiting) >= _TOGETHER:
                yield "".join(waiting).encode()
                waiting.clear()
        yield "".join(waiting).encode()

    def _list_resources(self) -> Samples:
        loaded = [
            (kind, collection)
            for kind in self._registry
            if kind.home is None
            and (collection := self._cache.find_collection(kind.prefix)) is not None
            and collection.loaded
        ]
        return {
            "apiserver_resource_objects": [((kind.group, kind.plural), len(cached)) for kind, cached in loaded],
            "apiserver_watch_events_total": [
                ((kind.group, kind.storage_version, kind.plural), cached.delivered) for kind, cached in loaded
            ],
        }

    def _list_store(self) -> Samples:
        store = self._store
        sizes: list[Sample] = [((f"{store.name}-0",), size)] if (size := store.read_figures().get("size")) else []
        samples: dict[str, list[Sample]] = {
            "apiserver_storage_size_bytes": sizes,
            "podless_revision": [((), self._cache.revision)],
        }
        if store.name == "etcd":
            samples["etcd_request_duration_seconds"] = [
                ((name, "", ""), times) for name, times in store.durations.items()
            ]
        else:
            samples["podless_store_duration_seconds"] = [((name,), times) for name, times in store.durations.items()]
        return samples

    def _list_audit(self) -> Samples:
        events, dropped = (self._audit.events, self._audit.dropped) if self._audit is not None else (0, 0)
        return {
            "apiserver_audit_event_total": [((), events)],
            "apiserver_audit_error_total": [(("buffered",), dropped)],
        }

    def _list_clients(self) -> Samples:
        memory, watchdog, turns = self._memory, self._watchdog, self._turns
        return {
            "podless_held_bytes": [
                ((sort,), size) for sort, size in {**memory.sorts, "unread": memory.unrequested}.items()
            ],
            "podless_held_cuts_total": [((), memory.cuts)],
            "podless_long_requests_waiting": [((), turns.waiting)],
            "podless_long_requests_refused_total": [((), turns.refused)],
            "podless_loop_held_total": [(key, count) for key, count in watchdog.counts.items()],
            "podless_loop_held_seconds_total": [(key, round(took, 6)) for key, took in watchdog.seconds.items()],
            "podless_loop_held_worst_seconds": [((), watchdog.worst)],
        }


def _list_process(started: float) -> Samples:
    """Return the process metrics of Prometheus' clients. Values that the system does not report are left out."""
    import platform  # imported late: it takes 0.1 MB, and many servers are never asked

    version, resident = sys.version_info, _read_pages(1)
    python = (platform.python_implementation(), *map(str, version[:3]), platform.python_version())
    samples: dict[str, list[Sample]] = {
        "process_start_time_seconds": [((), started)],
        "process_cpu_seconds_total": [((), system.read_usage().cpu)],
        "process_resident_memory_bytes": [((), system.read_usage().memory if resident is None else resident)],
        "process_virtual_memory_bytes": [((), size)] if (size := _read_pages(0)) else [],
        "process_open_fds": [((), files)] if (files := _open_files()) else [],
        "process_max_fds": [((), files)] if (files := system.read_file_limit()) else [],
        "python_info": [(python, 1)],
    }
    generations = [*enumerate(gc.get_stats())]
    for name, key in _COLLECTOR.items():
        samples[name] = [((str(generation),), stats[key]) for generation, stats in generations]
    return samples


_COLLECTOR = {
    "python_gc_collections_total": "collections",
    "python_gc_objects_collected_total": "collected",
    "python_gc_objects_uncollectable_total": "uncollectable",
}


def _read_pages(column: int) -> int | None:
    """Return a size in bytes from /proc/self/statm, which counts pages; None without that file."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[column]) * system.read_page_size()
    except (OSError, ValueError, IndexError):
        return None


def _open_files() -> int:
    try:
        return sum(1 for _ in Path("/proc/self/fd").iterdir())
    except OSError:
        return 0
