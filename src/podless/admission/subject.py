"""A write as webhooks and policies see it: in the requested version, and as values of CEL expressions."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from podless.admission.attributes import AdmissionAttributes
from podless.auth.authorizer import Attributes, Authorizer
from podless.auth.user import account_user
from podless.cache.entry import Entry
from podless.codec import sentfloats
from podless.kinds.conversion import Converter
from podless.kinds.kind import Version
from podless.kinds.state import State
from podless.runtime.jsonobject import Object

_ABSENT = object()
# fields of a namespace's metadata that expressions can read
_NAMESPACE = (
    "name", "generateName", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp",
    "deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations", "finalizers",
)  # fmt: skip


class AdmissionSubject:
    """One write, as one plugin sees it. Computed values are cached."""

    def __init__(self, attr: AdmissionAttributes, state: State, authorizer: Authorizer) -> None:
        self.attr = attr
        self._state = state
        self._authorizer = authorizer
        self._namespace: Any = _ABSENT
        self._encoded: list[tuple[Object, Version, Object]] = []
        # an object, and the same object with the floats that the client sent
        self._as_sent: tuple[Object, Object] | None = None

    @property
    def converter(self) -> Converter:
        """The converter of objects to other versions."""
        return self._state.converter

    async def find_namespace(self) -> Entry | None:
        """Return the namespace of the object, or the Namespace itself."""
        if self._namespace is _ABSENT:
            name = self.attr.namespace
            self._namespace = await self._state.load_namespace(name) if name else None
        namespace: Entry | None = self._namespace
        return namespace

    async def show_object(self, obj: Object | None, version: Version) -> Object | None:
        """Return the new or old object in a version. The caller must not change it. Raises ConversionFailed."""
        attr = self.attr
        if obj is None or attr.is_written_in(version) or not attr.needs_conversion:
            return obj
        for source, of, converted in self._encoded:
            if source is obj and of is version:
                return converted
        converted = await self.converter.convert_object(attr.kind_in(version), obj, version.name)
        self._encoded.append((obj, version, converted))
        return converted

    async def _expression_object(self, version: Version) -> Object | None:
        """Return the object as expressions see it.

        An unchanged object has the floats that the client sent.
        """
        result = await self.show_object(self.attr.obj, version)
        if result is None or result is not self.attr.obj or not self.attr.floats:
            return result
        if self._as_sent is None or self._as_sent[0] is not result:
            self._as_sent = result, sentfloats.copy_as_sent(result, self.attr.floats)
        return self._as_sent[1]

    def make_request(self, version: Version) -> Object:
        """Return the AdmissionRequest, without uid and objects, for an object in a version."""
        attr = self.attr
        group, _, noun = attr.type
        resource = {"group": attr.kind.group, "resource": attr.kind.plural}
        kind = attr.kind_in(version)
        group_version = (kind.group, version.name) if attr.needs_conversion else (group, attr.type[1])
        request: Object = {
            "kind": {"group": group_version[0], "version": group_version[1], "kind": noun},
            "resource": resource | {"group": kind.group, "version": version.name},
            "subResource": attr.subresource,
            "requestKind": {"group": group, "version": attr.type[1], "kind": noun},
            "requestResource": resource | {"version": attr.version.name},
            "requestSubResource": attr.subresource,
            "name": attr.name,
            "namespace": attr.namespace,
        }
        request = {name: value for name, value in request.items() if value}
        request["operation"] = attr.operation
        request["userInfo"] = attr.user.info
        request["dryRun"] = attr.dry_run
        request["options"] = attr.options
        return request

    async def bind_variables(self, version: Version, names: Container[str]) -> Object:
        """Return the values of the variables in `names`, except params and the policy's own variables."""
        attr = self.attr
        values: Object = {
            "object": await self._expression_object(version),
            "oldObject": await self.show_object(attr.old, version),
        }
        if "request" in names:
            values["request"] = self.make_request(version)
        if "namespaceObject" in names and not attr.of_namespace:
            values["namespaceObject"] = _namespace_fields(await self.find_namespace())
        if "authorizer" in names or "authorizer.requestResource" in names:
            from podless.cel.policies import AuthorizerValue as Asking  # a slow import, needed only for expressions

            asking = Asking(self._answer_check)
            identity = (attr.kind.group, attr.kind.plural, attr.subresource, attr.namespace, attr.name)
            values |= {"authorizer": asking, "authorizer.requestResource": asking.check_object(*identity)}
        return values

    def _answer_check(self, question: Any) -> Any:
        """Return the authorizer's decision for a check in an expression."""
        from podless.cel.policies import AccessDecision

        user = self.attr.user if question.account is None else account_user(*question.account)
        attributes = Attributes(
            question.verb, question.group, ANY_VERSION if not question.path else "", question.resource,
            question.subresource, question.namespace, question.name, question.path,
        )  # fmt: skip
        decision = self._authorizer.decide(user, attributes)
        return AccessDecision(decision.allowed, decision.reason, decision.error)


ANY_VERSION = "*"


def _namespace_fields(entry: Entry | None) -> Object | None:
    """Return the fields of a namespace that expressions can read."""
    if entry is None:
        return None
    namespace = entry.decode()
    metadata = {name: value for name, value in namespace["metadata"].items() if name in _NAMESPACE}
    return {"metadata": metadata} | {name: namespace[name] for name in ("spec", "status") if name in namespace}
