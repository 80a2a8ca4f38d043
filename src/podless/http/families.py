"""The metric families of /metrics, as a table. kube-apiserver's names, labels and types are used where it has them.

Source: k8s.io/apiserver's pkg/endpoints/metrics, pkg/util/flowcontrol/metrics and pkg/storage/etcd3/metrics; and
Prometheus' clients for Go and Python.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from podless.runtime.histogram import Histogram

GAUGE, COUNTER, HISTOGRAM = "gauge", "counter", "histogram"


class Family(NamedTuple):
    """A metric family. labels: their names, in the order of the values of a sample."""

    type: str
    help: str
    labels: tuple[str, ...] = ()


_RESOURCE = ("group", "resource")
_WATCH = ("verb", "group", "version", "resource", "subresource", "scope", "component")
_FLOW = ("priority_level", "flow_schema")
_REQUEST = ("verb", "dry_run", "group", "version", "resource", "subresource", "scope", "component")
FAMILIES = {
    "process_start_time_seconds": Family(GAUGE, "Unix time of the start."),
    "process_cpu_seconds_total": Family(COUNTER, "CPU time in seconds."),
    "process_resident_memory_bytes": Family(GAUGE, "Resident memory in bytes."),
    "process_virtual_memory_bytes": Family(GAUGE, "Virtual memory in bytes."),
    "process_open_fds": Family(GAUGE, "Open file descriptors."),
    "process_max_fds": Family(GAUGE, "Limit of open file descriptors."),
    "python_info": Family(GAUGE, "Version of Python.", ("implementation", "major", "minor", "patchlevel", "version")),
    "python_gc_collections_total": Family(COUNTER, "Runs of the garbage collector.", ("generation",)),
    "python_gc_objects_collected_total": Family(COUNTER, "Objects that the collector freed.", ("generation",)),
    "python_gc_objects_uncollectable_total": Family(
        COUNTER, "Objects that the collector could not free.", ("generation",)
    ),
    "apiserver_request_total": Family(COUNTER, "Answered requests.", (*_REQUEST, "code")),
    "apiserver_request_duration_seconds": Family(
        HISTOGRAM, "Time from the head of a request to its answer; for watches, until they start.", _REQUEST
    ),
    "apiserver_current_inflight_requests": Family(GAUGE, "Requests in flight.", ("request_kind",)),
    "apiserver_longrunning_requests": Family(GAUGE, "Open watches.", _WATCH),
    "apiserver_flowcontrol_dispatched_requests_total": Family(
        COUNTER,
        "Requests that were carried out, by the FlowSchema that they match. podless itself queues by user.",
        _FLOW,
    ),
    "apiserver_flowcontrol_rejected_requests_total": Family(
        COUNTER, "Requests that were rejected with 429.", (*_FLOW, "reason")
    ),
    "apiserver_flowcontrol_current_inqueue_requests": Family(GAUGE, "Queued requests.", _FLOW),
    "apiserver_flowcontrol_request_wait_duration_seconds": Family(
        HISTOGRAM, "Time that queued requests waited.", (*_FLOW, "execute")
    ),
    "apiserver_flowcontrol_nominal_limit_seats": Family(
        GAUGE, "Nominal number of concurrent requests of a priority level. podless itself queues by user.", _FLOW[:1]
    ),
    "apiserver_flowcontrol_lower_limit_seats": Family(
        GAUGE, "Nominal limit less the seats that the level can lend.", _FLOW[:1]
    ),
    "apiserver_flowcontrol_upper_limit_seats": Family(
        GAUGE, "Nominal limit plus the seats that the level can borrow.", _FLOW[:1]
    ),
    "apiserver_watch_events_total": Family(
        COUNTER, "Events sent to watchers, by stored version.", ("group", "version", "resource")
    ),
    "apiserver_resource_objects": Family(GAUGE, "Objects of each resource in memory.", _RESOURCE),
    "apiserver_audit_event_total": Family(COUNTER, "Audit events."),
    "apiserver_audit_error_total": Family(COUNTER, "Audit events that were lost.", ("plugin",)),
    "apiserver_storage_size_bytes": Family(GAUGE, "Size of the database in bytes.", ("storage_cluster_id",)),
    "etcd_request_duration_seconds": Family(
        HISTOGRAM, "Time of calls to etcd; requests for several resources can share a call.", ("operation", *_RESOURCE)
    ),
    "podless_store_duration_seconds": Family(HISTOGRAM, "Time of calls to a store other than etcd.", ("operation",)),
    "podless_revision": Family(COUNTER, "Revision of the store: number of writes."),
    "podless_held_bytes": Family(GAUGE, "Memory held for clients in bytes.", ("sort",)),
    "podless_held_cuts_total": Family(COUNTER, "Connections closed to free memory."),
    "podless_long_requests_waiting": Family(GAUGE, "Queued long requests."),
    "podless_long_requests_refused_total": Family(COUNTER, "Rejected long requests."),
    "podless_loop_held_total": Family(
        COUNTER, "Times that work held the event loop for 100 ms or longer.", ("sort", "verb")
    ),
    "podless_loop_held_seconds_total": Family(COUNTER, "Total time of such work in seconds.", ("sort", "verb")),
    "podless_loop_held_worst_seconds": Family(GAUGE, "Longest such time in seconds."),
}
_ESCAPED = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
Sample = tuple[tuple[str, ...], float | Histogram]


def render_family(name: str, samples: Iterable[Sample]) -> Iterator[str]:
    """Yield the lines of a family. samples: label values, each with a number or a histogram."""
    family = FAMILIES[name]
    yield f"# HELP {name} {family.help}\n# TYPE {name} {family.type}\n"
    for values, sample in samples:
        labels = ",".join(
            f'{label}="{value.translate(_ESCAPED)}"' for label, value in zip(family.labels, values, strict=True)
        )
        if isinstance(sample, Histogram):
            yield from sample.format_samples(name, labels)
        else:
            yield f"{name}{{{labels}}} {sample}\n" if labels else f"{name} {sample}\n"
