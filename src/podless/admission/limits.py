"""Limits of a namespace: what containers get that say nothing, and what pods and claims may ask for.

Source: Kubernetes' plugin/pkg/admission/limitranger.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from podless.admission.attributes import CREATE, UPDATE, AdmissionAttributes
from podless.admission.refusals import forbidden
from podless.admission.scheduling import is_pod
from podless.admission.step import Step
from podless.kinds.builtin.catalog import CLAIMS, LIMIT_RANGES
from podless.kinds.kind import Kind
from podless.kinds.state import State
from podless.meta import quantity

Object = dict[str, Any]
Amounts = dict[str, str]

_ANNOTATION = "kubernetes.io/limit-ranger"
_CLAIM = "PersistentVolumeClaim"


class LimitRanger(Step):
    """Fills in the defaults of a namespace's limits, and holds pods and claims to them."""

    builtin = True

    def __init__(self, state: State) -> None:
        self._state = state
        self._limits = state.collection(LIMIT_RANGES)

    def mutates(self, operation: str, kind: Kind, subresource: str, namespace: str) -> bool:
        """New pods, and those whose resources are changed."""
        return is_pod(kind) and _concerned(operation, subresource)

    def validates(self, operation: str, kind: Kind, subresource: str) -> bool:
        """The same, and claims."""
        if is_pod(kind):
            return _concerned(operation, subresource)
        return kind.plural == CLAIMS.plural and not kind.group and not subresource and operation in (CREATE, UPDATE)

    async def mutate(self, attr: AdmissionAttributes) -> None:
        """Fills in what the containers leave out."""
        if attr.obj is None or _going(attr):
            return
        for given in await self._of(attr.namespace):
            _merge(attr.obj, given)

    async def validate(self, attr: AdmissionAttributes) -> None:
        """Raises Forbidden for more, or less, than is allowed."""
        if attr.obj is None or _going(attr):
            return
        check = _pod if is_pod(attr.kind) else _claim
        for given in await self._of(attr.namespace):
            found = list(dict.fromkeys(check(given, attr.obj["spec"])))
            if found:
                raise forbidden(attr, found[0] if len(found) == 1 else f"[{', '.join(found)}]")

    async def _of(self, namespace: str) -> list[list[Object]]:
        """The limits of a namespace."""
        if not self._limits.loaded:
            await self._state.loaded(LIMIT_RANGES)
        if not len(self._limits):
            return []
        entries = self._limits.under(LIMIT_RANGES.keys.scope(namespace))[0]
        return [entry.decode()["spec"].get("limits") or [] for entry in entries]


def _concerned(operation: str, subresource: str) -> bool:
    return (operation == CREATE and not subresource) or (operation == UPDATE and subresource == "resize")


def _going(attr: AdmissionAttributes) -> bool:
    return attr.old is not None and "deletionTimestamp" in attr.old["metadata"]


def _merge(pod: Object, limits: list[Object]) -> None:
    requests: Amounts = {}
    most: Amounts = {}
    for limit in limits:
        if limit.get("type") == "Container":
            requests |= limit.get("defaultRequest") or {}
            most |= limit.get("default") or {}
    notes = []
    for part, shown in (("containers", "container"), ("initContainers", "init container")):
        for container in pod["spec"].get(part) or ():
            notes += list(_fill(container, requests, most, shown))
    if notes:
        annotations = pod["metadata"].get("annotations") or {}
        text = f"LimitRanger plugin set: {'; '.join(notes)}"
        pod["metadata"]["annotations"] = dict(sorted({**annotations, _ANNOTATION: text}.items()))


def _fill(container: Object, requests: Amounts, most: Amounts, shown: str) -> Iterator[str]:
    resources = dict(container.get("resources") or {})
    for part, what, wanted in (("requests", "request", requests), ("limits", "limit", most)):
        given = resources.get(part) or {}
        added = sorted(wanted.keys() - given.keys())
        if added:
            resources[part] = dict(sorted({**wanted, **given}.items()))
            yield f"{', '.join(added)} {what} for {shown} {container.get('name', '')}"
    order = ("limits", "requests", "claims")
    container["resources"] = {name: resources[name] for name in order if name in resources}


def _claim(limits: list[Object], spec: Object) -> Iterator[str]:
    requests = (spec.get("resources") or {}).get("requests") or {}
    for limit in limits:
        if limit.get("type") == _CLAIM:
            for name, text in (limit.get("min") or {}).items():
                yield from _least(_CLAIM, name, text, requests, {})
            for name, text in (limit.get("max") or {}).items():
                if name not in requests:
                    yield f"maximum {name} usage per {_CLAIM} is {text}.  No request is specified"
                elif _amount(requests[name]) > _amount(text):
                    yield f"maximum {name} usage per {_CLAIM} is {text}, but request is {requests[name]}"


def _pod(limits: list[Object], spec: Object) -> Iterator[str]:
    for limit in limits:
        kind = limit.get("type", "")
        if kind == "Container":
            for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
                resources = container.get("resources") or {}
                yield from _check(limit, kind, resources.get("requests") or {}, resources.get("limits") or {})
        elif kind == "Pod":
            from podless.kinds.builtin.podspec import amounts  # who has no pods needs none of it

            own = spec.get("resources") or {}
            sums = [amounts.total(spec, part) | (own.get(part) or {}) for part in ("requests", "limits")]
            yield from _check(limit, kind, *sums)


def _check(limit: Object, kind: str, requests: Amounts, limits: Amounts) -> Iterator[str]:
    for name, text in (limit.get("min") or {}).items():
        yield from _least(kind, name, text, requests, limits)
    for name, text in (limit.get("max") or {}).items():
        yield from _most(kind, name, text, requests, limits)
    for name, text in (limit.get("maxLimitRequestRatio") or {}).items():
        yield from _ratio(kind, name, text, requests, limits)


def _least(kind: str, name: str, text: str, requests: Amounts, limits: Amounts) -> Iterator[str]:
    head = f"minimum {name} usage per {kind} is {text}"
    if name not in requests:
        yield f"{head}.  No request is specified"
    elif _amount(requests[name]) < _amount(text):
        yield f"{head}, but request is {requests[name]}"
    elif name in limits and _amount(limits[name]) < _amount(text):
        yield f"{head}, but limit is {limits[name]}"


def _most(kind: str, name: str, text: str, requests: Amounts, limits: Amounts) -> Iterator[str]:
    head = f"maximum {name} usage per {kind} is {text}"
    if name not in limits:
        yield f"{head}.  No limit is specified"
    elif _amount(limits[name]) > _amount(text):
        yield f"{head}, but limit is {limits[name]}"
    elif name in requests and _amount(requests[name]) > _amount(text):
        yield f"{head}, but request is {requests[name]}"


def _ratio(kind: str, name: str, text: str, requests: Amounts, limits: Amounts) -> Iterator[str]:
    head = f"{name} max limit to request ratio per {kind} is {text}"
    asked, most = _amount(requests.get(name, "0")), _amount(limits.get(name, "0"))
    if not asked:
        yield f"{head}, but no request is specified or request is 0"
    elif not most:
        yield f"{head}, but no limit is specified or limit is 0"
    elif most / asked > _amount(text):
        yield f"{head}, but provided ratio is {float(most / asked):f}"


def _amount(text: str) -> Fraction:
    return quantity.parse(text)
