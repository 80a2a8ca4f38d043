"""Workloads: the strategies of kinds with a pod template, and rules for its selector.

Source: Kubernetes' pkg/apis/apps/validation and pkg/api/pod.
"""

from __future__ import annotations

from typing import ClassVar

from podless.apis.podspec.defaults import default_pod_template
from podless.apis.podspec.disabled import drop_disabled
from podless.apis.podspec.template import validate_pod_template
from podless.apis.podspec.warnings import warn_of_template
from podless.apis.shared import checks
from podless.apis.shared.typed import TypedStrategy
from podless.kinds.kind import Version
from podless.kinds.strategy import Faults, MetadataPolicy
from podless.meta import field, names, selectors, validation
from podless.meta.errors import BadRequest
from podless.meta.field import FieldError
from podless.meta.selectors import LabelSelector
from podless.runtime.jsonobject import Object


class TemplateStrategy(TypedStrategy):
    """Strategy of kinds with a pod template; drops its disabled fields."""

    has_generation = True
    metadata = MetadataPolicy(on_update=(0, 1))

    def get_template(self, obj: Object) -> Object | None:
        """Return the template of an object."""
        template: Object | None = obj["spec"].get("template")
        return template

    def fill_computed_defaults(self, version: Version, obj: Object) -> None:
        if (template := self.get_template(obj)) is not None:
            default_pod_template(template)

    def prepare_create(self, version: Version, obj: Object) -> None:
        super().prepare_create(version, obj)
        if (template := self.get_template(obj)) is not None:
            drop_disabled(template["spec"])

    def prepare_update(self, version: Version, obj: Object, old: Object) -> None:
        super().prepare_update(version, obj, old)
        template, before = self.get_template(obj), self.get_template(old)
        if template is not None:
            drop_disabled(template["spec"], before["spec"] if before is not None else None)


class ReplicasStrategy(TemplateStrategy):
    """Strategy of kinds with a pod template, a selector for its pods, and counts of them in the status.

    named: pods contain the object's name in theirs, so it should be a DNS label. counts: the numbers in the status.
    limited_counts: those that status.replicas limits. ready: the name of the ready count in errors.
    """

    named = True
    counts: ClassVar[tuple[str, ...]]
    limited_counts: ClassVar[tuple[str, ...]] = ()
    ready = "readyReplicas"

    def complete(self, obj: Object, raw: Object) -> None:
        """Keep empty labels that a selector cannot match, because the error shows them."""
        metadata = ((raw.get("spec") or {}).get("template") or {}).get("metadata") or {}
        if metadata.get("labels") == {}:
            selector, template = obj["spec"].get("selector") or {}, self.get_template(obj)
            if template is not None and selector.get("matchLabels", selector):
                template["metadata"] = {**(template.get("metadata") or {}), "labels": {}}

    def validate_spec(self, spec: Object, old: Object | None) -> field.Errors:
        """Validate a spec. old: the spec before an update, else None."""
        raise NotImplementedError

    def validate_kept(self, spec: Object, old: Object) -> list[FieldError]:
        """Reject changes of immutable fields: by default, of the selector."""
        return checks.validate_immutable("spec.selector", spec.get("selector"), old.get("selector"))

    def validate(self, version: Version, obj: Object, old: Object | None) -> Faults:
        spec, before = obj["spec"], old["spec"] if old is not None else None
        yield from self.validate_spec(spec, before)
        if before is not None:
            yield from self.validate_kept(spec, before)

    def validate_status(self, version: Version, obj: Object, old: Object) -> Faults:
        """Reject negative counts, counts above status.replicas, and a lower collisionCount."""
        status = obj["status"]
        yield from checks.validate_nonnegatives(status, "status", self.counts)
        for name in self.limited_counts:
            count = status.get(name) or 0
            if count > (status.get("replicas") or 0):
                yield field.invalid(f"status.{name}", count, "cannot be greater than status.replicas")
        available = status.get("availableReplicas") or 0
        if available > (status.get("readyReplicas") or 0):
            yield field.invalid("status.availableReplicas", available, f"cannot be greater than {self.ready}")
        count, before = status.get("collisionCount"), old["status"].get("collisionCount")
        if before is not None and (count is None or count < before):
            yield field.invalid("status.collisionCount", count or 0, "cannot be decremented")

    def list_warnings(self, version: Version, obj: Object, old: Object | None) -> list[str]:
        template = obj["spec"].get("template")
        warnings = list_name_warnings(obj) if old is None and self.named else []
        if template is None or not may_warn(obj, old):
            return warnings
        return [*warnings, *warn_of_template(template, "spec.template")]


def may_warn(obj: Object, old: Object | None) -> bool:
    """Return whether a write warns about the template: a create, or an update that changes the generation."""
    return old is None or obj["metadata"].get("generation") != old["metadata"].get("generation")


def list_name_warnings(obj: Object, use: str = "in Pod names and hostnames") -> list[str]:
    """Return a warning if the name is not a DNS label. use: for what pods need it."""
    faults = names.check_label_name(obj["metadata"].get("name") or "")
    text = f"this is used {use}, which can result in surprising behavior; a DNS label is recommended"
    return [f"metadata.name: {text}: [{' '.join(faults)}]"] if faults else []


def get_template_labels(template: Object) -> dict[str, str]:
    """Return the labels of the template's pods."""
    labels: dict[str, str] = (template.get("metadata") or {}).get("labels") or {}
    return labels


def parse_selector(selector: Object | None) -> LabelSelector | None:
    """Parse a label selector; None for an invalid one."""
    try:
        return selectors.from_object(selector)
    except BadRequest:
        return None


def is_empty(selector: Object) -> bool:
    """Return whether a label selector selects everything."""
    return not selector.get("matchLabels") and not selector.get("matchExpressions")


def validate_matches(selector: LabelSelector | None, template: Object) -> list[FieldError]:
    """Require a valid selector (None: invalid) to match the labels of spec.template."""
    if selector is None or selector.matches(get_template_labels(template)):
        return []
    labels = (template.get("metadata") or {}).get("labels")
    return [field.invalid("spec.template.metadata.labels", labels, "`selector` does not match template `labels`")]


def validate_selector(spec: Object, fault: str, empty: str) -> tuple[list[FieldError], LabelSelector | None]:
    """Validate the required selector, and parse it.

    fault: the error text for an invalid selector. empty: the error text for one that selects everything.
    """
    selector = spec.get("selector")
    if selector is None:
        return [field.required("spec.selector")], selectors.NOTHING
    errors = validation.validate_selector(selector, "spec.selector")
    if is_empty(selector):
        errors.append(field.invalid("spec.selector", selector, empty))
    parsed = parse_selector(selector)
    return errors if parsed else [*errors, field.invalid("spec.selector", selector, fault)], parsed


def validate_replica_spec(spec: Object, old: Object | None) -> field.Errors:
    """Validate selector and template of a ReplicaSet or Deployment. old: the spec before an update."""
    # kube-apiserver's error texts say the same for both kinds
    errors, selector = validate_selector(spec, "invalid label selector", "empty selector is invalid for deployment")
    yield from errors
    if selector is not None:
        yield from validate_replica_template(selector, spec["template"], old, "ReplicaSet")


def validate_replica_template(
    selector: LabelSelector, template: Object, old: Object | None, owner: str
) -> field.Errors:
    """Validate the pod template of a replica controller. old: the spec before an update. owner: the kind in errors."""
    yield from validate_matches(selector, template)
    yield from validate_pod_template(template, "spec.template", old["template"] if old is not None else None)
    yield from validate_always_running(template, owner)


def validate_always_running(template: Object, owner: str) -> field.Errors:
    """Require the restart policy Always and no deadline in spec.template. owner: the kind in errors."""
    spec = template["spec"]
    policy = spec.get("restartPolicy") or ""
    if policy != "Always":
        yield field.not_supported("spec.template.spec.restartPolicy", policy, ["Always"])
    if spec.get("activeDeadlineSeconds") is not None:
        detail = f"activeDeadlineSeconds in {owner} is not Supported"
        yield field.forbidden("spec.template.spec.activeDeadlineSeconds", detail)
