"""DefaultIngressClass: sets the default class of Ingresses. Source: the plugin of kube-apiserver."""

from __future__ import annotations

from podless.admission.attributes import CREATE, AdmissionAttributes
from podless.admission.configuration import find_default
from podless.admission.plugin import Plugin
from podless.apis.networking.group import INGRESS_CLASSES, INGRESSES
from podless.kinds.kind import Kind

_DEFAULT = "ingressclass.kubernetes.io/is-default-class"
_NAMED = "kubernetes.io/ingress.class"


class DefaultIngressClass(Plugin):
    """Sets the class of an Ingress without one: of several defaults the newest, then the first by name."""

    def mutates(self, operation: str, kind: Kind, subresource: str, namespace: str) -> bool:
        return operation == CREATE and not subresource and kind.is_same_as(INGRESSES)

    async def mutate(self, attr: AdmissionAttributes) -> None:
        """Set spec.ingressClassName if neither it nor the old annotation is set."""
        assert attr.obj is not None
        chosen = _NAMED in (attr.obj["metadata"].get("annotations") or {})
        if chosen or attr.obj["spec"].get("ingressClassName") is not None:
            return
        if (name := await find_default(self._state, INGRESS_CLASSES, _DEFAULT)) is not None:
            attr.obj["spec"]["ingressClassName"] = name
