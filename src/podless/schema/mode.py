"""The modes of generated walks."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Mode:
    """What a walk does: prune, fill in defaults, check.

    nested: below allOf, anyOf, oneOf or not, which only check. keep: unknown fields stay. root: the value is a whole
    object, whose apiVersion, kind and metadata are handled elsewhere. name: of a walk over whole objects.
    """

    prune: bool = False
    fill: bool = False
    check: bool = False
    nested: bool = False
    keep: bool = False
    root: bool = False
    name: str = field(default="", compare=False)


NORMALIZE = Mode(prune=True, fill=True, root=True, name="normalize")
CHECK = Mode(check=True, root=True, name="check")
PRUNE = Mode(prune=True, root=True, name="prune")
FILL = Mode(fill=True, root=True, name="fill")
