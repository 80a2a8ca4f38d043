"""Strategy of kinds that have a spec for those who want something and a status for those who see to it."""

from __future__ import annotations

from typing import ClassVar

from podless.kinds.builtin import template
from podless.kinds.builtin.typed import TypedStrategy
from podless.kinds.kind import Version
from podless.kinds.strategy import Object


class SpecStrategy(TypedStrategy):
    """The spec counts as a generation; the status has its own endpoint, which leaves the spec alone.

    blank: the status of a new object.
    """

    generation = True
    qualified = True
    blank: ClassVar[Object] = {}

    def prepare_create(self, version: Version, obj: Object) -> None:
        """Nothing is known of it yet."""
        obj["status"] = dict(self.blank)

    def prepare_update(self, version: Version, obj: Object, old: Object) -> None:
        """The status stays."""
        obj["status"] = old["status"]

    def prepare_status(self, version: Version, obj: Object, old: Object) -> None:
        """The spec stays."""
        obj["spec"] = old["spec"]

    def changed(self, version: Version, obj: Object, old: Object) -> bool:
        """Only the spec counts."""
        return bool(obj["spec"] != old["spec"])


class TemplateStrategy(SpecStrategy):
    """The same with a template of pods, of which what is not served is dropped."""

    def template(self, obj: Object) -> Object | None:
        """The template of an object."""
        found: Object | None = obj["spec"].get("template")
        return found

    def prepare_create(self, version: Version, obj: Object) -> None:
        """Nothing is known of it yet."""
        super().prepare_create(version, obj)
        template.trim(self.template(obj))

    def prepare_update(self, version: Version, obj: Object, old: Object) -> None:
        """The status stays."""
        super().prepare_update(version, obj, old)
        template.trim(self.template(obj), self.template(old))
