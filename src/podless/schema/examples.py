"""Generates random objects that a schema allows, the same ones each time."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, Final

from podless.runtime.jsonobject import Object
from podless.runtime.meter import charge
from podless.schema.schema import Schema

_DRAWS_PER_OBJECT: Final = 6  # attempts for each valid object
_REQUIRED_ONLY_DEPTH: Final = 8  # depth below which objects have only required fields
_MAX_PARTS: Final = 500  # maximum parts of one object
_TEXTS: Final = ("a", "abc", "a-b", "10", "1:30", "a/b", "a.b", "A", "true", "1.5", "5Gi", "v1", "é")
_FORMATS: Final = {
    "date-time": ("2024-05-06T07:08:09Z",),
    "date": ("2024-05-06",),
    "duration": ("1h30m0s", "90s"),
    "byte": ("YWJj",),
    "uuid": ("0f8fad5b-d9cb-469f-a165-70867728950e",),
    "ipv4": ("10.0.0.1",),
    "ipv6": ("fe80::1",),
    "cidr": ("10.0.0.0/8",),
    "email": ("a@example.com",),
    "uri": ("https://example.com/a",),
    "hostname": ("example.com",),
}


def make_examples(schema: Schema, head: Object, count: int) -> Iterator[Object]:
    """Yield up to `count` different objects that the schema allows, with defaults; one has the fewest fields.

    head: apiVersion, kind and metadata. The schema's CEL rules are ignored. If values are hard to guess, such as for a
    pattern, there are few objects or none.
    """
    seen: list[Object] = []
    for number in range(count * _DRAWS_PER_OBJECT):
        if len(seen) == count:
            return
        generated = _ExampleGenerator(number).draw_value(schema.openapi | {"type": "object"}, 0)
        example = {**generated, **head, "metadata": dict(head["metadata"])}
        if not schema.admit(example) and example not in seen:
            seen.append(example)
            yield example


class _ExampleGenerator:
    """One object. number: 0 for the object with the fewest fields, 1 for one with all fields."""

    def __init__(self, number: int) -> None:
        self._chance = random.Random(number)
        self._share = (0.0, 1.0)[number] if number < 2 else 0.6
        self._parts_left = _MAX_PARTS

    def draw_value(self, node: Object, depth: int) -> Any:
        charge(8)
        self._parts_left -= 1
        if node.get("enum"):
            return self._chance.choice(node["enum"])
        if node.get("x-kubernetes-int-or-string"):
            return self._chance.choice((5, "10%"))
        match node.get("type"):
            case "object":
                return self._draw_object(node, depth)
            case "array":
                return self._list(node, depth)
            case "string":
                return self._draw_text(node)
            case "integer":
                return int(self._draw_number(node))
            case "number":
                return self._draw_number(node)
            case "boolean":
                return self._chance.random() < 0.5
        return self._chance.choice(("a", 1, {"a": "b"}))

    def _draw_object(self, node: Object, depth: int) -> Object:
        required = node.get("required") or ()
        share = self._share if depth < _REQUIRED_ONLY_DEPTH and self._parts_left > 0 else 0.0
        result = {}
        for name, child in (node.get("properties") or {}).items():
            root = depth == 0 and name in ("apiVersion", "kind", "metadata")
            if not root and (name in required or self._chance.random() < share):
                result[name] = self.draw_value(child, depth + 1)
        values = node.get("additionalProperties")
        if isinstance(values, dict):
            min_count = min(node.get("minProperties") or 0, 10)
            count = max(min_count, self._chance.randrange(3) if share else 0)
            for name in ("a", "b", "c", "d", "e", "f", "g", "h", "i", "j")[:count]:
                result[name] = self.draw_value(values, depth + 1)
        return result

    def _list(self, node: Object, depth: int) -> list[Any]:
        min_count = min(node.get("minItems") or 0, 10)
        full = self._share and depth < _REQUIRED_ONLY_DEPTH and self._parts_left > 0
        count = max(min_count, self._chance.randrange(4) if full else 0)
        results: list[Any] = []
        max_count = node.get("maxItems")
        for _ in range(count if max_count is None else min(count, max_count)):
            item = self.draw_value(node.get("items") or {}, depth + 1)
            if item not in results or node.get("x-kubernetes-list-type") is None:
                results.append(item)
        return results

    def _draw_text(self, node: Object) -> str:
        texts = _FORMATS.get(node.get("format") or "")
        if texts:
            return self._chance.choice(texts)
        min_length, max_length = node.get("minLength") or 0, node.get("maxLength")
        text = self._chance.choice(_TEXTS)
        if "pattern" in node and isinstance(node.get("default") or node.get("example"), str):
            text = str(node.get("default") or node.get("example"))
        if len(text) < min_length <= 1000:
            text += "x" * (min_length - len(text))
        return text if max_length is None else text[: max(max_length, 0)]

    def _draw_number(self, node: Object) -> float:
        low, high = node.get("minimum"), node.get("maximum")
        if low is None:
            low = high - 10 if high is not None else 0
        high = high if high is not None else low + 10
        step = node.get("multipleOf") or (1 if node.get("type") == "integer" else 0.5)
        number = low + self._chance.randrange(8) * step
        value = min(number, high)
        return int(value) if float(value).is_integer() else value
