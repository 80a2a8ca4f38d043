"""The families of /metrics, as a table: names, labels and types are those of kube-apiserver wherever it has them.

Source: k8s.io/apiserver's pkg/endpoints/metrics, pkg/util/flowcontrol/metrics and pkg/storage/etcd3/metrics; and
Prometheus' clients for Go and Python.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from podless.runtime.histogram import Histogram

GAUGE, COUNTER, HISTOGRAM = "gauge", "counter", "histogram"


class Family(NamedTuple):
    """Samples of one name. labels: their names, in the order in which values are given."""

    type: str
    help: str
    labels: tuple[str, ...] = ()


_RESOURCE = ("group", "resource")
_WATCH = ("verb", "group", "version", "resource", "subresource", "scope", "component")
_FLOW = ("priority_level", "flow_schema")
_REQUEST = ("verb", "dry_run", "group", "version", "resource", "subresource", "scope", "component")
FAMILIES = {
    "process_start_time_seconds": Family(GAUGE, "Unix time of the start."),
    "process_cpu_seconds_total": Family(COUNTER, "CPU time used."),
    "process_resident_memory_bytes": Family(GAUGE, "Memory in use."),
    "process_virtual_memory_bytes": Family(GAUGE, "Address space in use."),
    "process_open_fds": Family(GAUGE, "Open file descriptors."),
    "process_max_fds": Family(GAUGE, "File descriptors that may be open."),
    "python_info": Family(
        GAUGE, "The Python that runs this.", ("implementation", "major", "minor", "patchlevel", "version")
    ),
    "python_gc_collections_total": Family(COUNTER, "Runs of the garbage collector.", ("generation",)),
    "python_gc_objects_collected_total": Family(COUNTER, "Objects that the collector freed.", ("generation",)),
    "python_gc_objects_uncollectable_total": Family(COUNTER, "Objects that it could not free.", ("generation",)),
    "apiserver_request_total": Family(COUNTER, "Requests that were answered.", (*_REQUEST, "code")),
    "apiserver_request_duration_seconds": Family(
        HISTOGRAM, "Time from a request's head to its answer; of a watch until it begins.", _REQUEST
    ),
    "apiserver_current_inflight_requests": Family(GAUGE, "Requests whose answers take their time.", ("request_kind",)),
    "apiserver_longrunning_requests": Family(GAUGE, "Watches of clients that are open.", _WATCH),
    "apiserver_flowcontrol_dispatched_requests_total": Family(
        COUNTER, "Requests that were carried out, by what they match; podless takes turns by user.", _FLOW
    ),
    "apiserver_flowcontrol_rejected_requests_total": Family(
        COUNTER, "Requests that were refused because there was too much to do.", (*_FLOW, "reason")
    ),
    "apiserver_flowcontrol_current_inqueue_requests": Family(GAUGE, "Requests that wait for their turn.", _FLOW),
    "apiserver_flowcontrol_request_wait_duration_seconds": Family(
        HISTOGRAM, "Time that requests waited for their turn, of those that did.", (*_FLOW, "execute")
    ),
    "apiserver_flowcontrol_nominal_limit_seats": Family(
        GAUGE, "Requests at once that the shares of a priority level come to; podless takes turns by user.", _FLOW[:1]
    ),
    "apiserver_flowcontrol_lower_limit_seats": Family(GAUGE, "The same without what the level lends.", _FLOW[:1]),
    "apiserver_flowcontrol_upper_limit_seats": Family(GAUGE, "The same with all that it may borrow.", _FLOW[:1]),
    "apiserver_watch_events_total": Family(
        COUNTER, "Events that watchers were told of, by the version that is stored.", ("group", "version", "resource")
    ),
    "apiserver_resource_objects": Family(GAUGE, "Objects of each resource that is in memory.", _RESOURCE),
    "apiserver_audit_event_total": Family(COUNTER, "Events for the audit log."),
    "apiserver_audit_error_total": Family(COUNTER, "Events that the audit log did not get.", ("plugin",)),
    "apiserver_storage_size_bytes": Family(GAUGE, "Size of the database.", ("storage_cluster_id",)),
    "etcd_request_duration_seconds": Family(
        HISTOGRAM, "Time of what etcd was asked; requests of many resources share one.", ("operation", *_RESOURCE)
    ),
    "podless_store_duration_seconds": Family(HISTOGRAM, "Time of what another store was asked.", ("operation",)),
    "podless_revision": Family(COUNTER, "Writes since the store was made."),
    "podless_held_bytes": Family(GAUGE, "Bytes that are held for clients.", ("sort",)),
    "podless_held_cuts_total": Family(COUNTER, "Clients cut off to make room."),
    "podless_long_requests_waiting": Family(GAUGE, "Long requests that wait."),
    "podless_long_requests_refused_total": Family(COUNTER, "Long requests that were refused."),
    "podless_loop_held_total": Family(COUNTER, "Work that held the event loop for long.", ("sort", "verb")),
    "podless_loop_held_seconds_total": Family(COUNTER, "Time of that work.", ("sort", "verb")),
    "podless_loop_held_worst_seconds": Family(GAUGE, "The longest of these times."),
}
_ESCAPED = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
Sample = tuple[tuple[str, ...], float | Histogram]


def render_family(name: str, samples: Iterable[Sample]) -> Iterator[str]:
    """The lines of a family. samples: values of its labels, and a number, or the histogram of that name."""
    family = FAMILIES[name]
    yield f"# HELP {name} {family.help}\n# TYPE {name} {family.type}\n"
    for values, sample in samples:
        labels = ",".join(
            f'{label}="{value.translate(_ESCAPED)}"' for label, value in zip(family.labels, values, strict=True)
        )
        if isinstance(sample, Histogram):
            yield from sample.samples(name, labels)
        else:
            yield f"{name}{{{labels}}} {sample}\n" if labels else f"{name} {sample}\n"
