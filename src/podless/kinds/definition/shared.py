"""What all versions of a definition share: a real server moves it from the versions to the spec before it checks.

So the same fault is told of spec.validation when every version has the same schema, and of spec.versions[i].schema
when they differ. Source: the conversion of apiextensions.k8s.io/v1 to the internal version.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import orjson

# field of a version -> the field of the spec that it moves to
MOVED = {
    "schema": "validation",
    "subresources": "subresources",
    "additionalPrinterColumns": "additionalPrinterColumns",
    "selectableFields": "selectableFields",
}


@dataclass(frozen=True)
class Layout:
    """A spec as the checks see it: `common` is what was moved, the versions keep the rest."""

    spec: dict[str, Any]

    @cached_property
    def given(self) -> list[dict[str, Any]]:
        """The versions as they were sent."""
        return self.spec.get("versions") or []

    @cached_property
    def common(self) -> dict[str, Any]:
        """Field of a version -> what all versions have there; absent where they differ or have nothing."""
        out = {}
        for name in MOVED:
            first, *rest = [version.get(name) for version in self.given] or [None]
            if first is not None and all(same(first, other) for other in rest):
                out[name] = first
        return out

    @cached_property
    def versions(self) -> list[dict[str, Any]]:
        """The versions without what was moved."""
        moved = self.common.keys()
        return [{key: item for key, item in version.items() if key not in moved} for version in self.given]

    def subresources(self, version: dict[str, Any]) -> dict[str, Any] | None:
        """The subresources of one of `versions`."""
        apart = any("subresources" in one for one in self.versions)
        found: dict[str, Any] | None = (version if apart else self.common).get("subresources")
        return found

    @cached_property
    def any_status(self) -> bool:
        """Whether a version has a status subresource."""
        return any("status" in (version.get("subresources") or {}) for version in self.given)


def same(one: Any, other: Any) -> bool:
    """Equal as JSON: unlike in Python, 1 and true are two things."""
    if one is None or other is None:
        return one is other
    flags = orjson.OPT_SORT_KEYS
    return one is other or orjson.dumps(one, option=flags) == orjson.dumps(other, option=flags)


def schema(version: dict[str, Any]) -> dict[str, Any] | None:
    """The openAPIV3Schema of a version, or of what is common to all."""
    found: dict[str, Any] | None = (version.get("schema") or {}).get("openAPIV3Schema")
    return found


def schemas(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """The schemas of all versions."""
    return [found for version in spec.get("versions") or [] if (found := schema(version)) is not None]
