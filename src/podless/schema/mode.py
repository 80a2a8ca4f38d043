"""What the walks of generated code do: each does one of a few things, or two of them at once."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Mode:
    """What a walk does: prune, fill in defaults, check.

    nested: below allOf, anyOf, oneOf or not, where only checks are. keep: unknown fields stay. root: the value is a
    whole object, whose apiVersion, kind and metadata others handle. name: of a walk over whole objects.
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
