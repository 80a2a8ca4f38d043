"""Printer columns of discovery.k8s.io."""

from __future__ import annotations

from podless.apis.shared.columns import AGE, NAME, UNSET, Columns, Object, at, shorten, string
from podless.runtime.meter import each


def _read_ports(obj: Object) -> str:
    ports = at(obj, "ports", default=())
    return shorten([str(at(port, "port", default=at(port, "name", default="*"))) for port in each(ports)]) or UNSET


def _read_addresses(obj: Object) -> str:
    endpoints = at(obj, "endpoints", default=())
    return shorten([ip for endpoint in each(endpoints) for ip in each(at(endpoint, "addresses", default=()))]) or UNSET


COLUMNS: Columns = {
    "endpointslices": (
        NAME,
        string("AddressType", "EndpointSlice.addressType"),
        string("Ports", "EndpointSlice.ports", _read_ports),
        string("Endpoints", "EndpointSlice.endpoints", _read_addresses),
        AGE,
    )
}
