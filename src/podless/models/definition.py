"""CustomResourceDefinitions from classes: dataclasses, pydantic models and TypedDicts with annotations.

    @kind("example.com", "v1", plural="widgets", status=True)
    @dataclass
    class Widget(Resource):
        metadata: ObjectMeta
        spec: WidgetSpec

pydantic is never imported here; its models are recognized by their attributes.
"""

from __future__ import annotations

import ast
import dataclasses
import datetime
import enum
import inspect
import itertools
import textwrap
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from podless.models.marks import KIND, MARKS, RULES, Keywords, Named
from podless.models.objects import EXTRA, get_json_name, write_object
from podless.runtime.jsonobject import Object

PRESERVE = "x-kubernetes-preserve-unknown-fields"
INT_OR_STRING = "x-kubernetes-int-or-string"
HEAD = ("apiVersion", "kind", "metadata")
_PLAIN: Mapping[Any, Object] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    Any: {PRESERVE: True},
    object: {PRESERVE: True},
    datetime.datetime: {"type": "string", "format": "date-time"},
    datetime.date: {"type": "string", "format": "date"},
    bytes: {"type": "string", "format": "byte"},
}
# names of bounds in pydantic and annotated_types -> (keyword, exclusive)
_BOUNDS = {
    "ge": ("minimum", ""), "gt": ("minimum", "exclusiveMinimum"),
    "le": ("maximum", ""), "lt": ("maximum", "exclusiveMaximum"),
    "multiple_of": ("multipleOf", ""),
}  # fmt: skip
_LENGTHS = {
    "string": ("minLength", "maxLength"),
    "array": ("minItems", "maxItems"),
    "object": ("minProperties", "maxProperties"),
}
_NOTHING: Any = object()


class Inexpressible(TypeError):
    """A structural schema cannot express a class. The text names the place."""


class _Member(NamedTuple):
    """A field of a class. default: as JSON, _NOTHING if there is none. marks: its annotations."""

    name: str
    hint: Any
    required: bool
    default: Any
    marks: tuple[Any, ...]
    description: str


def read_kind(cls: type) -> Named:
    """Return the declaration of a class by the decorator `kind`. Raises Inexpressible for a class without it."""
    named = getattr(cls, KIND, None)
    if not isinstance(named, Named):
        name = getattr(cls, "__name__", cls)
        raise Inexpressible(f"{name}: the class is not a kind: decorate it with podless.models.kind")
    return named


def crd(*classes: type) -> Object:
    """Return the CustomResourceDefinition of a kind. classes: one for each of its versions.

    Raises Inexpressible, with the place, for types that a structural schema cannot express.
    """
    kinds = [(read_kind(cls), cls) for cls in classes]
    first = kinds[0][0]
    plural = first.given["names"]["plural"]
    for named, cls in kinds[1:]:
        identity = (named.group, named.given["names"], named.given["scope"])
        if identity != (first.group, first.given["names"], first.given["scope"]):
            raise Inexpressible(f"{cls.__name__}: group, names and scope differ from those of {classes[0].__name__}")
    stored = [cls.__name__ for named, cls in kinds if named.given["version"]["storage"]]
    if len(stored) != 1:
        raise Inexpressible(f"one version is to be stored, and not {len(stored)}: {', '.join(stored) or 'none'}")
    versions = [named.given["version"] | {"schema": {"openAPIV3Schema": schema_of(cls)}} for named, cls in kinds]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{first.group}"},
        "spec": {
            "group": first.group,
            "names": first.given["names"],
            "scope": first.given["scope"],
            "versions": versions,
        },
    }


def schema_of(cls: type) -> Object:
    """Return the openAPIV3Schema of a class of whole objects. Raises Inexpressible."""
    root = _describe_class(cls, cls.__name__, ())
    fields = {name: node for name, node in root.get("properties", {}).items() if name not in HEAD}
    metadata = {"type": "object"} | read_kind(cls).metadata
    root["properties"] = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": metadata} | fields
    required = [name for name in root.pop("required", ()) if name not in HEAD]
    marked = next((mark.given["required"] for mark in _list_own_marks(cls) if "required" in mark.given), required)
    return root | ({"required": marked} if marked else {})


def _list_own_marks(cls: type) -> list[Keywords]:
    marks = cls.__dict__.get(MARKS, ())
    return [marks] if isinstance(marks, Keywords) else [mark for mark in marks if isinstance(mark, Keywords)]


def _describe_class(cls: type, path: str, within: tuple[type, ...]) -> Object:
    if cls in within:
        raise Inexpressible(f"{path}: {cls.__name__} contains itself; a structural schema cannot say that")
    properties: Object = {}
    required = []
    for member in _list_members(cls):
        if not within and member.name in HEAD:
            continue
        member_schema = _describe_type(member.hint, f"{path}.{member.name}", (*within, cls))
        if member.description:
            member_schema["description"] = member.description
        for mark in member.marks:
            _add_mark(member_schema, mark, f"{path}.{member.name}")
        if member.default is not _NOTHING and "default" not in member_schema:
            member_schema["default"] = member.default
        properties[member.name] = member_schema
        if member.required:
            required.append(member.name)
    class_schema: Object = {"type": "object"}
    if (text := _read_own_doc(cls)) and not within:
        class_schema["description"] = text
    if properties:
        class_schema["properties"] = properties
    if required:
        class_schema["required"] = required
    for mark in _list_own_marks(cls):
        _add_mark(class_schema, mark, path)
    return class_schema


def _read_own_doc(cls: type) -> str:
    doc = cls.__dict__.get("__doc__") or ""
    made_up = doc.startswith(f"{cls.__name__}(")  # dataclasses generate this docstring
    return "" if made_up else inspect.cleandoc(doc)


def _list_members(cls: type) -> Iterator[_Member]:
    """Yield the fields of a class. Raises Inexpressible for annotations with unknown names."""
    try:
        hints = typing.get_type_hints(cls, include_extras=True)
    except NameError as error:
        raise Inexpressible(f"{cls.__name__}: {error}") from None
    docs = _read_attribute_docs(cls)
    if dataclasses.is_dataclass(cls):
        for declared in dataclasses.fields(cls):
            if declared.name != EXTRA:
                yield _read_dataclass_member(declared, hints[declared.name], docs.get(declared.name, ""))
    elif hasattr(cls, "model_fields"):
        fields: Any = cls.model_fields
        for name, info in fields.items():
            yield _read_pydantic_member(name, info, hints[name], docs.get(name, ""))
    elif typing.is_typeddict(cls):
        needed: Any = cls
        for name, hint in hints.items():
            if typing.get_origin(hint) in (typing.Required, typing.NotRequired):
                (hint,) = typing.get_args(hint)
            yield _Member(name, hint, name in needed.__required_keys__, _NOTHING, (), docs.get(name, ""))
    else:
        raise Inexpressible(f"{cls.__name__} is neither a dataclass, nor a pydantic model, nor a TypedDict")


def _read_dataclass_member(member: dataclasses.Field[Any], hint: Any, doc: str) -> _Member:
    default = _NOTHING
    if member.default is not dataclasses.MISSING:
        default = member.default
    elif member.default_factory is not dataclasses.MISSING:
        default = member.default_factory()
    required = default is _NOTHING
    marks = (Keywords(member.metadata["schema"]),) if "schema" in member.metadata else ()
    return _Member(get_json_name(member), hint, required, _encode_default(default), marks, doc)


def _read_pydantic_member(name: str, info: Any, hint: Any, doc: str) -> _Member:
    default = _NOTHING
    if not info.is_required():
        default = info.get_default(call_default_factory=True)
    extra = info.json_schema_extra
    marks = [*info.metadata, *((Keywords(extra),) if isinstance(extra, dict) else ())]
    if typing.get_origin(hint) is typing.Annotated:  # pydantic keeps the annotations in `metadata`
        hint = typing.get_args(hint)[0]
    description = info.description or doc
    return _Member(
        info.alias or name, hint, bool(info.is_required()), _encode_default(default), tuple(marks), description
    )


def _encode_default(value: Any) -> Any:
    """Return a default as JSON. None means no default: the field may be left out."""
    if value is _NOTHING or value is None:
        return _NOTHING
    return write_object(value.value if isinstance(value, enum.Enum) else value)


def _read_attribute_docs(cls: type) -> dict[str, str]:
    """Return the docstrings below the fields of a class, if its source is available."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    except (OSError, TypeError, SyntaxError):
        return {}
    result: dict[str, str] = {}
    body = tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else []
    for statement, after in itertools.pairwise(body):
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str):
            result[statement.target.id] = inspect.cleandoc(after.value.value)
    return result


def _describe_type(hint: Any, path: str, within: tuple[type, ...]) -> Object:
    """Return the schema of a type. Raises Inexpressible."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        result = _describe_type(arguments[0], path, within)
        for mark in arguments[1:]:
            _add_mark(result, mark, path)
        return result
    if hint in _PLAIN:
        return dict(_PLAIN[hint])
    if origin is typing.Literal:
        return _describe_values(arguments, path)
    if origin in (typing.Union, types.UnionType):
        return _describe_union(arguments, path, within)
    if origin in (list, Sequence) or hint is list:
        return {"type": "array", "items": _describe_type(arguments[0] if arguments else Any, f"{path}[]", within)}
    if origin in (dict, Mapping) or hint is dict:
        return _describe_mapping(arguments, path, within)
    if isinstance(hint, type):
        if issubclass(hint, enum.Enum):
            return _describe_values([member.value for member in hint], path)
        if dataclasses.is_dataclass(hint) or hasattr(hint, "model_fields") or typing.is_typeddict(hint):
            return _describe_class(hint, path, within)
    raise Inexpressible(f"{path}: a structural schema cannot express the type {_show_hint(hint)}")


def _show_hint(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) and not typing.get_args(hint) else str(hint)


def _describe_mapping(arguments: tuple[Any, ...], path: str, within: tuple[type, ...]) -> Object:
    key, value = arguments or (str, Any)
    if key is not str:
        raise Inexpressible(f"{path}: keys of a map are str, not {_show_hint(key)}")
    if value in (Any, object):
        return {"type": "object", PRESERVE: True}
    return {"type": "object", "additionalProperties": _describe_type(value, f"{path}{{}}", within)}


def _describe_union(arguments: tuple[Any, ...], path: str, within: tuple[type, ...]) -> Object:
    members = [argument for argument in arguments if argument is not type(None)]
    if len(members) == 1:
        return _describe_type(members[0], path, within)
    if set(members) == {int, str}:
        return {INT_OR_STRING: True}
    raise Inexpressible(f"{path}: a structural schema knows no union but int | str")


def _describe_values(values: Sequence[Any], path: str) -> Object:
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) != 1 or (kind := kinds.pop()) not in (str, int, float, bool):
        raise Inexpressible(f"{path}: the values of an enum have one type: str, int, float or bool")
    return dict(_PLAIN[kind]) | {"enum": [*values]}


def _add_mark(schema: Object, mark: Any, path: str) -> None:
    """Apply an annotation to a schema. Annotations of other libraries without constraints are ignored."""
    if isinstance(mark, Keywords):
        for key, value in mark.given.items():
            if value is None:
                schema.pop(key, None)
            else:
                schema[key] = [*schema.get(key, ()), *value] if key == RULES else value
        return
    for inner_mark in getattr(mark, "metadata", ()):  # a pydantic FieldInfo inside Annotated
        _add_mark(schema, inner_mark, path)
    if isinstance(extra := getattr(mark, "json_schema_extra", None), dict):
        _add_mark(schema, Keywords(extra), path)
    for name, (keyword, exclusive) in _BOUNDS.items():
        if (value := getattr(mark, name, None)) is not None:
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise Inexpressible(f"{path}: a bound is a number, not {value!r}")
            schema[keyword] = value
            if exclusive:
                schema[exclusive] = True
    lengths = _LENGTHS.get(schema.get("type", ""), ("", ""))
    for name, keyword in zip(("min_length", "max_length"), lengths, strict=True):
        if keyword and (value := getattr(mark, name, None)) is not None and isinstance(value, int):
            schema[keyword] = value
    if isinstance(pattern := getattr(mark, "pattern", None), str):
        schema["pattern"] = pattern
