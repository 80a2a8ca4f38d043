"""Built-in kinds whose rules and fields are imported at first use.

A server knows the names of all its kinds from the start, and loads the rest of a kind when it is used. Discovery and
OpenAPI load the fields only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from functools import partial
from typing import Any

from podless.kinds.kind import Kind, Subresource, Version
from podless.kinds.strategy import Strategy
from podless.runtime.dataclass import dataclass
from podless.runtime.memo import made_once
from podless.runtime.release import Release
from podless.structs.structfiles import in_release
from podless.structs.structs import Struct

NOT_YET: Strategy[Kind] = Strategy()  # placeholder until the strategy is loaded


def adapt_kind(kind: Kind, release: Release) -> Kind:
    """Return a built-in kind with the fields and subresources of a release. It equals the original kind."""
    assert isinstance(kind, LateKind)
    late = {"strategy": NOT_YET, "struct": None}  # reading these attributes would load them
    values = {item.name: getattr(kind, item.name) for item in fields(kind) if item.init and item.name not in late}
    subresources = (served for served in kind.more_subresources if release.is_in_span(served.releases))
    values["more_subresources"] = tuple(_adapt_subresource(served, release) for served in subresources)
    values["versions"] = tuple(_adapt_version(served, release) for served in kind.versions)
    values["fields"] = partial(_fields_in, kind.fields, release)
    result = _ReleaseKind(**values | late)
    object.__setattr__(result, "origin", kind)
    return result


def _adapt_subresource(subresource: Subresource, release: Release) -> Subresource:
    """Return a subresource with the kinds of its bodies and options as a release has them."""
    kind, options = (declared and adapt_kind(declared, release) for declared in (subresource.kind, subresource.options))
    return replace(subresource, kind=kind, options=options)


def _adapt_version(version: Version, release: Release) -> Version:
    if version.status_ahead and release.has_reached(version.status_ahead):
        version = replace(version, status=True)
    if not version.deprecated or release.is_in_span(version.deprecated_in):
        return version
    return replace(version, deprecated=False, deprecation_warning="")


def _fields_in(fields: Callable[[], Mapping[str, Struct]], release: Release) -> Mapping[str, Struct]:
    return {version: in_release(struct, release) for version, struct in fields().items()}


def _raise_undeclared() -> Any:
    """Raise LookupError, because a late kind was declared without rules or fields."""
    raise LookupError("a late kind without rules or fields")


@dataclass(frozen=True, eq=False)
class LateKind(Kind):
    """A built-in kind whose strategy and structs are loaded at first use, by the functions `rules` and `fields`."""

    rules: Callable[[], Strategy[Kind]] = _raise_undeclared
    fields: Callable[[], Mapping[str, Struct]] = _raise_undeclared

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("strategy", "struct"):  # remove the placeholders, so that the properties below are found
            self.__dict__.pop(name, None)

    @made_once  # type: ignore[misc]
    def strategy(self) -> Strategy[Kind]:
        """Return the strategy of the kind."""
        return self.rules()

    @made_once
    def structs(self) -> Mapping[str, Struct]:
        """Return the fields by version."""
        return self.fields()

    @made_once  # type: ignore[misc]
    def struct(self) -> Struct | None:
        """Return the fields of the storage version."""
        return self.structs[self.storage_version or self.versions[0].name]

    @property
    def is_loaded(self) -> bool:  # type: ignore[override]
        """Whether rules and fields are imported."""
        return "strategy" in self.__dict__

    def load(self) -> Callable[[], None]:
        """Import rules and fields, which takes up to 120 ms. Call the returned function on the loop to publish them.

        Call it off the loop.
        """
        self.rules()
        self.fields()

        def publish_values() -> None:
            _ = self.strategy, self.structs

        return publish_values

    @property
    def custom(self) -> bool:
        """False: the kind is built in."""
        return False

    def struct_of(self, version: Version) -> Struct | None:
        return self.structs[version.name]


class _ReleaseKind(LateKind):
    """The kind of a release. It equals the original kind, so lookups in tables keyed by the original find it."""

    origin: Kind | None = None

    def __eq__(self, other: object) -> bool:
        original = self.origin or self
        return (other.origin or other if isinstance(other, _ReleaseKind) else other) is original

    def __hash__(self) -> int:
        return object.__hash__(self.origin or self)
