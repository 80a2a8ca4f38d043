"""Random structural schemas, and values that nearly fit them."""

from __future__ import annotations

from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from podless.schema import structural

NAMES = st.sampled_from(["a", "b", "c", "kind", "metadata"])
TEXTS = st.sampled_from(["", "a", "ab", "abc", "x1", "2020-01-02", "é", "😀😀", "10.0.0.1"])
NUMBERS = st.one_of(st.integers(-3, 9), st.sampled_from([0.5, 1.5, 2.25, 2**40, -(2**33), 1e20, 0.3, 123456789.05]))
MULTIPLES = st.sampled_from([1, 2, 3, 0.5, 0.1])
SCALARS = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS)
# rules without a type, below junctors and junctors in them: of numbers, texts and lists
RULES = st.sampled_from(
    [
        {"minimum": 0.5},
        {"maximum": 3},
        {"minimum": 0, "exclusiveMinimum": True},
        {"multipleOf": 2},
        {"multipleOf": 0.1},
        {"maxLength": 1},
        {"pattern": "^a"},
        {"maxItems": 1},
        {"enum": [1, "a"]},
        {"enum": [None, 2]},
        {},
    ]
)


def joined(name: str, parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Schemas under a junctor."""
    return {name: parts[0] if name == "not" else parts}


JUNCTORS = st.sampled_from(["allOf", "anyOf", "oneOf", "not"])
JUNCTION = st.builds(joined, JUNCTORS, st.lists(RULES, min_size=1, max_size=2))
DEEP = st.builds(joined, JUNCTORS, st.lists(RULES | JUNCTION, min_size=1, max_size=2))
ALTERNATIVES = st.one_of(*[st.just(dict[str, Any]())] * 4, JUNCTION, DEEP)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=8,
)


def some(draw: Any, **options: st.SearchStrategy[Any]) -> dict[str, Any]:
    """Some of the keywords, each rarely."""
    return {name.replace("_", "-"): draw(value) for name, value in options.items() if draw(st.integers(0, 5)) == 0}


@st.composite
def strings(draw: Any) -> dict[str, Any]:
    more = some(
        draw,
        maxLength=st.integers(0, 3),
        minLength=st.integers(0, 2),
        pattern=st.sampled_from(["^a", "b$", "[0-9]+", "^.{2}$", "(x|é)"]),
        format=st.sampled_from(["date", "ipv4", "unknown", "byte"]),
        enum=st.lists(TEXTS, min_size=1, max_size=3),
    )
    return dict[str, Any]({"type": "string"} | more | draw(ALTERNATIVES))


@st.composite
def numbers(draw: Any) -> dict[str, Any]:
    kind = draw(st.sampled_from(["integer", "number"]))
    more = some(
        draw,
        maximum=st.integers(-2, 8),
        minimum=st.integers(-2, 8),
        exclusiveMaximum=st.booleans(),
        exclusiveMinimum=st.booleans(),
        multipleOf=MULTIPLES,
        format=st.sampled_from(["int32", "int64"] if kind == "integer" else ["double", "float"]),
        enum=st.lists(st.integers(-3, 9), min_size=1, max_size=3),
    )
    return dict[str, Any]({"type": kind} | more | draw(ALTERNATIVES))


@st.composite
def logic(draw: Any, schema: dict[str, Any]) -> dict[str, Any]:
    """Validations of an object's declared fields, under a junctor."""
    names = list(schema.get("properties") or {})
    if not names:
        return {}
    part = st.fixed_dictionaries(
        {},
        optional={
            "required": st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True),
            "minProperties": st.integers(0, 3),
            "properties": st.dictionaries(
                st.sampled_from([name for name in names if name != "metadata"] or ["zz"]),
                st.fixed_dictionaries(
                    {}, optional={"enum": st.lists(SCALARS, min_size=1, max_size=2), "minimum": st.just(2)}
                )
                | JUNCTION,
                max_size=2,
            ),
        },
    )
    parts = st.lists(part, min_size=1, max_size=3)
    found = some(draw, allOf=parts, anyOf=parts, oneOf=parts)
    found |= {"not": draw(part)} if draw(st.integers(0, 5)) == 0 else {}
    return found


@st.composite
def nodes(draw: Any, depth: int = 3) -> dict[str, Any]:
    """A schema below the root."""
    choice = draw(st.integers(0, 9 if depth else 4))
    if choice <= 1:
        schema = draw(strings())
    elif choice <= 2:
        schema = draw(numbers())
    elif choice == 3:
        schema = {"x-kubernetes-int-or-string": True}
        if draw(st.booleans()):
            schema["anyOf"] = [{"type": "integer"}, {"type": "string"}]
    elif choice == 4:
        schema = draw(st.sampled_from([{"type": "boolean"}, {"x-kubernetes-preserve-unknown-fields": True}]))
    elif choice <= 6:
        schema = draw(lists(depth))
    else:
        schema = draw(objects(depth))
    schema = dict(schema) | some(draw, nullable=st.just(True))
    if draw(st.integers(0, 3)) == 0:
        schema["default"] = draw(fitting(schema) | JSON)
        if structural({"type": "object", "properties": {"p": schema}}, "x"):
            del schema["default"]
    return schema


@st.composite
def lists(draw: Any, depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "array", "items": draw(nodes(depth - 1))}
    schema |= some(draw, maxItems=st.integers(0, 3), minItems=st.integers(0, 2))
    schema |= some(draw, x_kubernetes_preserve_unknown_fields=st.just(True), x_kubernetes_list_type=st.just("set"))
    if schema["items"].get("type") == "object" and schema["items"].get("properties") and draw(st.booleans()):
        schema["x-kubernetes-list-type"] = "map"
        names = sorted(schema["items"]["properties"])
        schema["x-kubernetes-list-map-keys"] = names[: draw(st.integers(1, 2))]
    return schema


@st.composite
def objects(draw: Any, depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object"}
    if draw(st.booleans()):
        extra = draw(st.one_of(st.booleans(), nodes(depth - 1)))
        schema["additionalProperties"] = extra
    else:
        schema["properties"] = draw(st.dictionaries(NAMES, nodes(depth - 1), max_size=4))
    schema |= some(
        draw,
        maxProperties=st.integers(0, 3),
        minProperties=st.integers(0, 2),
        required=st.lists(NAMES, min_size=1, max_size=2, unique=True),
        x_kubernetes_preserve_unknown_fields=st.just(True),
    )
    schema.update(draw(logic(schema)))
    return schema


def fitting(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values that mostly have the types of a schema."""
    kind = schema.get("type")
    if kind == "object":
        named = {name: maybe(part) for name, part in (schema.get("properties") or {}).items()}
        extra = schema.get("additionalProperties")
        fields = st.fixed_dictionaries({}, optional=named)
        if isinstance(extra, dict):
            return st.dictionaries(NAMES, maybe(extra), max_size=3)
        return (
            st.builds(lambda one, two: one | two, fields, st.dictionaries(NAMES | st.just("zz"), JSON, max_size=1))
            | fields
        )
    if kind == "array":
        return st.lists(maybe(schema["items"]), max_size=3)
    simple = {"string": TEXTS, "integer": st.integers(-3, 9), "number": NUMBERS, "boolean": st.booleans()}
    if schema.get("enum"):
        return st.sampled_from(schema["enum"]) | simple[kind or "string"]
    return simple.get(kind or "", st.one_of(TEXTS, st.integers(0, 5), JSON))


def maybe(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Mostly fitting values, null, and sometimes anything."""
    return st.one_of(fitting(schema), fitting(schema), fitting(schema), st.none(), JSON)


@st.composite
def cases(draw: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """A schema of a whole resource and an object."""
    properties = draw(st.dictionaries(st.sampled_from(["spec", "status", "data"]), nodes(), min_size=1, max_size=2))
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    schema |= some(draw, x_kubernetes_preserve_unknown_fields=st.just(True), required=st.just(["spec"]))
    value = {"apiVersion": "v1", "kind": "X", "metadata": {"name": "n"}} | draw(fitting(schema))
    return schema, value


METADATA = st.sampled_from(
    [{}, {"name": "a"}, {"labels": {"a": "b"}}, {"labels": {"a": 1}}, {"x": 1}, {"name": None}, {"name": "A_"}, 5, None]
)
HEAD = st.fixed_dictionaries({"apiVersion": st.just("v1"), "kind": st.just("Pod")}, optional={"metadata": METADATA})


@st.composite
def resource_cases(draw: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """A case with embedded resources in the schema and in the object."""
    schema, value = draw(cases())
    todo = list(schema["properties"].values())
    while todo:
        node = todo.pop()
        todo += [node["items"]] if "items" in node else node.get("properties", {}).values()
        if "properties" not in node or draw(st.integers(0, 3)) == 0:
            continue
        node["x-kubernetes-embedded-resource"] = True
        node["properties"]["metadata"] = {"type": "object"} | some(draw, default=METADATA)
        kind = {"type": "string"} | some(draw, default=st.just("Pod"), maxLength=st.just(3))
        node["properties"] |= some(draw, kind=st.just(kind))
    assume(not structural(schema, "x"))

    def add_heads(item: Any) -> Any:
        if isinstance(item, list):
            return list(map(add_heads, item))
        if not isinstance(item, dict):
            return item
        return {key: add_heads(part) for key, part in item.items()} | (draw(HEAD) if draw(st.integers(0, 4)) else {})

    return schema, value | {name: add_heads(value[name]) for name in value if name not in ("kind", "metadata")}
