"""Strategy of CustomResourceDefinition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podless.apis.apiextensions.definition.shared import BETA, list_schemas
from podless.apis.apiextensions.definition.status import set_condition
from podless.apis.apiextensions.jsonschema import keep_empty
from podless.apis.shared.typed import TypedStrategy
from podless.codec import serializer
from podless.kinds.kind import Kind, Version
from podless.kinds.strategy import NOT_STATUS, ONLY_SPEC, DeletionPolicy, Faults, MetadataPolicy, ValidationCost
from podless.runtime import clock, lazy
from podless.runtime.jsonobject import Object
from podless.runtime.release import has

if TYPE_CHECKING:
    from podless.apis.apiextensions.definition import beta, conversions, fill, schemas, validate
else:
    beta, conversions, fill, schemas, validate = (
        lazy.LateModule(f"podless.apis.apiextensions.definition.{name}")
        for name in ("beta", "conversions", "fill", "schemas", "validate")
    )

CLEANUP = "customresourcecleanup.apiextensions.k8s.io"
_PENDING = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"


class DefinitionStrategy(TypedStrategy):
    """Strategy of definitions. A deleted definition waits until its objects are deleted."""

    allow_unconditional_update = False
    rearranged = False
    has_generation = True
    metadata = MetadataPolicy(on_update=(0, 1), qualified_finalizers=False)
    deletion = DeletionPolicy(graceful=False)
    checking = ValidationCost(preload=True, repeats=False)

    @property
    def status_resets(self) -> tuple[tuple[str, ...], ...]:
        return ONLY_SPEC if has("DefinitionStatusMetadata") else NOT_STATUS

    def load_rules(self) -> None:
        """Compile a small kind with a pattern and a rule, to import the modules for schemas, which takes 300 ms."""
        from podless.apis import offline

        offline.define_kind(_SMALL)

    def complete(self, obj: Object, raw: Object) -> None:
        """Keep empty values at the root of a schema with a status subresource, as Go does: the checks count them."""
        for decoded, version in zip(_list_versions(obj), _list_versions(raw), strict=False):
            root = (decoded.get("schema") or {}).get("openAPIV3Schema")
            if root is not None and (decoded.get("subresources") or {}).get("status") is not None:
                keep_empty(root, version["schema"]["openAPIV3Schema"], root=True)

    def fill_computed_defaults(self, version: Version, obj: Object) -> None:
        (beta if version.name == BETA else fill).set_defaults(obj)

    def convert_object(self, kind: Kind, version: Version, obj: Object) -> Object:
        target, api_version = kind.api_version(version.name), obj.get("apiVersion")
        if api_version == target:
            return obj
        return {**(beta.from_v1(obj) if version.name == BETA else beta.to_v1(obj)), "apiVersion": target}

    def prepare_create(self, version: Version, obj: Object) -> None:
        fill.prepare_create(obj)

    def prepare_update(self, version: Version, obj: Object, old: Object) -> None:
        """Keep the status, and add a new storage version to status.storedVersions."""
        fill.prepare_update(obj, old)

    def prepare_status(self, version: Version, obj: Object, old: Object) -> None:
        status = obj.pop("status", None)
        obj["spec"] = old["spec"]
        if status is not None:
            obj["status"] = status

    def validate(self, version: Version, obj: Object, old: Object | None) -> Faults:
        from podless.cel.rules import DefinitionRules  # a slow import, needed only for definitions

        legacy = version.name == BETA
        if old is None:
            return validate.validate_create(obj, DefinitionRules(), legacy=legacy)
        return validate.validate_update(obj, old, DefinitionRules(list_schemas(old["spec"])), legacy=legacy)

    def validate_status(self, version: Version, obj: Object, old: Object) -> Faults:
        return validate.validate_status(obj)

    def prepare_delete(self, obj: Object) -> None:
        """Set the condition Terminating; the definition then waits for its objects to be deleted."""
        metadata = obj["metadata"]
        if "deletionTimestamp" in metadata:
            return
        finalizers = metadata.get("finalizers") or []
        if CLEANUP not in finalizers:
            metadata["finalizers"] = [*finalizers, CLEANUP]
        set_condition(obj, "Terminating", "True", "InstanceDeletionPending", _PENDING, clock.now())

    def increases_generation(self, version: Version, obj: Object, old: Object) -> bool:
        return serializer.encode_sorted(obj.get("spec")) != serializer.encode_sorted(old.get("spec"))

    def list_warnings(self, version: Version, obj: Object, old: Object | None) -> list[str]:
        return schemas.warn_of_formats(obj, old) + conversions.warn_of_conversions(obj, old)


def _list_versions(obj: Object) -> list[Object]:
    return (obj.get("spec") or {}).get("versions") or []


STRATEGY = DefinitionStrategy()

_SMALL: Object = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "as.podless.io"},
    "spec": {
        "group": "podless.io",
        "names": {"plural": "as", "kind": "A"},
        "scope": "Cluster",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {"spec": {"type": "string", "pattern": "^a"}},
                        "x-kubernetes-validations": [{"rule": "has(self.metadata)"}],
                    }
                },
            }
        ],
    },
}
