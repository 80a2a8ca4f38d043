"""Printer columns of discovery.k8s.io."""

from __future__ import annotations

from podless.apis.shared.columns import AGE, NAME, UNSET, Columns, Object, at, shorten, string
from podless.runtime.meter import each


def _ports(obj: Object) -> str:
    ports = at(obj, "ports", default=())
    return shorten([str(at(one, "port", default=at(one, "name", default="*"))) for one in each(ports)]) or UNSET


def _addresses(obj: Object) -> str:
    endpoints = at(obj, "endpoints", default=())
    return shorten([ip for one in each(endpoints) for ip in each(at(one, "addresses", default=()))]) or UNSET


COLUMNS: Columns = {
    "endpointslices": (
        NAME,
        string("AddressType", "EndpointSlice.addressType"),
        string("Ports", "EndpointSlice.ports", _ports),
        string("Endpoints", "EndpointSlice.endpoints", _addresses),
        AGE,
    )
}
