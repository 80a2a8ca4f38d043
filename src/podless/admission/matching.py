"""Decides which writes a webhook, a policy or a binding applies to: rules, names, selectors, match conditions.

Source: k8s.io/apiserver pkg/admission/plugin/webhook/predicates and plugin/policy/matching.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from weakref import ref

from podless.admission.attributes import CREATE, UPDATE, AdmissionAttributes
from podless.admission.refusals import internal_error
from podless.admission.subject import AdmissionSubject
from podless.auth.rules import join_errors
from podless.kinds.kind import Kind, Version
from podless.meta import selectors
from podless.meta.errors import APIError, NotFound
from podless.meta.selectors import LabelSelector
from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each

if TYPE_CHECKING:
    from podless.cel.policies import Environment, Expression

T = TypeVar("T")

ANY = "*"
_OWN_GROUP = "admissionregistration.k8s.io"
_MAX_KNOWN = 1000  # cached decisions
_REVIEWS = frozenset(
    {
        ("authentication.k8s.io", "selfsubjectreviews"),
        ("authentication.k8s.io", "tokenreviews"),
        ("authorization.k8s.io", "localsubjectaccessreviews"),
        ("authorization.k8s.io", "selfsubjectaccessreviews"),
        ("authorization.k8s.io", "selfsubjectrulesreviews"),
        ("authorization.k8s.io", "subjectaccessreviews"),
    }
)


def is_exempt(kind: Kind) -> bool:
    """Return whether the kind configures admission. No webhook is called for it, so that a bad one can be deleted."""
    return kind.group == _OWN_GROUP


def exempt_from_policies(kind: Kind) -> bool:
    """Return whether no policy applies to the kind: it configures admission, or reviews a user or permissions."""
    return kind.group == _OWN_GROUP or (kind.group, kind.plural) in _REVIEWS


@dataclass(frozen=True, slots=True)
class MatchRule:
    """Operations on resources. names: of the objects, empty for all of them."""

    operations: frozenset[str]
    groups: frozenset[str]
    versions: frozenset[str]
    resources: tuple[tuple[str, str], ...]
    scope: str
    names: frozenset[str]

    @classmethod
    def read(cls, rule: Mapping[str, Any]) -> MatchRule:
        """Return the rule of a RuleWithOperations or NamedRuleWithOperations."""
        resources = (name.partition("/") for name in rule.get("resources") or ())
        return cls(
            frozenset(rule.get("operations") or ()),
            frozenset(rule.get("apiGroups") or ()),
            frozenset(rule.get("apiVersions") or ()),
            tuple((resource, subresource) for resource, _, subresource in resources),
            rule.get("scope") or ANY,
            frozenset(rule.get("resourceNames") or ()),
        )

    def may_match(self, operation: str, kind: Kind, subresource: str) -> bool:
        """Return whether the rule may match such writes, for any version, namespace and name."""
        return (
            _is_listed(operation, self.operations)
            and _is_listed(kind.group, self.groups)
            and any(resource in (ANY, kind.plural) and name in (ANY, subresource) for resource, name in self.resources)
        )

    def matches(self, attr: AdmissionAttributes, kind: Kind, version: Version) -> bool:
        """Return whether a write is meant that goes through a version of a kind."""
        return (
            self._matches_scope(attr)
            and _is_listed(version.name, self.versions)
            and self.may_match(attr.operation, kind, attr.subresource)
            and (not self.names or attr.name in self.names)
        )

    def _matches_scope(self, attr: AdmissionAttributes) -> bool:
        if self.scope == ANY:
            return True
        inside = bool(attr.namespace) and not attr.of_namespace
        return inside if self.scope == "Namespaced" else not inside


def _is_listed(value: str, values: frozenset[str]) -> bool:
    return ANY in values or value in values


class _AnswerCache(Generic[T]):
    """Caches one answer per kind and request key. A changed definition makes a new kind, and so new answers.

    Kinds are referenced weakly, so that a deleted definition leaves no memory behind. answers: by what decides them,
    with the kind that they hold for. Every write looks answers up, so callers do it without a call.
    """

    __slots__ = ("answers",)

    def __init__(self) -> None:
        self.answers: dict[tuple[str | bool, ...], tuple[ref[Kind], T]] = {}

    def cache_answer(self, kind: Kind, request_key: tuple[str | bool, ...], answer: T) -> T:
        """Cache an answer, and return it."""
        if len(self.answers) >= _MAX_KNOWN:
            self.answers.clear()
        self.answers[request_key] = ref(kind), answer
        return answer


def _refer_to_none() -> None:
    """Stand for a reference to no version."""


class ResourceMatching:
    """Rules and selectors together.

    rules: at least one must match. excluded: none may match. match_all: if there are no rules, all writes match.
    by_rules: there are no selectors, so `decide_by_rules` suffices.
    """

    def __init__(
        self,
        spec: Mapping[str, Any],
        rules: Sequence[Mapping[str, Any]],
        excluded: Sequence[Mapping[str, Any]] = (),
        *,
        match_all: bool = False,
    ) -> None:
        self._rules = [MatchRule.read(rule) for rule in rules]
        self._excluded = [MatchRule.read(rule) for rule in excluded]
        self._match_all = match_all and not self._rules
        self._equivalent = spec.get("matchPolicy") == "Equivalent"
        self._fault = ""
        self._namespaces = self._compile_selector(spec.get("namespaceSelector"))
        self._objects = self._compile_selector(spec.get("objectSelector"))
        self._named = any(rule.names for rule in (*self._rules, *self._excluded))
        self._decided: _AnswerCache[Callable[[], Version | None]] = _AnswerCache()
        self.by_rules = self._namespaces.empty and self._objects.empty and not self._fault

    @classmethod
    def from_match_resources(cls, spec: Mapping[str, Any]) -> ResourceMatching:
        """Return the matching of a MatchResources."""
        rules, excluded = spec.get("resourceRules") or (), spec.get("excludeResourceRules") or ()
        return cls(spec, rules, excluded, match_all=True)

    def _compile_selector(self, selector: Object | None) -> LabelSelector:
        """Return a compiled selector. If a stored selector is invalid, writes that match the rules fail."""
        try:
            return selectors.from_object(selector or {})
        except APIError as error:
            self._fault = error.message
            return selectors.EVERYTHING

    def may_match(self, operation: str, kind: Kind, subresource: str) -> bool:
        """Return whether such writes may match."""
        views = kind.views if self._equivalent else (kind,)
        return self._match_all or any(
            rule.may_match(operation, view, subresource) for rule in self._rules for view in views
        )

    async def find_version(self, subject: AdmissionSubject) -> Version | None:
        """Return the version to convert the object to; None if the write does not match.

        Raises NotFound if a selector needs the labels of a missing namespace, and APIError for an invalid selector.
        """
        attr = subject.attr
        version = self.decide_by_rules(attr)
        if version is None or self.by_rules:
            return version
        if not self._matches_selectors(attr) or not await self._in_namespace(subject):
            return None
        if self._fault:
            raise internal_error(self._fault)
        return version

    def decide_by_rules(self, attr: AdmissionAttributes) -> Version | None:
        """Return the version to convert the object to, by the rules alone; None if they do not match.

        The answer is cached for each kind, operation and subresource, unless rules name objects.
        """
        if self._named:
            return self._find_version(attr)
        kind = attr.kind
        request_key = kind.group, kind.plural, attr.version.name, attr.subresource, attr.operation, bool(attr.namespace)
        cached = self._decided.answers.get(request_key)
        if cached is not None and cached[0]() is kind and (cached[1] is _refer_to_none or cached[1]() is not None):
            return cached[1]()
        result = self._find_version(attr)  # the first time, and if a view of the kind was rebuilt
        self._decided.cache_answer(kind, request_key, ref(result) if result is not None else _refer_to_none)
        return result

    def _find_version(self, attr: AdmissionAttributes) -> Version | None:
        if self._excluded and self._match_rules(self._excluded, attr) is not None:
            return None
        return attr.version if self._match_all else self._match_rules(self._rules, attr)

    def _match_rules(self, rules: Sequence[MatchRule], attr: AdmissionAttributes) -> Version | None:
        if any(rule.matches(attr, attr.kind, attr.version) for rule in rules):
            return attr.version
        if not self._equivalent:
            return None
        pairs = [(kind, item) for kind in attr.kind.views for item in kind.versions if not attr.is_written_in(item)]
        for rule in rules:
            for kind, version in pairs:
                if rule.matches(attr, kind, version) and _has_subresource(attr, kind, version):
                    return version
        return None

    def _matches_selectors(self, attr: AdmissionAttributes) -> bool:
        """Return whether the selectors match the new or the old object."""
        if self._objects.empty:
            return True
        return any(obj is not None and self._objects.matches(_read_labels(obj)) for obj in (attr.obj, attr.old))

    async def _in_namespace(self, subject: AdmissionSubject) -> bool:
        attr = subject.attr
        if self._namespaces.empty or (not attr.namespace and attr.kind.plural != "namespaces"):
            return True
        if attr.of_namespace and not attr.subresource and attr.operation in (CREATE, UPDATE):
            return self._namespaces.matches(_read_labels(attr.obj or {}))
        entry = await subject.find_namespace()
        if entry is None:
            raise NotFound("namespaces", "", attr.namespace)
        return self._namespaces.matches(entry.labels)


def _has_subresource(attr: AdmissionAttributes, kind: Kind, version: Version) -> bool:
    return not attr.subresource or attr.subresource in kind.list_subresources(version)


def _read_labels(obj: Object) -> dict[str, str]:
    return (obj.get("metadata") or {}).get("labels") or {}


class ApplicableItems(Generic[T]):
    """Finds the items that may apply to a write, and caches the result for each kind, operation and subresource.

    covers: whether an item may apply to such writes. exempt: kinds that no item applies to.
    """

    def __init__(self, covers: Callable[[T, str, Kind, str], bool], exempt: Callable[[Kind], bool]) -> None:
        self._covers = covers
        self._exempt = exempt
        self.items: Sequence[T] = ()
        self._cache: _AnswerCache[Sequence[T]] = _AnswerCache()

    def set_items(self, items: Sequence[T]) -> None:
        """Replace the items."""
        self.items = items
        self._cache = _AnswerCache()

    def select_items(self, operation: str, kind: Kind, subresource: str) -> Sequence[T]:
        """Return the items that may apply to such writes."""
        if not self.items:
            return ()
        request_key = kind.group, kind.plural, operation, subresource
        cached = self._cache.answers.get(request_key)
        if cached is not None and cached[0]() is kind:
            return cached[1]
        cache, items = self._cache, () if self._exempt(kind) else self.items
        # a charge can suspend this, and the items can be replaced meanwhile
        chosen = [item for item in each(items) if self._covers(item, operation, kind, subresource)]
        return cache.cache_answer(kind, request_key, chosen)


class ConditionFailed(Exception):
    """The match conditions cannot be evaluated, and failurePolicy is Fail. The text says why."""


class MatchConditions:
    """The matchConditions of a webhook or policy.

    strict: raise ConditionFailed on errors, else they mean "not met". read_params: whether the result depends on the
    parameters of a binding.
    """

    def __init__(self, conditions: Sequence[Mapping[str, str]], environment: Environment, *, strict: bool) -> None:
        from podless.cel.policies import BOOL

        self._expressions: list[Expression] = [
            environment.compile_expression(condition["expression"].strip(), BOOL) for condition in conditions
        ]
        self._strict = strict
        # as in kube-apiserver, match conditions have no namespaceObject
        self.variables = frozenset(name for expression in self._expressions for name in expression.names) - {
            "namespaceObject"
        }
        self.read_params = not self.variables.isdisjoint(("params", "variables"))

    def are_met(self, values: Object, variables: Mapping[str, Expression] | None = None) -> bool:
        """Return whether all conditions are met. One false condition hides the errors of others.

        Raises ConditionFailed if a condition has an error and `strict` is set.
        """
        from podless.cel.policies import BUDGET, Activation, ExpressionFailure, OutOfBudget

        activation = Activation(values, variables, BUDGET // 4)
        errors: list[str] = []
        try:
            for expression in self._expressions:
                if expression.error:
                    errors.append(f"compilation error: {expression.error}")
                    continue
                try:
                    if activation.evaluate(expression) is False:
                        return False
                except ExpressionFailure as failure:
                    errors.append(str(failure))
        except OutOfBudget as spent:
            errors = [str(spent)]
        if not errors:
            return True
        if not self._strict:
            return False
        raise ConditionFailed(join_errors(errors))
