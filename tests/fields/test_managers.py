"""managedFields through updates and applies."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.fields import kubectl, managers, scaling
from podless.fields.managers import ApplyConflict
from podless.fields.merge import WriteTarget
from podless.fields.sets import make_set
from podless.fields.typed import schema_shape, struct_shape
from podless.meta.errors import BadRequest, Internal
from podless.runtime.jsonobject import Object
from podless.structs import structs
from podless.structs.structfiles import load_struct

CONFIG_MAP = load_struct("core/v1", "ConfigMap")


NUMBER, TEXT = {"type": "integer"}, {"type": "string"}
SPEC = {
    "type": "object",
    "properties": {
        "size": NUMBER,
        "color": TEXT,
        "opts": {"type": "object", "additionalProperties": TEXT},
        "set": {"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"},
    },
}
SCHEMA = {"type": "object", "properties": {"spec": SPEC, "status": {"type": "object", "properties": {"phase": TEXT}}}}
SHAPES = {"g/v1": schema_shape(SCHEMA), "g/v2": schema_shape(SCHEMA)}
V1 = WriteTarget("g/v1", SHAPES.get, {"apiVersion": "g/v1", "kind": "Gadget"}, reset={"g/v1": make_set(("f:status",))})
V2 = WriteTarget("g/v2", SHAPES.get, {"apiVersion": "g/v2", "kind": "Gadget"})
STATUS = WriteTarget(
    "g/v1", SHAPES.get, V1.blank, subresource="status", reset={"g/v1": make_set(("f:metadata",), ("f:spec",))}
)
THEN, NOW, LATER = "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z", "2026-01-01T00:00:02Z"


def gadget(spec: Any = None, version: str = "g/v1", **more: Any) -> Object:
    made: Object = {"apiVersion": version, "kind": "Gadget", "metadata": {"name": "a"}, **more}
    return made if spec is None else made | {"spec": spec}


def create(obj: Object, manager: str = "creator", place: WriteTarget = V1, now: str = THEN) -> Object:
    obj = copy.deepcopy(obj)
    managers.put_managed_fields(obj["metadata"], managers.update_managed_fields(place, None, obj, manager, now))
    return obj


def update(old: Object, changed: Object, manager: str = "editor", place: WriteTarget = V1, now: str = NOW) -> Object:
    obj = copy.deepcopy(changed)
    obj["metadata"].setdefault("managedFields", old["metadata"].get("managedFields"))
    managers.put_managed_fields(obj["metadata"], managers.update_managed_fields(place, old, obj, manager, now))
    return obj


def apply(
    live: Object | None, spec: Any, manager: str = "alpha", place: WriteTarget = V1, now: str = NOW, force: bool = False
) -> Object:
    return managers.apply_object(place, live, gadget(spec, place.version), manager, force, now)


def owned(obj: Object) -> dict[str, Any]:
    """manager -> what it owns of the spec."""
    entries = obj["metadata"].get("managedFields", [])
    return {entry["manager"]: entry["fieldsV1"].get("f:spec", entry["fieldsV1"]) for entry in entries}


def test_a_creator_owns_all_that_it_sent() -> None:
    made = create(gadget({"size": 1}, status={"phase": "lost"}))
    assert made["metadata"]["managedFields"] == [
        {
            "manager": "creator",
            "operation": "Update",
            "apiVersion": "g/v1",
            "time": THEN,
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:spec": {".": {}, "f:size": {}}},
        }
    ]


def test_what_the_server_says_belongs_to_nobody() -> None:
    obj = gadget()
    obj["metadata"] |= {"namespace": "n", "uid": "u", "generation": 3, "resourceVersion": "1", "generateName": "a-"}
    assert owned(create(obj)) == {"creator": {"f:metadata": {"f:generateName": {}}}}
    assert "managedFields" not in create(gadget())["metadata"]


def _present(spec: Object) -> Object:
    return {name: value for name, value in spec.items() if value is not None}


SPECS = st.fixed_dictionaries(
    {
        "size": st.sampled_from([None, 1, 2]),
        "color": st.sampled_from([None, "red", "blue"]),
        "opts": st.sampled_from([None, {}, {"a": "1"}, {"a": "2"}, {"a": "1", "b": "2"}]),
        "set": st.sampled_from([None, ["a"], ["b", "a"]]),
    }
).map(_present)


@given(SPECS, SPECS, st.sampled_from([{}, {"labels": {"l": "1"}}, {"generateName": "g"}]), st.booleans())
def test_who_owns_what_does_not_depend_on_what_is_known_of_the_old_object(
    before: Object, after: Object, more: Object, own: bool
) -> None:
    old = create(gadget(before))
    told = []
    for settled in (False, True):
        changed = gadget(after, status={"phase": "lost"})
        changed["metadata"] |= more
        manager = "creator" if own else "editor"
        told.append(managers.update_managed_fields(V1, copy.deepcopy(old), changed, manager, NOW, settled=settled))
    assert told[0] == told[1]


ODD = st.sampled_from([None, 1, "a", True, {}, [], {"a": "1"}, {"a": 1}, ["a"], [1], [None]])


@given(
    st.dictionaries(
        st.sampled_from(["spec", "status", "other"]),
        ODD | st.dictionaries(st.sampled_from(sorted(SPEC["properties"])), ODD),
    ),
    st.dictionaries(
        st.sampled_from(["labels", "annotations"]), st.sampled_from([{}, {"a": "1"}, {"a": "1", "b": "2"}])
    ),
)
def test_a_new_custom_object_has_the_owners_that_a_comparison_with_a_blank_one_finds(
    more: Object, meta: Object
) -> None:
    """A custom kind collects the fields without comparing them; other kinds take the general way."""
    obj = gadget(**more)
    obj["metadata"] |= meta
    told = [
        managers.update_managed_fields(place, None, copy.deepcopy(obj), "me", NOW)
        for place in (V1, replace(V1, custom=False))
    ]
    assert told[0] == told[1]


def test_an_update_takes_what_it_changes() -> None:
    old = create(gadget({"size": 1, "color": "red", "opts": {"a": "1"}}))
    new = update(old, gadget({"size": 2, "color": "red", "opts": {"b": "1"}}))
    assert owned(new) == {
        "creator": {".": {}, "f:color": {}, "f:opts": {".": {}}} | {"f:opts": {}},
        "editor": {"f:size": {}, "f:opts": {"f:b": {}}},
    }
    again = update(new, gadget({"size": 2, "color": "red", "opts": {"b": "1"}}), "third", now=LATER)
    assert again["metadata"] == new["metadata"]  # nothing changed, so nobody owns more, and no time moves


def test_the_same_manager_keeps_one_entry() -> None:
    old = create(gadget({"size": 1}), "me")
    new = update(old, gadget({"size": 2, "color": "red"}), "me")
    assert owned(new) == {"me": {".": {}, "f:size": {}, "f:color": {}}}
    assert new["metadata"]["managedFields"][0]["time"] == NOW
    assert owned(update(new, gadget(), "you")) == {}


def test_subresources_are_entries_of_their_own() -> None:
    old = create(gadget({"size": 1}), "me")
    new = update(old, gadget({"size": 9}, status={"phase": "Up"}), "me", STATUS)
    entries = new["metadata"]["managedFields"]
    assert [entry.get("subresource") for entry in entries] == [None, "status"]
    assert entries[1]["fieldsV1"] == {"f:status": {".": {}, "f:phase": {}}}
    assert entries[0] == old["metadata"]["managedFields"][0]


@pytest.mark.parametrize("given", [[{}], []])
def test_clients_may_make_the_server_forget(given: list[Any]) -> None:
    old = create(gadget({"size": 1}))
    changed = gadget({"size": 2})
    changed["metadata"]["managedFields"] = given
    new = update(old, changed)
    assert "managedFields" not in new["metadata"]
    assert "managedFields" not in update(new, gadget({"size": 3}))["metadata"]
    held = update(old, changed | {"status": {"phase": "x"}}, "me", STATUS)  # but not through a subresource
    assert list(owned(held)) == ["creator", "me"]


@pytest.mark.parametrize(
    "entry",
    [
        {"operation": "Apply"},
        {"operation": "Other", "apiVersion": "g/v1", "fieldsType": "FieldsV1"},
        {"operation": "Apply", "apiVersion": "g/v1", "fieldsType": "FieldsV2"},
        {"operation": "Apply", "apiVersion": "g/v1", "fieldsType": "FieldsV1", "fieldsV1": {"x": {}}},
        {"operation": "Apply", "apiVersion": "g/v1", "fieldsType": "FieldsV1", "fieldsV1": []},
    ],
)
def test_unsound_entries_of_clients_are_no_entries(entry: Object) -> None:
    old = create(gadget({"size": 1}))
    changed = gadget({"size": 1})
    changed["metadata"]["managedFields"] = [entry]
    assert update(old, changed)["metadata"] == old["metadata"]


def test_sound_entries_of_clients_count() -> None:
    old = create(gadget({"size": 1}))
    changed = gadget({"size": 1})
    fields: Object = {"f:spec": {"f:size": {".": {}}}}
    entry = {"manager": "me", "operation": "Apply", "apiVersion": "g/v1", "fieldsType": "FieldsV1", "fieldsV1": fields}
    changed["metadata"]["managedFields"] = [entry]
    assert owned(update(old, changed)) == {"me": {"f:size": {}}}


def test_an_object_that_does_not_fit_is_no_longer_managed() -> None:
    old = create(gadget({"size": 1}))
    assert "managedFields" not in update(old, gadget({"size": 1}, status="no map"))["metadata"]


def test_old_updaters_become_one() -> None:
    obj = create(gadget({"opts": {"k": "0"}}), "m0")
    for number in range(1, 13):
        opts = {**obj["spec"]["opts"], f"k{number}": "1"}
        obj = update(obj, gadget({"opts": opts}), f"m{number}", now=f"2026-01-01T00:00:{number:02}Z")
    entries = obj["metadata"]["managedFields"]
    assert [entry["manager"] for entry in entries] == ["ancient-changes", *(f"m{number}" for number in range(4, 13))]
    assert (len(entries), entries[0]["time"]) == (10, "2026-01-01T00:00:03Z")
    assert set(entries[0]["fieldsV1"]["f:spec"]["f:opts"]) == {".", "f:k", "f:k1", "f:k2", "f:k3"}


def test_an_apply_creates_and_gives_up() -> None:
    obj = apply(None, {"size": 1, "color": "red", "opts": {"a": "1", "b": "2"}})
    assert owned(obj) == {"alpha": {"f:size": {}, "f:color": {}, "f:opts": {"f:a": {}, "f:b": {}}}}
    obj = apply(obj, {"size": 1, "opts": {"a": "1"}})
    assert (obj["spec"], owned(obj)) == (
        {"size": 1, "opts": {"a": "1"}},
        {"alpha": {"f:size": {}, "f:opts": {"f:a": {}}}},
    )
    gone = apply(obj, None)
    assert "spec" not in gone
    assert "managedFields" not in gone["metadata"]


def test_an_apply_that_changes_nothing_moves_no_time() -> None:
    obj = apply(None, {"size": 1})
    assert apply(obj, {"size": 1}, now=LATER) == obj
    shared = apply(obj, {"size": 1}, "beta", now=LATER)
    assert [(entry["manager"], entry.get("time")) for entry in shared["metadata"]["managedFields"]] == [
        ("beta", None),
        ("alpha", NOW),
    ]


def test_fields_stay_as_long_as_somebody_owns_them() -> None:
    obj = apply(apply(None, {"size": 1, "set": ["a", "b"]}), {"size": 1, "set": ["c", "a"]}, "beta")
    assert obj["spec"]["set"] == ["c", "a", "b"]
    obj = apply(obj, {"set": ["b"]})
    assert obj["spec"] == {"size": 1, "set": ["c", "a", "b"]}
    obj = apply(obj, {"set": ["d"]}, "beta")
    assert obj["spec"] == {"set": ["b", "d"]}


def test_a_conflict_names_owners_and_fields() -> None:
    obj = update(apply(None, {"size": 1, "color": "red"}), gadget({"size": 1, "color": "red", "opts": {"x": "1"}}))
    with pytest.raises(ApplyConflict) as caught:
        apply(obj, {"size": 2}, "beta")
    assert caught.value.status() == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": 'Apply failed with 1 conflict: conflict with "alpha": .spec.size',
        "reason": "Conflict",
        "details": {
            "causes": [{"reason": "FieldManagerConflict", "message": 'conflict with "alpha"', "field": ".spec.size"}]
        },
        "code": 409,
    }
    with pytest.raises(ApplyConflict) as caught:
        apply(obj, {"size": 2, "color": "blue", "opts": {"x": "2"}}, "beta")
    assert caught.value.message == (
        'Apply failed with 3 conflicts: conflicts with "alpha":\n- .spec.color\n- .spec.size\n'
        'conflicts with "editor" using g/v1:\n- .spec.opts.x'
    )
    forced = apply(obj, {"size": 2}, "beta", force=True)
    assert owned(forced) == {
        "alpha": {"f:color": {}},
        "beta": {"f:size": {}},
        "editor": {"f:opts": {".": {}, "f:x": {}}},
    }


def test_what_nobody_managed_is_claimed_before_the_first_apply() -> None:
    obj = apply(gadget({"size": 1}), {"color": "x"}, "beta")
    assert owned(obj) == {"beta": {"f:color": {}}, "before-first-apply": {".": {}, "f:size": {}}}
    with pytest.raises(ApplyConflict, match=r'conflict with "before-first-apply" using g/v1: \.spec\.size'):
        apply(gadget({"size": 1}), {"size": 2})


def test_appliers_are_one_in_all_versions() -> None:
    obj = apply(None, {"size": 1, "color": "red"})
    obj = apply({**obj, "apiVersion": "g/v2"}, {"color": "red"}, place=V2)
    assert obj["spec"] == {"color": "red"}
    assert [entry["apiVersion"] for entry in obj["metadata"]["managedFields"]] == ["g/v2"]


def test_owners_in_a_version_that_is_gone() -> None:
    obj = create(gadget({"size": 1}, "g/v2"), place=V2) | {"apiVersion": "g/v1"}
    only = {"g/v1": SHAPES["g/v1"]}
    custom = WriteTarget("g/v1", only.get, V1.blank)
    with pytest.raises(Internal, match="request to convert CR to an invalid group/version: g/v2"):
        apply(obj, {"color": "x"}, place=custom)
    assert owned(update(obj, gadget({"size": 2}), place=custom)) == {}
    builtin = WriteTarget("g/v1", only.get, V1.blank, custom=False)
    assert owned(update(obj, gadget({"size": 2}), place=builtin)) == {"editor": {"f:size": {}}}


def test_an_object_must_fit_the_versions_of_its_owners() -> None:
    narrow = schema_shape(
        {"type": "object", "properties": {"spec": {"type": "object", "properties": {"size": NUMBER}}}}
    )
    shapes = {"g/v1": narrow, "g/v2": SHAPES["g/v2"]}
    one, two = WriteTarget("g/v1", shapes.get, V1.blank), WriteTarget("g/v2", shapes.get, V2.blank)
    live = apply(None, {"size": 1}, place=one) | {"apiVersion": "g/v2"}
    with pytest.raises(Internal) as caught:
        apply(live, {"color": "red"}, "beta", two)
    assert caught.value.message == "failed to convert new object: .spec.color: field not declared in schema"
    changed = gadget({"size": 1, "color": "red"}, "g/v2")
    assert "managedFields" not in update(live, changed, place=two)["metadata"]


def test_what_is_applied_must_fit() -> None:
    with pytest.raises(Internal) as caught:
        apply(None, {"size": "x"})
    assert caught.value.message == (
        "failed to create typed patch object (/a; g/v1, Kind=Gadget): .spec.size: "
        "expected numeric (int or float), got string"
    )
    applied = gadget({})
    applied["metadata"]["managedFields"] = []
    with pytest.raises(BadRequest, match=r"metadata\.managedFields must be nil"):
        managers.apply_object(V1, None, applied, "alpha", False, NOW)
    with pytest.raises(Internal, match="expected map, got"):
        managers.apply_object(V1, None, gadget() | {"metadata": "text"}, "alpha", False, NOW)


def client_side(spec: Object) -> Object:
    text = '{"apiVersion":"g/v1","kind":"Gadget","metadata":{"name":"a"},"spec":{"size":1}}\n'
    made = gadget(spec)
    made["metadata"]["annotations"] = {kubectl.LAST_APPLIED: text}
    return create(made, "kubectl-client-side-apply")


def test_kubectl_takes_over_what_it_applied_from_its_side() -> None:
    live = client_side({"size": 1, "color": "red"})
    obj = apply(live, {"size": 2}, "kubectl")
    assert obj["spec"] == {"size": 2, "color": "red"}
    noted = obj["metadata"]["annotations"][kubectl.LAST_APPLIED]
    assert noted == '{"apiVersion":"g/v1","kind":"Gadget","metadata":{"name":"a"},"spec":{"size":2}}\n'
    with pytest.raises(ApplyConflict, match=r"1 conflict: .*: \.spec\.color"):
        apply(live, {"size": 2, "color": "blue"}, "kubectl")
    with pytest.raises(ApplyConflict):
        apply(live, {"size": 2}, "other")


def test_built_in_kinds_write_their_sets_in_order() -> None:
    blank = structs.decode_struct(CONFIG_MAP, {}) | {"kind": "ConfigMap", "apiVersion": "v1"}
    place = WriteTarget("v1", {"v1": struct_shape(CONFIG_MAP)}.get, blank, custom=False)
    made = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a"}, "data": {"b": "1", "a": "1"}}
    (entry,) = managers.update_managed_fields(place, None, made, "", NOW)
    assert list(entry["fieldsV1"]["f:data"]) == [".", "f:a", "f:b"]
    assert entry["manager"] == "unknown"


def test_times_alone_are_no_change() -> None:
    old = create(gadget({"size": 1}))
    new = create(gadget({"size": 1}), now=LATER)
    managers.restore_times(new, old)
    assert new == old
    other = create(gadget({"size": 2}), now=LATER)
    managers.restore_times(other, old)
    assert other["metadata"]["managedFields"][0]["time"] == LATER


@pytest.mark.parametrize(
    ("parameter", "agent", "name"),
    [
        ("me", "tool/1", "me"),
        ("", "my-tool/v1.2 (linux) more", "my-tool"),
        ("", "bare", "bare"),
        ("", "", ""),
        ("", "a\x07b/1", "ab"),
        ("", "é" * 100, "é" * 64),
    ],
)
def test_names_of_managers(parameter: str, agent: str, name: str) -> None:
    assert managers.find_manager_name(parameter, agent) == name


PATHS = {"g/v1": ("f:spec", "f:size"), "g/v2": None}
REPLICAS: Object = {"f:spec": {"f:replicas": {}}}


def test_a_scale_shows_who_owns_the_replicas() -> None:
    obj = apply(None, {"size": 1, "color": "red"})
    (entry,) = scaling.list_scale_entries(obj["metadata"]["managedFields"], PATHS)
    assert (entry["manager"], entry["apiVersion"], entry["fieldsV1"]) == ("alpha", "autoscaling/v1", REPLICAS)
    assert scaling.list_scale_entries(apply(None, {"color": "red"})["metadata"]["managedFields"], PATHS) == []


def test_who_scales_takes_the_replicas() -> None:
    held = apply(None, {"size": 1, "color": "red"})["metadata"]["managedFields"]
    scaler = {
        "manager": "scaler",
        "operation": "Update",
        "apiVersion": "autoscaling/v1",
        "time": NOW,
        "fieldsType": "FieldsV1",
        "fieldsV1": REPLICAS,
        "subresource": "scale",
    }
    entries = scaling.list_object_entries(held, [scaler], "g/v1", PATHS, custom=True)
    assert [(entry["manager"], entry["fieldsV1"], entry.get("time")) for entry in entries] == [
        ("alpha", {"f:spec": {"f:color": {}}}, NOW),
        ("scaler", {"f:spec": {"f:size": {}}}, None),
    ]
    kept = scaling.list_object_entries(held, scaling.list_scale_entries(held, PATHS), "g/v1", PATHS, custom=True)
    assert kept == held


@pytest.mark.parametrize("spec", [{"color": 1, "size": 2}, {"set": "a", "size": 2}, {"opts": {"x": 1}, "size": 2}])
def test_an_object_that_the_present_schema_does_not_fit_is_managed_by_nobody(spec: Any) -> None:
    made = create(gadget({"size": 1}))
    old = gadget(spec, metadata={**made["metadata"], "resourceVersion": "1"})
    changed = update(old, gadget(spec, metadata={"name": "a", "labels": {"x": "y"}}))
    assert "managedFields" not in changed["metadata"]
