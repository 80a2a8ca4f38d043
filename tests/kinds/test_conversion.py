"""A conversion webhook may answer anything: what comes of it is a sound object or a clear refusal."""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podless.apis.schemes import make_review_scheme
from podless.cache.entry import Entry
from podless.codec import serializer
from podless.fields.typed import SchemaMisfit
from podless.kinds import conversion, view
from podless.kinds.conversion import ConversionFailed, Converter
from podless.kinds.fromdefinition import compile_kind
from podless.kinds.kind import Kind
from podless.remote import RemoteError, WebhookClient, WebhookTarget
from podless.runtime.jsonobject import Object
from podless.store import Record

GROUP = "example.com"
OBJECT: Object = {
    "apiVersion": f"{GROUP}/v1",
    "kind": "Gadget",
    "metadata": {"name": "a", "namespace": "default", "uid": "u", "labels": {"x": "y"}, "generation": 3},
    "spec": {"size": 1},
}


# what is said of an object that is none
UNREADABLE = ("unexpected end of JSON input", "json: cannot unmarshal ", "Object 'Kind' is missing in '")


class Fake(WebhookClient):
    """Answers what a function makes of the question."""

    def __init__(self, answer: Any) -> None:
        super().__init__()
        self.answer = answer
        self.calls: list[Any] = []

    async def post_json(
        self, target: WebhookTarget, body: bytes, *, seconds: int, limit: int = 0, until: float | None = None
    ) -> bytes:
        self.calls.append(json.loads(body))
        await asyncio.sleep(0)
        found = self.answer(self.calls[-1])
        return found if isinstance(found, bytes) else json.dumps(found).encode()


def kind() -> Kind:
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}}}
    version = {"served": True, "schema": {"openAPIV3Schema": schema}}
    definition = {
        "metadata": {"name": f"gadgets.{GROUP}", "uid": "d", "generation": 1},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"plural": "gadgets", "kind": "Gadget"},
            "versions": [{"name": name, "storage": name == "v1", **version} for name in ("v1", "v2")],
            "conversion": {
                "strategy": "Webhook",
                "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": {"url": "https://x"}},
            },
        },
    }
    return compile_kind(definition, serializer.encode_json(definition), created=1, changed=1)


def good(review: Any) -> Any:
    converted = [
        copy.deepcopy(obj) | {"apiVersion": review["request"]["desiredAPIVersion"]}
        for obj in review["request"]["objects"]
    ]
    response = {"uid": review["request"]["uid"], "convertedObjects": converted, "result": {"status": "Success"}}
    return {"kind": "ConversionReview", "apiVersion": review["apiVersion"], "response": response}


def entries(of: Kind, count: int, revision: int = 5) -> list[Entry]:
    found = []
    for number in range(count):
        obj = copy.deepcopy(OBJECT)
        obj["metadata"]["name"] = f"n{number}"
        found.append(Entry(Record(of.key("default", f"n{number}"), view.encode_object(of, obj), revision, revision)))
    return found


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
PLACES = [
    (),
    ("response",),
    ("apiVersion",),
    ("response", "uid"),
    ("response", "result"),
    ("response", "result", "status"),
    ("response", "convertedObjects"),
    ("response", "convertedObjects", 0),
    *(("response", "convertedObjects", 0, name) for name in ("apiVersion", "kind", "metadata", "spec")),
    *(
        ("response", "convertedObjects", 0, "metadata", name)
        for name in ("name", "uid", "labels", "annotations", "finalizers")
    ),
]


@settings(deadline=None)  # the first one compiles
@given(st.sampled_from(PLACES), JSON)
def test_any_answer_is_taken_or_refused(place: tuple[Any, ...], value: Any) -> None:
    def answer(review: Any) -> Any:
        found = good(review)
        if not place:
            return value
        at = found
        for step in place[:-1]:
            at = at[step]
        at[place[-1]] = value
        return found

    async def run() -> None:
        of, converter = kind(), Converter(Fake(answer))
        told: ConversionFailed | None = None
        shown: Object = {}
        try:
            shown = await converter.convert_object(of, OBJECT, "v2")
        except ConversionFailed as failed:
            told = failed
        if told is not None:
            assert told.code == 500
            known = ("conversion webhook for example.com/v1, Kind=Gadget", *UNREADABLE)
            assert told.message.startswith(known)
            return
        assert shown["apiVersion"] == f"{GROUP}/v2"
        # only labels and annotations can have changed of the metadata
        kept = {name: item for name, item in shown["metadata"].items() if name not in ("labels", "annotations")}
        assert kept == {name: item for name, item in OBJECT["metadata"].items() if name != "labels"}
        for name in ("labels", "annotations"):
            assert all(isinstance(item, str) for item in (shown["metadata"].get(name) or {}).values())
        serializer.encode_sorted(shown)

    asyncio.run(run())


@settings(deadline=None)
@given(st.binary(max_size=50))
def test_bytes_that_are_no_review_are_refused(raw: bytes) -> None:
    async def run() -> None:
        try:
            await Converter(Fake(lambda review: raw)).convert_object(kind(), OBJECT, "v2")
        except ConversionFailed:
            return
        raise AssertionError(raw)

    asyncio.run(run())


async def test_an_object_in_the_version_is_not_sent() -> None:
    client = Fake(good)
    assert await Converter(client).convert_object(kind(), OBJECT, "v1") is OBJECT
    assert not client.calls


async def test_what_is_given_is_left_as_it_is() -> None:
    before = copy.deepcopy(OBJECT)
    await Converter(Fake(good)).convert_object(kind(), OBJECT, "v2")
    assert before == OBJECT


async def test_big_lists_go_in_several_reviews() -> None:
    client = Fake(good)
    of, converter = kind(), Converter(client)
    all_ = entries(of, 1100)
    await converter.prepare_entries(of, of.by_version["v2"], all_)
    assert [len(call["request"]["objects"]) for call in client.calls] == [500, 500, 100]
    assert not conversion.needs_webhook(of, of.by_version["v2"], all_)
    assert serializer.decode_json(view.encode_body(of, of.by_version["v2"], all_[7]))["apiVersion"] == f"{GROUP}/v2"


async def test_those_who_want_the_same_ask_once() -> None:
    client = Fake(good)
    of, converter = kind(), Converter(client)
    all_ = entries(of, 3)
    version = of.by_version["v2"]
    await asyncio.gather(*(converter.prepare_entries(of, version, all_) for _ in range(5)))
    assert len(client.calls) == 1


async def test_a_failure_is_told_to_all_and_not_kept() -> None:
    def fails(review: Any) -> Any:
        raise RemoteError("down")

    client = Fake(fails)
    of, converter = kind(), Converter(client)
    all_ = entries(of, 2)
    version = of.by_version["v2"]
    told = await asyncio.gather(
        *(converter.prepare_entries(of, version, all_) for _ in range(3)), return_exceptions=True
    )
    assert [str(error) for error in told] == ["conversion webhook for example.com/v1, Kind=Gadget failed: down"] * 3
    client.answer = good
    await converter.prepare_entries(of, version, all_)


async def test_requests_before_and_after_a_change_of_the_definition_do_not_take_each_others_forms() -> None:
    before, converter = kind(), Converter(Fake(good))
    after = dataclasses.replace(before, changed=9)
    for first, second in ((before, after), (after, before)):
        (entry,) = entries(before, 1)
        for of in (first, second):
            await converter.prepare_entries(of, of.by_version["v2"], [entry])
        for of in (first, second):
            assert (
                serializer.decode_json(view.encode_body(of, of.by_version["v2"], entry))["apiVersion"] == f"{GROUP}/v2"
            )


async def test_forms_of_definitions_long_ago_are_dropped() -> None:
    converter, (entry,) = Converter(Fake(good)), entries(kind(), 1)
    for changed in range(10, 20):
        of = dataclasses.replace(kind(), changed=changed)
        await converter.prepare_entries(of, of.by_version["v2"], [entry])
    assert {form[-1] for form in entry.forms} == {18, 19}


async def test_one_who_gives_up_does_not_stop_the_others() -> None:
    client = Fake(good)
    of, converter = kind(), Converter(client)
    all_ = entries(of, 2)
    version = of.by_version["v2"]
    first = asyncio.create_task(converter.prepare_entries(of, version, all_))
    await asyncio.sleep(0)
    second = asyncio.create_task(converter.prepare_entries(of, version, all_))
    await asyncio.sleep(0)
    first.cancel()
    await second
    assert not conversion.needs_webhook(of, version, all_)


async def test_objects_of_a_version_that_is_gone_cannot_be_converted() -> None:
    of, converter = kind(), Converter(Fake(good))
    entry = entries(of, 1)[0]
    entry.body = entry.body.replace(b"example.com/v1", b"example.com/v0")
    with pytest.raises(ConversionFailed) as caught:
        await converter.prepare_entries(of, of.by_version["v2"], [entry])
    assert caught.value.message == "request to convert CR from an invalid group/version: example.com/v0"


def test_the_version_is_read_off_the_stored_bytes_also_where_other_fields_come_first() -> None:
    of = kind()
    for extra in ({}, {"aaa": 1}, {"Zzz": {"apiVersion": "other/v9"}}):
        record = Record("/example.com/gadgets/default/a", view.encode_object(of, copy.deepcopy(OBJECT) | extra), 5, 5)
        assert view.stored_version(of, Entry(record)) == "v1"


async def test_code_that_cannot_wait_hears_how_the_webhook_failed() -> None:
    of, known = kind(), conversion.ConversionResults()
    with pytest.raises(conversion.Unconverted) as wanted:
        conversion.find_converted(of, known, OBJECT, f"{GROUP}/v2")
    await wanted.value.fetch_converted(Converter(Fake(lambda review: b"")))
    with pytest.raises(SchemaMisfit, match=r"^conversion webhook for example\.com/v1, Kind=Gadget failed: "):
        conversion.find_converted(of, known, OBJECT, f"{GROUP}/v2")


async def test_field_managers_get_the_fields_that_no_schema_knows() -> None:
    of, known = kind(), conversion.ConversionResults()
    with pytest.raises(conversion.Unconverted) as wanted:
        conversion.find_converted(of, known, OBJECT, f"{GROUP}/v2")

    def extend(review: Any) -> Any:
        answer = good(review)
        answer["response"]["convertedObjects"][0]["spec"]["unknown"] = 1
        return answer

    await wanted.value.fetch_converted(Converter(Fake(extend)))
    assert conversion.find_converted(of, known, OBJECT, f"{GROUP}/v2")["spec"] == {"size": 1, "unknown": 1}


async def test_an_object_without_metadata_is_sent_and_refused_if_it_comes_back() -> None:
    converter = Converter(fake := Fake(good))
    with pytest.raises(ConversionFailed, match=r"returned invalid metadata: missing metadata in converted object$"):
        await converter.ask_webhook(kind(), [{"apiVersion": f"{GROUP}/v1", "kind": "Gadget"}], "v2")
    sent = fake.calls[0]
    assert sent["request"]["objects"] == [{"apiVersion": f"{GROUP}/v1", "kind": "Gadget"}]
    assert sent["response"] == {"uid": "", "convertedObjects": None, "result": {"metadata": {}}}


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"apiVersion": "apiextensions.k8s.io/v1beta1", "response": []}, "of type v1beta1.ConversionResponse"),
        (
            {"apiVersion": "apiextensions.k8s.io/v1beta1", "response": {}},
            "(v1.ConversionReview): unknown conversion",
        ),
        ({"request": "x"}, "field ConversionReview.request of type v1.ConversionRequest"),
    ],
)
async def test_a_review_is_decoded_as_the_version_that_it_names(answer: Object, said: str) -> None:
    scheme = make_review_scheme("apiextensions.k8s.io")
    converter = Converter(Fake(lambda review: {"kind": "ConversionReview", **answer}), scheme)
    with pytest.raises(ConversionFailed) as refused:
        await converter.convert_object(kind(), OBJECT, "v2")
    assert refused.value.message.endswith(said)


async def test_a_malformed_version_hides_the_kind() -> None:
    def answer(review: Any) -> Any:
        found = good(review)
        found["response"]["convertedObjects"][0]["apiVersion"] = "a/b/c"
        return found

    with pytest.raises(ConversionFailed, match=r"^Object 'Kind' is missing in '\{\"apiVersion\":\"a/b/c\""):
        await Converter(Fake(answer)).convert_object(kind(), OBJECT, "v2")
