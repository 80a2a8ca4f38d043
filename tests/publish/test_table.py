"""Tables and PartialObjectMetadata."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.apis import catalog
from podless.cache.entry import Entry
from podless.codec import serializer
from podless.http import lists
from podless.kinds import view
from podless.kinds.kind import Column, Kind, Version
from podless.kinds.strategy import Strategy
from podless.meta.errors import BadRequest
from podless.publish import table
from podless.structs.structfiles import META_GROUP, find_description
from tests.conftest import Client

TYPES = ("string", "integer", "number", "boolean", "date")
NOW = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC).timestamp()


def read_row(layout: table.TableLayout, obj: dict[str, Any], now: float = NOW, include: str = "None") -> Any:
    return json.loads(table.AgeFiller(now).fill_row(table.make_row(layout, obj, include)))


def read_cells(layout: table.TableLayout, obj: dict[str, Any], now: float = NOW) -> Any:
    return read_row(layout, obj, now)["cells"]


def kind(group: str, plural: str, version: Version, *, custom: bool) -> Kind:
    struct: Any = None if custom else object()
    return Kind(group, plural, "K", "k", "KList", True, (version,), version.name, Strategy(), struct=struct)


@pytest.mark.parametrize(
    ("value", "cells"),
    [
        (True, ["true", None, None, True, None]),
        (2.75, ["2.75", 2, 2.75, None, None]),
        (-2.75, ["-2.75", -2, -2.75, None, None]),
        (7, ["7", 7, 7, None, None]),
        (9007199254740993, ["9007199254740993", 9007199254740993, 9007199254740992, None, None]),
        (9223372036854776000, ["9.223372036854776e+18", -(2**63), 9223372036854776000, None, None]),
        (1e21, ["1e+21", -(2**63), 1e21, None, None]),
        (["a", 1, None], ['["a",1,null]', None, None, None, None]),
        ({"b": 1, "a": {"c": [True]}}, ['{"a":{"c":[true]},"b":1}', None, None, None, None]),
        ({"a": "<b>&\u2028"}, ['{"a":"\\u003cb\\u003e\\u0026\\u2028"}', None, None, None, None]),
        (None, ["<no value>", None, None, None, None]),
        ("", ["", None, None, None, "<unknown>"]),
        ("2020-13-01", ["2020-13-01", None, None, None, "<invalid>"]),
        ("2024-05-06T07:08:04Z", ["2024-05-06T07:08:04Z", None, None, None, "5s"]),
    ],
)
def test_cells_by_the_columns_type(value: Any, cells: list[Any]) -> None:
    layout = table.make_custom_layout([Column(name, name, ".spec.v") for name in TYPES])
    obj = {"metadata": {"name": "x"}, "spec": {"v": value}}
    assert json.dumps(read_cells(layout, obj, NOW)) == json.dumps(["x", *cells])
    assert read_cells(layout, {"metadata": {"name": "x"}}, NOW) == ["x", None, None, None, None, None]


def test_the_first_of_several_values_is_shown() -> None:
    layout = table.make_custom_layout([Column("Any", "string", ".l[*].n"), Column("Sum", "integer", ".l[*].p")])
    assert read_cells(layout, {"metadata": {}, "l": [{"n": "a", "p": 1}, {"n": "b", "p": 2}]}) == ["", "a", 1]


def test_column_definitions() -> None:
    given = Column("Size", "integer", ".spec.size", "int32", "how big", 1), Column("S", "string", ".s")
    name, size, plain = table.make_custom_layout(given).definitions
    assert list(name) == ["name", "type", "format", "description", "priority"]
    assert (name["name"], name["type"], name["format"], name["priority"]) == ("Name", "string", "name", 0)
    assert name["description"] == find_description(META_GROUP, "ObjectMeta", "name")
    assert list(size.values()) == ["Size", "integer", "int32", "how big", 1]
    assert plain["description"] == "Custom resource definition column (in JSONPath format): .s"


def test_default_columns_and_malformed_paths() -> None:
    assert [column["name"] for column in table.AGED.definitions] == ["Name", "Age"]
    assert table.AGED.definitions[1]["description"] == find_description(META_GROUP, "ObjectMeta", "creationTimestamp")
    given = (Column("A", "string", ".a"), Column("B", "string", ".b["), Column("C", "string", ".c"))
    assert [column["name"] for column in table.make_custom_layout(given).definitions] == ["Name", "A"]


def test_a_bookmark_has_no_age() -> None:
    assert read_cells(table.make_custom_layout(None), {"metadata": {"resourceVersion": "1"}}) == ["", None]


def test_a_layout_is_compiled_once_for_a_version() -> None:
    version = Version("v1")
    one = kind("example.com", "things", version, custom=True)
    assert table.get_layout(one, version) is table.get_layout(one, version)


def age(created: str, now: float) -> Any:
    return read_cells(table.AGED, {"metadata": {"creationTimestamp": created}}, now)[1]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-2, "<invalid>"), (-1.9, "0s"), (0, "0s"), (5.9, "5s"), (119, "119s"), (120, "2m"), (192, "3m12s"),
        (599, "9m59s"), (600, "10m"), (659, "10m"), (10799, "179m"), (10800, "3h"), (10860, "3h1m"),
        (28799, "7h59m"), (28800, "8h"), (172799, "47h"), (172800, "2d"), (183600, "2d3h"), (691199, "7d23h"),
        (691200, "8d"), (63071999, "729d"), (63072000, "2y"), (63158400, "2y1d"), (252287999, "7y364d"),
        (252288000, "8y"), (1e12, "292y"),
    ],
)  # fmt: skip
def test_ages(seconds: float, text: str) -> None:
    assert age("2024-05-06T07:08:09Z", NOW + seconds) == text


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("", "<unknown>"),
        ("null", "<unknown>"),
        ("0001-01-01T00:00:00Z", "<unknown>"),
        ("soon", "<invalid>"),
        ("2024-02-30T00:00:00Z", "<invalid>"),
        ("2024-05-06", "<invalid>"),
        ("2030-01-01T00:00:00Z", "<invalid>"),
        ("2024-05-06T09:08:09+02:00", "0s"),
        ("2024-05-06T07:08:08.5Z", "1s"),
        ("0000-01-01T00:00:00Z", "292y"),
    ],
)
def test_times(given: str, text: str) -> None:
    assert age(given, NOW) == text


CREATED = "2024-05-06T07:08:04Z"
BINDING = {
    "roleRef": {"kind": "Role", "name": "r"},
    "subjects": [
        {"kind": "User", "name": "u"}, {"kind": "User", "name": "v"}, {"kind": "Group", "name": "g"},
        {"kind": "ServiceAccount", "namespace": "ns", "name": "s"},
    ],
}  # fmt: skip
EVENT = {
    "involvedObject": {"kind": "Gadget", "name": "one", "fieldPath": "spec.a"},
    "reason": "R", "type": "Normal", "message": " m\n", "source": {"component": "c", "host": "h"},
    "firstTimestamp": "2024-05-06T07:08:00Z", "lastTimestamp": "2024-05-06T07:08:05Z", "count": 3,
}  # fmt: skip
NEW_EVENT = {
    "regarding": {"kind": "Gadget", "name": "one"}, "reason": "R", "type": "Normal", "note": "m",
    "reportingController": "c", "eventTime": "2024-05-06T07:08:00.000000Z",
}  # fmt: skip


@pytest.mark.parametrize(
    ("group", "plural", "obj", "cells"),
    [
        ("", "namespaces", {"status": {"phase": "Active"}}, ["x", "Active", "5s"]),
        ("", "configmaps", {"data": {"a": "1"}, "binaryData": {"b": "", "c": ""}}, ["x", 3, "5s"]),
        ("", "configmaps", {}, ["x", 0, "5s"]),
        ("", "secrets", {"type": "Opaque", "data": {"a": ""}}, ["x", "Opaque", 1, "5s"]),
        ("", "serviceaccounts", {}, ["x", "5s"]),
        ("apiextensions.k8s.io", "customresourcedefinitions", {}, ["x", CREATED]),
        ("coordination.k8s.io", "leases", {"spec": {"holderIdentity": "me"}}, ["x", "me", "5s"]),
        ("rbac.authorization.k8s.io", "rolebindings", BINDING, ["x", "Role/r", "5s", "u, v", "g", "ns/s"]),
        ("", "events", EVENT, ["4s", "Normal", "R", "gadget/one", "spec.a", "c, h", "m", "9s", 3, "x"]),
        ("events.k8s.io", "events", NEW_EVENT, ["9s", "Normal", "R", "gadget/one", "", "c", "m", "9s", 1, "x"]),
        ("admissionregistration.k8s.io", "validatingwebhookconfigurations", {"webhooks": [{}]}, ["x", 1, "5s"]),
        ("admissionregistration.k8s.io", "validatingadmissionpolicies", {"spec": {"validations": [{}]}},
         ["x", 1, "<unset>", "5s"]),
        ("admissionregistration.k8s.io", "validatingadmissionpolicybindings",
         {"spec": {"policyName": "p", "paramRef": {"name": "n"}}}, ["x", "p", "*/n", "5s"]),
        ("admissionregistration.k8s.io", "mutatingadmissionpolicybindings",
         {"spec": {"policyName": "p", "paramRef": {"selector": {
             "matchLabels": {"b": "c", "a": "b"},
             "matchExpressions": [{"key": "k", "operator": "In", "values": ["x", "y"]}]}}}},
         ["x", "p", "&LabelSelector{MatchLabels:map[string]string{a: b,b: c,},MatchExpressions:"
          "[]LabelSelectorRequirement{LabelSelectorRequirement{Key:k,Operator:In,Values:[x y],},},}", "5s"]),
    ],
)  # fmt: skip
def test_built_in_kinds(group: str, plural: str, obj: dict[str, Any], cells: list[Any]) -> None:
    version = Version("v1")
    layout = table.get_layout(kind(group, plural, version, custom=False), version)
    assert read_cells(layout, {"metadata": {"name": "x", "creationTimestamp": CREATED}} | obj, NOW) == cells
    assert len(layout.definitions) == len(cells)


def test_every_built_in_column_reads_an_empty_object() -> None:
    known = [(kind.group, kind.plural) for kind in catalog.ALL]
    assert ("", "configmaps") in known
    for group, plural in known:
        version = Version("v1")
        assert read_cells(table.get_layout(kind(group, plural, version, custom=False), version), {}, NOW)


def test_scale() -> None:
    assert [column["name"] for column in table.SCALE.definitions] == ["Name", "Desired", "Available", "Age"]
    obj = {"metadata": {"name": "x", "creationTimestamp": CREATED}, "spec": {"replicas": 2}, "status": {"replicas": 1}}
    assert read_cells(table.SCALE, obj, NOW) == ["x", 2, 1, "5s"]


OBJECT = {
    "apiVersion": "example.com/v1",
    "kind": "Thing",
    "metadata": {
        "annotations": {"c": "d"}, "creationTimestamp": CREATED, "deletionGracePeriodSeconds": 0, "generation": 1,
        "labels": {}, "managedFields": [{"apiVersion": "v1", "fieldsV1": {}, "manager": "m", "operation": "Update"}],
        "name": "x", "namespace": "default", "ownerReferences": [{"uid": "1", "name": "o", "kind": "K"}],
        "resourceVersion": "7", "uid": "u",
    },
    "spec": {"size": 3},
}  # fmt: skip
METADATA = {
    "name": "x", "namespace": "default", "uid": "u", "resourceVersion": "7", "generation": 1,
    "creationTimestamp": CREATED, "deletionGracePeriodSeconds": 0, "annotations": {"c": "d"},
    "ownerReferences": [{"kind": "K", "name": "o", "uid": "1"}],
    "managedFields": [{"manager": "m", "operation": "Update", "apiVersion": "v1", "fieldsV1": {}}],
}  # fmt: skip


def test_partial_metadata_has_the_order_of_a_real_server() -> None:
    wanted = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1beta1", "metadata": METADATA}
    assert json.dumps(table.make_partial(OBJECT, "v1beta1")) == json.dumps(wanted)
    assert table.make_partial({"metadata": {"name": ""}})["metadata"] == {}


@pytest.mark.parametrize("include", ["None", "Metadata", "Object"])
def test_tables(include: str) -> None:
    layout = table.make_custom_layout([Column("Size", "integer", ".spec.size")])
    row = table.make_row(layout, OBJECT, include)
    included = {"None": None, "Metadata": table.make_partial(OBJECT), "Object": OBJECT}[include]
    wanted = {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": {"resourceVersion": "9"},
        "columnDefinitions": layout.definitions,
        "rows": [{"cells": ["x", 3], "object": included}],
    }
    metadata = {"resourceVersion": "9", "continue": "", "other": 1}
    assert table.encode_table(layout, row, metadata) == serializer.encode_json(wanted)
    body = serializer.encode_json(OBJECT) if include == "Object" else None
    made = table.AgeFiller(NOW).fill_row(table.make_row(layout, OBJECT, include, body=body))
    assert made == table.AgeFiller(NOW).fill_row(row)


def test_later_tables_of_a_watch_have_no_headers() -> None:
    row = table.make_row(table.AGED, {"metadata": {"name": "x"}}, "None")
    shown = json.loads(table.encode_table(table.AGED, row, {}, with_columns=False))
    assert shown["columnDefinitions"] is None
    assert shown["rows"] == [{"cells": ["x", None], "object": None}]


def test_include_object() -> None:
    assert [table.check_include(text) for text in ("", "Metadata", "Object", "None")] == [
        "Metadata", "Metadata", "Object", "None",
    ]  # fmt: skip
    with pytest.raises(BadRequest) as caught:
        table.check_include("none")
    assert caught.value.message == (
        'Unable to convert to Table as requested: includeObject: Invalid value: "none": '
        "must be 'Metadata', 'Object', 'None', or empty"
    )


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=3),
    )
)  # fmt: skip
def test_any_value_has_a_cell(value: Any) -> None:
    layout = table.make_custom_layout([Column(name, name, ".v") for name in TYPES])
    cells = read_cells(layout, {"metadata": {"name": "x"}, "v": value}, NOW)
    assert isinstance(cells[1], str)
    assert serializer.encode_json(cells)


def test_a_kept_row_is_the_row_anew_at_every_later_moment() -> None:
    layout = table.make_custom_layout(
        [Column("Since", "date", ".since"), Column("N", "integer", ".n"), Column("No", "date", ".no")]
    )
    given = {"metadata": {"name": "x"}, "since": CREATED, "n": 1}, {"metadata": {}, "since": "?", "no": CREATED}
    wanted = {
        NOW: (["x", "5s", 1, None], ["", "<invalid>", None, "5s"]),
        NOW + 100: (["x", "105s", 1, None], ["", "<invalid>", None, "105s"]),
        NOW + 10**6: (["x", "11d", 1, None], ["", "<invalid>", None, "11d"]),
    }
    rows = [table.make_row(layout, obj) for obj in given]
    for moment, cells in wanted.items():
        filler = table.AgeFiller(moment)
        assert tuple(json.loads(filler.fill_row(row))["cells"] for row in rows) == cells


def test_flow_schemas_are_shown_in_the_order_of_their_precedence(client: Client) -> None:
    shown = client.send(
        "GET",
        "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas",
        Accept="application/json;as=Table;v=v1;g=meta.k8s.io",
    ).body
    precedence = [row["cells"][2] for row in shown["rows"]]
    assert precedence == sorted(precedence)
    assert [row["cells"][0] for row in shown["rows"]][:2] == ["exempt", "probes"]


def test_what_many_rows_are_sorted_by_is_made_once_for_each_state(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas"
    accept = "application/json;as=Table;v=v1;g=meta.k8s.io"
    spec: dict[str, Any] = {"priorityLevelConfiguration": {"name": "global-default"}}
    for number in range(lists.LONG_LIST):
        obj = {"metadata": {"name": f"many-{number}"}, "spec": {**spec, "matchingPrecedence": 9000 - number}}
        assert client.post(path, obj).status == 201
    first = client.send("GET", path, Accept=accept).body["rows"]
    precedence = [row["cells"][2] for row in first]
    assert len(precedence) > lists.LONG_LIST
    assert precedence == sorted(precedence)
    seen: list[str] = []
    whole = view.load_inner

    def inner(kind: Kind, version: Version, entry: Entry) -> dict[str, Any]:
        seen.append(entry.name)
        return whole(kind, version, entry)

    monkeypatch.setattr(view, "load_inner", inner)
    for _ in range(3):
        shown = [row["cells"][0] for row in client.send("GET", path, Accept=accept).body["rows"]]
        assert shown == [row["cells"][0] for row in first]
    assert len(seen) <= 2 * len(first)  # for a row and for its place, each once where a status has come meanwhile
