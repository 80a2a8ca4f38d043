"""The schemas of a CustomResourceDefinition: which are needed, and what they must obey."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from podless.kinds.definition import shared
from podless.kinds.definition.shared import Layout
from podless.meta import field
from podless.meta.field import FieldError
from podless.schema import Expressions, Options, structural
from podless.schema.definition import has_unpruned_defaults, is_structural, nodes

Object = dict[str, Any]

_TYPES = ("array", "boolean", "integer", "number", "object", "string")


@dataclass(frozen=True)
class Checker:
    """Checks schemas. rules: compiles x-kubernetes-validations. options: what an update need not better."""

    rules: Expressions | None
    options: Options

    def check(self, schema: Object | None, path: str, *, status: bool) -> list[FieldError]:
        """All that is wrong with one schema. status: whether its version has a status subresource."""
        if schema is None:
            return []
        return structural(schema, path, status=status, rules=self.rules, options=self.options)


def options(spec: Object, old: Object | None) -> Options:
    """What must not be held against an update, because the old definition has it too."""
    if old is None:
        return Options()
    before = shared.schemas(old)
    strict = not spec.get("preserveUnknownFields") or has_defaults(spec)
    return Options(
        structural=strict or all(map(is_structural, before)),
        types=all(node.get("type", "string") in _TYPES for whole in before for node in nodes(whole)),
        pruned_defaults=not any(map(has_unpruned_defaults, before)),
    )


def check_given(layout: Layout, old: Object | None) -> list[FieldError]:
    """Every version needs a schema, unless one had none before: then the served ones do, if they are pruned."""
    if shared.schema(layout.common) is not None:
        return []
    missing = [place for place, version in enumerate(layout.versions) if shared.schema(version) is None]
    if old is None or len(shared.schemas(old)) == len(old["versions"] or []):
        return [field.required(f"spec.versions[{place}].schema.openAPIV3Schema") for place in missing]
    if layout.spec.get("preserveUnknownFields"):
        return []
    served = [place for place in missing if layout.versions[place]["served"]]
    text = "because otherwise all fields are pruned"
    return [field.required(f"spec.versions[{place}].schema.openAPIV3Schema", text) for place in served]


def check_defaults(spec: Object) -> list[FieldError]:
    """Defaults need pruning."""
    if not spec.get("preserveUnknownFields") or not has_defaults(spec):
        return []
    return [field.invalid("spec.preserveUnknownFields", True, "must be false in order to use defaults in the schema")]


def has_defaults(spec: Object) -> bool:
    """Whether a schema has a default anywhere."""
    return any("default" in node for whole in shared.schemas(spec) for node in nodes(whole))
