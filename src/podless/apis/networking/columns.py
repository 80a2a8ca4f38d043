"""Cells of the printer columns of networking.k8s.io."""

from __future__ import annotations

from podless.apis.shared.columns import NONE, Object, at, shorten
from podless.runtime.meter import each


def read_hosts(obj: Object) -> str:
    rules = at(obj, "spec", "rules", default=())
    hosts = [rule["host"] for rule in each(rules) if rule.get("host")]
    if not hosts:
        return "*"
    return shorten(hosts) if len(hosts) <= 3 else f"{','.join(hosts[:3])} + {len(rules) - 3} more..."


def ingress_ports(obj: Object) -> str:
    return "80, 443" if at(obj, "spec", "tls", default=()) else "80"


def class_parameters(obj: Object) -> str:
    params = at(obj, "spec", "parameters", default=None)
    if params is None:
        return NONE
    kind = f"{params['kind']}.{params['apiGroup']}" if params.get("apiGroup") is not None else params["kind"]
    return f"{kind}/{params['name']}"


def read_parent(obj: Object) -> str:
    parent_ref = at(obj, "spec", "parentRef", default=None)
    if parent_ref is None:
        return NONE
    plural = ".".join(filter(None, (at(parent_ref, "resource"), at(parent_ref, "group")))).lower()
    return "/".join(filter(None, (plural, at(parent_ref, "namespace"), at(parent_ref, "name"))))
