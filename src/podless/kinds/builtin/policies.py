"""ValidatingAdmissionPolicy, MutatingAdmissionPolicy and their bindings."""

from __future__ import annotations

from collections.abc import Sequence

from podless.kinds import admission
from podless.kinds.builtin.typed import TypedStrategy
from podless.kinds.kind import Kind, Version
from podless.kinds.strategy import Object
from podless.kinds.types.admission import (
    MUTATING_ADMISSION_POLICY,
    MUTATING_ADMISSION_POLICY_BINDING,
    VALIDATING_ADMISSION_POLICY,
    VALIDATING_ADMISSION_POLICY_BINDING,
)
from podless.meta import codec
from podless.meta.field import FieldError
from podless.meta.structs import Struct


class _SpecStrategy(TypedStrategy):
    """The spec counts as a generation."""

    generation = True
    unconditional = False
    rechecks = (1, 0)
    status_rechecks = (0, 0)
    qualified = False

    def __init__(self, *, mutating: bool) -> None:
        self._mutating = mutating

    def validate_update(
        self, kind: Kind, version: Version, obj: Object, old: Object, warnings: list[str]
    ) -> Sequence[FieldError]:
        """All rules, where anything that they are about has changed."""
        return self.validate_create(kind, version, obj)

    def changed(self, version: Version, obj: Object, old: Object) -> bool:
        """Only the spec counts."""
        return codec.encode_sorted(obj.get("spec")) != codec.encode_sorted(old.get("spec"))


class PolicyStrategy(_SpecStrategy):
    """A policy says what it is about, and its expressions compile."""

    created_by_status = ("apply",)

    def default(self, version: Version, obj: Object) -> None:
        """The failure policy, and what is matched."""
        admission.fill_policy(obj, mutating=self._mutating)

    def prepare_create(self, version: Version, obj: Object) -> None:
        """The status is the server's."""
        if version.status:
            obj["status"] = {}

    def prepare_update(self, version: Version, obj: Object, old: Object) -> None:
        """The status has its own endpoint."""
        if version.status:
            obj["status"] = old["status"]

    def prepare_status(self, version: Version, obj: Object, old: Object) -> None:
        """Only the status changes."""
        super().prepare_status(version, obj, old)
        for name in ("labels", "annotations", "finalizers", "ownerReferences"):
            obj["metadata"].pop(name, None)
            if name in old["metadata"]:
                obj["metadata"][name] = old["metadata"][name]

    def validate_create(self, kind: Kind, version: Version, obj: Object) -> Sequence[FieldError]:
        """All rules."""
        return admission.check_mutating(obj) if self._mutating else admission.check_validating(obj)

    def validate_status(
        self, kind: Kind, version: Version, obj: Object, old: Object, warnings: list[str]
    ) -> Sequence[FieldError]:
        """What a status must obey."""
        return admission.check_status(obj)


class BindingStrategy(_SpecStrategy):
    """A binding names a policy, and says where it is in force."""

    def default(self, version: Version, obj: Object) -> None:
        """What is matched."""
        admission.fill_binding(obj)

    def validate_create(self, kind: Kind, version: Version, obj: Object) -> Sequence[FieldError]:
        """All rules."""
        return admission.check_binding(obj, mutating=self._mutating)


def _kind(kind: str, plural: str, strategy: _SpecStrategy, struct: Struct, *, status: bool = False) -> Kind:
    return Kind(
        group="admissionregistration.k8s.io",
        plural=plural,
        kind=kind,
        singular=kind.lower(),
        list_kind=f"{kind}List",
        namespaced=False,
        versions=(Version("v1", status=status),),
        storage_version="v1",
        strategy=strategy,
        categories=("api-extensions",),
        struct=struct,
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
    )


VALIDATING_POLICIES = _kind(
    "ValidatingAdmissionPolicy",
    "validatingadmissionpolicies",
    PolicyStrategy(mutating=False),
    VALIDATING_ADMISSION_POLICY,
    status=True,
)
VALIDATING_BINDINGS = _kind(
    "ValidatingAdmissionPolicyBinding",
    "validatingadmissionpolicybindings",
    BindingStrategy(mutating=False),
    VALIDATING_ADMISSION_POLICY_BINDING,
)
MUTATING_POLICIES = _kind(
    "MutatingAdmissionPolicy",
    "mutatingadmissionpolicies",
    PolicyStrategy(mutating=True),
    MUTATING_ADMISSION_POLICY,
)
MUTATING_BINDINGS = _kind(
    "MutatingAdmissionPolicyBinding",
    "mutatingadmissionpolicybindings",
    BindingStrategy(mutating=True),
    MUTATING_ADMISSION_POLICY_BINDING,
)

ALL = (MUTATING_BINDINGS, MUTATING_POLICIES, VALIDATING_BINDINGS, VALIDATING_POLICIES)
