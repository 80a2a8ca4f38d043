"""The structs of built-in types, read from the .fields files below podless/apis (their format: apis/README.md).

The blocks of a file are indexed at its first use. A struct is created at its first use, and its fields are read when
they are needed. Texts are read on each call of `StructFile.read_texts`. So a server holds no texts, and no fields of
unused kinds.

Files do not change while podless runs (a changed one is rejected), so everything here follows from its name alone. So
any thread may cache it, as in runtime/bounded.py: a struct is one object, whichever thread makes it first. Its fields
obey the thread contract (runtime/memo.py).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from podless.runtime.bounded import bounded_cache
from podless.runtime.datafiles import read_part
from podless.runtime.lazy import compile_late
from podless.runtime.release import ALL_ON, Release
from podless.structs import gotypes
from podless.structs.gotypes import Canonical, GoType, ListOf, MapOf, Raw, String, Union
from podless.structs.structs import TYPE_META, Field, Struct

FOLDER = Path(__file__).parent.parent / "apis"
META_GROUP = "meta.k8s.io"  # the group of shared descriptions

# types with one object in the process: some code compares them by identity (virtual/connect.py)
_SHARED: Mapping[str, GoType] = {
    "string": gotypes.STRING,
    "bool": gotypes.BOOL,
    "int32": gotypes.INT32,
    "int64": gotypes.INT64,
    "float64": gotypes.FLOAT64,
    "time": gotypes.TIME,
    "microtime": gotypes.MICRO_TIME,
    "bytes": gotypes.BYTES,
    "quantity": gotypes.QUANTITY,
    "intorstring": gotypes.INT_OR_STRING,
    "raw": gotypes.RAW,
    "types.UID": gotypes.UID,
    "[]string": gotypes.STRINGS,
    "map[string]string": gotypes.STRING_MAP,
}
_BLOCKS = {word: word for word in ("struct", "kind", "type", "text")}  # first words of a block's header
_FORMS: Mapping[str, type] = {"object": dict, "array": list, "bool": bool}
_TEXT = " # "  # separates a line and its description
_DATED = compile_late(r"\b(?:since|ahead|until|before|gate)=")
_FIELD = re.compile(r"\s++(\d++)\s++(\S++)\s++(\*?)([^\s{]++(?:\{[^}]*+\})?)\s*+(.*+)")
_NAMED = re.compile(r"\s++-\s++(\S.*+)")
_ENUM = re.compile(r"([\w.]++)\{([^}]*+)\}")
_MAP = re.compile(r"map\[([\w.]++)\](.++)")
_PYTHON = re.compile(r"python:(\w++)\.(\w++)\(([^)]++)\)")
# options without a value -> the attributes that they set
_WORDS: Mapping[str, tuple[str, Any]] = {
    "always": ("always", True),
    "inline": ("inline", True),
    "required": ("required", True),
    "optional": ("required", False),
    "atomic": ("atomic", True),
    "granular": ("atomic", False),
    "set": ("keys", ()),
}


class FieldsError(ValueError):
    """A .fields file is malformed. The message starts with file:line."""


class _Block(NamedTuple):
    """The place of a block in a file. word: its kind. start, size: in bytes. options: of a struct, "" for none."""

    path: Path
    word: str
    start: int
    size: int
    options: str


def load_struct(home: str, name: str, release: Release = ALL_ON) -> Struct:
    """Return the struct of a group-version such as core/v1. Raises FieldsError if there is none."""
    return load_file(home, release).get_struct(name)


def in_release(struct: Struct, release: Release) -> Struct:
    """Return the struct that a release has."""
    return load_struct(struct.home, struct.name, release) if struct.home else struct


def find_home(group: str, version: str) -> str:
    """Return the name of a file's group-version: core/v1 for group "" and version v1."""
    return f"{folder_of(group)}/{version}"


def folder_of(group: str) -> str:
    """Return the folder of an API group: its name up to the first dot."""
    return group.partition(".")[0] or "core"


def load_file(home: str, release: Release = ALL_ON) -> StructFile:
    """Return the file of a group-version, such as core/v1, with structs of one release. It is split into blocks."""
    cached = _files.get((home, release))
    return cached if cached is not None else _files.setdefault((home, release), StructFile(home, release=release))


@bounded_cache(64)
def homes_of(group: str) -> tuple[str, ...]:
    """Return the versions of a group that have a file, such as autoscaling/v1 and autoscaling/v2."""
    folder = folder_of(group)
    return tuple(f"{folder}/{file.stem}" for file in sorted((FOLDER / folder).glob("*.fields")))


def find_description(group: str, struct: str, field: str = "") -> str:
    """Return the description of a field of a struct, or of the struct itself; "" if there is none.

    OpenAPI (and so `kubectl explain`) and the columns of tables show it. The versions of a group share their
    descriptions. Common fields (apiVersion, kind, metadata, spec, status) have common ones unless the struct has its
    own.
    """
    text = _read_descriptions(group, struct).get(field, "")
    return text or (_read_descriptions(META_GROUP, "Object").get(field, "") if field else "")


@bounded_cache(1024)
def _read_descriptions(group: str, struct: str) -> Mapping[str, str]:
    """Return the struct's own descriptions by field; that of the struct itself under ""."""
    texts: dict[str, str] = {}
    for home in homes_of(group):
        texts = {**load_file(home).read_texts(struct), **texts}
    return texts


class Dates(NamedTuple):
    """The condition of a field. span: the releases that have it, "" for all. gate: the feature gate, "" for none."""

    span: str
    gate: str


@bounded_cache(128)
def dated_fields(home: str) -> Mapping[str, Mapping[str, Dates]]:
    """Return the fields of a group-version that depend on the release: struct -> name -> condition."""
    result: dict[str, dict[str, Dates]] = {}
    for block in (FOLDER / f"{home}.fields").read_text().split("\n\n"):
        struct = next((line.split()[1] for line in block.split("\n") if line.startswith(("struct ", "kind "))), "")
        dated = result.setdefault(struct, {})
        for line in filter(_DATED.search, block.split("\n")):
            if match := _FIELD.fullmatch(line.partition(_TEXT)[0].rstrip()):
                attributes = _read_options(match[5])
                last = attributes.get("until") or _previous_release(attributes.get("before", ""))
                span = _make_span(attributes.get("since") or attributes.get("ahead", ""), last)
                if earlier := dated.get(match[2]):  # a changed field has several lines
                    span = f"{earlier.span},{span}"
                dated[match[2]] = Dates(span, attributes.get("gate", ""))
    return result


def _previous_release(release: str) -> str:
    """Return the name of the release before another one, "" for ""."""
    major, _, minor = release.partition(".")
    return f"{major}.{int(minor) - 1}" if minor else ""


def _make_span(since: str, until: str) -> str:
    return f"{since}-{until}" if since or until else ""


class StructFile:
    """The file of a group-version, split into blocks. home: the group-version, such as core/v1."""

    def __init__(self, home: str, folder: Path = FOLDER, release: Release = ALL_ON) -> None:
        self.home = home
        self._release = release
        self._folder, _, self._version = home.partition("/")
        self._root = folder
        self._path = folder / f"{home}.fields"
        self._enums: dict[str, tuple[str, ...]] = {}
        self._structs: dict[str, Struct] = {}
        self._types: dict[str, GoType] = dict(_SHARED)
        self._blocks = self._find_blocks(self._path)

    @property
    def described_names(self) -> tuple[str, ...]:
        """The names of everything with descriptions: structs, types that decode themselves, and tables of texts."""
        return tuple(self._blocks)

    @property
    def struct_names(self) -> tuple[str, ...]:
        """The names of all structs, in the order of the file."""
        return tuple(name for name, block in self._blocks.items() if block.word in ("struct", "kind"))

    def get_struct(self, name: str) -> Struct:
        """Return a struct of this file; always the same object for a name."""
        result = self._structs.get(name)
        if result is None:
            block = self._blocks.get(name)
            if block is None or block.word not in ("struct", "kind"):
                raise FieldsError(f"{self._path}: there is no struct {name}")
            result = self._structs.setdefault(name, self._make_struct(name, block))
        return result

    def read_texts(self, name: str) -> dict[str, str]:
        """Return the descriptions of a struct, a type or a table of texts, by field; its own one under "".

        An inlined struct has descriptions of its fields; the outer struct may override them.
        """
        block = self._blocks.get(name)
        if block is None:
            return {}
        head, *lines = self._read_block(name, block)
        result = {"": head.partition(_TEXT)[2]} if _TEXT in head else {}
        for line in lines:
            declaration, _, text = line.partition(_TEXT)
            words = declaration.split(None, 2) if text else []
            if words and not words[0].startswith("#"):
                named = _NAMED.fullmatch(declaration) if words[0] == "-" else None
                result[named[1].rstrip() if named else words[1]] = text
        if block.word in ("struct", "kind"):
            for field in self.get_struct(name).declared_fields:
                if field.inline and isinstance(field.type, Struct) and field.type.home:
                    home = self if field.type.home == self.home else load_file(field.type.home, self._release)
                    texts = home.read_texts(field.type.name)
                    result = {key: text for key, text in texts.items() if key} | result
        return result

    def _find_blocks(self, path: Path) -> dict[str, _Block]:
        """Find the blocks of a file: each is a header and indented lines, and ends with an empty line.

        The file may replace blocks of the file that its `like` names.
        """
        blocks: dict[str, _Block] = {}
        base: dict[str, _Block] = {}
        end = -2
        for block_text in _read_bytes(path).split(b"\n\n"):
            start = end + 2
            end = start + len(block_text)
            while block_text.startswith((b"#", b"\n")):  # a comment, or another empty line
                block_text = block_text.partition(b"\n")[2]
            if not block_text:
                continue
            start = end - len(block_text)
            word, _, arguments = block_text.partition(b"\n")[0].decode().partition(" ")
            if word == "enum":
                self._read_enums(block_text.decode(), path, start)
            elif word == "like" and arguments.strip():
                base = self._find_blocks(self._root / f"{arguments.strip()}.fields")
            elif word in _BLOCKS and arguments.strip():
                name, _, options = arguments.partition(_TEXT)[0].strip().partition(" ")
                if name in blocks:
                    raise _make_error(path, start, f"{name} is there twice")
                blocks[name] = _Block(path, _BLOCKS[word], start, len(block_text), options)
            else:
                raise _make_error(path, start, f"a block begins with {', '.join(_BLOCKS)}, enum or like, and a name")
        return base | blocks

    @staticmethod
    def _read_block(name: str, block: _Block) -> list[str]:
        """Return the lines of a block, the header first."""
        lines = read_part(block.path, block.start, block.size).decode().rstrip("\n").split("\n")
        if lines[0].split(None, 2)[:2] != [block.word, name]:
            raise FieldsError(f"{block.path}: the file has changed since podless began to use it: restart podless")
        return lines

    def _read_enums(self, text: str, path: Path, start: int) -> None:
        """Read lines with the values of string types."""
        for index, line in enumerate(text.rstrip("\n").split("\n")):
            match = _ENUM.fullmatch(line.removeprefix("enum ").strip())
            if match is None or not line.startswith("enum "):
                raise _make_error(path, start, "this is no `enum v1.Name{value,value}`", index)
            self._enums[match[1]] = tuple(match[2].split(","))

    def _make_struct(self, name: str, block: _Block) -> Struct:
        union: tuple[str, tuple[str, ...]] | None = None
        words = block.options.split()
        for word in words:
            key, equals, value = word.partition("=")
            if key == "union" and equals:
                discriminator, _, fields = value.partition(":")
                union = discriminator, tuple(fields.split(","))
            elif word not in ("atomic", "recursive"):
                raise _make_error(block.path, block.start, f"{name}: a struct has no option {word!r}")
        return Struct(
            name,
            partial(self._read_fields, name, block),
            self._version,
            atomic="atomic" in words,
            union=union,
            recursive="recursive" in words,
            home=self.home,
        )

    def _read_fields(self, struct: str, block: _Block) -> tuple[Field, ...]:
        fields: list[Field] = [*TYPE_META] if block.word == "kind" else []
        for index, line in enumerate(self._read_block(struct, block)):
            declaration = line.partition(_TEXT)[0].rstrip()
            if not index or not declaration:
                continue
            match = _FIELD.fullmatch(declaration)
            if match is None:
                if declaration.lstrip().startswith("#") or _NAMED.fullmatch(declaration):
                    continue
                raise _make_error(block.path, block.start, "this is no `number name type options # text`", index)
            number, name, pointer, kind, options = match.groups()
            try:
                attributes = _read_options(options) if options else {}
                if not attributes or self._has_field(attributes):
                    fields.append(Field(name, self._get_type(kind), int(number), pointer == "*", **attributes))
            except ValueError as error:
                raise _make_error(block.path, block.start, f"{name}: {error}", index) from None
        return tuple(fields)

    def _has_field(self, attributes: dict[str, Any]) -> bool:
        """Return whether the release has a field. Removes conditions from its attributes, but a gate that is off."""
        release = self._release
        if release.has_feature(attributes.get("gate", "")):
            attributes.pop("gate", None)
        span = _make_span(attributes.pop("since", ""), attributes.pop("until", ""))
        before = attributes.pop("before", "")
        is_new = release.has_reached(attributes.pop("ahead", ""))
        return is_new and release.is_in_span(span) and not (before and release.has_reached(before))

    def _get_type(self, text: str) -> GoType:
        """Return the type that a text names; the same object for the same text. Raises ValueError."""
        cached = self._types.get(text)
        return cached if cached is not None else self._types.setdefault(text, self._parse_type(text))

    def _parse_type(self, text: str) -> GoType:
        if text.startswith("[]"):
            return ListOf(self._get_type(text[2:]))
        if match := _ENUM.fullmatch(text):
            return String(match[1], tuple(match[2].split(",")))
        if match := _PYTHON.fullmatch(text):
            module = import_module(f"podless.apis.{self._folder}.{match[1]}")
            result: GoType = getattr(module, match[2])(self._get_type(match[3]))
            return result
        if match := _MAP.fullmatch(text):
            item = self._get_type(match[2])
            return MapOf(item, f"map[{match[1]}]{item.go}")
        go, equals, argument = text.partition("=")
        if equals:
            return self._make_named_type(go, argument)
        if "/" in text:
            home, _, name = text.rpartition(".")
            return load_struct(home, name, self._release)
        if text == "json":
            return Canonical(f"{self._version}.JSON")
        if "." in text:
            return String(text, self._enums.get(text, ()))
        block = self._blocks.get(text)
        return self._make_union(text, block) if block is not None and block.word == "type" else self.get_struct(text)

    def _make_named_type(self, go: str, text: str) -> GoType:
        if text == "raw":
            return Raw(go)
        if text.startswith("[]"):
            return ListOf(self._get_type(text[2:]), go)
        if match := _MAP.fullmatch(text):
            return MapOf(self._get_type(match[2]), go)
        raise ValueError(f"{text} cannot have a name of its own in Go")

    def _make_union(self, name: str, block: _Block) -> Union:
        """Make a type that decodes itself by the form of the value."""
        forms: dict[type, str] = {}
        refusal = ""
        for index, line in enumerate(self._read_block(name, block)[1:], 1):
            form, _, text = line.strip().partition(" ")
            if form == "else":
                refusal = text.strip()
            elif form in _FORMS:
                forms[_FORMS[form]] = text.strip()
            elif not form.startswith("#"):
                raise _make_error(
                    block.path, block.start, f"{form!r} is no form of a value: {', '.join(_FORMS)} or else", index
                )
        if not forms:
            raise ValueError(f"{name} is a name for a text, no type of fields")

        def choose_forms() -> dict[type, GoType | None]:
            # a value whose form has the name of the type itself is kept as it is
            return {form: None if text == "bool" else self._get_type(text) for form, text in forms.items()}

        return Union(f"{self._version}.{name}", choose_forms, refusal)


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise FieldsError(f"{path}: {error.strerror}: there is no such group-version") from None


def _make_error(path: Path, start: int, text: str, index: int = 0) -> FieldsError:
    """Return the error of a line. start: the first byte of the block. index: the line in the block."""
    line = _read_bytes(path).count(b"\n", 0, start) + 1 + index
    return FieldsError(f"{path}:{line}: {text}")


_files: dict[tuple[str, Release], StructFile] = {}


def _split_list(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


def _read_default(text: str) -> Any:
    """Return a default: JSON, or a text without quotes if it is not JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return text


# options with a value -> (attribute that they set, parser)
_VALUES: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    "default": ("default", _read_default),
    "fill": ("fill", _read_default),
    "map": ("keys", _split_list),
    "patch": ("patch", str),
    "merge": ("merge", str),
    "since": ("since", str),
    "ahead": ("ahead", str),
    "until": ("until", str),
    "before": ("before", str),
    "gate": ("gate", str),
}


def _read_options(text: str) -> dict[str, Any]:
    """Return the attributes that the options of a field set. Raises ValueError."""
    result: dict[str, Any] = {}
    for word in text.split():
        if word in _WORDS:
            key, value = _WORDS[word]
        else:
            option, equals, argument = word.partition("=")
            if option not in _VALUES or not equals:
                raise ValueError(f"a field has no option {word!r}")
            key, read = _VALUES[option]
            value = read(argument)
        if key in result:
            raise ValueError(f"{word!r} sets {key} again")
        result[key] = value
    return result
