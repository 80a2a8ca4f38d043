"""ReplicationController. Source: Kubernetes' pkg/apis/core (v1/defaults, validation), pkg/registry/core."""

from __future__ import annotations

from typing import ClassVar

from podless.apis.apps.replicasets import COUNTS, LIMITED_COUNTS
from podless.apis.shared import checks, workloads
from podless.kinds.kind import Version
from podless.kinds.strategy import DeletionPolicy, ValidationCost
from podless.meta import field, names, selectors
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object


class ReplicationControllerStrategy(workloads.ReplicasStrategy):
    """Strategy of ReplicationController. Its selector is a label map, and its pods are kept by default."""

    deletion = DeletionPolicy(orphans=True)
    checking = ValidationCost(once="UpdatesOnce")
    blank: ClassVar[Object] = {"replicas": 0}
    selects = frozenset({"status.replicas"})
    naming = (names.check_subdomain, names.accept_name)  # as in kube-apiserver, only a generated name is validated
    counts = COUNTS
    limited_counts = LIMITED_COUNTS

    def fill_computed_defaults(self, version: Version, obj: Object) -> None:
        super().fill_computed_defaults(version, obj)
        labels = workloads.get_template_labels(obj["spec"].get("template") or {})
        for holder, name in ((obj["spec"], "selector"), (obj["metadata"], "labels")):
            if labels and not holder.get(name):
                holder[name] = dict(labels)

    def list_warnings(self, version: Version, obj: Object, old: Object | None) -> list[str]:
        """Warn about the old template of a changed object, as kube-apiserver does."""
        return super().list_warnings(version, obj if old is None else {**old, "metadata": obj["metadata"]}, old)

    def validate_spec(self, spec: Object, old: Object | None) -> field.Errors:
        yield from checks.validate_nonnegative("spec.minReadySeconds", spec.get("minReadySeconds"))
        selector, template = spec.get("selector") or {}, spec.get("template")
        if not selector:
            yield field.required("spec.selector")
        yield from checks.validate_nonnegative("spec.replicas", spec.get("replicas"))
        if template is None:
            yield field.required("spec.template")
            return
        parsed = selectors.make_set_selector(selector)
        yield from workloads.validate_replica_template(parsed, template, old, "ReplicationController")

    def validate_kept(self, spec: Object, old: Object) -> list[FieldError]:
        return []

    def read_selectable_fields(self, version: Version, obj: Object) -> dict[str, str]:
        return {"status.replicas": str(obj["status"].get("replicas") or 0)}


STRATEGY = ReplicationControllerStrategy()
