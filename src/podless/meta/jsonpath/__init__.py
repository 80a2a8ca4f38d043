"""JSONPath of additionalPrinterColumns, compiled into closures.

Source: k8s.io/client-go util/jsonpath and the recorded tables: fields with escaped dots, ['keys'], indices, slices with
steps, [*], unions, filters with one comparison or none, recursive descent. Some errors show only on an object, such as
an index into a value that is not a list; the path then finds nothing.
"""

from __future__ import annotations

import re
from typing import Any

from podless.meta.jsonpath.parser import TemplateParser
from podless.meta.jsonpath.steps import FieldStep, PathFault, Step, Values, descend_values, run_steps
from podless.runtime.bounded import bounded_cache
from podless.runtime.meter import charge, each

_CACHED = 4096
_CHARGE_INTERVAL = 512  # values examined between two charges
_PLAIN = re.compile(r"(?:\.[A-Za-z]++)++")  # matches most paths: only names of fields


class Searched:
    """An object that several paths search. The values at and below it are collected once for all of them."""

    __slots__ = ("_collected", "_named", "obj")

    def __init__(self, obj: Any) -> None:
        self.obj = obj
        self._collected: Values | None = None
        self._named: dict[str, Values] | None = None

    def follow_steps(self, steps: list[Step]) -> Values:
        """Return the values that the steps of a path lead to. Raises PathFault."""
        if not steps or steps[0] is not descend_values:
            return run_steps(steps, [self.obj])
        if self._collected is None:
            self._collected = descend_values([self.obj])
        if len(steps) < 2 or not isinstance(steps[1], FieldStep):
            return run_steps(steps[1:], self._collected)
        if self._named is None:
            self._named = _by_name(self._collected)
        return run_steps(steps[2:], self._named.get(steps[1].name, []))


def _by_name(values: Values) -> dict[str, Values]:
    """Return the fields of all objects among some values, by their names."""
    result: dict[str, Values] = {}
    for index, value in enumerate(values):
        if not index % _CHARGE_INTERVAL:
            charge(_CHARGE_INTERVAL)
        if type(value) is dict:
            for name, item in each(value).items():
                result.setdefault(name, []).append(item)
    return result


class JSONPath:
    """A compiled path. descends: it searches the whole object."""

    __slots__ = ("_names", "_nodes", "descends", "text")

    def __init__(self, text: str, nodes: list[list[Step]]) -> None:
        self.text = text
        self._nodes = nodes
        self._names = text[1:].split(".") if _PLAIN.fullmatch(text) else None
        self.descends = any(steps and steps[0] is descend_values for steps in nodes)

    def find(self, obj: Any) -> Values:
        """Return the values of the path, in order; none if it cannot be followed.

        obj: may be a Searched.
        """
        searched = obj if type(obj) is Searched else None
        if self._names is not None:
            if searched is not None:
                obj = searched.obj
            for name in self._names:
                if type(obj) is not dict or name not in obj:
                    return []
                obj = obj[name]
            return [obj]
        try:
            follow = (searched or Searched(obj)).follow_steps
            results = [follow(steps) for steps in self._nodes]
        except PathFault:
            return []
        return results[0]

    def first(self, obj: Any, default: Any = None) -> Any:
        """Return the first value of the path, or the default if there is none."""
        values = self.find(obj)
        return values[0] if values else default


@bounded_cache(_CACHED)
def parse_path(text: str) -> JSONPath:
    """Return the compiled path of a column, such as .spec.x. Raises ValueError for a malformed one."""
    return JSONPath(text, TemplateParser(f"{{{text}}}").parse_template())
