"""What is said of fields: everything has a text, every text has a field, and all are short."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from podless.apis import catalog, features
from podless.publish.openapi import v3
from podless.publish.openapi.standard import PARAMETERS, find_package
from podless.publish.table import make_builtin_layout
from podless.structs.gotypes import GoType, ListOf, MapOf, Union
from podless.structs.structfiles import (
    FOLDER,
    META_GROUP,
    dated_fields,
    find_description,
    in_release,
    load_file,
    load_struct,
)
from podless.structs.structs import Struct
from tests.publish.openapi.whole import swagger

LONGEST = 200
GROUPS = sorted({(kind.group, version.name) for kind in catalog.ALL for version in kind.versions})
# names in the tables that are no structs: what nearly all objects have, parameters, and types that decode themselves
OTHERS = {"Object", "EmbeddedObject", "List", "Parameters", "Patch", "Time", "MicroTime", "Quantity", "IntOrString"}
OTHERS |= {"RawExtension", "FieldsV1", "JSON"}
OTHERS |= {"JSONSchemaPropsOrArray", "JSONSchemaPropsOrBool", "JSONSchemaPropsOrStringArray"}


def reached(kind: GoType, found: set[Struct]) -> set[Struct]:
    """The struct and all structs in it."""
    if isinstance(kind, Struct) and kind not in found:
        found.add(kind)
        for field in kind:
            reached(field.type, found)
    elif isinstance(kind, (ListOf, MapOf)):
        reached(kind.item, found)
    elif isinstance(kind, Union):
        for form in kind.forms.values():
            if form is not None:
                reached(form, found)
    return found


# structs whose fields are those of the struct that has them
INLINED = {
    "DeviceConfiguration",
    "EphemeralContainerCommon",
    "IngressRuleValue",
    "PersistentVolumeSource",
    "ProbeHandler",
}
OLDER = {"ClaimSource", "WorkloadReference"}  # structs that the newest release has no more
INLINED |= {"Rule", "RuleWithOperations", "VolumeSource"}


def structs() -> set[Struct]:
    """The structs of all built-in kinds, and those of answers and options."""
    found: set[Struct] = set()
    for kind in catalog.ALL:
        for version in kind.versions:
            reached(kind.struct_of(version) or kind.struct, found)  # type: ignore[arg-type]
        for subresource in kind.more_subresources:
            if subresource.kind is not None and subresource.kind.struct is not None:
                reached(subresource.kind.struct, found)
    for name in ("DeleteOptions", "Status", "WatchEvent", "APIResourceList", "APIGroupList", "APIVersions", "Info"):
        reached(load_struct("meta/v1", name), found)
    reached(load_struct("autoscaling/v1", "Scale"), found)
    reached(load_struct("core/v1", "PodLogOptions"), found)
    reached(load_struct("apidiscovery/v2", "APIGroupDiscoveryList"), found)
    return found


def reached_all(kinds: Iterable[GoType]) -> set[Struct]:
    found: set[Struct] = set()
    for kind in kinds:
        reached(kind, found)
    return found


# fields that are a reference and nothing else, and are described where it leads
BARE = {
    f"{find_package('apiextensions.k8s.io', version)}JSONSchemaProps.{name}"
    for version in ("v1", "v1beta1")
    for name in ("additionalItems", "additionalProperties", "example", "externalDocs", "items", "not")
} | {f"{find_package('networking.k8s.io', 'v1')}IngressRule.http"}


HOMES = sorted(file.relative_to(FOLDER).with_suffix("").as_posix() for file in FOLDER.rglob("*.fields"))


def texts() -> Iterator[tuple[str, str, str, str]]:
    """Group-version, struct, field and text of all that is told."""
    for home in HOMES:
        file = load_file(home)
        for name in file.described_names:
            for field, told in file.read_texts(name).items():
                yield home, name, field, told


def test_texts_are_short_sentences() -> None:
    for *where, told in texts():
        assert 0 < len(told) <= LONGEST, where
        assert told == told.strip(), where
        assert told.endswith((".", "...")), where


def descriptions(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """All properties of the schemas in a document, with their paths."""
    for name, shown in value.get("properties", {}).items():
        yield f"{path}.{name}", shown
        yield from descriptions(shown, f"{path}.{name}")


@pytest.mark.parametrize(("group", "version"), GROUPS)
def test_every_field_of_a_document_has_a_description(group: str, version: str) -> None:
    for name, schema in v3.make_group_version_document(group, version, catalog.ALL)["components"]["schemas"].items():
        assert len(schema["description"]) in range(1, LONGEST + 1), name
        for path, shown in descriptions(schema, name):
            told = "description" in shown or path in BARE
            assert told, path
            assert len(shown.get("description", " ")) in range(1, LONGEST + 1), path


def test_every_parameter_and_operation_has_a_description() -> None:
    document = swagger(catalog.ALL)
    for name, parameter in document["parameters"].items():
        assert "schema" in parameter or 0 < len(parameter["description"]) <= LONGEST, name
    for path, item in document["paths"].items():
        for method, operation in item.items():
            assert method == "parameters" or 0 < len(operation["description"]) <= LONGEST, path
    assert all(
        find_description(META_GROUP, "Parameters", key) or find_description(META_GROUP, "DeleteOptions", key)
        for key in PARAMETERS
    )


def test_every_text_has_a_field() -> None:
    known: dict[str, set[str]] = {}
    coming = replace(features.choose_release(features.NAMES[-1]), without=frozenset())
    for struct in structs() | reached_all(in_release(one, coming) for one in structs()):
        dated = dated_fields(struct.home).get(struct.name, {}) if struct.home else {}  # of other releases
        known.setdefault(struct.name, {""}).update(*[{field.name for field in struct}, dated])
    for home, name, field, _ in texts():
        if name not in (*OTHERS, *INLINED, *OLDER):
            assert field in known[name], f"{home} {name} {field}"


@pytest.mark.parametrize("group", sorted({group for group, _ in GROUPS}))
def test_every_head_of_a_column_has_a_description(group: str) -> None:
    for plural in (kind.plural for kind in catalog.ALL if kind.group == group):
        for head in make_builtin_layout(group, plural).definitions:
            assert len(head["description"]) in range(1, LONGEST + 1), f"{plural} {head['name']}"


def test_a_group_has_its_own_texts_and_common_ones() -> None:
    assert find_description("", "ServicePort", "port") == "Number of the port."
    assert find_description("", "ServicePort", "metadata") == find_description(META_GROUP, "Object", "metadata")
    assert find_description("", "Nothing") == find_description("nowhere.example.com", "Thing", "field") == ""


def test_a_server_that_nobody_asks_parses_no_fields_of_kinds_that_it_does_not_use() -> None:
    code = (
        "import podless.app, podless.http.api\n"
        "from podless.structs.structfiles import load_file\n"
        "print([name for name, struct in load_file('core/v1')._structs.items() if 'parts' in vars(struct)])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
