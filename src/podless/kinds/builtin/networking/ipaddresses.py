"""IPAddress: whose an address of services is. Source: Kubernetes' pkg/apis/networking/validation."""

from __future__ import annotations

from collections.abc import Sequence

from podless.kinds.builtin import counts, references
from podless.kinds.builtin.speced import SpecStrategy
from podless.kinds.kind import Kind, Version
from podless.kinds.strategy import Object
from podless.kinds.types.networking import IP_ADDRESS
from podless.meta import addresses, field, names
from podless.meta.field import FieldError


class IPAddressStrategy(SpecStrategy):
    """Whose an address is."""

    generation = False

    def name_errors(self, name: str, prefix: bool) -> list[str]:
        """The name is the address."""
        return addresses.canonical_faults(name)

    def prepare_create(self, version: Version, obj: Object) -> None:
        """There is no status."""

    def prepare_update(self, version: Version, obj: Object, old: Object) -> None:
        """There is no status."""

    def validate_create(self, kind: Kind, version: Version, obj: Object) -> Sequence[FieldError]:
        """It is somebody's."""
        parent, path = obj["spec"].get("parentRef"), "spec.parentRef"
        if parent is None:
            return [field.required(path)]
        group, namespace = parent.get("group") or "", parent.get("namespace") or ""
        errors = [field.invalid(f"{path}.group", group, text) for text in names.subdomain(group)] if group else []
        for name in ("resource", "name"):
            errors += references.segment(parent.get(name), f"{path}.{name}")
        faults = names.path_segment(namespace) if namespace else []
        return [*errors, *(field.invalid(f"{path}.namespace", namespace, text) for text in faults)]

    def validate_update(
        self, kind: Kind, version: Version, obj: Object, old: Object, warnings: list[str]
    ) -> Sequence[FieldError]:
        """It stays whose it is."""
        parent = obj["spec"].get("parentRef")
        parts = ("group", "resource", "namespace", "name")
        shown = parent and {name.capitalize(): parent.get(name) or "" for name in parts}
        return counts.immutable("spec.parentRef", parent, old["spec"].get("parentRef"), shown)


STRUCT = IP_ADDRESS
STRATEGY = IPAddressStrategy()
