"""NamespaceLifecycle: protects missing, terminating and system namespaces.

Source: the NamespaceLifecycle plugin of k8s.io/apiserver.
"""

from __future__ import annotations

from podless.admission.attributes import CREATE, DELETE, AdmissionAttributes
from podless.admission.plugin import Plugin
from podless.apis.core.admission import is_namespace
from podless.kinds.kind import Kind
from podless.meta.errors import Forbidden, NotFound

_PROTECTED = ("default", "kube-system", "kube-public")


class NamespaceLifecycle(Plugin):
    """Rejects creates in missing or terminating namespaces, and deletes of system namespaces."""

    custom = True

    def mutates(self, operation: str, kind: Kind, subresource: str, namespace: str) -> bool:
        """Return True for creates in missing or terminating namespaces, and for deletes of namespaces."""
        if operation == CREATE:
            if not kind.namespaced or _is_review(kind):  # rejecting a review would reveal whether the namespace exists
                return False
            entry = self._state.find_namespace(namespace)
            return entry is None or entry.terminating
        return operation == DELETE and is_namespace(kind)

    async def mutate(self, attr: AdmissionAttributes) -> None:
        """Raise NotFound or Forbidden for a missing or terminating namespace."""
        if attr.operation == DELETE:
            if attr.name in _PROTECTED:
                raise Forbidden(attr.kind.plural, attr.kind.group, attr.name, "this namespace may not be deleted")
            return
        name = attr.namespace
        try:
            entry = await self._state.load_namespace(name)
        except LookupError:
            return
        if entry is None:
            raise NotFound("namespaces", "", name)
        if entry.terminating:
            reason = f"unable to create new content in namespace {name} because it is being terminated"
            message = f"namespace {name} is being terminated"
            cause = {"reason": "NamespaceTerminating", "message": message, "field": "metadata.namespace"}
            raise Forbidden(attr.kind.plural, attr.kind.stored_group, attr.name, reason, causes=[cause])


def _is_review(kind: Kind) -> bool:
    return kind.plural == "localsubjectaccessreviews" and kind.group == "authorization.k8s.io"
