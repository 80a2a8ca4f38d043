"""Printer columns of networking.k8s.io."""

from __future__ import annotations

from dataclasses import replace

from podless.apis.shared.columns import (
    AGE,
    NAME,
    NONE,
    Columns,
    Object,
    at,
    balancer_addresses,
    class_name,
    format_selector,
    joined,
    shorten,
    string,
    text,
)
from podless.runtime.meter import each


def _read_hosts(obj: Object) -> str:
    rules = at(obj, "spec", "rules", default=())
    hosts = [rule["host"] for rule in each(rules) if rule.get("host")]
    if not hosts:
        return "*"
    return shorten(hosts) if len(hosts) <= 3 else f"{','.join(hosts[:3])} + {len(rules) - 3} more..."


def _ingress_ports(obj: Object) -> str:
    return "80, 443" if at(obj, "spec", "tls", default=()) else "80"


def _class_parameters(obj: Object) -> str:
    params = at(obj, "spec", "parameters", default=None)
    if params is None:
        return NONE
    kind = f"{params['kind']}.{params['apiGroup']}" if params.get("apiGroup") is not None else params["kind"]
    return f"{kind}/{params['name']}"


def _read_parent(obj: Object) -> str:
    parent_ref = at(obj, "spec", "parentRef", default=None)
    if parent_ref is None:
        return NONE
    plural = ".".join(filter(None, (at(parent_ref, "resource"), at(parent_ref, "group")))).lower()
    return "/".join(filter(None, (plural, at(parent_ref, "namespace"), at(parent_ref, "name"))))


def _pod_selector(obj: Object) -> str:
    return format_selector(at(obj, "spec", "podSelector", default={}))


COLUMNS: Columns = {
    "ingressclasses": (
        class_name("ingressclass.kubernetes.io/is-default-class"),
        string("Controller", "IngressClassSpec.controller"),
        string("Parameters", "IngressClassSpec.parameters", _class_parameters),
        AGE,
    ),
    "ingresses": (
        NAME,
        string("Class", "IngressSpec.ingressClassName", text("spec.ingressClassName", NONE)),
        string("Hosts", "IngressRule.host", _read_hosts),
        string("Address", "IngressStatus.loadBalancer", balancer_addresses),
        string("Ports", "Ports on which the Ingress accepts requests.", _ingress_ports),
        AGE,
    ),
    "ipaddresses": (NAME, string("ParentRef", "IPAddressSpec.parentRef", _read_parent), replace(AGE, name="")),
    "networkpolicies": (NAME, string("Pod-Selector", "NetworkPolicySpec.podSelector", _pod_selector), AGE),
    "servicecidrs": (NAME, string("CIDRs", "ServiceCIDRSpec.cidrs", joined("spec.cidrs")), AGE),
}
