"""All structs of built-in types with their fields and texts are what they were when the files were made.

golden.txt has a line for each struct: group-version, name, a digest of the struct itself, and for each field
name:digest, six digits for the field and four for its text. name=digest is the text of a field of an inlined struct.
A new field or struct need not be in it; run `python -m tests.apis.test_golden` after changing one on purpose.
"""

from __future__ import annotations

import hashlib
import json
import pathlib
from typing import Any

import pytest

from podless.structs import gotypes
from podless.structs.gotypes import GoType, ListOf, MapOf, String, Time, Union
from podless.structs.structfiles import FOLDER, META_GROUP, find_description, load_file, load_struct
from podless.structs.structs import TYPE_META, Field, Struct

GOLDEN = pathlib.Path(__file__).with_name("golden.txt")
HOMES = sorted(file.relative_to(FOLDER).with_suffix("").as_posix() for file in FOLDER.rglob("*.fields"))
# the group of a folder that is not called as the group is
SUFFIXES = {
    "admissionregistration": "k8s.io", "apiextensions": "k8s.io", "apiregistration": "k8s.io",
    "authentication": "k8s.io", "authorization": "k8s.io", "certificates": "k8s.io", "coordination": "k8s.io",
    "discovery": "k8s.io", "events": "k8s.io", "flowcontrol": "apiserver.k8s.io", "networking": "k8s.io",
    "node": "k8s.io", "rbac": "authorization.k8s.io", "resource": "k8s.io", "scheduling": "k8s.io",
    "storage": "k8s.io", "meta": "k8s.io",
}  # fmt: skip


def digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:8]


def group_of(home: str) -> str:
    folder = home.partition("/")[0]
    return "" if folder == "core" else ".".join(filter(None, (folder, SUFFIXES.get(folder))))


def shape(kind: GoType) -> Any:
    """All that a type is."""
    if isinstance(kind, Struct):
        return kind.go
    if isinstance(kind, ListOf):
        return [type(kind).__name__, kind.go, shape(kind.item)]
    if isinstance(kind, MapOf):
        return ["MapOf", kind.go, shape(kind.item)]
    if isinstance(kind, String):
        return ["String", kind.go, *kind.enum]
    if isinstance(kind, Time):
        return ["Time", kind.digits]
    if isinstance(kind, gotypes.IntOrString):
        return ["IntOrString"]
    if isinstance(kind, Union):
        forms = {form.__name__: None if one is None else shape(one) for form, one in kind.forms.items()}
        return ["Union", kind.go, kind.rejection, forms]
    return [type(kind).__name__, kind.go]


def attributes(field: Field) -> list[Any]:
    merging = field.keys, field.atomic, field.patch, field.merge
    filled = field.required, field.default, field.fill
    return [field.name, shape(field.type), field.number, field.pointer, field.always, field.inline, *filled, *merging]


def told(home: str, name: str) -> str:
    """The line of a struct as it is now."""
    struct, group = load_struct(home, name), group_of(home)
    envelope = [any(field is known for known in TYPE_META) for field in struct.declared_fields[:2]].count(True)
    about = find_description(group, name)
    few = 0 if struct.recursive else 8
    head = digest([struct.name, struct.go, struct.atomic, struct.union, few, envelope, about])
    texts = {field.name: digest(find_description(group, name, field.name))[:4] for field in struct}
    parts = [
        f"{field.name}:{digest([attributes(field)])[:6]}{texts.pop(field.name, '')}" for field in struct.declared_fields
    ]
    return " ".join([home, name, head, *parts, *(f"{field}={value}" for field, value in texts.items())])


def kept(old: list[str], new: list[str]) -> bool:
    """Whether all of one list is in the other, in the same order."""
    left = iter(new)
    return all(word in left for word in old)


@pytest.mark.parametrize("home", HOMES)
def test_structs_are_what_they_were(home: str) -> None:
    wrong = []
    for line in GOLDEN.read_text().splitlines():
        old = line.split()
        if old[0] == home:
            new = told(*old[:2]).split()
            if not kept(old, new):
                wrong.append(f"{home} {old[1]}: other fields, texts or order: {[one for one in old if one not in new]}")
    assert not wrong, "\n".join(wrong)


def test_no_file_is_gone() -> None:
    assert {line.split()[0] for line in GOLDEN.read_text().splitlines()} <= {*HOMES}


@pytest.mark.parametrize("home", HOMES)
def test_every_struct_can_be_read(home: str) -> None:
    for name in load_file(home).struct_names:
        assert told(home, name)


def test_the_texts_of_a_group_are_found_by_its_name() -> None:
    assert find_description(META_GROUP, "Object", "spec") == "Desired state of the object."
    assert {group_of(home).partition(".")[0] or "core" for home in HOMES} == {home.partition("/")[0] for home in HOMES}


if __name__ == "__main__":
    GOLDEN.write_text(
        "".join(f"{told(home, name)}\n" for home in HOMES for name in sorted(load_file(home).struct_names))
    )
