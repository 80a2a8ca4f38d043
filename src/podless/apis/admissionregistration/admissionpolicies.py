"""ValidatingAdmissionPolicy, MutatingAdmissionPolicy and their bindings."""

from __future__ import annotations

from podless.apis.admissionregistration import validation
from podless.apis.shared.typed import CLIENT_METADATA, TypedStrategy, keep_parts
from podless.codec import serializer
from podless.kinds.kind import Version
from podless.kinds.strategy import Faults, MetadataPolicy, ValidationCost
from podless.runtime.jsonobject import Object


class _SpecStrategy(TypedStrategy):
    """Strategy of kinds that increase metadata.generation with the spec."""

    allow_unconditional_update = False
    has_generation = True
    metadata = MetadataPolicy(on_update=(1, 0), on_status=(0, 0), qualified_finalizers=False)

    def __init__(self, *, mutating: bool) -> None:
        self._mutating = mutating

    def increases_generation(self, version: Version, obj: Object, old: Object) -> bool:
        return serializer.encode_sorted(obj.get("spec")) != serializer.encode_sorted(old.get("spec"))


class PolicyStrategy(_SpecStrategy):
    """Strategy of policies: validates match constraints and expressions."""

    checking = ValidationCost(preload=True)

    def allow_create_on_status(self, verb: str) -> bool:
        return verb == "apply"  # kube-apiserver does not reject it

    def load_rules(self) -> None:
        validation.load_expressions()

    def prepare_create(self, version: Version, obj: Object) -> None:
        if version.status:
            obj["status"] = {}

    def prepare_update(self, version: Version, obj: Object, old: Object) -> None:
        if version.status:
            obj["status"] = old["status"]

    def prepare_status(self, version: Version, obj: Object, old: Object) -> None:
        obj["spec"] = old["spec"]
        keep_parts(obj["metadata"], old["metadata"], *CLIENT_METADATA)

    def validate_create(self, version: Version, obj: Object) -> Faults:
        return validation.check_mutating(obj) if self._mutating else validation.check_validating(obj)

    def validate_status(self, version: Version, obj: Object, old: Object) -> Faults:
        return [*validation.check_status(obj)]


class PolicyBindingStrategy(_SpecStrategy):
    """Strategy of bindings: validates the policy's name and the match resources."""

    def validate_create(self, version: Version, obj: Object) -> Faults:
        return validation.check_binding(obj, mutating=self._mutating)


VALIDATING = PolicyStrategy(mutating=False)
VALIDATING_BINDING = PolicyBindingStrategy(mutating=False)
MUTATING = PolicyStrategy(mutating=True)
MUTATING_BINDING = PolicyBindingStrategy(mutating=True)
