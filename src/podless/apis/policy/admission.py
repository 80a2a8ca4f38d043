"""PodSecurity: enforces the levels in a namespace's labels.

Source: Kubernetes' pod-security-admission, with kube-apiserver's defaults: without a label, everything is allowed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from podless.admission.attributes import CREATE, UPDATE, AdmissionAttributes
from podless.admission.plugin import Plugin
from podless.admission.refusals import forbid_write
from podless.apis.core.group import NAMESPACES, PODS
from podless.apis.release import facts_of
from podless.codec.gotext import quote
from podless.kinds.kind import Kind
from podless.meta.errors import Invalid
from podless.meta.field import FieldError, join_errors
from podless.runtime import lazy
from podless.runtime.jsonobject import Object
from podless.runtime.release import served_release

if TYPE_CHECKING:
    from podless.apis.policy import podsecuritystandards
else:  # most servers have no namespace with such a label
    podsecuritystandards = lazy.LateModule("podless.apis.policy.podsecuritystandards")

Labels = dict[str, str]

_PREFIX = "pod-security.kubernetes.io/"
_LEVELS = ("privileged", "baseline", "restricted")
_LATEST = "latest"
_VERSION = lazy.compile_late(r"v1\.(0|[1-9][0-9]*)")
_BAD_LEVEL, _BAD_VERSION = f"must be one of {', '.join(_LEVELS)}", 'must be "latest" or "v1.x"'

_WATCHED = ("", "ephemeralcontainers", "resize")
_TEMPLATES = {
    ("", "podtemplates"): ("template",),
    ("", "replicationcontrollers"): ("spec", "template"),
    ("apps", "deployments"): ("spec", "template"),
    ("apps", "replicasets"): ("spec", "template"),
    ("apps", "statefulsets"): ("spec", "template"),
    ("apps", "daemonsets"): ("spec", "template"),
    ("batch", "jobs"): ("spec", "template"),
    ("batch", "cronjobs"): ("spec", "jobTemplate", "spec", "template"),
}
_MAX_PODS = 3000


class _PodSecurityLevel(NamedTuple):
    """A level in a version of the Pod Security Standards."""

    level: str = "privileged"
    version: str = _LATEST

    def __str__(self) -> str:
        return f"{self.level}:{self.version}"

    @property
    def rank(self) -> int:
        """Higher for stricter levels."""
        return _LEVELS.index(self.level)

    def find_violations(self, metadata: Object, spec: Object) -> list[tuple[str, str]]:
        """Return a pod's violations of the rule: reasons and details."""
        if self.level == "privileged":
            return []
        served = facts_of(served_release()).minor
        minor = served if self.version == _LATEST else min(int(self.version[3:]), served)
        return podsecuritystandards.find_violations(self.level, minor, metadata, spec)


class _Policy(NamedTuple):
    """The policy in a namespace's labels. errors: faults of the labels."""

    enforce: _PodSecurityLevel
    audit: _PodSecurityLevel
    warn: _PodSecurityLevel
    errors: list[FieldError]

    @property
    def is_silent(self) -> bool:
        """Whether it neither warns nor notes anything for the audit log."""
        return not self.errors and self.warn.rank == self.audit.rank == 0

    @property
    def is_privileged(self) -> bool:
        """Whether it allows everything."""
        return self.is_silent and self.enforce.rank == 0


class PodSecurity(Plugin):
    """Rejects pods that their namespace's level forbids, and warns about templates of such pods."""

    def validates(self, operation: str, kind: Kind, subresource: str) -> bool:
        if operation not in (CREATE, UPDATE):
            return False
        if kind.is_same_as(PODS):
            return subresource in _WATCHED
        return not subresource and ((kind.group, kind.plural) in _TEMPLATES or kind.is_same_as(NAMESPACES))

    async def validate(self, attr: AdmissionAttributes) -> None:
        """Raise Forbidden for pods, and Invalid for namespaces with invalid labels."""
        if attr.obj is None:
            return
        if attr.kind.is_same_as(NAMESPACES):
            await self._validate_namespace(attr, attr.obj)
            return
        policy = await self._find_policy(attr.namespace)
        if attr.kind.is_same_as(PODS):
            if policy.is_privileged:
                attr.annotate(f"{_PREFIX}enforce-policy", str(policy.enforce))
            elif attr.old is None or _is_significant(attr.obj["spec"], attr.old["spec"]):
                _evaluate_pod(attr, policy, attr.obj, enforce=True)
            return
        if policy.is_silent:
            return
        template: Object | None = attr.obj
        for name in _TEMPLATES[attr.kind.group, attr.kind.plural]:
            template = (template or {}).get(name)
        if template is not None:
            _evaluate_pod(attr, policy, template, enforce=False)

    async def _find_policy(self, namespace: str) -> _Policy:
        entry = await self._state.load_namespace(namespace)
        return _read_policy((entry.decode()["metadata"].get("labels") or {}) if entry is not None else {})

    async def _validate_namespace(self, attr: AdmissionAttributes, obj: Object) -> None:
        policy = _read_policy(obj["metadata"].get("labels") or {})
        old = None if attr.old is None else _read_policy(attr.old["metadata"].get("labels") or {})
        if policy.errors and (old is None or policy.errors != old.errors):
            raise Invalid(attr.kind.kind, attr.kind.group, attr.name, policy.errors)
        if old is None or policy.enforce == old.enforce:
            return
        rule = policy.enforce
        if rule.rank == 0 or (rule.version == old.enforce.version and rule.rank <= old.enforce.rank):
            return
        attr.warnings += _warn_of_pods(attr.name, rule, await self._list_pods(attr.name))

    async def _list_pods(self, namespace: str) -> list[Object]:
        """Return all pods of a namespace, first one pod of each controller."""
        pods = await self._state.load_collection(PODS)
        first: list[Object] = []
        later: list[Object] = []
        owners_seen = set()
        for entry in pods.list_entries(namespace):
            pod = entry.decode()
            owners = pod["metadata"].get("ownerReferences") or ()
            owner = next((item.get("uid") for item in owners if item.get("controller")), None)
            (later if owner in owners_seen else first).append(pod)
            if owner is not None:
                owners_seen.add(owner)
        return first + later


def _read_policy(labels: Labels) -> _Policy:
    errors: list[FieldError] = []

    def read_level(mode: str, fallback: str) -> _PodSecurityLevel:
        level, version = labels.get(_PREFIX + mode, "privileged"), labels.get(f"{_PREFIX}{mode}-version", _LATEST)
        if level not in _LEVELS:
            errors.append(_make_label_error(mode, level, _BAD_LEVEL))
            level = fallback
        if version != _LATEST and not _VERSION.fullmatch(version):
            errors.append(_make_label_error(f"{mode}-version", version, _BAD_VERSION))
            version = _LATEST
        return _PodSecurityLevel(level, version)

    enforce, audit, warn = (
        read_level("enforce", "restricted"),
        read_level("audit", "privileged"),
        read_level("warn", "privileged"),
    )
    if _PREFIX + "warn" not in labels and labels.get(_PREFIX + "enforce") in _LEVELS and enforce.rank > warn.rank:
        warn = _PodSecurityLevel(enforce.level, warn.version if f"{_PREFIX}warn-version" in labels else enforce.version)
    return _Policy(enforce, audit, warn, errors)


def _make_label_error(label: str, value: str, detail: str) -> FieldError:
    return FieldError("FieldValueInvalid", f"metadata.labels[{_PREFIX}{label}]", value, detail)


def _is_significant(spec: Object, old: Object) -> bool:
    """Return whether an update of a pod is relevant for the standards."""
    for name in ("containers", "initContainers"):
        images = [[holder.get("image") for holder in of.get(name) or []] for of in (spec, old)]
        if images[0] != images[1]:
            return True
    old_images = {container["name"]: container.get("image") for container in old.get("ephemeralContainers") or []}
    return any(
        container["name"] not in old_images or old_images[container["name"]] != container.get("image")
        for container in spec.get("ephemeralContainers") or []
    )


def _evaluate_pod(attr: AdmissionAttributes, policy: _Policy, pod: Object, *, enforce: bool) -> None:
    """Add warnings and audit annotations for a pod. Raises Forbidden if it violates an enforced level."""
    metadata, spec = pod.get("metadata") or {}, pod.get("spec") or {}
    texts: dict[_PodSecurityLevel, str] = {}

    def describe_found(rule: _PodSecurityLevel) -> str:
        if rule not in texts:
            texts[rule] = ", ".join(f"{reason} ({detail})" for reason, detail in rule.find_violations(metadata, spec))
        return texts[rule]

    if policy.errors:
        attr.annotate(f"{_PREFIX}error", f"Failed to parse policy: {join_errors(policy.errors)}")
    if enforce:
        attr.annotate(f"{_PREFIX}enforce-policy", str(policy.enforce))
    if describe_found(policy.audit):
        text = f"would violate PodSecurity {quote(str(policy.audit))}: {describe_found(policy.audit)}"
        attr.annotate(f"{_PREFIX}audit-violations", text)
    if enforce and describe_found(policy.enforce):
        raise forbid_write(attr, f"violates PodSecurity {quote(str(policy.enforce))}: {describe_found(policy.enforce)}")
    if describe_found(policy.warn):
        attr.warnings.append(f"would violate PodSecurity {quote(str(policy.warn))}: {describe_found(policy.warn)}")


def _warn_of_pods(namespace: str, rule: _PodSecurityLevel, pods: list[Object]) -> list[str]:
    """Return warnings about existing pods, grouped by their violations."""
    names: dict[str, list[str]] = {}
    for pod in pods[:_MAX_PODS]:
        reasons = ", ".join(reason for reason, _ in rule.find_violations(pod["metadata"], pod["spec"]))
        if reasons:
            names.setdefault(reasons, []).append(pod["metadata"]["name"])
    warnings = []
    if len(pods) > _MAX_PODS:
        only = f"only checked against the first {_MAX_PODS} of {len(pods)} existing pods"
        warnings.append(f"new PodSecurity enforce level {only}")
    if names:
        violated = f"violate the new PodSecurity enforce level {quote(str(rule))}"
        warnings.append(f"existing pods in namespace {quote(namespace)} {violated}")
    return warnings + sorted(f"{min(those)}{_format_others(len(those))}: {reasons}" for reasons, those in names.items())


def _format_others(count: int) -> str:
    if count == 1:
        return ""
    return " (and 1 other pod)" if count == 2 else f" (and {count - 1} other pods)"
