"""Strategy of ThirdPartyResource, the predecessor of CustomResourceDefinition."""

from __future__ import annotations

from podless.apis.extensions.thirdparty import name_faults, parse_defined_name
from podless.apis.shared.typed import TypedStrategy
from podless.kinds.kind import Kind, Version
from podless.kinds.strategy import Deletion, Faults, MetadataPolicy
from podless.meta import field, names
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each

CLEANUP = "thirdpartyresourcecleanup.extensions"


class ThirdPartyResourceStrategy(TypedStrategy):
    """Strategy of ThirdPartyResource. A deleted one waits until its objects are deleted."""

    metadata = MetadataPolicy(on_update=(0, 1), drops_namespace=False)
    deletion = Deletion(graceful=False)

    def name_errors(self, name: str, prefix: bool) -> list[str]:
        """Require a name that consists of kind and group."""
        return names.subdomain_prefix(name) if prefix else name_faults(name)

    def validate_create(self, kind: Kind, version: Version, obj: Object) -> Faults:
        given = obj.get("versions") or []
        if not given:
            return [field.required("versions", "must specify at least one version")]
        errors, seen = [], set()
        for place, one in enumerate(each(given)):
            path, name = f"versions[{place}]", one.get("name") or ""
            if not name:
                errors.append(field.required(f"{path}.name", "must not be empty"))
            elif name in seen:
                errors.append(field.duplicate(f"{path}.name", name))
            else:
                errors += field.invalid_details(f"{path}.name", name, names.label_1035(name))
            seen.add(name)
            errors += _group(obj["metadata"].get("name") or "", one, path)
        return errors

    def list_warnings(self, version: Version, obj: Object, old: Object | None) -> list[str]:
        group = parse_defined_name(obj["metadata"]["name"]).group
        if old is not None or group.count(".") >= 2:
            return []
        return [f"metadata.name: the group {group} has fewer than three segments, such as mygroup.example.com has"]

    def prepare_delete(self, obj: Object) -> None:
        """Mark it as terminating; it waits until its objects are deleted."""
        metadata = obj["metadata"]
        held = metadata.get("finalizers") or []
        if "deletionTimestamp" not in metadata and CLEANUP not in held:
            metadata["finalizers"] = [*held, CLEANUP]


def _group(name: str, version: Object, path: str) -> list[FieldError]:
    """Require a version's apiGroup to be the group in the name, if it is set."""
    given = version.get("apiGroup")
    if not given or name_faults(name) or given == (group := parse_defined_name(name).group):
        return []
    return [field.invalid(f"{path}.apiGroup", given, f"must be the group in metadata.name, {group}")]


STRATEGY = ThirdPartyResourceStrategy()
