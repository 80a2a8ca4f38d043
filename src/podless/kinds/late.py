"""Kinds whose rules and fields are imported when something of them is first asked for.

A server knows the names of all its kinds from the start, and holds nothing else of those that nobody uses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from podless.kinds.kind import Kind, Version
from podless.kinds.strategy import Strategy
from podless.meta.structs import Struct


class Rules(NamedTuple):
    """What is loaded of a kind: its strategy, and its fields by version."""

    strategy: Strategy[Kind]
    structs: Mapping[str, Struct]


NOT_YET: Strategy[Kind] = Strategy()  # stands in for the strategy until it is loaded


def no_rules() -> Rules:
    """Raises LookupError: a late kind has to say where its rules are."""
    raise LookupError("a late kind without rules")


@dataclass(frozen=True, eq=False)
class LateKind(Kind):
    """A built-in kind whose strategy and struct are loaded at first use. load: gives them."""

    load: Callable[[], Rules] = no_rules

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("strategy", "struct"):  # given as nothing, and found by the properties of their names
            self.__dict__.pop(name, None)

    @cached_property
    def rules(self) -> Rules:
        """What is loaded."""
        return self.load()

    @cached_property  # type: ignore[misc]
    def strategy(self) -> Strategy[Kind]:
        """The rules of the kind."""
        return self.rules.strategy

    @cached_property  # type: ignore[misc]
    def struct(self) -> Struct | None:
        """The fields of the version that is stored."""
        return self.rules.structs[self.storage_version or self.versions[0].name]

    @property
    def custom(self) -> bool:
        """It is built in."""
        return False

    def struct_of(self, version: Version) -> Struct | None:
        """The fields in one version."""
        return self.rules.structs[version.name]
