"""Gives Services of type LoadBalancer an external address."""

from __future__ import annotations

from podless.apis.core.group import SERVICES
from podless.controllers.controller import Controller
from podless.controllers.workloads import ask
from podless.runtime.jsonobject import Object


class LoadBalancerController(Controller):
    """Sets the load balancer address of a Service: the requested one, or its cluster IP.

    Keys are those of Services.
    """

    name = "service-lb-controller"

    async def begin(self) -> None:
        await self.follow_kind(SERVICES)

    async def reconcile(self, key: str) -> None:
        """Set the address of a Service without one. Services with a loadBalancerClass are skipped."""
        entry = self.api.collection(SERVICES).get(key)
        if entry is None or entry.terminating:
            return
        service = entry.decode()
        spec, load_balancer = service["spec"], (service.get("status") or {}).get("loadBalancer") or {}
        if spec.get("type") != "LoadBalancer" or spec.get("loadBalancerClass") or load_balancer.get("ingress"):
            return
        address: Object = {"ip": spec.get("loadBalancerIP") or spec["clusterIP"], "ipMode": "VIP"}
        await ask.report_status(self.api, SERVICES, service, {"loadBalancer": {"ingress": [address]}})
