"""LimitRanges, quotas, ports and what pods are given (rows H, M and O)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bench.asks.ask import Ask
from bench.attacks.attack import CORE, Attack, Site, numbers, post

_PODS = f"{CORE}/pods"


def _resources(site: Site, many: int = 3000) -> dict[str, str]:
    return dict.fromkeys((f"example.com/{name}" for name in numbers("r", site.many(many))), "1")


def _pod(containers: int, **spec: Any) -> Any:
    listed = [{"name": name, "image": "i"} for name in numbers("c", containers)]
    return {"metadata": {"name": "x"}, "spec": {"containers": listed, **spec}}


def _limited(site: Site, *names: str) -> None:
    limits = {name: _resources(site) for name in names}
    site.post(f"{CORE}/limitranges", {"metadata": {"name": "l"}, "spec": {"limits": [{"type": "Container", **limits}]}})


def _defaulted(containers: int) -> Any:
    def setup(site: Site) -> Sequence[Ask]:
        _limited(site, "default", "defaultRequest")
        return [post(_PODS, _pod(containers))]

    return setup


def _bounded(site: Site) -> Sequence[Ask]:
    """Containers that have none of what they must have."""
    limits = {"type": "Container", "min": _resources(site), "max": _resources(site)}
    site.post(f"{CORE}/limitranges", {"metadata": {"name": "l"}, "spec": {"limits": [limits]}})
    return [post(_PODS, _pod(site.many(500)))]


def _overhead(site: Site) -> Sequence[Ask]:
    name = {"metadata": {"name": "o"}, "handler": "h", "overhead": {"podFixed": _resources(site, 20_000)}}
    site.post("/apis/node.k8s.io/v1/runtimeclasses", name)
    site.post(f"{CORE}/resourcequotas", {"metadata": {"name": "q"}, "spec": {"hard": {"pods": "100"}}})
    return [post(_PODS, _pod(20, runtimeClassName="o"))]


def _quota(site: Site) -> Sequence[Ask]:
    hard = {f"requests.{name}": "100000" for name in _resources(site, 3000)}
    for number in range(10):
        site.post(f"{CORE}/resourcequotas", {"metadata": {"name": f"q{number}"}, "spec": {"hard": hard}})
    return [post(_PODS, _pod(site.many(500)))]


def _metrics(site: Site) -> Sequence[Ask]:
    metric = {
        "type": "Resource",
        "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}},
    }
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"}
    spec = {"maxReplicas": 3, "scaleTargetRef": target, "metrics": [metric] * site.many(3000)}
    return [
        post(
            "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers",
            {"metadata": {"name": "x"}, "spec": spec},
        )
    ]


def _claim(name: str) -> Any:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {"metadata": {"name": name}, "spec": spec}


def _claims(many: int) -> Any:
    def setup(site: Site) -> Sequence[Ask]:
        """Objects that a quota counts."""
        path = f"{CORE}/persistentvolumeclaims"
        for name in numbers("c", site.many(many)):
            site.post(path, _claim(name))
        hard = {"persistentvolumeclaims": "100000", "requests.storage": "100000Gi"}
        site.post(f"{CORE}/resourcequotas", {"metadata": {"name": "q"}, "spec": {"hard": hard}})
        return [post(path, _claim(f"new{number}")) for number in range(20)]

    return setup


def _ports(kind: str, query: str = "") -> Any:
    def setup(site: Site) -> Sequence[Ask]:
        ports = [{"name": f"p{number}", "port": number} for number in range(1, site.many(10_000))]
        body = {"metadata": {"name": "x"}, "spec": {"type": kind, "ports": ports}}
        return [post(f"{CORE}/services{query}", body)]

    return setup


ATTACKS = [
    Attack("H1", "a LimitRange of 3,000 resources, a pod of 20 containers", _defaulted(20)),
    Attack("H2", "a LimitRange of 3,000 resources, a pod of 100 containers", _defaulted(100)),
    Attack("H3", "a LimitRange of 3,000 bounds, a pod of 500 empty containers", _bounded),
    Attack("H4", "a RuntimeClass with an overhead of 20,000 resources, a pod", _overhead),
    Attack("H5", "ten quotas of 3,000 resources, a pod of 500 empty containers", _quota),
    Attack("H6", "an autoscaler of 3,000 metrics", _metrics),
    Attack("M1", "a quota over 9,000 claims, 20 creates", _claims(9000)),
    Attack("M2", "a quota over 11,000 claims, 20 creates", _claims(11_000)),
    Attack("O1", "a NodePort service of 10,000 ports, as a dry run", _ports("NodePort", "?dryRun=All"), fails=True),
    Attack("O6", "a NodePort service of 10,000 ports", _ports("NodePort"), fails=True),
    Attack("O5", "a LoadBalancer service of 10,000 ports", _ports("LoadBalancer"), fails=True),
]
