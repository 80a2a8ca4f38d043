"""Strategy of ThirdPartyResource, the predecessor of CustomResourceDefinition."""

from __future__ import annotations

from podless.apis.extensions.thirdparty import name_faults, parse_defined_name
from podless.apis.shared.typed import TypedStrategy
from podless.kinds.kind import Version
from podless.kinds.strategy import MetadataPolicy
from podless.meta import field, names
from podless.meta.field import FieldError
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each

CLEANUP = "thirdpartyresourcecleanup.extensions"


class ThirdPartyResourceStrategy(TypedStrategy):
    """Strategy of ThirdPartyResource. A deleted one waits until its objects are deleted."""

    naming = (name_faults, names.check_subdomain_prefix)
    metadata = MetadataPolicy(on_update=(0, 1), drops_namespace=False)

    def validate(self, version: Version, obj: Object, old: Object | None) -> field.Errors:
        versions, seen = obj.get("versions") or [], set()
        if not versions:
            yield field.required("versions", "must specify at least one version")
        for index, entry in enumerate(each(versions)):
            path, name = f"versions[{index}]", entry.get("name") or ""
            if not name:
                yield field.required(f"{path}.name", "must not be empty")
            elif name in seen:
                yield field.duplicate(f"{path}.name", name)
            else:
                yield from field.invalid_details(f"{path}.name", name, names.check_label_1035(name))
            seen.add(name)
            yield from _validate_group(obj["metadata"].get("name") or "", entry, path)

    def list_warnings(self, version: Version, obj: Object, old: Object | None) -> list[str]:
        group = parse_defined_name(obj["metadata"]["name"]).group
        if old is not None or group.count(".") >= 2:
            return []
        return [f"metadata.name: the group {group} has fewer than three segments, such as mygroup.example.com has"]

    def prepare_delete(self, obj: Object) -> None:
        """Mark it as terminating; it waits until its objects are deleted."""
        metadata = obj["metadata"]
        finalizers = metadata.get("finalizers") or []
        if "deletionTimestamp" not in metadata and CLEANUP not in finalizers:
            metadata["finalizers"] = [*finalizers, CLEANUP]


def _validate_group(name: str, version: Object, path: str) -> list[FieldError]:
    """Require a version's apiGroup to be the group in the name, if it is set."""
    api_group = version.get("apiGroup")
    if not api_group or name_faults(name) or api_group == (group := parse_defined_name(name).group):
        return []
    return [field.invalid(f"{path}.apiGroup", api_group, f"must be the group in metadata.name, {group}")]


STRATEGY = ThirdPartyResourceStrategy()
