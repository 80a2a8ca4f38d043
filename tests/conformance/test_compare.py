"""What counts as the same answer."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.conformance.compare import difference, equal, meaning
from tests.conformance.normal import Names, mask_documents, normalise
from tests.conformance.sessions import normalise as shown

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)


@given(JSON, JSON)
def test_what_is_not_equal_has_a_difference_and_only_that(one: object, other: object) -> None:
    assert equal(one, one)
    assert equal(one, other) == equal(other, one)
    if not equal(one, other):
        assert difference(one, other)


def test_numbers_of_different_kinds_are_not_equal() -> None:
    assert not equal({"n": 1}, {"n": 1.0})
    assert not equal([1], [True])
    assert difference({"n": 1, "a": []}, {"n": 1.0, "b": []}) == [
        ".a: got [], want nothing",
        ".b: missing, want []",
        ".n: got 1, want 1.0",
    ]


def test_relations_between_uids_and_versions_stay_visible() -> None:
    names = Names()
    uid = "0a1b2c3d-0000-4000-8000-0123456789ab"
    meta = {"uid": uid, "resourceVersion": "7", "creationTimestamp": "2024-01-01T00:00:00Z", "managedFields": []}
    once = normalise({"metadata": meta, "message": f"of {uid}"}, names, ())
    assert once == {
        "metadata": {"uid": "UID1", "resourceVersion": "RV1", "creationTimestamp": "TIME"},
        "message": "of UID1",
    }
    again = normalise({"items": [{"metadata": meta}], "metadata": {"resourceVersion": "9"}}, names, ["managedFields"])
    assert again["items"][0]["metadata"]["uid"] == "UID1"
    assert again["items"][0]["metadata"]["managedFields"] == []
    assert again["metadata"]["resourceVersion"] == "LISTRV"


def test_the_order_of_causes_and_conditions_does_not_count() -> None:
    def status(*fields: str) -> dict[str, object]:
        causes = [{"reason": "FieldValueInvalid", "field": field, "message": "x"} for field in fields]
        return {"kind": "Status", "message": "X is invalid: [" + ", ".join(fields), "details": {"causes": causes}}

    assert normalise(status("a", "b"), Names(), ()) == normalise(status("b", "a"), Names(), ())
    one, other = ({"conditions": [{"type": name} for name in names]} for names in ("ab", "ba"))
    assert normalise(one, Names(), ()) == normalise(other, Names(), ())


def test_the_meaning_of_an_answer_is_without_its_words() -> None:
    def answer(message: str, field: str) -> dict[str, object]:
        causes = [{"reason": "FieldValueInvalid", "field": field, "message": message}]
        body = {"kind": "Status", "reason": "Invalid", "message": message, "details": {"name": "n", "causes": causes}}
        return {"status": 422, "body": body}

    assert meaning(answer("one", "spec")) == meaning(answer("other", "spec"))
    assert meaning(answer("one", "spec")) != meaning(answer("one", "status"))


def test_a_servers_own_words_do_not_count_and_those_of_the_scenario_do() -> None:
    document = {"openapi": "3.0.0", "info": {"description": "mine"}, "paths": [{"description": "its"}]}
    mask_documents(document, {"mine"})
    assert document["info"] == {"description": "mine"}
    assert document["paths"] == [{"description": "ITS OWN WORDS"}]


def test_what_a_person_sees_is_compared_without_ages_and_widths() -> None:
    assert shown("NAME   AGE\na      5m3s\n") == shown("NAME  AGE\na     17s\n")
    assert shown("resourceVersion: 12\n") == shown("resourceVersion: 345\n")
    assert shown("a   1") != shown("a   2")
