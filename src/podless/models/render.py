"""Writes classes as the text of a Python module, in one of three styles, in ruff's format."""

from __future__ import annotations

import keyword
import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from podless.models.tree import IMPORTED, NOTHING, Alias, Class, Member, NamedKind, Tree, name_argument, write_literal
from podless.runtime.jsonobject import Object

STYLES = ("pydantic", "dataclass", "typeddict")
_WIDTH = 88  # columns of a line, ruff's default
_BOUNDS = {"minLength": "min_length", "maxLength": "max_length", "minItems": "min_length", "maxItems": "max_length"}
_BUILTIN_TYPES = {"Any", "bool", "dict", "float", "int", "list", "str"}
_CONTROL = re.compile(r"[^\S\n ]|[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]")


def write_modules(definitions: Iterable[Object], style: str) -> dict[tuple[str, str], str]:
    """Return the text of a module for each group and version. definitions: CustomResourceDefinitions of v1.

    style: one of STYLES. The order of the definitions does not change the text. Raises ValueError if two define one
    kind, and for a version without a schema.
    """
    modules: dict[tuple[str, str], list[tuple[Object, Object]]] = {}
    for definition in sorted(definitions, key=lambda crd: str(crd["metadata"]["name"])):
        for version in definition["spec"]["versions"]:
            if not (version.get("schema") or {}).get("openAPIV3Schema"):
                raise ValueError(f"{definition['metadata']['name']}: version {version['name']} has no schema")
            modules.setdefault((definition["spec"]["group"], version["name"]), []).append((definition, version))
    for (group, name), versions in modules.items():
        kinds = [definition["spec"]["names"]["kind"] for definition, _ in versions]
        if repeated := sorted({kind for kind in kinds if kinds.count(kind) > 1}):
            raise ValueError(f"two definitions make the kind {repeated[0]} of {group}/{name}")
    return {key: _write_module(*key, versions, style) for key, versions in sorted(modules.items())}


def _write_module(group: str, version: str, versions: Sequence[tuple[Object, Object]], style: str) -> str:
    tree = Tree(keywords_inside=style != "typeddict")
    for name in IMPORTED:
        tree.reserve_name(name)
    for definition, _ in versions:
        tree.reserve_name(definition["spec"]["names"]["kind"])
    for definition, spec_version in versions:
        tree.add_version(definition, spec_version)
    kinds = ", ".join(sorted(definition["spec"]["names"]["kind"] for definition, _ in versions))
    body = _WRITERS[style]().write(tree)
    head = _write_docstring(f"{group}/{version}: {kinds}.\n\nMade by podless model; changes will be lost.", "")
    return "\n".join([*head, "", "from __future__ import annotations", "", *body]) + "\n"


class _ModuleWriter:
    """Writes one module. imports: names by module."""

    def __init__(self) -> None:
        self.imports: dict[str, set[str]] = {}

    def write(self, tree: Tree) -> list[str]:
        """Return the lines of a module below its docstring."""
        lines: list[str] = []
        before = False  # whether the part before was a one-line alias
        for part in tree.parts:
            block = self._write_alias(part) if isinstance(part, Alias) else self.write_class(part)
            plain = not block[0].startswith(("class ", "@"))
            close = plain and (before or not lines)
            lines += [*([""] if close else ["", ""]), *block]
            before = plain and not block[-1].startswith(" ")
        return [*self._write_imports(), *lines]

    def write_class(self, model: Class) -> list[str]:
        """Return the lines of a class."""
        raise NotImplementedError

    def add_import(self, module: str, *names: str) -> None:
        """Import names."""
        self.imports.setdefault(module, set()).update(names)

    def _import_types(self, names: Iterable[str]) -> None:
        for name in names:
            self.add_import("podless.models" if name == "schema" else "typing", name)

    def type_of(self, member: Member) -> str:
        """Return the type of a field, without "| None"."""
        self._import_types(member.type.names)
        return member.type.text

    def _write_alias(self, alias: Alias) -> list[str]:
        self._import_types(alias.names)
        arguments = list(alias.arguments)
        if alias.extra:
            call = _write_call("schema", _write_keywords(alias.extra, 8), "    ", end=",")
            arguments.append("\n".join(call).strip())
        return _write_call(f"{alias.name} = {alias.of}", arguments, "", brackets="[]")

    def _write_imports(self) -> list[str]:
        standard = [name for name in self.imports if name in ("dataclasses", "typing")]
        packages = [name for name in self.imports if name not in standard]
        lines: list[str] = []
        for block in (standard, packages):
            for module in sorted(block):
                names = sorted(self.imports[module], key=lambda name: (not name.isupper(), name[:1].islower(), name))
                lines += _write_import(module, names)
            if block and block is standard and packages:
                lines.append("")
        return lines

    def write_decorator(self, named: NamedKind) -> list[str]:
        """Return the decorator of a kind."""
        self.add_import("podless.models", "Resource", "kind")
        arguments = [write_literal(named.group), write_literal(named.version)]
        arguments += [f"{name}={_write_value(value, 4)}" for name, value in named.options.items()]
        return _write_call("@kind", arguments, "")


def _write_import(module: str, names: Sequence[str]) -> list[str]:
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= _WIDTH:
        return [line]
    return [f"from {module} import (", *(f"    {name}," for name in names), ")"]


def _write_keywords(extra: Object, indent: int) -> list[str]:
    return [f"{name_argument(key)}={_write_value(extra[key], indent, max(len(key) + 3, 20))}" for key in sorted(extra)]


def _write_call(head: str, arguments: Sequence[str], indent: str, brackets: str = "()", end: str = "") -> list[str]:
    """Return a call on one line if it fits together with `end`, else with a line for each argument."""
    line = f"{indent}{head}{brackets[0]}{', '.join(arguments)}{brackets[1]}"
    if len(line) + len(end) <= _WIDTH and "\n" not in line:
        return [line]
    lines = [f"{indent}    {argument}," for argument in arguments]
    return [f"{indent}{head}{brackets[0]}", *"\n".join(lines).split("\n"), f"{indent}{brackets[1]}"]


def _write_value(value: Any, indent: int, lead: int = 20) -> str:
    """Return a value as Python: on one line if it is short, else with a line for each item, as ruff format does."""
    line = write_literal(value)
    if len(line) + indent + lead <= _WIDTH or not isinstance(value, dict | list) or not value:
        return line
    pad = " " * (indent + 4)
    if isinstance(value, dict):
        items = [
            f"{write_literal(key)}: {_write_value(item, indent + 4, len(write_literal(key)) + 3)}"
            for key, item in value.items()
        ]
        return "{\n" + "".join(f"{pad}{item},\n" for item in items) + " " * indent + "}"
    return "[\n" + "".join(f"{pad}{_write_value(item, indent + 4, 1)},\n" for item in value) + " " * indent + "]"


def _write_docstring(text: str, indent: str) -> list[str]:
    clean = _CONTROL.sub(" ", text).replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    paragraphs = [" ".join(segment.split()) for segment in re.split(r"\n\s*\n", clean)]
    room = _WIDTH - len(indent) - 3
    lines: list[str] = []
    for paragraph in filter(None, paragraphs):
        lines += ([""] if lines else []) + textwrap.wrap(
            paragraph, room, break_long_words=False, break_on_hyphens=False
        )
    if not lines:
        return []
    if lines[0].startswith('"'):
        lines[0] = f"\\{lines[0]}"
    if len(lines) == 1 and len(lines[0]) + 6 + len(indent) <= _WIDTH:
        last = lines[0]
        if last.endswith('"') and not last.endswith('\\"'):
            last = f'{last[:-1]}\\"'
        return [f'{indent}"""{last}"""']
    return [f'{indent}"""{lines[0]}', *(f"{indent}{line}".rstrip() for line in lines[1:]), f'{indent}"""']


def _write_assignment(head: str, value: str) -> list[str]:
    """Return the lines of a field; a long type or value has its own lines."""
    line = f"    {head} = {value}" if value else f"    {head}"
    if len(line) <= _WIDTH or len(value) + 8 > _WIDTH:
        return [line]
    if value and "(" not in value and len(head) + 8 <= _WIDTH:
        return [f"    {head} = (", f"        {value}", "    )"]
    name, _, kind = head.partition(": ")
    tail = f" = {value}" if value else ""
    if " | " in kind:
        return [f"    {name}: (", f"        {kind}", f"    ){tail}"]
    origin, bracket, arguments = kind.partition("[")
    if bracket:
        return [f"    {name}: {origin}[", f"        {arguments[:-1]}", f"    ]{tail}"]
    return [_skip_long(line)]


def _skip_long(line: str) -> str:
    """Return a line, with a comment that stops ruff format from changing it if it is too long."""
    return line if len(line) <= _WIDTH else f"{line}  # fmt: skip"


class _Classes(_ModuleWriter):
    """Both styles whose classes have values.

    field_function: (module, name) of the function that declares a field. metadata_module: that of ObjectMeta.
    last_fields: lines after the fields of each class.
    """

    field_function: ClassVar[tuple[str, str]]
    metadata_module: ClassVar[str]
    last_fields: ClassVar[Sequence[str]] = ()

    def write_class(self, model: Class) -> list[str]:
        lines = self.write_head(model)
        body: list[list[str]] = []
        if model.doc:
            body.append(_write_docstring(model.doc, "    "))
        if model.extra:
            self.add_import("podless.models", "schema")
            body.append(_write_call("__podless__ = schema", _write_keywords(model.extra, 8), "    "))
        fields: list[str] = []
        if model.named is not None:
            fields += self.write_standard(model.named)
        for member in model.members:
            fields += self.write_member(member)
        fields += self.last_fields
        if fields:
            body.append(fields)
        flat = [line for index, block in enumerate(body) for line in ([""] if index else []) + block]
        return [*lines, *(flat or ["    pass"])]

    def write_head(self, model: Class) -> list[str]:
        """Return the first lines of a class."""
        raise NotImplementedError

    def write_standard(self, named: NamedKind) -> list[str]:
        """Return the lines of apiVersion, kind and metadata."""
        self.add_import(self.metadata_module, "ObjectMeta")
        self.add_import(*self.field_function)
        return [
            f"    apiVersion: str = {write_literal(f'{named.group}/{named.version}')}",
            f"    kind: str = {write_literal(named.kind)}",
            f"    metadata: ObjectMeta = {self.field_function[1]}(default_factory=ObjectMeta)",
        ]

    def write_options(self, member: Member, indent: int = 8) -> list[str]:
        """Return the arguments of the field function besides the default."""
        raise NotImplementedError

    def write_default(self, member: Member) -> tuple[str, bool]:
        """Return the default of a field, "" for none, and whether a function makes it."""
        if member.default is NOTHING:
            return ("" if member.required else "None"), False
        value = member.default
        words = {*re.findall(r"\w+", member.type.text)}
        if isinstance(value, dict | list) and "{" in write_literal(value) and words - _BUILTIN_TYPES:
            self.add_import("podless.models", "read_object")
            arguments = [member.type.text, _write_value(value, 12, 1)]
            return "lambda: " + "\n".join(_write_call("read_object", arguments, " " * 8, end=" " * 25)).strip(), True
        if isinstance(value, dict | list):
            return f"lambda: {_write_value(value, 8, 25)}", True
        return write_literal(value), False

    def write_member(self, member: Member) -> list[str]:
        """Return the lines of a field."""
        default, is_factory = self.write_default(member)
        kind = self.type_of(member)
        optional = member.default is None or (member.default is NOTHING and not member.required)
        if (optional or member.extra.get("nullable")) and kind != "Any":
            kind += " | None"
        options = self.write_options(member)
        head = f"{member.name}: {kind}"
        if not is_factory and not options:
            lines = _write_assignment(head, default)
        else:
            self.add_import(*self.field_function)
            first = [f"default_factory={default}" if is_factory else f"default={default}"] if default else []
            call = self.field_function[1]
            lines = _write_call(f"{head} = {call}", [*first, *options], "    ")
            if len(lines[0]) > _WIDTH and len(head) + 8 <= _WIDTH:
                options = self.write_options(member, 12)
                lines = [f"    {head} = (", *_write_call(call, [*first, *options], "        "), "    )"]
            elif len(lines[0]) > _WIDTH:
                arguments = [*first, *options]
                fits = len(_write_call(f"    ) = {call}", arguments, "")) == 1
                last = [f"{call}({', '.join(arguments)})"] if fits else _write_call(call, arguments, "    ")
                lines = [*_write_assignment(head, last[0].strip()), *last[1:]]
        return lines + (_write_docstring(member.doc, "    ") if member.doc else [])


class _Dataclass(_Classes):
    field_function = ("dataclasses", "field")
    metadata_module = "podless.models"
    last_fields = ("    extra_: dict[str, Any] = field(default_factory=dict, repr=False)",)

    def write_head(self, model: Class) -> list[str]:
        self.add_import("dataclasses", "dataclass", "field")
        self.add_import("typing", "Any")
        lines = self.write_decorator(model.named) if model.named is not None else []
        base = "(Resource)" if model.named is not None else ""
        return [*lines, "@dataclass(kw_only=True)", _skip_long(f"class {model.name}{base}:")]

    def write_options(self, member: Member, indent: int = 8) -> list[str]:
        metadata: Object = {"json": member.json} if member.name != member.json else {}
        if member.extra:
            metadata["schema"] = dict(sorted(member.extra.items()))
        return [f"metadata={_write_value(metadata, indent)}"] if metadata else []


class _Pydantic(_Classes):
    field_function = ("pydantic", "Field")
    metadata_module = "podless.models.pydantic"

    def write_head(self, model: Class) -> list[str]:
        lines = self.write_decorator(model.named) if model.named is not None else []
        self.add_import("podless.models.pydantic", "Model")
        bases = "Resource, Model" if model.named is not None else "Model"
        return [*lines, _skip_long(f"class {model.name}({bases}):")]

    def write_options(self, member: Member, indent: int = 8) -> list[str]:
        extra, options = dict(member.extra), []
        if member.name != member.json:
            options.append(f"alias={write_literal(member.json)}")
        bounds = (("g", "minimum", "exclusiveMinimum"), ("l", "maximum", "exclusiveMaximum"))
        for lower, inclusive, exclusive in bounds if member.type.text in ("int", "float") else ():
            if (bound := extra.pop(inclusive, None)) is not None:
                is_exclusive = extra.get(exclusive) is True and bool(extra.pop(exclusive))
                options.append(f"{lower}{'t' if is_exclusive else 'e'}={write_literal(bound)}")
        for length, name in _BOUNDS.items():
            if length in extra and member.type.text.startswith(("str", "list")):
                options.append(f"{name}={extra.pop(length)}")
        if extra:
            options.append(f"json_schema_extra={_write_value(dict(sorted(extra.items())), indent)}")
        return options


class _TypedDict(_ModuleWriter):
    """The style of plain dicts: types without values, and a function that checks them."""

    def write_class(self, model: Class) -> list[str]:
        self.add_import("typing", "TypedDict")
        fields: list[tuple[str, str, str]] = []
        if model.named is not None:
            self.add_import("typing", "Any", "Required")
            head = {"apiVersion": "str", "kind": "str", "metadata": "dict[str, Any]"}
            fields += [(name, f"Required[{kind}]", "") for name, kind in head.items()]
        for member in model.members:
            kind = self.type_of(member)
            if member.extra.get("nullable") and kind != "Any":
                kind += " | None"
            if member.required:
                self.add_import("typing", "Required")
                kind = f"Required[{kind}]"
            fields.append((member.json, kind, member.doc))
        lines = self._write_dict(model, fields)
        return lines if model.named is None else lines + self._write_check(model)

    def _write_dict(self, model: Class, fields: Sequence[tuple[str, str, str]]) -> list[str]:
        plain = all(name.isidentifier() and not keyword.iskeyword(name) for name, _, _ in fields)
        if not plain:
            items = [f"{write_literal(name)}: {write_literal(kind)}," for name, kind, _ in fields]
            body = [f"        {item}" for item in items]
            head = [f"{model.name} = TypedDict(", f"    {write_literal(model.name)},", "    {"]
            return [*head, *body, "    },", "    total=False,", ")"]
        lines = [_skip_long(f"class {model.name}(TypedDict, total=False):")]
        if model.doc:
            lines += [*_write_docstring(model.doc, "    "), *([""] if fields else [])]
        for name, kind, doc in fields:
            lines.append(_skip_long(f"    {name}: {kind}"))
            lines += _write_docstring(doc, "    ") if doc else []
        return lines if len(lines) > 1 else [*lines, "    pass"]

    def _write_check(self, model: Class) -> list[str]:
        self.add_import("podless.models", "CheckedSchema", "FieldError")
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", model.name).lower()
        schema = _write_value(_drop_descriptions(model.schema), 4, 0)
        is_long = len(write_literal(_drop_descriptions(model.schema))) + len(name) + 19 > _WIDTH
        return [
            "",
            "",
            *_write_call(f"_{name.upper()} = CheckedSchema", [schema], "")[:1],
            *(f"    {schema}\n)".split("\n") if is_long else []),
            "",
            "",
            f"def check_{name}(",
            f"    obj: {model.name},",
            f"    old: {model.name} | None = None,",
            ") -> list[FieldError]:",
            '    """Return what the server would say of an object; [] if it would accept it."""',
            "    before = dict(old) if old is not None else None",
            f"    return _{name.upper()}.check(dict(obj), before)",
        ]


def _drop_descriptions(node: Any, *, names: bool = False) -> Any:
    """Return a schema without its descriptions. names: the keys of `node` are property names."""
    if isinstance(node, list):
        return [_drop_descriptions(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: _drop_descriptions(value, names=not names and key == "properties")
        for key, value in node.items()
        if names or key != "description"
    }


_WRITERS: dict[str, type[_ModuleWriter]] = {"pydantic": _Pydantic, "dataclass": _Dataclass, "typeddict": _TypedDict}


def make_module_path(group: str, version: str) -> str:
    """Return the path of a module in a folder: GROUP/VERSION.py, with the group as a valid package name."""
    return f"{re.sub(r'[^0-9a-z]', '_', group.lower())}/{version}.py"
