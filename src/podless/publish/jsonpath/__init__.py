"""JSONPath as additionalPrinterColumns use it, compiled once into closures.

Source: k8s.io/client-go util/jsonpath and the recorded tables: fields with escaped dots, ['keys'], indices, slices with
steps, [*], unions, filters with one comparison or none, recursive descent. A path may have errors that show only on an
object (an index of what is no list, values that do not compare); it then finds nothing.
"""

from __future__ import annotations

import re
from typing import Any

from podless.meta.bounded import bounded_cache
from podless.publish.jsonpath.parser import Parser
from podless.publish.jsonpath.steps import Fault, Step, Values, run

_CACHED = 4096
_PLAIN = re.compile(r"(?:\.[A-Za-z]+)+")  # names of fields and nothing else, as most paths are


class Path:
    """A compiled path."""

    __slots__ = ("_names", "_nodes", "text")

    def __init__(self, text: str, nodes: list[list[Step]]) -> None:
        self.text = text
        self._nodes = nodes
        self._names = text[1:].split(".") if _PLAIN.fullmatch(text) else None

    def find(self, obj: Any) -> Values:
        """The values that the path leads to, in order; none where it cannot be followed."""
        if self._names is not None:
            for name in self._names:
                if type(obj) is not dict or name not in obj:
                    return []
                obj = obj[name]
            return [obj]
        try:
            found = [run(steps, [obj]) for steps in self._nodes]
        except Fault:
            return []
        return found[0]

    def first(self, obj: Any, default: Any = None) -> Any:
        """The first value that the path leads to, or the default where there is none."""
        found = self.find(obj)
        return found[0] if found else default


@bounded_cache(_CACHED)
def parse(text: str) -> Path:
    """A path as additionalPrinterColumns have it, such as .spec.x, compiled. Raises ValueError for a malformed one."""
    return Path(text, Parser(f"{{{text}}}").template())
