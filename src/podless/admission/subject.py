"""A write as those look at it who have rules for it: in the version that they name, with what expressions may ask."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from podless.admission.review import Review
from podless.admission.state import State
from podless.auth.attributes import Attributes
from podless.auth.authorizer import Authorizer
from podless.auth.user import AUTHENTICATED, User
from podless.cache.entry import Entry
from podless.kinds import conversion
from podless.kinds.kind import Version

Object = dict[str, Any]

_ABSENT = object()
# what expressions see of a namespace's metadata
_NAMESPACE = (
    "name", "generateName", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp",
    "deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations", "finalizers",
)  # fmt: skip


class Subject:
    """One write, for the time that one step looks at it. What is found out is kept."""

    def __init__(self, review: Review, state: State, authorizer: Authorizer) -> None:
        self.review = review
        self._state = state
        self._authorizer = authorizer
        self._namespace: Any = _ABSENT
        self._seen: list[tuple[Object, str, Object]] = []

    async def namespace(self) -> Entry | None:
        """The namespace that the object is in, or is."""
        if self._namespace is _ABSENT:
            name = self.review.namespace
            self._namespace = await self._state.namespace(name) if name else None
        found: Entry | None = self._namespace
        return found

    async def shown(self, obj: Object | None, version: Version) -> Object | None:
        """The object, or the old one, in a version; not to be changed. Raises ConversionFailed."""
        review = self.review
        if obj is None or version.name == review.version.name or not review.converted:
            return obj
        for known, name, found in self._seen:
            if known is obj and name == version.name:
                return found
        found = await conversion.convert(review.kind, obj, version.name)
        self._seen.append((obj, version.name, found))
        return found

    def request(self, version: Version) -> Object:
        """The AdmissionRequest without its uid and objects, as those see it who look at the object in a version."""
        review = self.review
        group, _, noun = review.type
        resource = {"group": review.kind.group, "resource": review.kind.plural}
        shown = group, version.name if review.converted else review.type[1]
        request: Object = {
            "kind": {"group": shown[0], "version": shown[1], "kind": noun},
            "resource": resource | {"version": version.name},
            "subResource": review.subresource,
            "requestKind": {"group": group, "version": review.type[1], "kind": noun},
            "requestResource": resource | {"version": review.version.name},
            "requestSubResource": review.subresource,
            "name": review.name,
            "namespace": review.namespace,
        }
        request = {name: value for name, value in request.items() if value}
        request["operation"] = review.operation
        request["userInfo"] = user_info(review.user)
        request["dryRun"] = review.dry_run
        request["options"] = review.options
        return request

    async def values(self, version: Version, needs: Container[str]) -> Object:
        """The values of those of these names that expressions may use, but for params and variables."""
        review = self.review
        values: Object = {
            "object": await self.shown(review.obj, version),
            "oldObject": await self.shown(review.old, version),
        }
        if "request" in needs:
            values["request"] = self.request(version)
        if "namespaceObject" in needs and not review.of_namespace:
            values["namespaceObject"] = _namespace(await self.namespace())
        if "authorizer" in needs or "authorizer.requestResource" in needs:
            from podless.cel.policies import Authorizer as Asking  # takes its time; here there are expressions

            asking = Asking(self._ask)
            about = (review.kind.group, review.kind.plural, review.subresource, review.namespace, review.name)
            values |= {"authorizer": asking, "authorizer.requestResource": asking.about(*about)}
        return values

    def _ask(self, question: Any) -> Any:
        """What the authorizer says to an expression's question."""
        from podless.cel.policies import Answer

        user = self.review.user if question.account is None else _account(*question.account)
        asked = Attributes(
            question.verb, question.group, ANY_VERSION if not question.path else "", question.resource,
            question.subresource, question.namespace, question.name, question.path,
        )  # fmt: skip
        decision = self._authorizer.decide(user, asked)
        return Answer(decision.allowed, decision.reason, decision.error)


ANY_VERSION = "*"


def _namespace(entry: Entry | None) -> Object | None:
    """What expressions see of a namespace."""
    if entry is None:
        return None
    whole = entry.decode()
    metadata = {name: value for name, value in whole["metadata"].items() if name in _NAMESPACE}
    return {"metadata": metadata} | {name: whole[name] for name in ("spec", "status") if name in whole}


def user_info(user: User) -> Object:
    """authentication.k8s.io/v1 UserInfo."""
    info: Object = {"username": user.name, "uid": user.uid, "groups": list(user.groups)}
    info["extra"] = {key: list(values) for key, values in user.extra.items()}
    return {name: value for name, value in info.items() if value}


def _account(namespace: str, name: str) -> User:
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", AUTHENTICATED)
    return User(f"system:serviceaccount:{namespace}:{name}", "", groups)
