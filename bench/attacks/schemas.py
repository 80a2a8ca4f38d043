"""Schemas that make much of a small body, and the first use of those that are long (rows D, E, F and J)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bench.asks.ask import CRDS, Ask, named, text
from bench.attacks.attack import BINDINGS, POLICIES, Attack, Site, changed, defined, numbers, post
from podless.runtime.jsonobject import Object

_ANY: Object = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_TEXT: Object = {"type": "string"}


def _of(**properties: Any) -> Object:
    return {"type": "object", "properties": properties}


def _list(items: Object, **more: Any) -> Object:
    return {"type": "array", "items": items, **more}


def nested(levels: int, many: int) -> Object:
    """Lists in lists, of which each has so many empty objects by default."""
    schema: Object = _of(leaf={"type": "integer", "default": 1})
    for _ in range(levels):
        schema = _of(l=_list(schema, default=[{}] * many))
    return schema


def _defaults(site: Site) -> Sequence[Ask]:
    path = site.define(nested(5, site.many(12)))
    return [post(path, named({}))]


def _patterns(site: Site) -> Object:
    return _of(**{name: {"type": "string", "pattern": rf"\pL{{1,250}}x{name}"} for name in numbers("p", site.many(60))})


def _many_patterns(site: Site) -> Sequence[Ask]:
    return [post(CRDS, defined(_patterns(site)))]


def _rule(**more: Any) -> Object:
    patterns = _list({"type": "string", "maxLength": 20}, maxItems=200)
    return _of(patterns=patterns) | more


def _matched(site: Site) -> list[str]:
    return [rf"\pL{{1,250}}x{number}" for number in range(site.many(200))]


def _rules_match(site: Site) -> Sequence[Ask]:
    rules = [{"rule": "self.patterns.all(p, 'abc'.matches(p) || true)"}]
    path = site.define(_rule(**{"x-kubernetes-validations": rules}))
    return [post(path, named({"patterns": _matched(site)}))]


def _policies_match(site: Site) -> Sequence[Ask]:
    path = site.define(_rule())
    for number in range(3):
        rule = {"expression": f"object.spec.patterns.all(p, 'abc{number}'.matches(p) || true)"}
        everything = {"apiGroups": ["worst.example.com"], "apiVersions": ["*"], "resources": ["*"], "operations": ["*"]}
        name = {"metadata": {"name": f"p{number}"}}
        site.post(
            POLICIES, name | {"spec": {"matchConstraints": {"resourceRules": [everything]}, "validations": [rule]}}
        )
        site.post(BINDINGS, name | {"spec": {"policyName": f"p{number}", "validationActions": ["Deny"]}})
    return [post(path, named({"patterns": _matched(site)}))]


def _items(schema: Any, items: Any) -> Any:
    """A list whose items have a schema, and an object with such items."""

    def setup(site: Site) -> Sequence[Ask]:
        path = site.define(_of(l=_list(schema(site))))
        return [post(path, text(named({"l": items(site)})))]

    return setup


def _branches(keyword: str, make: Any, many: int, across: int = 1) -> Any:
    """A schema of so many branches, in `across` branches around them."""

    def schema(site: Site) -> Object:
        inner = [make(number) for number in range(site.many(many))]
        if across == 1:
            return {"type": "integer", keyword: inner}
        size = max(1, len(inner) // across)
        outer = [{keyword: inner[start : start + size]} for start in range(0, len(inner), size)]
        return {"type": "string", keyword: outer}

    return schema


def _objects_in_enum(site: Site) -> Object:
    return {**_ANY, "enum": [{"a": number} for number in range(site.many(3000))]}


def _first_use(spec: Any, body: Any) -> Any:
    def setup(site: Site) -> Sequence[Ask]:
        path = site.define(spec(site))
        return [changed(), post(path, named(body))]

    return setup


def _many_defaults(site: Site) -> Object:
    return _of(**{name: {**_TEXT, "default": "a"} for name in numbers("p", site.many(12_000))})


def _many_rules(site: Site) -> Object:
    rules = [{"rule": f"self.s != 'v{number}'"} for number in range(site.many(9000))]
    return _of(s={**_TEXT, "maxLength": 9}) | {"x-kubernetes-validations": rules}


def _many_properties(site: Site) -> Object:
    inner = _of(**{name: {**_TEXT, "maxLength": 5} for name in numbers("q", 200)})
    return _of(**dict.fromkeys(numbers("p", site.many(150)), inner))


ATTACKS = [
    Attack("D", "defaults of 12 objects five levels deep, 92 bytes", _defaults),
    Attack("E", "a definition of 60 long patterns", _many_patterns),
    Attack("E2", "a rule that matches 200 patterns of the object", _rules_match),
    Attack("E3", "three policies that match 200 patterns of the object", _policies_match),
    Attack(
        "F1",
        "an enum of 3,000 objects, 2,500 items",
        _items(_objects_in_enum, lambda site: [{"a": 90_000 + number} for number in range(site.many(2500))]),
    ),
    Attack(
        "F2",
        "an enum of 5,000 numbers, 4,000 wrong items",
        _items(
            lambda site: {"type": "integer", "enum": list(range(site.many(5000)))},
            lambda site: [90_000 + number for number in range(site.many(4000))],
        ),
    ),
    Attack(
        "F3",
        "anyOf of 16 anyOf of 16 patterns, 2,500 items",
        _items(
            _branches("anyOf", lambda number: {"pattern": f"^a{{0,{number}}}b$"}, 256, 16),
            lambda site: ["a" * 8] * site.many(2500),
        ),
    ),
    Attack(
        "F4",
        "oneOf of 200, 12,000 items",
        _items(
            _branches("oneOf", lambda number: {"minimum": number * 2, "maximum": number * 2 + 1}, 200),
            lambda site: [7] * site.many(12_000),
        ),
    ),
    Attack("J1", "a changed definition of 12,000 defaults, and its first use", _first_use(_many_defaults, {})),
    Attack("J2", "a changed definition of 9,000 rules, and its first use", _first_use(_many_rules, {"s": "a"})),
    Attack("J3", "a changed definition of 150 x 200 properties, and its first use", _first_use(_many_properties, {})),
]
