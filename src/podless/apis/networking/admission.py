"""DefaultIngressClass: sets the default class of Ingresses. Source: the plugin of kube-apiserver."""

from __future__ import annotations

from podless.admission.attributes import CREATE, AdmissionAttributes
from podless.admission.plugin import Plugin
from podless.apis.networking.group import INGRESS_CLASSES, INGRESSES
from podless.kinds.kind import Kind
from podless.runtime.meter import each

_DEFAULT = "ingressclass.kubernetes.io/is-default-class"
_IN_BODY = b"is-default-class"  # only the classes with these bytes must be decoded
_NAMED = "kubernetes.io/ingress.class"


class DefaultIngressClass(Plugin):
    """Sets the class of an Ingress without one: of several defaults the newest, then the first by name."""

    def mutates(self, operation: str, kind: Kind, subresource: str, namespace: str) -> bool:
        return operation == CREATE and not subresource and kind.prefix == INGRESSES.prefix

    async def mutate(self, attr: AdmissionAttributes) -> None:
        """Set spec.ingressClassName if neither it nor the old annotation is set."""
        assert attr.obj is not None
        chosen = _NAMED in (attr.obj["metadata"].get("annotations") or {})
        if chosen or attr.obj["spec"].get("ingressClassName") is not None:
            return
        classes = (await self._state.load_collection(INGRESS_CLASSES)).entries_under(INGRESS_CLASSES.prefix)[0]
        named = (entry.decode()["metadata"] for entry in each(classes) if _IN_BODY in entry.body)
        defaults = [metadata for metadata in named if (metadata.get("annotations") or {}).get(_DEFAULT) == "true"]
        if defaults:
            newest = max(metadata.get("creationTimestamp") or "" for metadata in defaults)
            names = [item["name"] for item in defaults if (item.get("creationTimestamp") or "") == newest]
            attr.obj["spec"]["ingressClassName"] = min(names)
