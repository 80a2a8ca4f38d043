"""One version of a kind: its schema, its columns, and the subresources that it has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from podless.meta.structs import Struct


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the kind's Table: name, type and format of its cells, and where their values are.

    type: integer, number, string, boolean or date. priority: 0 for the standard view, more for -o wide.
    json_path: as in additionalPrinterColumns, such as .spec.replicas.
    """

    name: str
    type: str
    json_path: str
    format: str = ""
    description: str = ""
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Scale:
    """Where the parts of autoscaling/v1 Scale are in the object; label_selector_path may be ""."""

    spec_replicas_path: str
    status_replicas_path: str
    label_selector_path: str = ""


@dataclass(frozen=True, eq=False)
class Version:
    """One served version of a kind.

    source: the openAPIV3Schema as given (custom kinds), or what reads it, so that a schema that is not in use takes no
    memory beside the stored definition. columns: None for Name and Age.
    selectable: the JSONPaths that a fieldSelector may use beside metadata.name and metadata.namespace.
    struct: the fields of a built-in kind in this version, where they are not those of the kind's `struct`.
    """

    name: str
    source: dict[str, Any] | Callable[[], dict[str, Any] | None] | None = None
    columns: tuple[Column, ...] | None = None
    status: bool = False
    scale: Scale | None = None
    selectable: tuple[str, ...] = ()
    deprecated: bool = False
    deprecation_warning: str = ""
    struct: Struct | None = None

    @property
    def schema(self) -> dict[str, Any] | None:
        """The openAPIV3Schema; read anew each time, so keep what is made of it."""
        return self.source() if callable(self.source) else self.source
