"""LimitRanger: sets default resources of containers, and enforces the limits of a namespace.

Source: Kubernetes' plugin/pkg/admission/limitranger.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import gt, lt
from typing import NamedTuple

from podless.admission.attributes import CREATE, UPDATE, AdmissionAttributes
from podless.admission.plugin import Plugin
from podless.admission.refusals import forbid_write
from podless.apis.core.group import CLAIMS, LIMIT_RANGES, PODS
from podless.apis.podspec.amounts import sum_resources
from podless.auth.authorizer import Authorizer
from podless.cache.entry import Entry
from podless.codec import quantity
from podless.kinds.kind import Kind
from podless.kinds.state import State
from podless.meta import objectmeta
from podless.meta.errors import Invalid
from podless.runtime.jsonobject import Object
from podless.runtime.meter import charge, each

Amounts = dict[str, str]

_ANNOTATION = "kubernetes.io/limit-ranger"
_CONTAINER, _POD, _CLAIM = "Container", "Pod", "PersistentVolumeClaim"
_STEPS = 4  # steps to parse a quantity


class _Bound(NamedTuple):
    """A bound of a resource. amount: in billionths."""

    name: str
    text: str
    amount: int


class _Limit(NamedTuple):
    """One limit of a LimitRange. kind: that it applies to. minimums, maximums, ratio: its bounds."""

    kind: str
    minimums: Sequence[_Bound]
    maximums: Sequence[_Bound]
    ratio: Sequence[_Bound]


class _ReadLimitRange(NamedTuple):
    """A LimitRange, parsed. requests, default_limits: the defaults of containers, by resource."""

    limits: Sequence[_Limit]
    requests: Amounts
    default_limits: Amounts


class _Quantities(dict[str, int]):
    """Quantities of an object in billionths, parsed once each."""

    def __missing__(self, text: str) -> int:
        charge(_STEPS)
        self[text] = amount = quantity.parse_nanos(text)
        return amount


class LimitRanger(Plugin):
    """Sets default resources, and rejects pods and claims outside of a namespace's limits."""

    def __init__(self, state: State, authorizer: Authorizer) -> None:
        super().__init__(state, authorizer)
        self._limits = state.collection(LIMIT_RANGES)

    def mutates(self, operation: str, kind: Kind, subresource: str, namespace: str) -> bool:
        return kind.is_same_as(PODS) and _is_limited(operation, subresource)

    def validates(self, operation: str, kind: Kind, subresource: str) -> bool:
        if kind.is_same_as(PODS):
            return _is_limited(operation, subresource)
        return kind.is_same_as(CLAIMS) and not subresource and operation in (CREATE, UPDATE)

    async def mutate(self, attr: AdmissionAttributes) -> None:
        """Set default requests and limits of containers. Raise Invalid."""
        if attr.obj is None or _is_terminating(attr):
            return
        for limit in await self._read_limits(attr.namespace):
            _set_defaults(attr, attr.obj, limit)

    async def validate(self, attr: AdmissionAttributes) -> None:
        """Raise Forbidden for amounts outside of the limits."""
        if attr.obj is None or _is_terminating(attr):
            return
        check = _check_pod if attr.kind.is_same_as(PODS) else _check_claim
        quantities = _Quantities()
        for limit in await self._read_limits(attr.namespace):
            problems = list(dict.fromkeys(check(limit.limits, attr.obj["spec"], quantities)))
            if problems:
                raise forbid_write(attr, problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]")

    async def _read_limits(self, namespace: str) -> list[_ReadLimitRange]:
        """Return the LimitRanges of a namespace."""
        if not self._limits.loaded:
            await self._state.load_collection(LIMIT_RANGES)
        if not len(self._limits):
            return []
        return [_read_limit_range(entry) for entry in self._limits.list_entries(namespace)]


def _read_limit_range(entry: Entry) -> _ReadLimitRange:
    """Return the parsed form of a stored LimitRange, cached in the entry."""
    limit_range: _ReadLimitRange | None = entry.forms.get("limits")
    if limit_range is None:
        requests: Amounts = {}
        defaults: Amounts = {}
        limits = []
        for limit in each(entry.decode()["spec"].get("limits") or []):
            kind = limit.get("type", "")
            if kind == _CONTAINER:
                requests |= limit.get("defaultRequest") or {}
                defaults |= limit.get("default") or {}
            limits.append(
                _Limit(kind, *(_read_bounds(limit.get(name)) for name in ("min", "max", "maxLimitRequestRatio")))
            )
        limit_range = _ReadLimitRange(limits, dict(sorted(requests.items())), dict(sorted(defaults.items())))
        entry.forms["limits"] = limit_range
    return limit_range


def _read_bounds(amounts: Amounts | None) -> Sequence[_Bound]:
    bounds = []
    for name, text in (amounts or {}).items():
        charge(_STEPS)
        bounds.append(_Bound(name, text, quantity.parse_nanos(text)))
    return bounds


def _is_limited(operation: str, subresource: str) -> bool:
    return (operation == CREATE and not subresource) or (operation == UPDATE and subresource == "resize")


def _is_terminating(attr: AdmissionAttributes) -> bool:
    return attr.old is not None and "deletionTimestamp" in attr.old["metadata"]


def _set_defaults(attr: AdmissionAttributes, pod: Object, limit_range: _ReadLimitRange) -> None:
    """Set the default resources of a pod. Raises Invalid if the annotation about them gets too long."""
    notes: list[str] = []
    size = 0
    for field_name, noun in (("containers", "container"), ("initContainers", "init container")):
        for container in pod["spec"].get(field_name) or ():
            charge(1)
            size += _fill_container(container, limit_range, noun, notes)
            if size > objectmeta.MAX_ANNOTATIONS:  # the pod is already invalid, so stop before it gets larger
                _annotate_pod(pod, notes)
                errors = objectmeta.check_annotations(pod["metadata"]["annotations"], "metadata.annotations")
                raise Invalid(attr.kind.kind, attr.kind.group, pod["metadata"].get("name") or "", errors)
    attr.size += 2 * size
    if notes:
        from podless.apis.podspec.defaults import default_requests  # late, as the kinds with pods

        _annotate_pod(pod, notes)
        default_requests(pod["spec"])  # kube-apiserver sets them when it reads the stored pod


def _annotate_pod(pod: Object, notes: Sequence[str]) -> None:
    annotations = pod["metadata"].get("annotations") or {}
    text = f"LimitRanger plugin set: {'; '.join(notes)}"
    pod["metadata"]["annotations"] = dict(sorted({**annotations, _ANNOTATION: text}.items()))


def _fill_container(container: Object, limit_range: _ReadLimitRange, container_noun: str, notes: list[str]) -> int:
    """Set the default resources of a container, and add a note. Returns the bytes of the note."""
    resources = dict(container.get("resources") or {})
    size = 0
    for field_name, noun, defaults in (
        ("requests", "request", limit_range.requests),
        ("limits", "limit", limit_range.default_limits),
    ):
        present = resources.get(field_name) or {}
        charge(len(defaults) + len(present))
        added = [name for name in defaults if name not in present]  # in sorted order, because `defaults` is sorted
        if added:
            resources[field_name] = dict(sorted({**defaults, **present}.items())) if present else dict(defaults)
            notes.append(f"{', '.join(added)} {noun} for {container_noun} {container.get('name', '')}")
            size += len(notes[-1])
    order = ("limits", "requests", "claims")
    container["resources"] = {name: resources[name] for name in order if name in resources}
    return size


def _check_claim(limits: Sequence[_Limit], spec: Object, quantities: _Quantities) -> Iterator[str]:
    requests = (("request", (spec.get("resources") or {}).get("requests") or {}),)
    for limit in each(limits):
        if limit.kind == _CLAIM:
            for bound in limit.minimums:
                yield from _check_bound("minimum", _CLAIM, bound, requests, quantities)
            for bound in limit.maximums:
                yield from _check_bound("maximum", _CLAIM, bound, requests, quantities)


def _check_pod(limits: Sequence[_Limit], spec: Object, quantities: _Quantities) -> Iterator[str]:
    containers: list[tuple[Amounts, Amounts]] | None = None
    pod_amounts: tuple[Amounts, Amounts] | None = None
    for limit in each(limits):
        if limit.kind == _CONTAINER:
            containers = _collect_resources(spec) if containers is None else containers
            for requests, limits_of_container in containers:
                yield from _check_limit(limit, requests, limits_of_container, quantities)
        elif limit.kind == _POD:
            pod_amounts = _sum_resources(spec) if pod_amounts is None else pod_amounts
            yield from _check_limit(limit, *pod_amounts, quantities)


def _collect_resources(spec: Object) -> list[tuple[Amounts, Amounts]]:
    """Return requests and limits of containers, each combination once, because each error is reported once."""
    by_container: dict[object, tuple[Amounts, Amounts]] = {}
    for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
        resources = container.get("resources") or {}
        requests, limits = resources.get("requests") or {}, resources.get("limits") or {}
        charge(1 + len(requests) + len(limits))
        by_container.setdefault((frozenset(requests.items()), frozenset(limits.items())), (requests, limits))
    return [*by_container.values()]


def _sum_resources(spec: Object) -> tuple[Amounts, Amounts]:
    """Return requests and limits of a pod."""
    of_pod = spec.get("resources") or {}
    requests, limits = (sum_resources(spec, name) | (of_pod.get(name) or {}) for name in ("requests", "limits"))
    return requests, limits


def _check_limit(limit: _Limit, requests: Amounts, limits: Amounts, quantities: _Quantities) -> Iterator[str]:
    amounts = ("request", requests), ("limit", limits)
    for bound in limit.minimums:
        yield from _check_bound("minimum", limit.kind, bound, amounts, quantities)
    for bound in limit.maximums:
        yield from _check_bound("maximum", limit.kind, bound, amounts[::-1], quantities)
    for bound in limit.ratio:
        yield from _check_ratio(limit.kind, bound, requests, limits, quantities)


def _check_bound(
    word: str, kind: str, bound: _Bound, amounts: tuple[tuple[str, Amounts], ...], quantities: _Quantities
) -> Iterator[str]:
    """Check a bound. word: minimum or maximum. amounts: requests and limits by noun, the required ones first."""
    charge(_STEPS)
    name, text, amount = bound
    exceeds = lt if word == "minimum" else gt
    head = f"{word} {name} usage per {kind} is {text}"
    if name not in amounts[0][1]:
        yield f"{head}.  No {amounts[0][0]} is specified"
        return
    for noun, texts in amounts:
        if name in texts and exceeds(quantities[texts[name]], amount):
            yield f"{head}, but {noun} is {texts[name]}"
            return


def _check_ratio(kind: str, bound: _Bound, requests: Amounts, limits: Amounts, parsed: _Quantities) -> Iterator[str]:
    charge(_STEPS)
    name, text, amount = bound
    requested, limited = parsed[requests.get(name, "0")], parsed[limits.get(name, "0")]
    head = f"{name} max limit to request ratio per {kind} is {text}"
    if not requested:
        yield f"{head}, but no request is specified or request is 0"
    elif not limited:
        yield f"{head}, but no limit is specified or limit is 0"
    elif limited * quantity.NANO > amount * requested:
        yield f"{head}, but provided ratio is {limited / requested:f}"
