"""Events in the bytes of a watch, and what many of them come to."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.http.faults.carry import JSON_LINES, PROTOBUF_FRAMES, EventFrames, compress_events
from podless.structs import protobuf
from podless.structs.structfiles import load_struct

PARTIAL_OBJECT_METADATA = load_struct("meta/v1", "PartialObjectMetadata")

Told = tuple[str, str, int]  # type, uid, revision


def line(told: Told) -> bytes:
    type_, uid, revision = told
    metadata = {"name": "BOOKMARK", "uid": uid, "resourceVersion": str(revision)}
    obj = {"kind": "BOOKMARK", "metadata": metadata}
    return json.dumps({"type": type_, "object": obj}, separators=(",", ":")).encode() + b"\n"


def frame(told: Told) -> bytes:
    type_, uid, revision = told
    metadata = {"name": "n" * 200, "uid": uid, "resourceVersion": str(revision)}
    obj = {"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": metadata}
    return protobuf.frame_event(type_, protobuf.write_object(PARTIAL_OBJECT_METADATA, obj))


FORMS = pytest.mark.parametrize(("frames", "write"), [(JSON_LINES, line), (PROTOBUF_FRAMES, frame)])


@FORMS
@given(st.lists(st.tuples(st.sampled_from(["ADDED", "BOOKMARK"]), st.sampled_from("abc"), st.integers(0, 9))))
def test_events_are_taken_apart(frames: EventFrames, write: Callable[[Told], bytes], told: list[Told]) -> None:
    written = [write(one) for one in told]
    found = list(frames.split_events(b"".join(written)))
    assert found == written
    assert [(frames.read_type(event).decode(), frames.read_uid(event)) for event in found] == [one[:2] for one in told]
    assert [frames.replace_type(event, b"DELETED") for event in found] == [write(("DELETED", *one[1:])) for one in told]


@FORMS
@pytest.mark.parametrize(
    ("told", "left"),
    [
        ("A1 M2 M3", "A3"),
        ("M1 M2", "M2"),
        ("M1 D2", "D2"),
        ("A1 M2 D3", ""),
        ("D1 A2 M3", "D1 A3"),
        ("M1 B2 B3", "M1 B2 B3"),
    ],
)
def test_of_each_object_only_what_its_events_come_to_is_told(
    frames: EventFrames, write: Callable[[Told], bytes], told: str, left: str
) -> None:
    types = {"A": "ADDED", "M": "MODIFIED", "D": "DELETED", "B": "BOOKMARK"}

    def events(text: str) -> list[bytes]:
        return [write((types[one[0]], "u", int(one[1:]))) for one in text.split()]

    assert list(compress_events(events(told), frames)) == events(left)


def test_objects_do_not_hide_each_other() -> None:
    told = [line(("MODIFIED", uid, 1)) for uid in ("a", "b", "", "")]
    assert list(compress_events(told, JSON_LINES)) == told


def test_the_object_of_a_row_is_told_apart() -> None:
    row = b'{"type":"ADDED","object":{"kind":"Table","rows":[{"cells":["x"],"object":{"metadata":{"uid":"u"}}}]}}\n'
    assert JSON_LINES.read_uid(row) == "u"
