"""Policies with their bindings: the common part of ValidatingAdmissionPolicy and MutatingAdmissionPolicy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from podless.admission.conditions import Conditions
from podless.admission.lister import Lister
from podless.admission.matching import Concerned, Matching, exempt_from_policies
from podless.admission.params import ParamReader, Unconfigured, find_kind
from podless.admission.subject import Subject
from podless.kinds.kind import Kind, Version
from podless.kinds.state import State
from podless.meta.errors import APIError
from podless.runtime.jsonobject import Object

if TYPE_CHECKING:
    from podless.cel.policies import Environment


class Policy:
    """A policy, compiled when it is first used."""

    def __init__(self, obj: Object) -> None:
        self.name: str = obj["metadata"]["name"]
        self.spec: Object = obj["spec"]
        self.strict = self.spec.get("failurePolicy", "Fail") == "Fail"
        self.param_kind: Mapping[str, str] | None = self.spec.get("paramKind")
        self.matching = Matching.resources(self.spec["matchConstraints"])

    @cached_property
    def environment(self) -> Environment:
        """The CEL environment of the policy's expressions, with compiled variables."""
        from podless.cel.policies import Environment

        variables = self.spec.get("variables") or ()
        made = Environment(params=self.param_kind is not None, composed=bool(variables))
        for variable in variables:
            made.declare(variable["name"], variable["expression"])
        return made

    @cached_property
    def conditions(self) -> Conditions | None:
        """The compiled matchConditions, None without any."""
        given = self.spec.get("matchConditions")
        return Conditions(given, self.environment, strict=self.strict) if given else None


class Binding:
    """A binding of a policy: where it applies, and with which parameters."""

    def __init__(self, obj: Object) -> None:
        self.name: str = obj["metadata"]["name"]
        self.spec: Object = obj["spec"]
        self.policy: str = self.spec["policyName"]
        given = self.spec.get("matchResources")
        self.matching = Matching.resources(given) if given is not None else None


P = TypeVar("P", bound=Policy)


class BoundPolicy(NamedTuple, Generic[P]):
    """A policy with all of its bindings."""

    policy: P
    bindings: list[Binding]


class PolicyFault(NamedTuple):
    """A policy or binding that cannot be evaluated for a write.

    unconfigured: a kind or parameter that it names does not exist.
    """

    policy: Policy
    binding: Binding | None
    why: str
    unconfigured: bool = False


class Invocation(NamedTuple, Generic[P]):
    """One evaluation of a policy. version: of the object in its expressions. params: None without parameters."""

    policy: P
    binding: Binding
    version: Version
    params: Object | None


class BoundPolicies(Generic[P]):
    """All policies that have bindings, sorted by name."""

    def __init__(self, state: State, policies: Kind, bindings: Kind, make: Callable[[Object], P]) -> None:
        self._state = state
        self._params = ParamReader(state)
        self._policies: Lister[P] = Lister(state.cache, policies, make)
        self._bindings: Lister[Binding] = Lister(state.cache, bindings, Binding)
        self._seen = (-1, -1)
        self._hooks: Concerned[BoundPolicy[P]] = Concerned(_covers, exempt_from_policies)

    async def load(self) -> None:
        """Load the policies and bindings."""
        await self._policies.load()
        await self._bindings.load()

    def find_bindings(self, operation: str, kind: Kind, subresource: str) -> Sequence[BoundPolicy[P]]:
        """Return the policies with their bindings that may apply to such writes."""
        policies, bindings = self._seen
        if self._policies.collection.changed != policies or self._bindings.collection.changed != bindings:
            seen = self._policies.collection.changed, self._bindings.collection.changed
            self._pair()
            self._seen = seen
        return self._hooks.select_items(operation, kind, subresource) if self._hooks.items else ()

    def _pair(self) -> None:
        by_policy: dict[str, list[Binding]] = {}
        for binding in self._bindings.list_items():
            by_policy.setdefault(binding.policy, []).append(binding)
        policies = self._policies.list_items()
        self._hooks.set_items(
            [BoundPolicy(policy, by_policy[policy.name]) for policy in policies if policy.name in by_policy]
        )

    async def find_evaluations(
        self, subject: Subject, hooks: Sequence[BoundPolicy[P]]
    ) -> list[Invocation[P] | PolicyFault]:
        """Return the evaluations that a write needs, and a fault for each policy that cannot be evaluated, in order."""
        found: list[Invocation[P] | PolicyFault] = []
        for policy, bindings in hooks:
            try:
                version = await policy.matching.find_version(subject)
                if version is None:
                    continue
                kind = find_kind(self._state, policy.param_kind) if policy.param_kind is not None else None
            except (APIError, Unconfigured) as error:
                found.append(PolicyFault(policy, None, f"failed to configure policy: {_describe_error(error)}", True))
                continue
            for binding in bindings:
                found += await self._bound(subject, policy, binding, version, kind)
        return found

    async def _bound(
        self, subject: Subject, policy: P, binding: Binding, version: Version, kind: tuple[Kind, Version] | None
    ) -> list[Invocation[P] | PolicyFault]:
        try:
            if binding.matching is not None and await binding.matching.find_version(subject) is None:
                return []
            wanted = binding.spec.get("paramRef")
            if kind is None or wanted is None:
                return [Invocation(policy, binding, version, None)]
            found = await self._params.find_params(kind, wanted, subject.attr.namespace)
        except (APIError, Unconfigured) as error:
            return [PolicyFault(policy, binding, f"failed to configure binding: {_describe_error(error)}", True)]
        return [Invocation(policy, binding, version, each) for each in found]


def _covers(hook: BoundPolicy[P], operation: str, kind: Kind, subresource: str) -> bool:
    return hook.policy.matching.may_match(operation, kind, subresource)


def _describe_error(error: Exception) -> str:
    return error.message if isinstance(error, APIError) else str(error)
