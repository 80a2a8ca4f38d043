"""Definitions from classes: what types and annotations say, and what cannot be said."""

from __future__ import annotations

import dataclasses
import enum
import sys
import types
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from podless import crd
from podless.models import Inexpressible, ObjectMeta, Resource, column, kind, rule, schema, schema_of
from podless.models.objects import read_object
from podless.models.render import write_modules
from podless.runtime.jsonobject import Object


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass(kw_only=True)
class WidgetSpec:
    __podless__ = (rule("self.low <= self.high", message="low is above high"),)

    low: Annotated[int, schema(minimum=0)]
    high: int = 10
    """The upper bound."""
    mode: Literal["on", "off"] = "on"
    color: Color | None = None
    port: int | str | None = None
    labels: dict[str, str] = field(default_factory=dict)
    names: list[Annotated[str, schema(max_length=5)]] | None = None
    anything: Any = None


@kind(
    "example.com", "v1", short_names=["wd"], status=True, columns=[column("Low", ".spec.low", "integer")],
    scale={"specReplicasPath": ".spec.low", "statusReplicasPath": ".status.low"},
)  # fmt: skip
@dataclass(kw_only=True)
class Widget(Resource):
    """A widget."""

    metadata: ObjectMeta = field(default_factory=ObjectMeta)
    spec: WidgetSpec


def test_a_definition_says_what_the_classes_say() -> None:
    made = crd(Widget)
    assert made["metadata"] == {"name": "widgets.example.com"}
    names = {"kind": "Widget", "plural": "widgets", "singular": "widget", "listKind": "WidgetList"}
    assert made["spec"]["names"] == names | {"shortNames": ["wd"]}
    [version] = made["spec"]["versions"]
    assert version["subresources"]["status"] == {}
    assert version["additionalPrinterColumns"] == [{"name": "Low", "type": "integer", "jsonPath": ".spec.low"}]
    whole = version["schema"]["openAPIV3Schema"]
    assert (whole["description"], whole["required"]) == ("A widget.", ["spec"])
    assert whole["properties"]["spec"] == {
        "type": "object",
        "required": ["low"],
        "x-kubernetes-validations": [{"rule": "self.low <= self.high", "message": "low is above high"}],
        "properties": {
            "low": {"type": "integer", "minimum": 0},
            "high": {"type": "integer", "default": 10, "description": "The upper bound."},
            "mode": {"type": "string", "enum": ["on", "off"], "default": "on"},
            "color": {"type": "string", "enum": ["red", "blue"]},
            "port": {"x-kubernetes-int-or-string": True},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}, "default": {}},
            "names": {"type": "array", "items": {"type": "string", "maxLength": 5}},
            "anything": {"x-kubernetes-preserve-unknown-fields": True},
        },
    }


def test_a_server_takes_the_definition_and_the_object_says_what_the_server_says() -> None:
    from podless import Server
    from podless.remote.cluster import Refused

    good, bad = Widget(spec=WidgetSpec(low=1)), Widget(spec=WidgetSpec(low=20))
    good.metadata.name = bad.metadata.name = "a"
    assert good.check() == []
    [said] = bad.check()
    assert said.body == "Invalid value: low is above high"
    with Server() as server:
        server.apply(crd(Widget))
        with pytest.raises(Refused, match="low is above high"):
            server.create(bad.to_dict())
        made = Widget.from_dict(server.create(good.to_dict()))
    assert made.spec == good.spec
    assert made.metadata.uid


class Spec(BaseModel):
    size: int = Field(ge=1, lt=9, description="How large.")
    name: Annotated[str, Field(max_length=5, pattern="^a")] = "a"
    other: str = Field(alias="from")


class Status(TypedDict, total=False):
    ready: bool


@kind("example.com", "v1")
@dataclass
class Thing:
    spec: Spec
    status: Status | None = None


def test_pydantic_models_and_typed_dicts_are_classes_too() -> None:
    assert schema_of(Thing)["properties"]["spec"] == {
        "type": "object",
        "required": ["size", "from"],
        "properties": {
            "size": {
                "type": "integer", "minimum": 1, "maximum": 9, "exclusiveMaximum": True, "description": "How large."
            },
            "name": {"type": "string", "maxLength": 5, "pattern": "^a", "default": "a"},
            "from": {"type": "string"},
        },
    }  # fmt: skip
    assert schema_of(Thing)["properties"]["status"] == {"type": "object", "properties": {"ready": {"type": "boolean"}}}


@dataclass
class Loop:
    inner: list[Loop]


@pytest.mark.parametrize(
    ("hint", "said"),
    [
        (set[int], "Thing.spec: a structural schema cannot express the type set[int]"),
        (dict[int, str], "Thing.spec: keys of a map are str, not int"),
        (int | bool, "Thing.spec: a structural schema knows no union but int | str"),
        (list[set[str]], "Thing.spec[]: a structural schema cannot express the type set[str]"),
        (dict[str, object | int], "Thing.spec{}: a structural schema knows no union but int | str"),
        (Literal["a", 1], "Thing.spec: the values of an enum have one type: str, int, float or bool"),
        (Loop, "Thing.spec.inner[]: Loop contains itself; a structural schema cannot say that"),
    ],
)
def test_what_cannot_be_expressed_is_told_with_its_place(hint: Any, said: str) -> None:
    made = dataclasses.make_dataclass("Thing", [("spec", hint)])
    with pytest.raises(Inexpressible) as found:
        schema_of(kind("example.com", "v1")(made))
    assert str(found.value) == said


def test_one_version_is_stored() -> None:
    made = [kind("example.com", version)(dataclasses.make_dataclass("Thing", [])) for version in ("v1", "v2")]
    with pytest.raises(Inexpressible, match="one version is to be stored, and not 2: Thing, Thing"):
        crd(*made)


# whatever a class says, its definition makes a class that says the same

_NAMES = st.sampled_from(["size", "from", "class", "x-y", "dict", "check", "Int", "field", "a1", "schema", "kind"])
_SCALARS = st.one_of(
    st.just({"type": "boolean"}),
    st.builds(lambda low: {"type": "integer", "minimum": low}, st.integers(-9, 9)),
    st.just({"type": "number", "multipleOf": 0.5}),
    st.builds(lambda text: {"type": "string", "pattern": text}, st.sampled_from(["^\"'$", "a\\b", "'", "é\n"])),
    st.builds(
        lambda values: {"type": "string", "enum": values}, st.lists(st.text(max_size=3), min_size=1, unique=True)
    ),
    st.just({"x-kubernetes-int-or-string": True}),
    st.just({"type": "string", "format": "date-time", "nullable": True, "default": "x"}),
)


def _objects(inner: st.SearchStrategy[Object]) -> st.SearchStrategy[Object]:
    def make(parts: dict[str, Object], needed: list[str]) -> Object:
        required = [name for name in needed if name in parts]
        return {"type": "object", "properties": parts} | ({"required": required} if required else {})

    parts = st.dictionaries(_NAMES, inner, min_size=1, max_size=4)
    return st.builds(make, parts, st.lists(_NAMES, unique=True, max_size=3))


SCHEMAS = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(
        _objects(inner),
        st.builds(lambda items: {"type": "array", "items": items, "maxItems": 3}, inner),
        st.builds(lambda values: {"type": "object", "additionalProperties": values}, inner),
    ),
    max_leaves=8,
)


def load_class(text: str, name: str = "Thing") -> Any:
    module = types.ModuleType("made_by_hypothesis")
    sys.modules[module.__name__] = module
    exec(compile(text, "made.py", "exec"), module.__dict__)
    return getattr(module, name)


def ordered(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: ordered(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return sorted(value) if key == "required" else [ordered(item) for item in value]
    return value


def define_things(spec: Object) -> Object:
    head: Object = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"}}
    names = {"kind": "Thing", "plural": "things", "singular": "thing", "listKind": "ThingList"}
    openapi = {"type": "object", "properties": {**head, "spec": spec}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": openapi}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com"},
        "spec": {"group": "example.com", "names": names, "scope": "Namespaced", "versions": [version]},
    }


@pytest.mark.parametrize("style", ["dataclass", "pydantic"])
@given(spec=SCHEMAS)
def test_class_and_definition_are_each_other_s_inverse(style: str, spec: Object) -> None:
    definition = define_things(spec)
    [text] = write_modules([definition], style).values()
    made = crd(load_class(text))
    assert ordered(made) == ordered(definition)
    [again] = write_modules([made], style).values()
    assert again == text


# names of fields that Python, pydantic, a class or a module has other uses for
ODD = (
    "class", "None", "a-b", "a_b", "a.b", "é", "$ref", "__init__", "__podless__", "self", "model_config", "model_dump",
    "model_validate", "check", "to_dict", "extra_", "metadata", "kind", "1a", "_", "x" * 60, "list", "int", "Any",
    "Field", "Literal", "dataclass", "field", "schema", "ThingSpec", "ThingSpecClass", "two words", "new\nline",
    "quote\"'",
)  # fmt: skip
TYPES: tuple[Object, ...] = (
    {"type": "string", "enum": ["a", "b'\"\n"]},
    {"type": "array", "items": {"type": "string"}},
    {"type": "object", "properties": {"class": {"type": "integer"}}},
    {"x-kubernetes-preserve-unknown-fields": True},
    {"x-kubernetes-int-or-string": True},
)
VALUES = ("a", ["x"], {"class": 1}, {"any": "thing"}, "1%")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("style", ["dataclass", "pydantic"])
@pytest.mark.parametrize("shift", range(len(TYPES)))
def test_fields_may_have_any_name(style: str, shift: int) -> None:
    count = len(TYPES)
    properties = {name: TYPES[(index + shift) % count] for index, name in enumerate(ODD)}
    definition = define_things({"type": "object", "properties": properties})
    [text] = write_modules([definition], style).values()
    cls = load_class(text)
    assert ordered(crd(cls)) == ordered(definition)
    spec = {name: VALUES[(index + shift) % count] for index, name in enumerate(ODD)}
    obj = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": spec}
    made = cls.from_dict(obj)
    assert made.to_dict() == obj
    assert made.check() == []


def test_a_null_in_place_of_a_default_is_dropped() -> None:
    definition = define_things({"type": "object", "properties": {"a": {"type": "string", "default": "x"}}})
    for style in ("dataclass", "pydantic"):
        [text] = write_modules([definition], style).values()
        made = load_class(text).from_dict({"metadata": {"name": "a"}, "spec": {"a": None}})
        assert made.spec.a == "x"
        assert made.check() == []


@kind("example.com", "v1", metadata={"properties": {"name": {"type": "string", "maxLength": 3}}})
@dataclass
class Short(Resource):
    metadata: ObjectMeta = field(default_factory=ObjectMeta)


def test_a_schema_of_metadata_is_kept_and_checked() -> None:
    made = crd(Short)
    [version] = made["spec"]["versions"]
    metadata = version["schema"]["openAPIV3Schema"]["properties"]["metadata"]
    assert metadata == {"type": "object", "properties": {"name": {"type": "string", "maxLength": 3}}}
    assert Short.from_dict({"metadata": {"name": "abc"}}).check() == []
    assert [".".join(map(str, error.at)) for error in Short.from_dict({"metadata": {"name": "abcd"}}).check()] == [
        "metadata.name"
    ]
    for style in ("dataclass", "pydantic"):
        [text] = write_modules([made], style).values()
        assert crd(load_class(text, "Short")) == made


@pytest.mark.parametrize("name", ["ObjectMeta", "OwnerReference"])
def test_both_styles_have_the_same_metadata(name: str) -> None:
    """Type checkers must see the fields of both, so they stand in two modules."""
    from podless.models import pydantic as models
    from podless.models import resource

    plain = {one.name: one.type for one in dataclasses.fields(getattr(resource, name)) if one.name != "extra_"}
    assert plain == getattr(models, name).__annotations__


def test_whole_numbers_are_integers_however_they_are_written() -> None:
    class Spec(BaseModel, strict=True):
        size: int = 0
        sizes: dict[str, list[int]] = {}
        part: float = 0.0

    given = {"size": -0.0, "sizes": {"a": [1.0, 2]}, "part": 1.0}
    assert read_object(Spec, given) == Spec(size=0, sizes={"a": [1, 2]}, part=1.0)
    for wrong in (1.5, 1e300, float("nan")):
        with pytest.raises(ValueError, match="int"):
            read_object(Spec, {"size": wrong})


def test_an_unknown_keyword_is_rejected() -> None:
    with pytest.raises(TypeError, match="no keyword maximun; did you mean maximum"):
        schema(maximun=3)
    assert schema(x_kubernetes_list_type="set", not_={}, max_length=None).given.keys() == {
        "x-kubernetes-list-type",
        "not",
        "maxLength",
    }
