"""Fields with equal values in all versions of a definition: kube-apiserver moves them from the versions to the spec.

This happens before validation. So a fault is reported for spec.validation if all versions have the same schema, and
else for spec.versions[i].schema. Source: the conversion of apiextensions.k8s.io/v1 to the internal version.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import orjson

from podless.runtime.dataclass import dataclass
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each

BETA = "v1beta1"
NAMES_ORDER = ("plural", "singular", "shortNames", "kind", "listKind", "categories")
# field of a version: the field of the spec that it moves to
MOVED = {
    "schema": "validation",
    "subresources": "subresources",
    "additionalPrinterColumns": "additionalPrinterColumns",
    "selectableFields": "selectableFields",
}


@dataclass(frozen=True)
class Layout:
    """A spec as the rules see it: `common` has the fields that all versions share, `versions` the rest of each.

    spec: all other fields, with the names of v1. legacy: the client used v1beta1, which has looser rules.
    """

    spec: Object
    common: Object
    versions: list[Object]
    legacy: bool = False

    @classmethod
    def read_layout(cls, spec: Object) -> Layout:
        """Return the layout of a v1 spec. Fields that are equal in all versions become common ones."""
        versions = spec.get("versions") or []
        common = {}
        for name in MOVED:
            first, *later_values = [version.get(name) for version in each(versions)] or [None]
            if first is not None and all(equal_json(first, value) for value in each(later_values)):
                common[name] = first
        rests = [{key: item for key, item in each(version).items() if key not in common} for version in each(versions)]
        return cls(spec, common, rests)

    @cached_property
    def schemas(self) -> list[Object]:
        """All schemas: the common one, or those of the versions."""
        return [
            schema for item in each((self.common, *self.versions)) if (schema := schema_of_version(item)) is not None
        ]

    @cached_property
    def has_all_schemas(self) -> bool:
        """Whether every version has a schema."""
        return schema_of_version(self.common) is not None or all(
            schema_of_version(version) is not None for version in self.versions
        )

    @cached_property
    def named(self) -> dict[str, Object]:
        """`versions` by name; of several with one name, the first."""
        return {version["name"]: version for version in reversed(self.versions)}

    def find_subresources(self, version: Object) -> Object | None:
        """Return the subresources of a version; of several versions with its name, those of the first."""
        subresources: Object | None = (self.named[version["name"]] if self._per_version else self.common).get(
            "subresources"
        )
        return subresources

    @cached_property
    def _per_version(self) -> bool:
        """Whether subresources are fields of the versions, not common."""
        return any("subresources" in version for version in self.versions)

    @cached_property
    def any_status(self) -> bool:
        """Whether any version has a status subresource."""
        return any("status" in (item.get("subresources") or {}) for item in each((self.common, *self.versions)))


def equal_json(first: Any, second: Any) -> bool:
    """Return whether two values are equal as JSON, where 1 and true differ."""
    if first is None or second is None:
        return first is second
    flags = orjson.OPT_SORT_KEYS
    return first is second or orjson.dumps(first, option=flags) == orjson.dumps(second, option=flags)


def schema_of_version(version: Object) -> Object | None:
    """Return the openAPIV3Schema of a version, or of the common fields."""
    result: Object | None = (version.get("schema") or {}).get("openAPIV3Schema")
    return result


def list_schemas(spec: Object) -> list[Object]:
    """Return the schemas of all versions of a v1 or v1beta1 spec."""
    top = [{"schema": spec["validation"]}] if "validation" in spec else []
    return [
        schema
        for item in each((*top, *(spec.get("versions") or ())))
        if (schema := schema_of_version(item)) is not None
    ]
