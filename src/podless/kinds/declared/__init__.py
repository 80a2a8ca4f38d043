"""Conversions that a definition declares: moves of fields, values in CEL, and defaults, in place of a webhook.

The definition carries them as YAML in an annotation, so that a real API server accepts the same manifest:

    podless.dev/conversion: |
      - between: [v1, v2]
        move: {spec.size: spec.replicas}
      - from: v1
        to: v2
        set: {spec.unit: "self.spec.size > 9 ? 'large' : 'small'"}
        default: {spec.color: grey}
        remove: [spec.obsolete]

`paths` finds fields, `reading` reads the annotation and checks it against the schemas, `carryout` converts objects, and
`trial` converts generated objects to another version and back.
"""

from __future__ import annotations

CONVERSION = "podless.dev/conversion"  # the annotation of the definition


class ConversionFault(Exception):
    """A declared conversion cannot convert an object; the message says why. step: the versions, "" if no step ran."""

    def __init__(self, reason: str, step: str = "") -> None:
        super().__init__(f"{step}: {reason}" if step else reason)
        self.step = step
