"""Events of audit logs, and what is none."""

from __future__ import annotations

import copy
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.history.audit import AuditChange, BadEvent, Skipped, read_event

EVENT: dict[str, Any] = {
    "kind": "Event",
    "apiVersion": "audit.k8s.io/v1",
    "level": "RequestResponse",
    "auditID": "18a1bdfb-b7ca-4551-9d87-0a6a74fb59f4",
    "stage": "ResponseComplete",
    "requestURI": "/apis/example.com/v1/namespaces/a/gadgets/one?fieldManager=me",
    "verb": "patch",
    "user": {"username": "ann"},
    "userAgent": "kubectl/v1.30",
    "objectRef": {"apiGroup": "example.com", "resource": "gadgets", "namespace": "a", "name": "one"},
    "responseStatus": {"code": 200},
    "stageTimestamp": "2026-01-01T00:00:01.500000Z",
    "responseObject": {
        "apiVersion": "example.com/v1",
        "kind": "Gadget",
        "metadata": {"name": "one", "namespace": "a", "resourceVersion": "7"},
        "spec": {"n": 1},
    },
}
PATHS: list[tuple[str, ...]] = [(name,) for name in EVENT] + [
    (name, inner) for name, value in EVENT.items() if isinstance(value, dict) for inner in value
]
PATHS += [("responseObject", "metadata", name) for name in EVENT["responseObject"]["metadata"]]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 63), (1 << 64) - 1) | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
ODD = st.sampled_from(["", "/", "../x", "\0", "podless", "delete", "deletecollection", "create", "99" * 20, "-1", "٣"])


def changed(*given: tuple[tuple[str, ...], Any]) -> bytes:
    event = copy.deepcopy(EVENT)
    for path, value in given:
        place: Any = event
        for name in path[:-1]:
            place = place.get(name) if isinstance(place, dict) else None
        if isinstance(place, dict):
            place[path[-1]] = value
    return orjson.dumps(event)


def only_change(line: bytes) -> AuditChange:
    found = read_event(line)
    assert not isinstance(found, Skipped)
    [change] = found
    return change


def test_a_patch_is_one_change_with_its_author() -> None:
    change = only_change(orjson.dumps(EVENT))
    assert (change.key, change.revision, change.creates) == ("/example.com/gadgets/a/one", 7, False)
    assert change.author[:6] == ("ann", "", "patch", "", "me", "kubectl/v1.30")
    assert change.stored is not None
    assert orjson.loads(change.stored.with_revision(7)) == EVENT["responseObject"]


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        (("verb",), "list", Skipped.READ),
        (("stage",), "RequestReceived", Skipped.STAGE),
        (("responseStatus",), {"code": 409}, Skipped.FAILED),
        (("requestURI",), "/x?dryRun=All", Skipped.DRY_RUN),
        (("responseObject",), None, Skipped.LEVEL),
        (("responseObject", "apiVersion"), "autoscaling/v1", Skipped.OTHER),
        (("responseObject", "metadata", "resourceVersion"), "", Skipped.OTHER),
    ],
)
def test_what_changes_no_object_is_skipped(path: tuple[str, ...], value: Any, expected: Skipped) -> None:
    assert read_event(changed((path, value))) is expected


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("objectRef", "namespace"), "a/b"),
        (("objectRef", "resource"), "x/y"),
        (("responseObject", "metadata", "resourceVersion"), "7x"),
        (("stageTimestamp",), "yesterday"),
        (("user",), []),
    ],
)
def test_what_cannot_be_is_an_error(path: tuple[str, ...], value: Any) -> None:
    with pytest.raises(BadEvent):
        read_event(changed((path, value)))


def test_a_finalizer_keeps_a_deleted_object() -> None:
    metadata = EVENT["responseObject"]["metadata"] | {"deletionTimestamp": "2026-01-01T00:00:01Z"}
    for finalizers, stays in ((["x"], True), ([], False)):
        response = EVENT["responseObject"] | {"metadata": metadata | {"finalizers": finalizers}}
        change = only_change(changed((("verb",), "delete"), (("responseObject",), response)))
        assert (change.stored is not None) is stays


@given(st.lists(st.tuples(st.sampled_from(PATHS), VALUES | ODD), max_size=4))
def test_whatever_a_line_has_it_is_read_skipped_or_refused(given: list[tuple[tuple[str, ...], Any]]) -> None:
    try:
        found = read_event(changed(*given))
    except BadEvent:
        return
    if isinstance(found, Skipped):
        return
    for change in found:
        assert not change.key.startswith("/podless/")
        if change.stored is not None:
            assert orjson.loads(change.stored.with_revision(7))["metadata"]["resourceVersion"] == "7"
