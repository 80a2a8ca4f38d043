"""Strategies of kinds with a pod template in their spec, and checks of the counts in their status."""

from __future__ import annotations

from collections.abc import Iterable

from podless.apis.shared import checks, template
from podless.apis.shared.checks import validate_immutable
from podless.apis.shared.typed import SpecStrategy
from podless.kinds.kind import Version
from podless.kinds.strategy import Faults, MetadataPolicy
from podless.meta import field
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object


class TemplateStrategy(SpecStrategy):
    """Strategy of kinds with a pod template; drops its disabled fields."""

    metadata = MetadataPolicy(on_update=(0, 1))

    def get_template(self, obj: Object) -> Object | None:
        """Return the template of an object."""
        template: Object | None = obj["spec"].get("template")
        return template

    def prepare_create(self, version: Version, obj: Object) -> None:
        super().prepare_create(version, obj)
        template.trim_template(self.get_template(obj))

    def prepare_update(self, version: Version, obj: Object, old: Object) -> None:
        super().prepare_update(version, obj, old)
        template.trim_template(self.get_template(obj), self.get_template(old))


class ReplicasStrategy(TemplateStrategy):
    """Strategy of kinds with a pod template and a selector for its pods.

    named: pods contain the object's name in theirs, so it should be a DNS label.
    """

    named = True

    def complete(self, obj: Object, raw: Object) -> None:
        """Keep empty labels that a selector cannot match, because the error shows them."""
        metadata = ((raw.get("spec") or {}).get("template") or {}).get("metadata") or {}
        if metadata.get("labels") == {}:
            selector, template = obj["spec"].get("selector") or {}, self.get_template(obj)
            if template is not None and selector.get("matchLabels", selector):
                template["metadata"] = {**(template.get("metadata") or {}), "labels": {}}

    def validate_spec(self, spec: Object, old: Object | None) -> list[FieldError]:
        """Validate a spec. old: the spec before an update, else None."""
        raise NotImplementedError

    def validate_kept(self, spec: Object, old: Object) -> list[FieldError]:
        """Reject changes of immutable fields: by default, of the selector."""
        return validate_immutable("spec.selector", spec.get("selector"), old.get("selector"))

    def validate_create(self, version: Version, obj: Object) -> Faults:
        return self.validate_spec(obj["spec"], None)

    def validate_update(self, version: Version, obj: Object, old: Object) -> Faults:
        spec, before = obj["spec"], old["spec"]
        return [*self.validate_spec(spec, before), *self.validate_kept(spec, before)]

    def list_warnings(self, version: Version, obj: Object, old: Object | None) -> list[str]:
        warnings = template.warn_of_object(obj, old)
        return warnings[len(template.name_warnings(obj)) :] if old is None and not self.named else warnings


def validate_counts(status: Object, fields: Iterable[str], names: Iterable[str], ready: str = "") -> list[FieldError]:
    """Reject negative counts, and counts above status.replicas.

    fields: the counts. names: those that status.replicas limits. ready: the name of the ready count in errors.
    """
    errors = checks.all_nonnegative(status, "status", fields)
    total = status.get("replicas") or 0
    for name in names:
        count = status.get(name) or 0
        if count > total:
            errors.append(field.invalid(f"status.{name}", count, "cannot be greater than status.replicas"))
    available = status.get("availableReplicas") or 0
    if ready and available > (status.get("readyReplicas") or 0):
        errors.append(field.invalid("status.availableReplicas", available, f"cannot be greater than {ready}"))
    return errors


def validate_collision_count(status: Object, old: Object) -> list[FieldError]:
    """Reject a decrease of status.collisionCount."""
    count, before = status.get("collisionCount"), old.get("collisionCount")
    if before is None or (count is not None and count >= before):
        return []
    return [field.invalid("status.collisionCount", count or 0, "cannot be decremented")]
