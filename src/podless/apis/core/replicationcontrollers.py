"""ReplicationController. Source: Kubernetes' pkg/apis/core (v1/defaults, validation), pkg/registry/core."""

from __future__ import annotations

from typing import ClassVar

from podless.apis import podspec
from podless.apis.apps.replicasets import COUNTS, LIMITED_COUNTS
from podless.apis.shared import checks, template
from podless.apis.shared.speced import ReplicasStrategy, validate_counts
from podless.kinds.kind import Version
from podless.kinds.strategy import DeletionPolicy, Faults, ValidationCost
from podless.meta import field, names, selectors
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object


class ReplicationControllerStrategy(ReplicasStrategy):
    """Strategy of ReplicationController. Its selector is a label map, and its pods are kept by default."""

    deletion = DeletionPolicy(orphans=True)
    checking = ValidationCost(once="UpdatesOnce")
    blank: ClassVar[Object] = {"replicas": 0}
    selects = frozenset({"status.replicas"})

    def name_errors(self, name: str, prefix: bool) -> list[str]:
        """Validate names as subdomains. As in kube-apiserver, a generateName with a name is not validated."""
        return [] if prefix else names.check_subdomain(name)

    def fill_computed_defaults(self, version: Version, obj: Object) -> None:
        spec = obj["spec"]
        pod_template = spec.get("template")
        if pod_template is not None:
            podspec.default_pod_template(pod_template)
            labels = template.template_labels(pod_template)
            if labels and not spec.get("selector"):
                spec["selector"] = dict(labels)
            if labels and not obj["metadata"].get("labels"):
                obj["metadata"]["labels"] = dict(labels)

    def list_warnings(self, version: Version, obj: Object, old: Object | None) -> list[str]:
        """Warn about the old template of a changed object, as kube-apiserver does."""
        return super().list_warnings(version, obj if old is None else {**old, "metadata": obj["metadata"]}, old)

    def validate_spec(self, spec: Object, old: Object | None) -> list[FieldError]:
        errors = checks.validate_nonnegative("spec.minReadySeconds", spec.get("minReadySeconds"))
        selector, pod_template = spec.get("selector") or {}, spec.get("template")
        if not selector:
            errors.append(field.required("spec.selector"))
        errors += checks.validate_nonnegative("spec.replicas", spec.get("replicas"))
        if pod_template is None:
            return [*errors, field.required("spec.template")]
        parsed = selectors.make_set_selector(selector)
        return [*errors, *template.validate_replica_template(parsed, pod_template, old, "ReplicationController")]

    def validate_kept(self, spec: Object, old: Object) -> list[FieldError]:
        return []

    def validate_status(self, version: Version, obj: Object, old: Object) -> Faults:
        return validate_counts(obj["status"], COUNTS, LIMITED_COUNTS, "readyReplicas")

    def read_selectable_fields(self, version: Version, obj: Object) -> dict[str, str]:
        return {"status.replicas": str(obj["status"].get("replicas") or 0)}


STRATEGY = ReplicationControllerStrategy()
