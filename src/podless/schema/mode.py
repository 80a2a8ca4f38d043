"""What the walks of generated code do: each does one of a few things, or two of them at once."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mode:
    """What a walk does: prune, fill in defaults, check.

    nested: below allOf, anyOf, oneOf or not, where only checks are. keep: unknown fields stay. root: the value is a
    whole object, whose apiVersion, kind and metadata others handle.
    """

    prune: bool = False
    fill: bool = False
    check: bool = False
    nested: bool = False
    keep: bool = False
    root: bool = False


NORMALIZE = Mode(prune=True, fill=True, root=True)
CHECK = Mode(check=True, root=True)
PRUNE = Mode(prune=True, root=True)
FILL = Mode(fill=True, root=True)
