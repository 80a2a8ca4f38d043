"""Strategy of IPAddress. Source: Kubernetes' pkg/apis/networking/validation."""

from __future__ import annotations

from podless.apis.shared import checks
from podless.apis.shared.typed import TypedStrategy
from podless.kinds.kind import Version
from podless.meta import addresses, field, names
from podless.runtime.jsonobject import Object
from podless.structs import gostructs


class IPAddressStrategy(TypedStrategy):
    """Strategy of IPAddress."""

    naming = (addresses.find_canonical_faults, addresses.find_canonical_faults)

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        parent, path = obj["spec"].get("parentRef"), "spec.parentRef"
        if parent is None:
            yield field.required(path)
        else:
            group, namespace = parent.get("group") or "", parent.get("namespace") or ""
            yield from field.invalid_details(f"{path}.group", group, names.check_subdomain(group) if group else ())
            for name in ("resource", "name"):
                yield from checks.validate_name(f"{path}.{name}", parent.get(name), names.check_path_segment)
            faults = names.check_path_segment(namespace) if namespace else ()
            yield from field.invalid_details(f"{path}.namespace", namespace, faults)
        if old is not None and parent != old["spec"].get("parentRef"):
            yield checks.immutable_error(path, gostructs.format_struct("networking/v1.ParentReference", parent))


STRATEGY = IPAddressStrategy()
