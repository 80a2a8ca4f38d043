"""Durations and results of requests by sort of request, for /metrics, under the names of k8s.io/apiserver."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from podless.auth.attributes import Attributes
from podless.http.families import render_family
from podless.http.flows import Flow, Flows
from podless.http.info import name_scope
from podless.http.message import (
    SLOW,
    Answer,
    HTTPRequest,
    NoAnswer,
    Response,
)
from podless.runtime.histogram import Histogram

BOUNDS: tuple[float, ...] = (0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
BOUNDS += (10.0, 15.0, 20.0, 30.0, 45.0, 60.0)
_MAX = 2000  # sets of label values with their own metrics; clients can send any number of different ones
_REFUSED, _FAILED = 401, 400
_NOWHERE = (401, 403, 404)  # answers for resources that may not exist, whose names are not used as labels
_VERBS = {"create": "POST", "update": "PUT", "deletecollection": "DELETE"}
_CONNECT = frozenset(("attach", "exec", "log", "portforward", "proxy"))
_APPLY = "application/apply-patch"
_Labels = tuple[str, str, str, str, str, str, str, str]  # the values of the labels, in order
_OTHER_LABELS: _Labels = ("", "", "", "", "", "", "", "")
_Figures = tuple[_Labels, Histogram, dict[int, int]]  # (label values, durations, counts by status)
# with the flow of the last request, None if the figures are found by labels only
_Sort = tuple[_Labels, Histogram, dict[int, int], Flow | None]
_READS = ("GET", "HEAD")


class RequestMetrics:
    """The durations of one server's requests. watches: open watches.

    flows: finds the flow of each request, if FlowSchemas are served. list_unanswered: returns the requests in flight.
    """

    def __init__(self, flows: Flows | None = None) -> None:
        self._by_labels: dict[_Labels, _Figures] = {}
        # the same figures by a faster key, for requests to resources without dryRun
        self._sorts: dict[str, _Sort] = {}
        self.flows = flows
        self.list_unanswered: Callable[[], Iterable[HTTPRequest]] = tuple
        self.watches: Counter[_Labels] = Counter()

    def note_answer(self, request: HTTPRequest, answer: Answer, took: float) -> Answer:
        """Count an answer before it is sent, and return it; a watch counts as open until it ends.

        took: seconds since the request came; for a watch, until it starts.
        """
        status, key, query = answer.status, request.info.sort, request.query_text
        if query and "dryRun" in query:
            key = ""
        elif request.method == "PATCH" and key and _is_apply(request):
            key += _APPLY
        labels, times, counts, flow = self._sorts.get(key) or self._find_sort(request, status, key)
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

    def _find_sort(self, request: HTTPRequest, status: int, key: str) -> _Sort:
        """Return the figures of a request, and keep them by its key unless that is ""."""
        labels, times, counts = self._find_figures(request, status)
        if not key or labels is _OTHER_LABELS or len(self._sorts) >= _MAX:
            return labels, times, counts, None
        figures = self._sorts[key] = labels, times, counts, Flow()
        return figures

    def _find_figures(self, request: HTTPRequest, status: int) -> _Figures:
        labels = _label_request(request.info.attributes, request)
        figures = self._by_labels.get(labels)
        if figures is None:
            if len(self._by_labels) >= _MAX or status in _NOWHERE:
                labels = _OTHER_LABELS
            figures = self._by_labels.setdefault(labels, (labels, Histogram(BOUNDS), defaultdict(int)))
        return figures

    def format_lines(self) -> Iterator[str]:
        """Yield the metrics, with their descriptions."""
        plain = [figures for sort, figures in self._by_labels.items() if all(map(_is_plain, sort))]
        yield from render_family("apiserver_request_duration_seconds", ((sort, times) for sort, times, _ in plain))
        counted = (((*sort, str(status)), count) for sort, _, counts in plain for status, count in [*counts.items()])
        yield from render_family("apiserver_request_total", counted)
        working = {"readOnly": 0, "mutating": 0}
        for request in self.list_unanswered():
            working["readOnly" if request.method in _READS else "mutating"] += 1
        yield from render_family(
            "apiserver_current_inflight_requests", (((kind,), count) for kind, count in working.items())
        )
        open_ = [((verb, *labels), count) for (verb, _, *labels), count in self.watches.items() if count]
        yield from render_family("apiserver_longrunning_requests", open_)
        if self.flows is not None:
            yield from self.flows.format_lines()


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
    return request.headers.get("content-type", "").startswith(_APPLY)


def _is_plain(text: str) -> bool:
    """Return whether a text is valid as a label value; a path may contain anything."""
    return text.isascii() and text.isprintable()
