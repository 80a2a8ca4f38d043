"""Finds the FlowSchema and priority level of requests, which two headers of each answer name.

podless queues by user (fairness.py), so a level does not affect when a request runs. Source: k8s.io/apiserver
pkg/util/flowcontrol/rule.go, and pkg/server/filters/priority-and-fairness.go.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from podless.apis.flowcontrol.group import FLOW_SCHEMAS, PRIORITY_LEVELS
from podless.auth.authorizer import Attributes
from podless.auth.user import User, account_user
from podless.cache.events import CacheEvent
from podless.http.message import HTTPRequest
from podless.runtime.bounded import MAX_KEY_LENGTH
from podless.runtime.histogram import Histogram, Sample
from podless.verbs.call import API

Object = Mapping[str, Any]

_ALL = "*"
_RULES = "resourceRules"
_MAX_CACHED = 1024  # cached matches
_MAX_NAMES = 1000  # pairs of schema and level that have their own metrics
_Names = tuple[str, str]  # (priority level, FlowSchema)
_UNNAMED: _Names = ("", "")
_PREFIX = "apiserver_flowcontrol_"
_BOUNDS = (0.0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
_MAX_TEXT = 64  # characters: matches with a longer user, group or attribute are not cached


class SeatLimits(NamedTuple):
    """The concurrency limits of a priority level, in requests. podless does not enforce them.

    nominal: its share. lower: the part that other levels cannot borrow. upper: its maximum with borrowed seats.
    """

    nominal: int
    lower: int
    upper: int


class Flow:
    """The flow of the last of similar requests: its user, and the head lines that name the flow.

    count: requests that are counted only here.
    """

    __slots__ = ("count", "lines", "user")

    def __init__(self) -> None:
        self.user: User | None = None
        self.lines = b""
        self.count = 0


class Flows:
    """Finds the flow of requests. Returns no lines if FlowSchemas are not served.

    A match is cached by user and attributes. A frequent request also has a `Flow`, which needs no lookup (metrics.py).
    A changed schema or level drops both.
    """

    def __init__(self, api: API, seats: int) -> None:
        """Compute the limits of the levels. seats: concurrent requests, which the levels share."""
        self._seats = seats
        self._limits: dict[str, SeatLimits] = {}
        self._collections = [
            api.collection(kind)
            for kind in (FLOW_SCHEMAS, PRIORITY_LEVELS)
            if api.registry.get(kind.group, kind.plural) is not None
        ]
        for collection in self._collections:
            collection.add_event_handler(self._drop_matches)
        self._read: list[tuple[Object, bytes]] | None = None
        self._spaced = False  # a schema selects by namespace
        self._results: dict[object, bytes] = {}
        self._flows: list[Flow] = []
        self._names: dict[bytes, _Names] = {}
        self._counts: Counter[bytes] = Counter()
        # requests of dropped flows; then rejections and waiting times of all flows
        self._earlier_counts: Counter[_Names] = Counter()
        self._refused: Counter[tuple[str, str, str]] = Counter()
        self._waits: dict[tuple[str, str, str], Histogram] = {}
        self.waiting: Callable[[], Iterable[HTTPRequest]] = tuple

    def _drop_matches(self, events: Sequence[CacheEvent]) -> None:
        self._read = None
        self._results.clear()
        for flow in self._flows:
            self._flush_count(flow)
            flow.user = None
        self._flows.clear()
        for lines, count in self._counts.items():
            names = self._names[lines]
            self._earlier_counts[
                names if names in self._earlier_counts or len(self._earlier_counts) < _MAX_NAMES else _UNNAMED
            ] += count
        self._counts.clear()

    def _flush_count(self, flow: Flow) -> None:
        if flow.lines:
            self._counts[flow.lines] += flow.count
        flow.count = 0

    def find_flow(self, request: HTTPRequest, flow: Flow | None = None) -> bytes:
        """Return the head lines that name the flow of a request, and count the request.

        flow: of earlier requests with the same verb, resource and scope; used if the other attributes do not matter.
        """
        if request.flow:
            return request.flow  # a rejected request, which was counted then
        result = self._find_flow(request, flow)
        if result:
            self._counts[result] += 1
        return result

    def _find_flow(self, request: HTTPRequest, flow: Flow | None = None) -> bytes:
        info, user = request.info, request.user
        if self._read is None and not self._read_schemas():
            return b""
        attr = info.attributes
        if info.long_running and attr.verb != "watch":
            return b""
        texts = user.name, *user.groups, *attr[:6], attr.path
        is_cacheable = len(texts) <= _MAX_TEXT and sum(map(len, texts)) <= MAX_KEY_LENGTH
        result = self._results.get(texts) if is_cacheable else None
        if result is None:
            result = next((lines for schema, lines in self._read or () if _matches_rules(schema, user, attr)), b"")
            if is_cacheable:
                if len(self._results) >= _MAX_CACHED:
                    self._results.clear()
                self._results[texts] = result
        if flow is not None and is_cacheable and not (self._spaced and attr.namespace):
            if flow.user is None:
                self._flows.append(flow)
            self._flush_count(flow)
            flow.user, flow.lines = user, result
        return result

    def _read_schemas(self) -> bool:
        """Read the schemas with an existing level, by precedence. Returns False if anything is not loaded yet."""
        if len(self._collections) < 2 or not all(collection.loaded for collection in self._collections):
            return False
        schemas, levels = ([entry.decode() for entry in collection.list_entries()] for collection in self._collections)
        self._limits = _share_seats(levels, self._seats)
        uids = {level["metadata"]["name"]: level["metadata"]["uid"] for level in levels}
        schemas.sort(key=lambda schema: (schema["spec"].get("matchingPrecedence") or 0, schema["metadata"]["name"]))
        self._read, self._names = [], {}
        for schema in schemas:
            level_name, metadata = schema["spec"]["priorityLevelConfiguration"]["name"], schema["metadata"]
            if level_name in uids:
                lines = (
                    f"X-Kubernetes-PF-FlowSchema-UID: {metadata['uid']}\r\n"
                    f"X-Kubernetes-PF-PriorityLevel-UID: {uids[level_name]}\r\n"
                ).encode()
                self._read.append((schema, lines))
                self._names[lines] = level_name, metadata["name"]
        specs = [schema["spec"] for schema in schemas]
        rules = (rule for spec in specs for entry in spec.get("rules") or () for rule in entry.get(_RULES) or ())
        self._spaced = any(rule.get("namespaces") not in (None, [], [_ALL]) for rule in rules)
        return True

    # metrics

    def _level_of(self, request: HTTPRequest) -> _Names:
        """Return the names of a request's level and schema."""
        return self._names.get(self._find_flow(request), _UNNAMED)

    def count_rejected(self, request: HTTPRequest, reason: str) -> None:
        """Count a rejected request. reason: in the words of a real server."""
        request.flow = self._find_flow(request)
        self._refused[(*self._limit_names(self._names.get(request.flow, _UNNAMED)), reason)] += 1

    def count_wait(self, request: HTTPRequest, seconds: float, *, execute: bool) -> None:
        """Count the waiting time of a request. execute: whether it was then carried out."""
        key = (*self._limit_names(self._level_of(request)), "true" if execute else "false")
        histogram = self._waits.get(key)
        if histogram is None:
            histogram = self._waits[key] = Histogram(_BOUNDS)
        histogram.observe_seconds(seconds)

    def _limit_names(self, names: _Names) -> _Names:
        """Return the names, or "others" if there are too many different ones."""
        return names if len(self._refused) + len(self._waits) < _MAX_NAMES else _UNNAMED

    def list_samples(self) -> Iterator[tuple[str, Iterable[Sample]]]:
        """Yield the names of metric families with their samples."""
        counts = self._earlier_counts.copy()
        for lines, count in [*self._counts.items(), *((flow.lines, flow.count) for flow in self._flows)]:
            counts[self._names.get(lines, _UNNAMED)] += count
        waiting = Counter(map(self._level_of, self.waiting()))
        yield f"{_PREFIX}dispatched_requests_total", _list_samples(counts)
        yield f"{_PREFIX}rejected_requests_total", _list_samples(self._refused)
        yield f"{_PREFIX}current_inqueue_requests", _list_samples(waiting)
        yield f"{_PREFIX}request_wait_duration_seconds", [*self._waits.items()]
        if self._read is None:
            self._read_schemas()
        for name in SeatLimits._fields:
            limits: list[Sample] = [((level,), getattr(seats, name)) for level, seats in self._limits.items()]
            yield f"{_PREFIX}{name}_limit_seats", limits


def _share_seats(levels: Iterable[Object], seats: int) -> dict[str, SeatLimits]:
    """Divide the seats among the levels. Source: k8s.io/apiserver pkg/util/flowcontrol/apf_controller.go."""
    specs = {level["metadata"]["name"]: level["spec"] for level in levels}
    limited = {
        name: spec.get("exempt" if spec["type"] == "Exempt" else "limited") or {} for name, spec in specs.items()
    }
    shares = {name: item.get("nominalConcurrencyShares") or 0 for name, item in limited.items()}
    total = sum(shares.values())
    limits: dict[str, SeatLimits] = {}
    for name, item in limited.items():
        nominal = math.ceil(seats * shares[name] / total) if total else 0
        lent = math.floor(nominal * (item.get("lendablePercent") or 0) / 100 + 0.5)
        borrowed = item.get("borrowingLimitPercent")
        upper = seats if borrowed is None else nominal + math.floor(nominal * borrowed / 100 + 0.5)
        limits[name] = SeatLimits(nominal, nominal - lent, upper)
    return limits


def _list_samples(counts: Counter[Any]) -> list[Sample]:
    return [(names, count) for names, count in counts.items() if count > 0]


def _matches_rules(schema: Object, user: User, attributes: Attributes) -> bool:
    fits = _resource_fits if attributes.resource else _path_fits
    field_name = _RULES if attributes.resource else "nonResourceRules"
    return any(
        any(_is_subject(entry, user) for entry in rule.get("subjects") or ())
        and any(
            _is_listed(entry.get("verbs"), attributes.verb) and fits(entry, attributes)
            for entry in rule.get(field_name) or ()
        )
        for rule in schema["spec"].get("rules") or ()
    )


def _is_subject(subject: Object, user: User) -> bool:
    kind = subject["kind"]
    if kind == "User":
        return subject["user"]["name"] in (_ALL, user.name)
    if kind == "Group":
        return subject["group"]["name"] == _ALL or subject["group"]["name"] in user.groups
    account = subject["serviceAccount"]
    account_name = account_user(account["namespace"], account["name"]).name
    return (
        user.name.startswith(account_name.removesuffix(_ALL)) if account["name"] == _ALL else user.name == account_name
    )


def _resource_fits(rule: Object, attributes: Attributes) -> bool:
    is_resource = _is_listed(rule.get("resources"), attributes.full_resource)
    if not is_resource or not _is_listed(rule.get("apiGroups"), attributes.group):
        return False
    return (
        _is_listed(rule.get("namespaces"), attributes.namespace)
        if attributes.namespace
        else bool(rule.get("clusterScope"))
    )


def _path_fits(rule: Object, attributes: Attributes) -> bool:
    return any(
        pattern in (_ALL, attributes.path)
        or (pattern.endswith(_ALL) and attributes.path.startswith(pattern.rstrip(_ALL)))
        for pattern in rule.get("nonResourceURLs") or ()
    )


def _is_listed(allowed: Sequence[str] | None, value: str) -> bool:
    return allowed is not None and (_ALL in allowed or value in allowed)
