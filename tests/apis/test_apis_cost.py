"""What judging built-in objects costs, and is charged: every list and map that they have, many times as long."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from podless.apis.catalog import ALL
from podless.apis.core.group import PODS
from podless.apis.core.usage import find_measure as usage_of
from podless.kinds.kind import Kind
from podless.meta.errors import APIError
from podless.runtime.jsonobject import Object
from podless.structs import gotypes
from podless.structs.gotypes import GoType, ListOf, MapOf
from podless.structs.structs import Struct
from tests.cost import GROWN, Allowance, assert_charged, assert_growth, metered

pytestmark = pytest.mark.slow

Path = tuple[str, ...]
SIZE = 12
KINDS = {f"{kind.plural}.{kind.group}": kind for kind in ALL if kind.home is None and not kind.virtual}
# what is judged for pods as well, or is a tree that tests/schema is about
SHARED = {"ObjectMeta", "PodTemplateSpec", "JSONSchemaProps"}
# as many errors as pairs of equal items, up to field.MAX, as kube-apiserver reports them
REPEATED = {("storageclasses", "allowedTopologies")}


def lists(form: GoType, path: Path, seen: set[str]) -> Iterator[Path]:
    """Where there is a list or a map, once for each struct; "*" stands for one item of those around it."""
    if isinstance(form, ListOf | MapOf):
        yield path
        yield from lists(form.item, (*path, "*"), seen)
    elif isinstance(form, Struct) and form.name not in seen:
        seen.add(form.name)
        for field in form.fields:
            yield from lists(field.type, (*path, field.name), seen)


def sample(form: GoType, number: int, depth: int = 0) -> Any:
    """A value: all that is plain, and of what is not one part, another for each number."""
    if isinstance(form, gotypes.String):
        return form.enum[number % len(form.enum)] if form.enum else f"n{number}"
    if isinstance(form, gotypes.Int | gotypes.Float | gotypes.IntOrString):
        return number % 100 + 1
    if isinstance(form, gotypes.Bool):
        return bool(number % 2)
    if isinstance(form, gotypes.Quantity):
        return str(number + 1)
    if isinstance(form, gotypes.Time):
        return "2026-01-01T00:00:00Z"
    if isinstance(form, ListOf):
        return [sample(form.item, number, depth + 1)] if depth < 4 else []
    if isinstance(form, MapOf):
        return {f"n{number}": sample(form.item, number, depth + 1)} if depth < 4 else {}
    if not isinstance(form, Struct):
        return None
    fields = [field for field in form.fields if field.name != "metadata"]
    deep = [field for field in fields if isinstance(field.type, Struct | ListOf | MapOf)]
    chosen = deep[number % len(deep)].name if deep else ""
    return {
        field.name: sample(field.type, number, depth + 1)
        for field in fields
        if (depth < 4 and field.name == chosen) or field not in deep
    }


def grown(form: GoType, path: Path, size: int, same: bool) -> Any:
    """A value with a list or map of so many items at a path."""
    if not path:
        assert isinstance(form, ListOf | MapOf)
        items = [sample(form.item, 0 if same else number) for number in range(size)]
        return items if isinstance(form, ListOf) else {f"n{number}": item for number, item in enumerate(items)}
    inner = grown(inside(form, path[0]), path[1:], size, same)
    if isinstance(form, ListOf):
        return [inner]
    if isinstance(form, MapOf):
        return {"n0": inner}
    return {**plain(form), path[0]: inner}


def inside(form: GoType, step: str) -> GoType:
    if isinstance(form, ListOf | MapOf):
        return form.item
    assert isinstance(form, Struct)
    return next(field.type for field in form.fields if field.name == step)


def plain(form: GoType) -> Object:
    """What is plain of a struct."""
    assert isinstance(form, Struct)
    deep = (Struct, ListOf, MapOf)
    return {field.name: sample(field.type, 0) for field in form.fields if not isinstance(field.type, deep)}


def stages(kind: Kind, given: Object) -> Iterator[tuple[str, Callable[[], object]]]:
    """All that is done with a new object and with a changed one, in pieces that are charged by themselves."""
    version = kind.by_version[kind.storage_version]
    head = {"apiVersion": kind.api_version(version.name), "kind": kind.kind}
    meta = {"name": "x-y.example.com", "namespace": "default" if kind.namespaced else ""}
    rules = kind.strategy
    sent = {**given, **head, "metadata": meta}
    obj: Object = {}

    def decode() -> None:
        obj.update(rules.decode(kind, version, sent, []))

    yield "decode", decode
    obj["metadata"] |= {"uid": "u", "creationTimestamp": "2020-01-01T00:00:00Z"}
    old, changed = copy.deepcopy(obj), copy.deepcopy(obj)
    yield "prepare a new one", lambda: rules.prepare_create(version, obj)
    yield "judge it", lambda: [error.field or error.body for error in rules.validate(version, obj, None)]
    yield "warn of it", lambda: rules.list_warnings(version, obj, None)
    yield "fields", lambda: rules.read_selectable_fields(version, obj)
    if (measure := usage_of(kind)) is not None:
        yield "measure it", lambda: measure(obj)
    yield "prepare a changed one", lambda: rules.prepare_update(version, changed, obj)
    yield "judge that", lambda: list(rules.validate(version, changed, obj))
    yield "warn of that", lambda: rules.list_warnings(version, changed, obj)
    if version.status:
        yield "prepare a status", lambda: rules.prepare_status(version, old, obj)
        yield "judge that status", lambda: list(rules.validate_status(version, old, obj))


Costs = dict[str, tuple[int, int]]  # by stage: the lines that it executes, and the steps that it is charged


def judge(kind: Kind, given: Object) -> Costs:
    """What each stage costs; none after one that refuses the object."""
    found: Costs = {}
    with contextlib.suppress(APIError):
        for stage, work in stages(kind, given):
            meter = Allowance()
            found[stage] = metered(meter, lambda _, work=work: work(), None), meter.charged  # type: ignore[misc]
    return found


def places(kind: Kind) -> list[Path]:
    struct = kind.struct_of(kind.by_version[kind.storage_version])
    assert struct is not None
    return list(lists(struct, (), set(SHARED)))


@pytest.mark.parametrize("name", KINDS)
def test_lists_and_maps(name: str) -> None:
    for path in places(KINDS[name]) if KINDS[name] is not PODS else ():
        check(KINDS[name], path)


@pytest.mark.parametrize("step", sorted({path[1] for path in places(PODS)}))
def test_lists_and_maps_of_pods(step: str) -> None:
    for path in places(PODS):
        if path[1] == step:
            check(PODS, path)


def check(kind: Kind, path: Path) -> None:
    form = kind.struct_of(kind.by_version[kind.storage_version])
    assert form is not None
    for same in (False, True) if (kind.plural, *path) not in REPEATED else (False,):
        judge(kind, grown(form, path, SIZE, same))  # what is only done once
        found = [judge(kind, grown(form, path, size, same)) for size in (SIZE, GROWN * SIZE)]
        what = f"{'.'.join(path)}, {'all the same' if same else 'each another'}"
        assert_growth([sum(lines for lines, _ in costs.values()) for costs in found], SIZE, what)
        for stage in found[1]:
            lines, steps = ([costs.get(stage, (0, 0))[part] for costs in found] for part in (0, 1))
            assert_charged(lines, steps, f"{stage}: {what}")
