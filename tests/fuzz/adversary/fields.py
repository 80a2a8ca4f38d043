"""Schemas of fields that are built to be expensive, and values that are expensive for them.

A field has a form. Its schema is made for a stored size, its value for that and the size of a body: small bodies, of
which the schema makes much.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

from podless.runtime.jsonobject import Schema

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "integer"}
ANY: Schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
# of which the automata are long, or slow to make
PATTERNS = (
    r"\pL{{1,{0}}}x{1}",
    r"^(a|b|ab){{1,{0}}}{1}$",
    r"(x+x+){{1,{0}}}y{1}",
    r"[^a-z{1}]{{{0}}}$",
    r".*a.{{0,{0}}}b{1}",
)
FORMATS = ("date-time", "date", "duration", "uri", "email", "hostname", "ipv4", "ipv6", "cidr", "byte", "uuid", "isbn")


class Form(NamedTuple):
    """How a field is made. schema: of a random source and the stored size; value: of these and the size of a body.
    sound: the same of what fits; None where values do.
    """

    schema: Callable[[Random, int], Schema]
    value: Callable[[Random, int, int], Any]
    sound: Callable[[Random, int, int], Any] | None = None


def of(properties: dict[str, Schema], **more: Any) -> Schema:
    return {"type": "object", "properties": properties, **more}


def listed(items: Schema, **more: Any) -> Schema:
    return {"type": "array", "items": items, **more}


def names(stem: str, many: int) -> list[str]:
    return [f"{stem}{number}" for number in range(many)]


def pattern(random: Random, number: int, most: int = 250) -> str:
    return random.choice(PATTERNS).format(random.choice((3, 20, most)), number)


def texts(random: Random, many: int, length: int) -> list[str]:
    letters = random.choice(("a", "ab", "x", "é", "0", " \t", '"\\'))
    return ["".join(random.choices(letters, k=random.randint(0, length))) for _ in range(many)]


def nested_defaults(random: Random, size: int) -> Schema:
    """Lists in lists, of which each has some empty objects by default: as many leaves as size squared at the most."""
    levels = random.randint(2, 6)
    many = max(2, min(12, round((size * size) ** (1 / levels))))
    schema: Schema = of({name: {**TEXT, "default": name} for name in names("d", random.choice((1, 5)))})
    for _ in range(levels):
        schema = of({"l": listed(schema, default=[{}] * many)})
    return schema


def nested_objects(random: Random, size: int) -> Schema:
    """Objects in objects that are there by default, some in each."""
    levels = random.randint(2, 7)
    many = max(2, min(12, round((size * 4) ** (1 / levels))))
    schema: Schema = of({"x": {**NUMBER, "default": 1}}, default={})
    for _ in range(levels):
        schema = of(dict.fromkeys(names("o", many), schema), default={})
    return schema


def defaulted_items(random: Random, size: int) -> Schema:
    """Each item of a list gets very many fields."""
    return listed(of({name: {**TEXT, "default": name * random.choice((1, 20))} for name in names("p", size)}))


def default_of_items(random: Random, size: int) -> Schema:
    """Each item gets one long field."""
    return listed(of({"l": listed(NUMBER, default=list(range(size)))}))


def patterned(random: Random, size: int) -> Schema:
    """Fields with patterns, each with its own."""
    return of({name: {**TEXT, "pattern": pattern(random, index)} for index, name in enumerate(names("p", size))})


def patterned_map(random: Random, size: int) -> Schema:
    return {"type": "object", "additionalProperties": {**TEXT, "pattern": pattern(random, size)}}


def patterned_items(random: Random, size: int) -> Schema:
    return listed({**TEXT, "allOf": [{"pattern": pattern(random, number, 50)} for number in range(size)]})


def enum_of_texts(random: Random, size: int) -> Schema:
    return listed({**TEXT, "enum": names("e" * random.choice((1, 50)), size)})


def enum_of_numbers(random: Random, size: int) -> Schema:
    return listed({**NUMBER, "enum": list(range(size))})


def enum_of_objects(random: Random, size: int) -> Schema:
    return listed({**ANY, "enum": [{"a": {"b": [number]}} for number in range(size)]})


def branches(random: Random, size: int) -> Schema:
    """anyOf, oneOf and not, one in the other, over the items of a list."""
    kinds: tuple[Callable[[int], Schema], ...] = (
        lambda number: {"pattern": pattern(random, number, 20)},
        lambda number: {"maxLength": number % 7},
        lambda number: {"not": {"pattern": f"^a{number}"}},
        lambda number: {"enum": [f"v{number}", "a"]},
        lambda number: {"not": {"not": {"not": {"minLength": number}}}},
    )
    make = random.choice(kinds)
    inner = [make(number) for number in range(size)]
    keyword = random.choice(("anyOf", "oneOf", "allOf"))
    across = random.choice((1, 2, 16))
    if across > 1:
        step = max(1, size // across)
        inner = [{random.choice(("anyOf", "oneOf")): inner[start : start + step]} for start in range(0, size, step)]
    return listed({**TEXT, keyword: inner})


def branches_of_objects(random: Random, size: int) -> Schema:
    """Branches that ask for fields, and that judge them."""
    properties = names("p", 20)
    keyword = random.choice(("anyOf", "oneOf"))
    chosen = [
        {"required": [random.choice(properties)], "properties": {random.choice(properties): {"enum": [number]}}}
        for number in range(size)
    ]
    return listed(of(dict.fromkeys(properties, NUMBER)) | {keyword: chosen})


def a_set(random: Random, size: int) -> Schema:
    items = random.choice((TEXT, NUMBER, of({"a": NUMBER, "b": TEXT}, **{"x-kubernetes-map-type": "atomic"})))
    return listed(items, **{"x-kubernetes-list-type": "set"})


def keyed(random: Random, size: int) -> Schema:
    """A list by several keys, of which each has a default."""
    keys = names("k", min(40, size))
    properties = {key: {**TEXT, "default": "v"} for key in keys}
    more = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys}
    return listed(of(properties | {"v": {**NUMBER, "default": 3}}), **more)


def _stem(size: int) -> str:
    """Of the names of fields, which are short or long."""
    return "f" * (30 if size % 2 else 1)


def wide(random: Random, size: int) -> Schema:
    """Items that lack very many fields."""
    fields = names(_stem(size), size)
    return listed(of(dict.fromkeys(fields, NUMBER), required=fields))


def many_fields(random: Random, size: int) -> Schema:
    """A tree of fields that nobody uses."""
    inner = of({name: {**TEXT, "maxLength": 5, "format": random.choice(FORMATS)} for name in names("q", 20)})
    return of(dict.fromkeys(names("p", size), inner))


def formatted(random: Random, size: int) -> Schema:
    return listed({**TEXT, "format": random.choice(FORMATS)})


def numbered(random: Random, size: int) -> Schema:
    return listed({"type": "number", "multipleOf": 0.1, "minimum": -1e300, "exclusiveMinimum": True})


def either(random: Random, size: int) -> Schema:
    return listed({"x-kubernetes-int-or-string": True, "pattern": pattern(random, size, 20)})


def embedded(random: Random, size: int) -> Schema:
    """Whole objects in a list."""
    return listed({**ANY, "x-kubernetes-embedded-resource": True})


def anything(random: Random, size: int) -> Schema:
    return {"x-kubernetes-preserve-unknown-fields": True}


RULES = (
    "self.all(a, self.all(b, a != b || true))",
    "self.all(a, self.exists_one(b, a == b) || true)",
    "self.filter(a, self.filter(b, b == a).size() >= 0).size() >= 0",
    "self.map(a, self.map(b, a + b)).size() >= 0",
    "self.all(p, 'abcabcabc'.matches(p) || true)",
    "self.all(a, a.split('').size() >= 0)",
    "self.all(a, a.replace('a', 'bb').replace('b', 'aa').size() >= 0)",
    "self.all(a, a.contains('aaaaaaaaab') || true)",
    "self.all(a, (a + a).find('[a-z]+x').size() >= 0)",
    "self.all(a, a.findAll('[a-z]').size() >= 0)",
    "self.isSorted() || true",
    "(self + self + self).size() >= 0",
    "self.indexOf('none') < 0 || self.lastIndexOf('none') < 0",
    "self == oldSelf || true",
    "self.all(a, a in self)",
    "self.all(a, a in ['x', 'y', a])",
    "self.all(a, isURL(a) || !isURL(a))",
    "self.all(a, a.lowerAscii() == a || quantity('1').isLessThan(quantity('2')))",
)


def ruled(random: Random, size: int) -> Schema:
    """Rules over a list of texts, whose bounds are as large as the estimate lets them be."""
    rules = random.sample(RULES, k=min(len(RULES), random.choice((1, 1, 2, 4))))
    made: list[Schema] = [{"rule": rule} for rule in rules]
    if random.random() < 0.3:
        made[0]["messageExpression"] = "'not: ' + self.map(a, a + a).join(', ')"
    bounds = random.choice(((20, 20), (100, 10), (200, 20), (1000, 5)))
    return listed({**TEXT, "maxLength": bounds[1]}, maxItems=bounds[0], **{"x-kubernetes-validations": made})


def ruled_items(random: Random, size: int) -> Schema:
    """Many rules for each item."""
    rules = [{"rule": f"self.a != 'v{number}'", "message": f"is v{number}"} for number in range(min(size, 200))]
    return listed(of({"a": {**TEXT, "maxLength": 9}}, **{"x-kubernetes-validations": rules}), maxItems=2000)


def _items(make: Callable[[Random, int, int], Any]) -> Callable[[Random, int, int], list[Any]]:
    return lambda random, size, many: [make(random, size, number) for number in range(many)]


def _deep(random: Random, size: int, many: int) -> Any:
    """Something deep, wide or both."""
    form = random.randrange(5)
    if form == 0:
        value: Any = 1
        for _ in range(min(many, 400)):
            value = {"a": value} if random.random() < 0.5 else [value]
        return value
    if form == 1:
        return {f"k{number}": number for number in range(many)}
    if form == 2:
        return [{}] * many
    if form == 3:
        return {"a": "x\n" * many * 4}
    return {f"k{number}": {f"j{place}": [place] for place in range(10)} for number in range(many // 10)}


def _words(random: Random, size: int, many: int) -> list[str]:
    return texts(random, many, random.choice((1, 10, 200 if many < 200 else 20)))


def _empty(random: Random, size: int, many: int) -> Any:
    return {}


def _none(random: Random, size: int, many: int) -> list[Any]:
    """Of values that fit nobody knows one."""
    return []


def _full(random: Random, size: int, many: int) -> list[Any]:
    """Items of which each has all that it must have: so few that they are not too many."""
    return [dict.fromkeys(names(_stem(size), size), 1)] * min(many, 3000 // size)


FORMS: dict[str, Form] = {
    "nested defaults": Form(nested_defaults, lambda r, n, m: {"l": [{}] * min(m, 50)} if r.random() < 0.5 else {}),
    "nested default objects": Form(nested_objects, lambda r, n, m: {}),
    "items with default fields": Form(defaulted_items, lambda r, n, m: [{}] * m),
    "items with a long default": Form(default_of_items, lambda r, n, m: [{}] * m),
    "fields with patterns": Form(
        patterned,
        lambda r, n, m: dict(zip(names("p", n), _words(r, n, n), strict=True)),
        lambda r, n, m: {},
    ),
    "a map with a pattern": Form(
        patterned_map,
        lambda r, n, m: dict(zip(names("k", m), _words(r, n, m), strict=True)),
        lambda r, n, m: {},
    ),
    "items with patterns": Form(patterned_items, _words, _none),
    "an enum of texts": Form(
        enum_of_texts, _items(lambda r, n, k: f"e{n - 1 if k % 2 else -k}"), lambda r, n, m: r.choice(([], ["x"] * m))
    ),
    "an enum of numbers": Form(
        enum_of_numbers, _items(lambda r, n, k: n - 1 if k % 2 else n + k), _items(lambda r, n, k: n - 1)
    ),
    "an enum of objects": Form(
        enum_of_objects,
        _items(lambda r, n, k: {"a": {"b": [n - 1 if k % 2 else n + k]}}),
        _items(lambda r, n, k: {"a": {"b": [n - 1]}}),
    ),
    "branches": Form(branches, _words, _none),
    "branches of objects": Form(branches_of_objects, _items(lambda r, n, k: {f"p{k % 20}": k}), _none),
    "a set": Form(a_set, lambda r, n, m: r.choice((names("s", m), ["s"] * m, list(range(m)), [{"a": 1}] * m)), _none),
    "a list by keys": Form(
        keyed,
        _items(lambda r, n, k: r.choice(({"k0": f"v{k}"}, {"k0": "same"}, {}))),
        _items(lambda r, n, k: {"k0": f"v{k}"}),
    ),
    "items that lack fields": Form(wide, lambda r, n, m: [{}] * m, _full),
    "many fields": Form(many_fields, lambda r, n, m: {f"p{k}": {"q1": "x" * 9} for k in range(min(n, m))}, _empty),
    "formats": Form(formatted, _words, _none),
    "numbers": Form(numbered, _items(lambda r, n, k: r.choice((k, k / 7, 1e300, -k))), _none),
    "either": Form(either, _items(lambda r, n, k: r.choice((k, "x" * 9, 1.5))), _items(lambda r, n, k: k)),
    "embedded objects": Form(
        embedded, _items(lambda r, n, k: {"apiVersion": "v1", "kind": "A", "metadata": {"name": f"a{k}"}})
    ),
    "anything": Form(anything, _deep),
    "rules": Form(ruled, lambda r, n, m: texts(r, min(m, 1000), 20), lambda r, n, m: texts(r, min(m, 20), 5)),
    "rules for items": Form(
        ruled_items, _items(lambda r, n, k: {"a": f"v{k % max(n, 1)}"}), _items(lambda r, n, k: {"a": "x"})
    ),
}
