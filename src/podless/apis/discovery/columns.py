"""Cells of the printer columns of discovery.k8s.io."""

from __future__ import annotations

from podless.apis.shared.columns import UNSET, Object, at, shorten
from podless.runtime.meter import each


def read_ports(obj: Object) -> str:
    ports = at(obj, "ports", default=())
    return shorten([str(at(port, "port", default=at(port, "name", default="*"))) for port in each(ports)]) or UNSET


def read_addresses(obj: Object) -> str:
    endpoints = at(obj, "endpoints", default=())
    return shorten([ip for endpoint in each(endpoints) for ip in each(at(endpoint, "addresses", default=()))]) or UNSET
