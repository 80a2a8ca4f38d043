"""NamespaceLifecycle: protects missing, terminating and system namespaces.

Source: the NamespaceLifecycle plugin of k8s.io/apiserver.
"""

from __future__ import annotations

from podless.admission.attributes import CREATE, DELETE, AdmissionAttributes
from podless.admission.plugin import Plugin
from podless.apis.authorization.group import LOCAL_SUBJECT_ACCESS_REVIEWS
from podless.apis.core.group import NAMESPACES
from podless.kinds.kind import Kind
from podless.meta.errors import Forbidden, NotFound

_PROTECTED = ("default", "kube-system", "kube-public")


class NamespaceLifecycle(Plugin):
    """Rejects creates in missing or terminating namespaces, and deletes of system namespaces."""

    custom = True

    def mutates(self, operation: str, kind: Kind, subresource: str, namespace: str) -> bool:
        """Return True for creates in missing or terminating namespaces, and for deletes of namespaces."""
        if operation == CREATE:
            # rejecting a review would reveal whether the namespace exists
            if not kind.namespaced or kind.is_same_as(LOCAL_SUBJECT_ACCESS_REVIEWS):
                return False
            entry = self._state.find_namespace(namespace)
            return entry is None or entry.terminating
        return operation == DELETE and kind.is_same_as(NAMESPACES)

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
