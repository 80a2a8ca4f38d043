"""Validates the default values in a schema: they must be pruned, and valid at their place.

A default inside the metadata of a resource is validated in the smallest resource that has it.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from podless.cel.correlation import equal_json
from podless.meta import field
from podless.meta.field import FieldError, Key, Path
from podless.runtime.meter import charge, each
from podless.schema import check, embedded, prune
from podless.schema.embedded import Malformed
from podless.schema.errorvalues import show_value
from podless.schema.node import Node, copy_value
from podless.schema.prune import META
from podless.schema.rules import Expressions

_RULES = "x-kubernetes-validations"
# the path from the resource: names of fields, None for the items of a list
Steps = tuple[str | None, ...]


class _DefaultWalk:
    def __init__(self, pruned: bool, expressions: Expressions | None, plain: Collection[int]) -> None:
        self.plain = plain
        self.pruned = pruned
        self.expressions = expressions
        self.errors: list[FieldError] = []

    def visit_node(self, node: Node, path: Path, owner: Node, steps: Steps, meta: bool) -> None:
        """Visit one node: its default, then its children.

        owner: the node of the resource. steps: the path from it.
        """
        charge(1)
        if node.embedded:
            owner, steps, meta = node, (), False
        if node.has_default:
            at = (*path, "default")
            self.errors += (
                self.validate_inside_metadata(node, at, owner, steps)
                if meta
                else self.validate_outside_metadata(node, at)
            )
        if node.items is not None:
            self.visit_node(node.items, (*path, "items"), owner, (*steps, None), meta)
        resource = node.embedded or node is owner
        for name, child_schema in each(node.properties).items():
            if id(child_schema) in self.plain:
                continue
            child = node.find_child(name)
            assert child is not None
            in_metadata = meta or (resource and name in META)
            self.visit_node(child, (*path, "properties", Key(name)), owner, (*steps, name), in_metadata)

    def validate_outside_metadata(self, node: Node, path: Path) -> list[FieldError]:
        """Validate a default outside metadata."""
        value = node.raw["default"]
        if not isinstance(value, dict | list):  # most defaults: nothing inside can be unknown or malformed
            return self.validate_value(value, node, path)
        value = copy_value(value)
        errors = []
        if self.pruned:
            prune.prune_value(value, node, embedded=node.embedded)
            if not equal_json(value, node.raw["default"]):
                errors.append(field.invalid(path, show_value(node.raw["default"]), "must not have unknown fields"))
                value = copy_value(node.raw["default"])
        try:
            embedded.coerce_embedded(value, node, path=path)
        except Malformed as error:
            return [*errors, error.error]
        return errors + (embedded.validate_embedded(value, node, path) or self.validate_value(value, node, path))

    def validate_inside_metadata(self, node: Node, path: Path, owner: Node, steps: Steps) -> list[FieldError]:
        """Validate a default inside the metadata of a resource."""
        value = node.raw["default"]
        resource: Any = copy_value(value)
        for step in reversed(each(steps)):
            resource = [resource] if step is None else {step: resource}
        resource.setdefault("kind", "Validation")
        resource.setdefault("apiVersion", "validation/v1")
        try:
            embedded.coerce_embedded(resource, owner, root=True)
        except Malformed as error:
            return [field.invalid(path, show_value(value), f"must result in valid metadata: {error.error}")]
        errors = embedded.validate_embedded(resource, owner, resource=True)
        if errors:
            text = f"must result in valid metadata: {field.join_errors(errors)}"
            return [field.invalid(path, show_value(value), text)]
        return self.validate_value(value, node, path)

    def validate_value(self, value: Any, node: Node, path: Path) -> list[FieldError]:
        """Return the errors of a value by the schema; without any, those by its rules."""
        errors = check.validate_value(value, node, path)
        if not errors and self.expressions is not None and (isinstance(value, dict | list) or _RULES in node.raw):
            errors = self.expressions.default(node.raw, field.format_path(path), value)
        return errors


def validate_defaults(
    schema: dict[str, Any], path: str, pruned: bool, expressions: Expressions | None, plain: Collection[int] = ()
) -> list[FieldError]:
    """Return the errors of all defaults. pruned: unknown fields in them are errors. plain: ids of nodes to skip."""
    walk = _DefaultWalk(pruned, expressions, plain)
    node = Node(schema, plain=True)
    node.embedded = True  # the root is a resource
    walk.visit_node(node, field.parse_path(path), node, (), False)
    return walk.errors
