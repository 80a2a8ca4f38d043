"""Events: one stored object, shown in the words of two groups."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.apis.core.group import EVENTS
from podless.apis.events.group import NEW_EVENTS
from podless.structs import structs
from podless.structs.structfiles import load_struct
from tests.conftest import Client

OLD = "/api/v1/namespaces/default/events"
NEW = "/apis/events.k8s.io/v1/namespaces/default/events"
VERSION, NEW_VERSION = EVENTS.versions[0], NEW_EVENTS.versions[0]
TIME = st.sampled_from(["2024-01-02T03:04:05.000006Z", None])
TEXT = st.sampled_from(["", "a", "ä b"])
REFERENCE = st.fixed_dictionaries({}, optional={"kind": TEXT, "name": TEXT, "namespace": TEXT, "fieldPath": TEXT})
EVENT = st.fixed_dictionaries(
    {"metadata": st.just({"name": "e", "namespace": "default"}), "involvedObject": REFERENCE},
    optional={
        "reason": TEXT,
        "message": TEXT,
        "source": st.fixed_dictionaries({}, optional={"component": TEXT, "host": TEXT}),
        "firstTimestamp": st.sampled_from(["2024-01-02T03:04:05Z", None]),
        "count": st.integers(-1, 9),
        "type": TEXT,
        "eventTime": TIME,
        "series": st.fixed_dictionaries({}, optional={"count": st.integers(0, 3), "lastObservedTime": TIME}),
        "related": REFERENCE,
        "reportingComponent": TEXT,
    },
)


def complete(name: str, **fields: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": name},
        "eventTime": "2024-01-01T00:00:00.000001Z",
        "reportingController": "example.com/tester",
        "reportingInstance": "tester-1",
        "action": "Doing",
        "reason": "Done",
        "type": "Normal",
        **fields,
    }


@given(EVENT)
def test_nothing_is_lost_between_the_groups(event: dict[str, Any]) -> None:
    stored = structs.decode_struct(load_struct("core/v1", "Event"), event) | {"kind": "Event", "apiVersion": "v1"}
    shown = NEW_EVENTS.strategy.read_stored(NEW_EVENTS, NEW_VERSION, dict(stored))
    assert shown["apiVersion"] == "events.k8s.io/v1"
    assert NEW_EVENTS.strategy.make_stored(NEW_EVENTS, shown) == stored
    assert EVENTS.strategy.convert_object(EVENTS, VERSION, shown) == stored


def test_both_groups_list_watch_and_own_the_same_object(client: Client) -> None:
    made = client.post(f"{NEW}?fieldManager=new", complete("both", note="n"))
    assert (made.status, made.body["apiVersion"]) == (201, "events.k8s.io/v1")
    old = client.get(f"{OLD}/both").body
    assert (old["message"], old["reportingComponent"]) == ("n", "example.com/tester")
    assert old["metadata"] == made.body["metadata"]
    owned = old["metadata"]["managedFields"][0]
    assert (owned["apiVersion"], "f:note" in owned["fieldsV1"]) == ("events.k8s.io/v1", True)
    # a write through the other group drops the owners of this one
    changed = client.send(
        "PATCH", f"{OLD}/both?fieldManager=old", {"message": "m"}, Content_Type="application/merge-patch+json"
    )
    found = changed.body["metadata"]["managedFields"]
    assert [(entry["manager"], entry["fieldsV1"]) for entry in found] == [("old", {"f:message": {}})]
    assert client.get(f"{NEW}/both").body["note"] == "m"
    for path, name in ((OLD, "involvedObject"), (NEW, "regarding")):
        selector = f"{'reportingComponent' if path is OLD else 'reportingController'}=example.com/tester,{name}.kind!=X"
        listed = client.get(f"{path}?fieldSelector=metadata.name=both,{selector}").body["items"]
        assert [(name in item, item["metadata"]["name"]) for item in listed] == [(True, "both")]
        watched = client.events(f"{path}?watch=1&fieldSelector=metadata.name=both", 1)
        assert [event["type"] for event in watched] == ["ADDED"]
    assert client.send("DELETE", f"{NEW}/both").body["details"]["group"] == "events.k8s.io"
    assert client.get(f"{OLD}/both").status == 404


def test_an_apply_through_one_group_does_not_meet_the_owner_in_the_other(client: Client) -> None:
    headers = {"Content_Type": "application/apply-patch+yaml"}
    event = {"apiVersion": "events.k8s.io/v1", "kind": "Event", **complete("applied", note="n")}
    assert client.send("PATCH", f"{NEW}/applied?fieldManager=a", event, **headers).status == 201
    other = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "applied"}, "message": "m"}
    answer = client.send("PATCH", f"{OLD}/applied?fieldManager=b", other, **headers)
    assert answer.status == 200
    assert [entry["manager"] for entry in answer.body["metadata"]["managedFields"]] == ["b"]
    client.send("DELETE", f"{OLD}/applied")


@pytest.mark.parametrize("value", [5, "x"])
def test_what_is_no_time_is_told_where_the_other_group_owns_the_event(client: Client, value: Any) -> None:
    about = {"metadata": {"name": "untimely"}, "involvedObject": {"namespace": "default"}, "reason": "r"}
    assert client.post(OLD, about).status == 201
    event = {"apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "untimely"}, "eventTime": value}
    refused = client.send("PATCH", f"{NEW}/untimely?fieldManager=a", event, Content_Type="application/apply-patch+yaml")
    assert refused.status == 500  # as a real server, which says why
    assert "unable to convert unstructured object to events.k8s.io/v1, Kind=Event: " in refused.body["message"]
    client.send("DELETE", f"{OLD}/untimely")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"note": "other"}, "message"),
        ({"reportingInstance": "other"}, "reportingInstance"),
        ({"regarding": {"name": "other", "namespace": "default"}}, "involvedObject"),
        ({"series": {"count": 1, "lastObservedTime": "2024-01-01T00:00:01.000002Z"}}, "series.count"),
    ],
)
def test_what_a_complete_event_may_not_change(client: Client, change: dict[str, Any], field: str) -> None:
    assert client.post(NEW, complete("fixed")).status == 201
    refused = client.merge(f"{NEW}/fixed", change)
    assert (refused.status, [cause["field"] for cause in refused.body["details"]["causes"]]) == (422, [field])
    assert client.send("DELETE", f"{OLD}/fixed").status == 200


def test_an_update_makes_an_event_that_is_not_there(client: Client) -> None:
    event = {"metadata": {"name": "put"}, "involvedObject": {"kind": "X", "namespace": "default"}}
    assert client.send("PUT", f"{OLD}/put", event).status == 201
    assert client.send("DELETE", f"{OLD}/put?propagationPolicy=Orphan").status == 200
    assert client.get(f"{OLD}/put").status == 404


def test_a_name_that_is_taken_is_told_in_the_group_that_was_asked(client: Client) -> None:
    event = complete("taken", regarding={"namespace": "default"})
    assert client.post(NEW, event).status == 201
    assert client.post(NEW, event).body["details"] == {"name": "taken", "group": "events.k8s.io", "kind": "events"}
    old = {"metadata": {"name": "taken"}, "involvedObject": {"namespace": "default"}}
    assert client.post(OLD, old).body["details"] == {"name": "taken", "kind": "events"}
    client.send("DELETE", f"{OLD}/taken")


@pytest.mark.parametrize(("space", "wanted"), [("other", "involvedObject.namespace"), ("default", "metadata.name")])
def test_metadata_is_judged_where_the_rest_is_in_order(client: Client, space: str, wanted: str) -> None:
    refused = client.post(OLD, {"metadata": {}, "involvedObject": {"namespace": space}})
    assert [cause["field"] for cause in refused.body["details"]["causes"]] == [wanted]
