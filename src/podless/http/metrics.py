"""/metrics: the server's figures in the text format of Prometheus.

Only the durations and results of requests, by route and labels, are counted while requests are answered. All other
figures are read when they are requested. families.txt lists the families, with kube-apiserver's names, labels and types
where it has them. Source: k8s.io/apiserver's pkg/endpoints/metrics, pkg/util/flowcontrol/metrics and
pkg/storage/etcd3/metrics; and Prometheus' clients for Go and Python.
"""

from __future__ import annotations

import gc
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from podless.auth.authorizer import Attributes
from podless.fields.patches import APPLY_MEDIA
from podless.http.clientmemory import ClientMemory
from podless.http.flows import Flow, Flows
from podless.http.info import name_scope
from podless.http.message import SLOW, Answer, HTTPRequest, NoAnswer, Response
from podless.runtime import clock, system
from podless.runtime.datafiles import read_rows
from podless.runtime.histogram import Histogram, Sample
from podless.verbs.call import API

if TYPE_CHECKING:
    from podless.http.audit.backend import Backend

MEDIA = b"text/plain; version=0.0.4; charset=utf-8; escaping=underscores"
BOUNDS: tuple[float, ...] = (0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
BOUNDS += (10.0, 15.0, 20.0, 30.0, 45.0, 60.0)
_MAX = 2000  # sets of label values with their own metrics; clients can send any number of different ones
_REFUSED, _FAILED = 401, 400
_NOWHERE = (401, 403, 404)  # answers for resources that may not exist, whose names are not used as labels
_VERBS = {"create": "POST", "update": "PUT", "deletecollection": "DELETE"}
_CONNECT = frozenset(("attach", "exec", "log", "portforward", "proxy"))
_Labels = tuple[str, str, str, str, str, str, str, str]  # the values of the labels, in order
_OTHER_LABELS: _Labels = ("", "", "", "", "", "", "", "")
_Figures = tuple[_Labels, Histogram, dict[int, int]]  # (label values, durations, counts by status)
# with the flow of the last request, None if the figures are found by labels only
_RouteFigures = tuple[_Labels, Histogram, dict[int, int], Flow | None]
_READS = ("GET", "HEAD")
_TOGETHER = 512  # lines that are sent together
_COLLECTOR = {
    "python_gc_collections_total": "collections",
    "python_gc_objects_collected_total": "collected",
    "python_gc_objects_uncollectable_total": "uncollectable",
}
Samples = Mapping[str, list[Sample]]


class Family(NamedTuple):
    """A metric family. labels: their names, in the order of the values of a sample."""

    type: str
    help: str
    labels: tuple[str, ...] = ()


FAMILIES = {
    name: Family(type_, text, tuple(labels[0].split()) if labels else ())
    for name, type_, text, *labels in read_rows(Path(__file__).with_name("families.txt"))
}
_ESCAPED = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


def _render_family(name: str, samples: Iterable[Sample]) -> Iterator[str]:
    """Yield the lines of a family."""
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


class RequestMetrics:
    """The durations of one server's requests. watches: open watches.

    flows: finds the flow of each request, if FlowSchemas are served. list_unanswered: returns the requests in flight.
    """

    def __init__(self, flows: Flows | None = None) -> None:
        self._by_labels: dict[_Labels, _Figures] = {}
        # the same figures by a faster key, for requests to resources without dryRun
        self._by_route: dict[str, _RouteFigures] = {}
        self.flows = flows
        self.list_unanswered: Callable[[], Iterable[HTTPRequest]] = tuple
        self.watches: Counter[_Labels] = Counter()

    def note_answer(self, request: HTTPRequest, answer: Answer, took: float) -> Answer:
        """Count an answer before it is sent, and return it; a watch counts as open until it ends.

        took: seconds since the request came; for a watch, until it starts.
        """
        status, key, query = answer.status, request.info.route_key, request.query_text
        if query and "dryRun" in query:
            key = ""
        elif request.method == "PATCH" and key and _is_apply(request):
            key += APPLY_MEDIA
        labels, times, counts, flow = self._by_route.get(key) or self._find_by_route(request, status, key)
        if flow is not None and flow.user is request.user and status < _FAILED:
            request.flow = flow.lines
            flow.count += 1
        elif self.flows is not None and status != _REFUSED:  # the user is known
            request.flow = self.flows.find_flow(request, flow)
        times.observe_seconds(took)
        if isinstance(answer, Response):
            if 0 <= answer.size <= SLOW:
                counts[status] += 1
            else:
                request.settle = partial(_count_status, counts, request.settle)
            return answer
        counts[status] += 1
        if not isinstance(answer, NoAnswer):
            answer.follow(lambda: self.watches.update((labels,)), lambda: self.watches.subtract((labels,)))
        return answer

    def _find_by_route(self, request: HTTPRequest, status: int, key: str) -> _RouteFigures:
        """Return the figures of a request, and keep them by its key unless that is ""."""
        labels, times, counts = self._find_figures(request, status)
        if not key or labels is _OTHER_LABELS or len(self._by_route) >= _MAX:
            return labels, times, counts, None
        figures = self._by_route[key] = labels, times, counts, Flow()
        return figures

    def _find_figures(self, request: HTTPRequest, status: int) -> _Figures:
        labels = _label_request(request.info.attributes, request)
        figures = self._by_labels.get(labels)
        if figures is None:
            if len(self._by_labels) >= _MAX or status in _NOWHERE:
                labels = _OTHER_LABELS
            figures = self._by_labels.setdefault(labels, (labels, Histogram(BOUNDS), defaultdict(int)))
        return figures

    def list_samples(self) -> Iterator[tuple[str, Iterable[Sample]]]:
        """Yield the names of metric families with their samples."""
        plain = [figures for labels, figures in self._by_labels.items() if all(map(_is_plain, labels))]
        yield "apiserver_request_duration_seconds", ((labels, times) for labels, times, _ in plain)
        counted = (((*labels, str(code)), count) for labels, _, counts in plain for code, count in [*counts.items()])
        yield "apiserver_request_total", counted
        working = {"readOnly": 0, "mutating": 0}
        for request in self.list_unanswered():
            working["readOnly" if request.method in _READS else "mutating"] += 1
        yield "apiserver_current_inflight_requests", (((kind,), count) for kind, count in working.items())
        open_ = [((verb, *labels), count) for (verb, _, *labels), count in self.watches.items() if count]
        yield "apiserver_longrunning_requests", open_
        if self.flows is not None:
            yield from self.flows.list_samples()


def _count_status(counts: dict[int, int], then: Callable[[Response], None] | None, response: Response) -> None:
    """Count an answer by the status that was sent."""
    counts[response.status] += 1
    if then is not None:
        then(response)


def _label_request(attributes: Attributes, request: HTTPRequest) -> _Labels:
    """Return the labels of a request. Source: endpoints/metrics of k8s.io/apiserver."""
    verb, group, version, resource, subresource, *_, path = attributes
    if path:
        return (verb.upper(), "", group, version, resource, subresource, "", "")
    dry = ""
    if "dryRun" in request.query_text:
        dry = "All" if request.query.get("dryRun") == ["All"] else "invalid"
    if subresource in _CONNECT:
        shown_verb = "CONNECT"
    elif verb == "patch" and _is_apply(request):
        shown_verb = "APPLY"
    else:
        shown_verb = _VERBS.get(verb) or verb.upper()
    return (shown_verb, dry, group, version, resource, subresource, name_scope(attributes), "apiserver")


def _is_apply(request: HTTPRequest) -> bool:
    return request.headers.get("content-type", "").startswith(APPLY_MEDIA)


def _is_plain(text: str) -> bool:
    """Return whether a text is valid as a label value; a path may contain anything."""
    return text.isascii() and text.isprintable()


class Metrics:
    """The figures of one server."""

    def __init__(self, api: API, memory: ClientMemory, measured: RequestMetrics, audit: Backend | None) -> None:
        self._api = api
        self._memory = memory
        self._measured = measured
        self._audit = audit
        self._started = clock.wall_time()

    def make_pieces(self) -> Callable[[], Iterator[bytes]]:
        """Return a function that yields the metrics in pieces; most figures are read now, request counts later."""
        of_server = {**self._list_resources(), **self._list_store(), **self._list_audit(), **self._list_clients()}
        return partial(self._join_lines, {**_list_process(self._started), **of_server})

    def _join_lines(self, families: Samples) -> Iterator[bytes]:
        named = chain(families.items(), self._measured.list_samples())
        lines = (line for name, samples in named for line in _render_family(name, samples))
        while piece := "".join(islice(lines, _TOGETHER)):
            yield piece.encode()

    def _list_resources(self) -> Samples:
        loaded = [
            (kind, collection)
            for kind in self._api.registry
            if kind.home is None
            and (collection := self._api.cache.find_collection(kind.prefix)) is not None
            and collection.loaded
        ]
        return {
            "apiserver_resource_objects": [((kind.group, kind.plural), len(cached)) for kind, cached in loaded],
            "apiserver_watch_events_total": [
                ((kind.group, kind.storage_version, kind.plural), cached.delivered) for kind, cached in loaded
            ],
        }

    def _list_store(self) -> Samples:
        store = self._api.store
        sizes: list[Sample] = [((f"{store.name}-0",), size)] if (size := store.read_figures().get("size")) else []
        samples: dict[str, list[Sample]] = {
            "apiserver_storage_size_bytes": sizes,
            "podless_revision": [((), self._api.cache.revision)],
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
        memory, watchdog, turns = self._memory, self._api.watchdog, self._api.off_loop.turns
        return {
            "podless_held_bytes": [
                ((purpose,), size) for purpose, size in {**memory.by_purpose, "unread": memory.unrequested}.items()
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
