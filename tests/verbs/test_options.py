"""What is asked of a request beside its object: refused in clear words, never read as something else."""

from __future__ import annotations

import pytest

from podless.apis.core.group import CONFIG_MAPS, EVENTS, NAMESPACES
from podless.kinds.kind import Kind
from podless.meta.errors import APIError, BadRequest, Invalid
from podless.verbs import options
from podless.verbs.call import Call
from tests.conftest import Client

MAPS = "/api/v1/namespaces/default/configmaps"
DIGITS = "9" * 5000


def call(query: dict[str, str | list[str]], body: bytes = b"", kind: Kind = CONFIG_MAPS, name: str = "a") -> Call:
    listed = {name: value if isinstance(value, list) else [value] for name, value in query.items()}
    return Call(kind, kind.versions[0], "default" if kind.namespaced else "", name, query=listed, body=body)


@pytest.mark.parametrize("kind", ["CreateOptions", "UpdateOptions", "PatchOptions"])
@pytest.mark.parametrize("values", [[""], ["", "All"], ["all"]])
def test_a_dry_run_is_all_or_an_error(kind: str, values: list[str]) -> None:
    with pytest.raises(Invalid, match=r'dryRun: Unsupported value: .*: supported values: "All"'):
        options.read_write_options(call({"dryRun": values}), kind)


def test_nothing_is_deleted_by_a_dry_run_that_is_misspelt() -> None:
    for given in (call({"dryRun": ""}), call({}, b'{"dryRun":[""]}')):
        with pytest.raises(Invalid, match=r"dryRun: Unsupported value"):
            options.read_delete_options(given)


def test_preconditions_come_from_the_query_where_there_is_no_body() -> None:
    query: dict[str, str | list[str]] = {"uid": "x", "resourceVersion": "5"}
    asked = options.read_delete_options(call(query))
    assert (asked.uid, asked.revision) == ("x", "5")
    asked = options.read_delete_options(call(query, b"{}"))
    assert (asked.uid, asked.revision) == (None, None)


def test_an_empty_precondition_is_one() -> None:
    asked = options.read_delete_options(call({}, b'{"preconditions":{"uid":"","resourceVersion":""}}'))
    assert (asked.uid, asked.revision) == ("", "")


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"[]", "cannot unmarshal array into Go value of type struct"),
        (b"1", "cannot unmarshal number into Go value of type struct"),
        (b'"x"', "cannot unmarshal string into Go value of type struct"),
        (b"  ", "unexpected end of JSON input"),
        (b'{"kind":1}', r"cannot unmarshal number into Go struct field \.kind of type string"),
    ],
)
def test_options_are_an_object(body: bytes, why: str) -> None:
    with pytest.raises(BadRequest, match=f"couldn't get version/kind; json parse error: .*{why}"):
        options.read_delete_options(call({}, body))


@pytest.mark.parametrize("body", [b"null", b"{}", b'{"apiVersion":"policy/v1"}', b'{"kind":"DeleteOptions"}'])
def test_options_may_be_of_any_version_or_none(body: bytes) -> None:
    assert options.read_delete_options(call({}, body)).policy == ""


def test_options_are_of_their_kind() -> None:
    for version in ("v1", "meta.k8s.io/v1"):
        with pytest.raises(
            BadRequest, match=f'no kind "Other" is registered for version "{version}" in scheme "k8s.io/'
        ):
            options.read_delete_options(call({}, b'{"kind":"Other","apiVersion":"%b"}' % version.encode()))
    with pytest.raises(BadRequest, match=r'for version "meta\.k8s\.io/v1" in scheme'):
        options.read_delete_options(call({}, b'{"kind":"Other"}'))
    for body in (b'{"kind":"Status"}', b'{"kind":"Status","apiVersion":"foo/v9"}', b'{"kind":"ListOptions"}'):
        with pytest.raises(BadRequest, match=r"converting \(v1\.\w+\) to \(v1\.DeleteOptions\): unknown conversion"):
            options.read_delete_options(call({}, body))


def test_a_policy_can_be_wrong_in_two_ways() -> None:
    with pytest.raises(Invalid) as refused:
        options.read_delete_options(call({}, b'{"orphanDependents":true,"propagationPolicy":"x"}'))
    assert [error.reason for error in refused.value.errors] == ["FieldValueInvalid", "FieldValueNotSupported"]


@pytest.mark.parametrize("name", ["limit", "timeoutSeconds"])
@pytest.mark.parametrize(("value", "why"), [("", "invalid syntax"), ("x", "invalid syntax"), (DIGITS, "value out of ")])
def test_numbers_are_numbers(name: str, value: str, why: str) -> None:
    with pytest.raises(BadRequest, match=f"strconv.ParseInt: parsing .*: {why}"):
        options.list_options(call({name: value}))


def test_a_grace_period_is_a_number() -> None:
    with pytest.raises(BadRequest, match=r"strconv.ParseInt"):
        options.read_delete_options(call({"gracePeriodSeconds": ""}))


def test_no_number_is_too_long_to_be_refused(client: Client) -> None:
    for query in ("resourceVersion", "limit", "timeoutSeconds"):
        answer = client.get(f"{MAPS}?{query}={DIGITS}")
        assert (answer.status, "value out of range" in answer.body["message"]) == (400, True)
    assert client.get(f"{MAPS}?watch=1&resourceVersion={DIGITS}").status == 500
    assert client.get(f"{MAPS}/x?resourceVersion={DIGITS}").status == 500
    assert options.parse_int("-" + "0" * 5000 + "7") == -7


@pytest.mark.parametrize(
    ("query", "refusal"),
    [
        ({"limit": "x", "labelSelector": "="}, "strconv.ParseInt"),
        ({"labelSelector": "=", "resourceVersionMatch": "x"}, "found '=', expected"),
        ({"fieldSelector": "spec.x=1", "resourceVersionMatch": "x"}, "ListOptions.meta.k8s.io"),
        ({"fieldSelector": "spec.x=1", "resourceVersion": "x"}, "is not a known field selector"),
        ({"watch": "1", "continue": "x"}, "resourceVersionMatch is forbidden when continue is provided"),
    ],
)
def test_mistakes_are_told_in_one_order(query: dict[str, str | list[str]], refusal: str) -> None:
    with pytest.raises(APIError, match=refusal):
        options.list_options(call(query))


@pytest.mark.parametrize("revision", ["", "0"])
def test_a_watch_from_nowhere_begins_with_the_state(revision: str) -> None:
    asked = options.list_options(call({"watch": "1", "resourceVersion": revision}))
    assert (asked.initial, asked.match) == (True, "NotOlderThan")
    assert options.list_options(call({"watch": "1", "resourceVersion": "5"})).initial is None


def test_objects_in_no_namespace_can_be_selected_by_it() -> None:
    query: dict[str, str | list[str]] = {"fieldSelector": "metadata.namespace=x"}
    for kind in (CONFIG_MAPS, EVENTS):
        assert options.list_options(call(query, kind=kind, name="")).fields.requirements
    with pytest.raises(BadRequest, match=r"field label not supported: metadata.namespace"):
        options.list_options(call(query, kind=NAMESPACES, name=""))


def test_a_watch_of_one_object_is_selected_by_no_other_name() -> None:
    assert options.list_options(call({"fieldSelector": "metadata.name=a"})).fields.requirements
    with pytest.raises(BadRequest, match=r"fieldSelector metadata.name doesn't match requested name"):
        options.list_options(call({"fieldSelector": "metadata.name=b"}))


def test_preconditions_in_the_query_hold_for_objects_and_collections(client: Client) -> None:
    body = {"metadata": {"name": "kept"}}
    client.post(MAPS, body)
    for path in (f"{MAPS}/kept?uid=x", f"{MAPS}/kept?resourceVersion=1", f"{MAPS}?uid=x"):
        assert client.send("DELETE", path).status == 409
    assert client.send("DELETE", f"{MAPS}/kept", {"preconditions": {"uid": ""}}).status == 409
    assert client.send("DELETE", f"{MAPS}/kept?uid=x", {}).status == 200


def test_finalizers_of_policies_stay_where_they_are(client: Client) -> None:
    client.post(MAPS, {"metadata": {"name": "held", "finalizers": ["orphan", "x.y/z"]}})
    marked = client.send("DELETE", f"{MAPS}/held?propagationPolicy=Orphan")
    assert marked.body["metadata"]["finalizers"] == ["orphan", "x.y/z"]
    client.merge(f"{MAPS}/held", {"metadata": {"finalizers": None}})


def test_a_dry_run_that_would_let_finalizers_go_shows_nothing(client: Client) -> None:
    client.post(MAPS, {"metadata": {"name": "fg", "finalizers": ["foregroundDeletion"]}})
    shown = client.send("DELETE", f"{MAPS}/fg?dryRun=All&propagationPolicy=Background")
    assert shown.body == {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {}}
    assert client.send("DELETE", f"{MAPS}/fg?propagationPolicy=Background").body["status"] == "Success"
