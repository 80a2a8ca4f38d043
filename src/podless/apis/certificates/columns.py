"""Cells of the printer columns of certificates.k8s.io."""

from __future__ import annotations

from podless.apis.shared.columns import NONE, Object, at
from podless.codec.gotime import format_human_duration
from podless.runtime.meter import each


def requested_duration(obj: Object) -> str:
    seconds = at(obj, "spec", "expirationSeconds", default=None)
    return NONE if seconds is None else format_human_duration(seconds)


def read_decision(obj: Object) -> str:
    """Return the state of a certificate request as kubectl shows it."""
    types = {condition["type"] for condition in each(at(obj, "status", "conditions", default=()))}
    word = next((name for name in ("Denied", "Approved") if name in types), "Pending")
    failed = ",Failed" if "Failed" in types else ""
    return f"{word}{failed}{',Issued' if at(obj, 'status', 'certificate') else ''}"


def request_state(obj: Object) -> str:
    types = [condition["type"] for condition in each(at(obj, "status", "conditions", default=()))]
    return next((type_ for type_ in reversed(types) if type_ in ("Issued", "Denied", "Failed")), "Pending")
