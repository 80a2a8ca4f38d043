"""Strategy of IPAddress. Source: Kubernetes' pkg/apis/networking/validation."""

from __future__ import annotations

from podless.apis.shared import checks
from podless.apis.shared.checks import immutable_error
from podless.apis.shared.typed import TypedStrategy
from podless.kinds.kind import Version
from podless.kinds.strategy import Faults
from podless.meta import addresses, field, names
from podless.runtime.jsonobject import Object
from podless.structs import gostructs
from podless.structs.structfiles import load_struct

_PARENT = load_struct("networking/v1", "ParentReference")


class IPAddressStrategy(TypedStrategy):
    """Strategy of IPAddress."""

    def name_errors(self, name: str, prefix: bool) -> list[str]:
        return addresses.canonical_faults(name)

    def validate_create(self, version: Version, obj: Object) -> Faults:
        parent, path = obj["spec"].get("parentRef"), "spec.parentRef"
        if parent is None:
            return [field.required(path)]
        group, namespace = parent.get("group") or "", parent.get("namespace") or ""
        errors = field.invalid_details(f"{path}.group", group, names.check_subdomain(group)) if group else []
        for name in ("resource", "name"):
            errors += checks.validate_name(f"{path}.{name}", parent.get(name), names.path_segment)
        faults = names.path_segment(namespace) if namespace else []
        return [*errors, *field.invalid_details(f"{path}.namespace", namespace, faults)]

    def validate_update(self, version: Version, obj: Object, old: Object) -> Faults:
        parent, errors = obj["spec"].get("parentRef"), self.validate_create(version, obj)
        if parent == old["spec"].get("parentRef"):
            return errors
        return [*errors, immutable_error("spec.parentRef", gostructs.format_struct(_PARENT, parent))]


STRATEGY = IPAddressStrategy()
