"""Columns of networking.k8s.io."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from podless.publish.columns.cell import AGE, NAME, Cell, Object, Of, at, class_name, text
from podless.publish.columns.workload import NONE, balanced, cut, joined, selected
from podless.runtime.meter import each

_GROUP = "networking.k8s.io"


def _hosts(obj: Object) -> str:
    rules = at(obj, "spec", "rules", default=())
    found = [rule["host"] for rule in each(rules) if rule.get("host")]
    if not found:
        return "*"
    return cut(found) if len(found) <= 3 else f"{','.join(found[:3])} + {len(rules) - 3} more..."


def _parameters(obj: Object) -> str:
    given = at(obj, "spec", "parameters", default=None)
    if given is None:
        return NONE
    kind = f"{given['kind']}.{given['apiGroup']}" if given.get("apiGroup") is not None else given["kind"]
    return f"{kind}/{given['name']}"


def _parent(obj: Object) -> str:
    given = at(obj, "spec", "parentRef", default=None)
    if given is None:
        return NONE
    plural = ".".join(filter(None, (at(given, "resource"), at(given, "group")))).lower()
    return "/".join(filter(None, (plural, at(given, "namespace"), at(given, "name"))))


COLUMNS: Mapping[str, tuple[Cell, ...]] = {
    "ingressclasses": (
        class_name("ingressclass.kubernetes.io/is-default-class"),
        Cell("Controller", "string", Of(_GROUP, "IngressClassSpec", "controller"), text("spec", "controller")),
        Cell("Parameters", "string", Of(_GROUP, "IngressClassSpec", "parameters"), _parameters),
        AGE,
    ),
    "ingresses": (
        NAME,
        Cell(
            "Class",
            "string",
            Of(_GROUP, "IngressSpec", "ingressClassName"),
            lambda obj: at(obj, "spec", "ingressClassName", default=NONE),
        ),
        Cell("Hosts", "string", Of(_GROUP, "IngressRule", "host"), _hosts),
        Cell("Address", "string", Of(_GROUP, "IngressStatus", "loadBalancer"), balanced),
        Cell(
            "Ports",
            "string",
            "The ports on which requests are taken.",
            lambda obj: "80, 443" if at(obj, "spec", "tls", default=()) else "80",
        ),
        AGE,
    ),
    "ipaddresses": (
        NAME,
        Cell("ParentRef", "string", Of(_GROUP, "IPAddressSpec", "parentRef"), _parent),
        replace(AGE, name=""),
    ),
    "networkpolicies": (
        NAME,
        Cell(
            "Pod-Selector",
            "string",
            Of(_GROUP, "NetworkPolicySpec", "podSelector"),
            lambda obj: selected(at(obj, "spec", "podSelector", default={})),
        ),
        AGE,
    ),
    "servicecidrs": (
        NAME,
        Cell("CIDRs", "string", Of(_GROUP, "ServiceCIDRSpec", "cidrs"), joined("spec", "cidrs")),
        AGE,
    ),
}
