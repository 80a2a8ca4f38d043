"""How long requests take and how they end, by what they ask for: for /metrics, under the names of k8s.io/apiserver."""

from __future__ import annotations

import time
from collections.abc import Iterator

from podless.auth.attributes import Attributes
from podless.http.message import Answer, Handler, Pending, Request, Response, Stream
from podless.meta.histogram import Histogram

BOUNDS: tuple[float, ...] = (0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
BOUNDS += (10.0, 15.0, 20.0, 30.0, 45.0, 60.0)
_MOST = 2000  # sorts of requests that are told apart; clients can name as many as they like
_NOWHERE = (401, 403, 404)  # answers to what there may not be
_OTHERS = ("", "", "", "", "")
_VERBS = {"create": "POST", "update": "PUT", "deletecollection": "DELETECOLLECTION"}
_Sort = tuple[str, str, str, str, str]
_READS = ("get", "list", "watch")


class Measured:
    """The times of one server's requests. working: those at work, by whether they write."""

    def __init__(self) -> None:
        self._found: dict[_Sort, tuple[Histogram, dict[int, int]]] = {}  # times, and how many by status
        self.working = {False: 0, True: 0}

    def filter(self, handler: Handler) -> Handler:
        """Measures what is behind it; of a watch the time until it begins."""
        working, clock = self.working, time.perf_counter

        async def later(asked: Attributes, pending: Pending, began: float) -> Answer:
            writes = asked.verb not in _READS
            working[writes] += 1
            try:
                answer = await pending
            finally:
                working[writes] -= 1
            self._note(asked, answer, clock() - began)
            return answer

        def handle(request: Request) -> Answer | Pending:
            began = clock()
            answer = handler(request)
            asked = request.info.asked
            if not isinstance(answer, (Response, Stream)):
                return later(asked, answer, began)
            self._note(asked, answer, clock() - began)
            return answer

        return handle

    def _note(self, asked: Attributes, answer: Answer, took: float) -> None:
        sort: _Sort = asked[:5]
        status = answer.status
        found = self._found.get(sort)
        if found is None:
            if len(self._found) >= _MOST or status in _NOWHERE:
                sort = _OTHERS
            found = self._found.setdefault(sort, (Histogram(BOUNDS), {}))
        times, counts = found
        times.observe(took)
        counts[status] = counts.get(status, 0) + 1

    def lines(self) -> Iterator[str]:
        """The figures, with what they are."""
        name = "apiserver_request_duration_seconds"
        yield f"# HELP {name} Time from a request's head to its answer.\n# TYPE {name} histogram\n"
        shown = [(_labels(sort), *found) for sort, found in self._found.items() if all(map(_plain, sort))]
        for labels, times, _ in shown:
            yield from times.samples(name, labels)
        name = "apiserver_request_total"
        yield f"# HELP {name} Requests that were answered.\n# TYPE {name} counter\n"
        for labels, _, counts in shown:
            for status, count in list(counts.items()):
                yield f'{name}{{code="{status}",{labels}}} {count}\n'
        name = "apiserver_current_inflight_requests"
        yield f"# HELP {name} Requests whose answers take their time.\n# TYPE {name} gauge\n"
        for writes, kind in ((False, "readOnly"), (True, "mutating")):
            yield f'{name}{{request_kind="{kind}"}} {self.working[writes]}\n'


def _labels(sort: _Sort) -> str:
    verb, group, version, resource, subresource = sort
    labels = f'verb="{_VERBS.get(verb, verb.upper())}",group="{group}",version="{version}",'
    return f'{labels}resource="{resource}",subresource="{subresource}"'


def _plain(text: str) -> bool:
    """Whether a text can stand in a label as it is; a path may have anything in it."""
    return text.isascii() and text.isprintable() and '"' not in text and "\\" not in text
