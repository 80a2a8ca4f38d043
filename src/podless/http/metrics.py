"""/metrics: what the server holds and costs, in the text format of Prometheus.

Next to nothing is counted while requests are answered: figures are read off when they are asked for.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Protocol

from podless.cache.cache import Cache
from podless.http.held import Held
from podless.http.measured import Measured
from podless.kinds.registry import Registry
from podless.meta.histogram import Histogram
from podless.meta.turns import Turns
from podless.meta.watchdog import Watchdog

Times = Mapping[str, Histogram]
MEDIA = b"text/plain; version=0.0.4; charset=utf-8; escaping=underscores"


class Audited(Protocol):
    """The audit log's counts since the start."""

    @property
    def events(self) -> int:
        """Events that it was given."""

    @property
    def dropped(self) -> int:
        """Those of them that were not written."""


class Metrics:
    """The figures of one server."""

    def __init__(
        self,
        cache: Cache,
        registry: Registry,
        held: Held,
        watchdog: Watchdog,
        turns: Turns,
        measured: Measured,
        times: Times,
        audit: Audited | None = None,
    ) -> None:
        self._cache = cache
        self._registry = registry
        self._held = held
        self._watchdog = watchdog
        self._turns = turns
        self._measured = measured
        self._times = times
        self._audit = audit
        self._started = time.time()

    def text(self) -> bytes:
        """All figures, each with what it is; of objects those that are in memory."""
        used = resource.getrusage(resource.RUSAGE_SELF)
        loaded = [
            (kind, collection)
            for kind in self._registry
            if kind.home is None and (collection := self._cache.known(kind.prefix)) is not None and collection.loaded
        ]
        families = [
            _family("process_start_time_seconds", "gauge", "Unix time of the start.", [("", self._started)]),
            _family("process_cpu_seconds_total", "counter", "CPU time used.", [("", used.ru_utime + used.ru_stime)]),
            _family("process_resident_memory_bytes", "gauge", "Memory in use.", [("", _resident())]),
            _family(
                "apiserver_resource_objects",
                "gauge",
                "Objects of each resource that is in memory.",
                [(_labels(kind.group, kind.plural), len(collection)) for kind, collection in loaded],
            ),
            _family(
                "apiserver_longrunning_requests",
                "gauge",
                "Watches of each resource, those of the server itself included.",
                [(_labels(kind.group, kind.plural), collection.watchers) for kind, collection in loaded],
            ),
            _family(
                "apiserver_storage_objects",
                "gauge",
                "Objects of each resource that is in memory.",
                [(_resource(kind.group, kind.plural), len(collection)) for kind, collection in loaded],
            ),
            _family(
                "apiserver_watch_events_total",
                "counter",
                "Events that watchers were told of.",
                [(_labels(kind.group, kind.plural), collection.told) for kind, collection in loaded],
            ),
            *self._measured.lines(),
            *self._of_store(),
            *self._of_clients(),
            *self._of_audit(),
            _family("podless_revision", "counter", "Writes since the store was made.", [("", self._cache.revision)]),
        ]
        return "".join(families).encode()

    def _of_store(self) -> Iterator[str]:
        name = "etcd_request_duration_seconds"
        yield f"# HELP {name} Time of what the store was asked.\n# TYPE {name} histogram\n"
        for operation, times in self._times.items():
            yield from times.samples(name, f'operation="{operation}"')

    def _of_audit(self) -> list[str]:
        events, dropped = (self._audit.events, self._audit.dropped) if self._audit is not None else (0, 0)
        lost = [('{plugin="buffered"}', dropped)]
        return [
            _family("apiserver_audit_event_total", "counter", "Events for the audit log.", [("", events)]),
            _family("apiserver_audit_error_total", "counter", "Events that the audit log did not get.", lost),
        ]

    def _of_clients(self) -> list[str]:
        held, watchdog, turns = self._held, self._watchdog, self._turns
        sorts = [(f'{{sort="{sort}"}}', size) for sort, size in {**held.sorts, "unread": held.loose}.items()]
        labels = {key: f'{{sort="{key[0]}",verb="{key[1]}"}}' for key in watchdog.counts}
        counts = [(labels[key], count) for key, count in watchdog.counts.items()]
        seconds = [(labels[key], round(took, 6)) for key, took in watchdog.seconds.items()]
        long = f"for {watchdog.long:g} s or longer"
        return [
            _family("podless_held_bytes", "gauge", "Bytes that are held for clients.", sorts),
            _family("podless_held_cuts_total", "counter", "Clients cut off to make room.", [("", held.cuts)]),
            _family("podless_long_requests_waiting", "gauge", "Long requests that wait.", [("", turns.waiting)]),
            _family("podless_long_requests_refused_total", "counter", "Those refused.", [("", turns.refused)]),
            _family("podless_loop_held_total", "counter", f"Work that held the event loop {long}.", counts),
            _family("podless_loop_held_seconds_total", "counter", f"Time of work that held it {long}.", seconds),
            _family("podless_loop_held_worst_seconds", "gauge", "The longest of these times.", [("", watchdog.worst)]),
        ]


def _family(name: str, type_: str, about: str, samples: Iterable[tuple[str, float]]) -> str:
    lines = [f"# HELP {name} {about}\n", f"# TYPE {name} {type_}\n"]
    return "".join([*lines, *(f"{name}{labels} {value}\n" for labels, value in samples)])


def _labels(group: str, plural: str) -> str:
    return f'{{group="{group}",resource="{plural}"}}'


def _resource(group: str, plural: str) -> str:
    """As a real server names it: pods, or gadgets.example.com."""
    return f'{{resource="{plural}.{group}"}}' if group else f'{{resource="{plural}"}}'


def _resident() -> int:
    """Bytes of memory in use, the most so far where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return pages * resource.getpagesize()
