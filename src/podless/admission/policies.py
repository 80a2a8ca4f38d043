"""Policies with their bindings: the common part of ValidatingAdmissionPolicy and MutatingAdmissionPolicy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Generic, NamedTuple, TypeVar

from podless.admission.configuration import ConfigurationLister, MissingConfiguration, ParamReader, find_kind
from podless.admission.matching import ApplicableItems, MatchConditions, ResourceMatching, exempt_from_policies
from podless.admission.plugin import Plugin
from podless.admission.subject import AdmissionSubject
from podless.auth.authorizer import Authorizer
from podless.cache.watchcache import WatchCache
from podless.kinds.kind import Kind, Version
from podless.kinds.state import State
from podless.meta.errors import APIError
from podless.runtime.jsonobject import Object
from podless.runtime.memo import made_once

if TYPE_CHECKING:
    from podless.cel.policies import Environment


class CompiledPolicy:
    """A policy, compiled when it is first used."""

    def __init__(self, obj: Object) -> None:
        self.name: str = obj["metadata"]["name"]
        self.spec: Object = obj["spec"]
        self.strict = self.spec.get("failurePolicy", "Fail") == "Fail"
        self.param_kind: Mapping[str, str] | None = self.spec.get("paramKind")
        self.matching = ResourceMatching.from_match_resources(self.spec["matchConstraints"])

    @made_once
    def environment(self) -> Environment:
        """The CEL environment of the policy's expressions, with compiled variables."""
        from podless.cel.policies import Environment

        variables = self.spec.get("variables") or ()
        result = Environment(params=self.param_kind is not None, composed=bool(variables))
        for variable in variables:
            result.declare_variable(variable["name"], variable["expression"])
        return result

    @made_once
    def conditions(self) -> MatchConditions | None:
        """The compiled matchConditions, None without any."""
        match_conditions = self.spec.get("matchConditions")
        return MatchConditions(match_conditions, self.environment, strict=self.strict) if match_conditions else None


class PolicyBinding:
    """A binding of a policy: where it applies, and with which parameters."""

    def __init__(self, obj: Object) -> None:
        self.name: str = obj["metadata"]["name"]
        self.spec: Object = obj["spec"]
        self.policy: str = self.spec["policyName"]
        match_resources = self.spec.get("matchResources")
        self.matching = ResourceMatching.from_match_resources(match_resources) if match_resources is not None else None


P = TypeVar("P", bound=CompiledPolicy)


class BoundPolicy(NamedTuple, Generic[P]):
    """A policy with all of its bindings."""

    policy: P
    bindings: list[PolicyBinding]


class PolicyFault(NamedTuple):
    """A policy or binding that cannot be evaluated for a write.

    unconfigured: a kind or parameter that it names does not exist.
    """

    policy: CompiledPolicy
    binding: PolicyBinding | None
    reason: str
    unconfigured: bool = False


class Invocation(NamedTuple, Generic[P]):
    """One evaluation of a policy. version: of the object in its expressions. params: None without parameters."""

    policy: P
    binding: PolicyBinding
    version: Version
    params: Object | None


class BoundPolicies(Generic[P]):
    """All policies that have bindings, sorted by name."""

    def __init__(self, state: State, policies: Kind, bindings: Kind, make: Callable[[Object], P]) -> None:
        self._state = state
        self._params = ParamReader(state)
        self._policies: ConfigurationLister[P] = ConfigurationLister(state.cache, policies, make)
        self._bindings: ConfigurationLister[PolicyBinding] = ConfigurationLister(state.cache, bindings, PolicyBinding)
        self._revisions = (-1, -1)
        self._bound: ApplicableItems[BoundPolicy[P]] = ApplicableItems(
            lambda bound, *write: bound.policy.matching.may_match(*write), exempt_from_policies
        )

    async def load(self) -> None:
        """Load the policies and bindings."""
        await self._policies.load()
        await self._bindings.load()

    @property
    def sources(self) -> Sequence[WatchCache]:
        """The collections of policies and bindings."""
        return self._policies.collection, self._bindings.collection

    @property
    def is_empty(self) -> bool:
        """Whether no policy has a binding."""
        self._pair_changed()
        return not self._bound.items

    def find_bindings(self, operation: str, kind: Kind, subresource: str) -> Sequence[BoundPolicy[P]]:
        """Return the policies with their bindings that may apply to such writes."""
        self._pair_changed()
        return self._bound.select_items(operation, kind, subresource)

    def _pair_changed(self) -> None:
        seen = self._policies.collection.changed, self._bindings.collection.changed
        if self._revisions == seen:
            return
        by_policy: dict[str, list[PolicyBinding]] = {}
        for binding in self._bindings.list_items():
            by_policy.setdefault(binding.policy, []).append(binding)
        policies = self._policies.list_items()
        self._bound.set_items(
            [BoundPolicy(policy, by_policy[policy.name]) for policy in policies if policy.name in by_policy]
        )
        self._revisions = seen

    async def find_evaluations(
        self, subject: AdmissionSubject, bound: Sequence[BoundPolicy[P]]
    ) -> list[Invocation[P] | PolicyFault]:
        """Return the evaluations that a write needs, and a fault for each policy that cannot be evaluated, in order."""
        evaluations: list[Invocation[P] | PolicyFault] = []
        for policy, bindings in bound:
            try:
                version = await policy.matching.find_version(subject)
                if version is None:
                    continue
                kind = find_kind(self._state, policy.param_kind) if policy.param_kind is not None else None
            except (APIError, MissingConfiguration) as error:
                evaluations.append(
                    PolicyFault(policy, None, f"failed to configure policy: {_describe_error(error)}", True)
                )
                continue
            for binding in bindings:
                evaluations += await self._find_invocations(subject, policy, binding, version, kind)
        return evaluations

    async def _find_invocations(
        self,
        subject: AdmissionSubject,
        policy: P,
        binding: PolicyBinding,
        version: Version,
        kind: tuple[Kind, Version] | None,
    ) -> list[Invocation[P] | PolicyFault]:
        try:
            if binding.matching is not None and await binding.matching.find_version(subject) is None:
                return []
            param_ref = binding.spec.get("paramRef")
            if kind is None or param_ref is None:
                return [Invocation(policy, binding, version, None)]
            params = await self._params.find_params(kind, param_ref, subject.attr.namespace)
        except (APIError, MissingConfiguration) as error:
            return [PolicyFault(policy, binding, f"failed to configure binding: {_describe_error(error)}", True)]
        return [Invocation(policy, binding, version, param) for param in params]


def _describe_error(error: Exception) -> str:
    return error.message if isinstance(error, APIError) else str(error)


class PolicyAdmission(Plugin, Generic[P]):
    """The admission plugin that evaluates all bound policies of one kind."""

    custom = True
    policies: ClassVar[Kind]
    bindings: ClassVar[Kind]
    make: type[P]

    def __init__(self, state: State, authorizer: Authorizer) -> None:
        super().__init__(state, authorizer)
        self._bound: BoundPolicies[P] = BoundPolicies(state, self.policies, self.bindings, self.make)
        self.sources = self._bound.sources

    @property
    def is_active(self) -> bool:
        return not self._bound.is_empty

    async def start(self) -> None:
        await self._bound.load()
