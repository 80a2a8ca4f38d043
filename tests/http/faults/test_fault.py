"""The language of faults: what can be said, which requests it is about, and how often it happens."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.http.faults import GROUP, BadFault, Faults, InjectedFault
from podless.http.message import HTTPRequest


def request(method: str, path: str, query: str = "", **headers: str) -> HTTPRequest:
    return HTTPRequest.of(method, f"{path}?{query}" if query else path, headers)


def kinds(group: str, resource: str) -> str:
    return {"widgets": "Widget"}.get(resource, "") if group == "example.com" else ""


WIDGET = request("PUT", "/apis/example.com/v1/namespaces/blue/widgets/one")
STATUS = request("PUT", "/apis/example.com/v1/namespaces/blue/widgets/one/status")


@pytest.mark.parametrize(
    ("said", "fits"),
    [
        ({}, (True, True)),
        ({"resource": "*"}, (True, True)),
        ({"resource": "widgets"}, (True, False)),
        ({"resource": "widgets.example.com"}, (True, False)),
        ({"resource": "widgets.other.com"}, (False, False)),
        ({"resource": "widgets/status"}, (False, True)),
        ({"resource": "*/status"}, (False, True)),
        ({"kind": "Widget"}, (True, False)),
        ({"kind": "Widget.example.com/status"}, (False, True)),
        ({"kind": "widgets"}, (False, False)),
        ({"name": "one"}, (True, True)),
        ({"name": "o*"}, (True, True)),
        ({"name": "*"}, (True, True)),
        ({"name": "on"}, (False, False)),
        ({"namespace": "blu*", "name": "two*"}, (False, False)),
        ({"user": "system:*"}, (True, True)),
        ({"user": "*n"}, (False, False)),
        ({"verb": "patch"}, (False, False)),
        ({"path": "/apis"}, (False, False)),
    ],
)
def test_a_request_fits_or_not(said: dict[str, Any], fits: tuple[bool, bool]) -> None:
    fault = InjectedFault(status=500, **said)
    assert (fault.matches_request(WIDGET, kinds), fault.matches_request(STATUS, kinds)) == fits


def test_what_is_no_resource_fits_by_its_path_alone() -> None:
    ready, everything = request("GET", "/readyz"), InjectedFault(status=500)
    assert not everything.matches_request(ready, kinds)
    assert InjectedFault(status=500, path="/ready").matches_request(ready, kinds)
    assert not InjectedFault(status=500, path="/apis").matches_request(ready, kinds)


def test_watches_and_lists_alone_fit_what_happens_to_them() -> None:
    path = "/apis/example.com/v1/widgets"
    listing, watch = request("GET", path), request("GET", path, "watch=true")
    assert [InjectedFault(older=1).matches_request(value, kinds) for value in (listing, watch, WIDGET)] == [
        True,
        False,
        False,
    ]
    assert [InjectedFault(duplicate=2).matches_request(value, kinds) for value in (listing, watch, WIDGET)] == [
        False,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({}, "set one of delay, status, "),
        ({"status": 200}, "status: must be from 400 to 599"),
        ({"status": "500"}, "status: must be an integer"),
        ({"status": 500.0}, "status: must be an integer"),
        ({"status": True}, "status: must be an integer"),
        ({"status": 10**400}, "status: must be from 400 to 599"),
        ({"delay": -1}, "delay: must be from 0 to 3600"),
        ({"delay": float("nan")}, "delay: must be from 0 to 3600"),
        ({"delay": float("inf")}, "delay: must be from 0 to 3600"),
        ({"status": 500, "probability": 1.5}, "probability: must be from 0 to 1"),
        ({"duplicate": 0}, "duplicate: must be from 1 to 100"),
        ({"duplicate": 10**9}, "duplicate: must be from 1 to 100"),
        ({"burst": 1e9}, "burst: must be from 0 to 60"),
        ({"cut_after": -1}, "cutAfter: must be from 0 to "),
        ({"drop": "now"}, "drop: must be one of before, after"),
        ({"status": 500, "verb": "post"}, "verb: must be one of get, list, watch, "),
        ({"status": 500, "name": ["x"]}, "name: must be a string"),
        ({"status": 500, "agent": "x" * 2000}, "agent: must be from 0 to 1024"),
        ({"bookmarks": 1}, "bookmarks: must be true or false"),
        ({"status": 500, "drop": "after"}, "status: can be combined with a delay only"),
        ({"older": 1, "verb": "get"}, "older: for list requests only"),
        ({"cut_after": 1, "expire_after": 1}, "cutAfter, expireAfter: set only one of them"),
        ({"webhook": "https://x", "verb": "get"}, "webhook: can be combined with nth, times, probability, seed only"),
        (
            {"path": "/apis", "resource": "widgets", "status": 500},
            "path: cannot be combined with fields about resources",
        ),
        ({"compress": True, "duplicate": 2}, "compress: requires burst"),
        ({"message": "x", "delay": 1}, "message, retryAfter: require status"),
    ],
)
def test_what_cannot_be_is_told_in_one_line(wrong: dict[str, Any], why: str) -> None:
    with pytest.raises(BadFault) as told:
        Faults().add(**wrong)
    assert str(told.value).startswith(why)
    assert "\n" not in str(told.value)


def test_unknown_fields_are_told() -> None:
    with pytest.raises(BadFault, match="nothing"):
        Faults().add(nothing=1)
    with pytest.raises(BadFault, match="unknown field 'retry_after'"):
        InjectedFault.from_spec("x", {"status": 500, "retry_after": 1})
    assert InjectedFault.from_spec("x", {"status": 500, "retryAfter": 1}).retry_after == 1


def test_the_nth_and_the_first_n() -> None:
    third, two = InjectedFault(status=500, nth=3), InjectedFault(status=500, times=2)
    assert [third.draw_failure("x") for _ in range(5)] == [False, False, True, False, False]
    assert [two.draw_failure("x") for _ in range(4)] == [True, True, False, False]
    assert (third.matched, third.injected, two.matched, two.injected) == (5, 1, 4, 2)


# what happens to the requests of one sort does not depend on those of others among them


@given(st.integers(0, 1 << 40), st.lists(st.sampled_from(["update a", "get b", "list c"]), max_size=60))
def test_the_same_seed_decides_the_same_for_each_sort(seed: int, sorts: list[str]) -> None:
    mixed = InjectedFault(status=500, probability=0.4, seed=seed)
    found: dict[str, list[bool]] = {}
    for sort in sorts:
        found.setdefault(sort, []).append(mixed.draw_failure(sort))
    for sort, happened in found.items():
        alone = InjectedFault(status=500, probability=0.4, seed=seed)
        assert [alone.draw_failure(sort) for _ in happened] == happened


@pytest.mark.parametrize(
    ("probability", "least", "most"), [(0.0, 0, 0), (0.1, 60, 140), (0.5, 430, 570), (1.0, 1000, 1000)]
)
def test_a_probability_is_one(probability: float, least: int, most: int) -> None:
    fault = InjectedFault(status=500, probability=probability, seed=3)
    assert least <= sum(fault.draw_failure("x") for _ in range(1000)) <= most


def test_the_first_that_happens_is_carried_out_and_own_requests_are_spared() -> None:
    faults = Faults()
    faults.put_fault("b", InjectedFault(label="b", status=502))
    faults.put_fault("a", InjectedFault(label="a", status=501, times=1))
    added = faults.add(status=500, times=1)
    picked = [faults.pick(WIDGET) for _ in range(3)]
    assert [fault.status for fault in picked if fault is not None] == [500, 501, 502]
    assert faults.pick(request("GET", f"/apis/{GROUP}/v1/faults/a")) is None
    assert faults.pick(request("GET", f"/apis/{GROUP}/v1")) is None
    faults.clear()
    assert [fault.label for fault in faults] == ["a", "b"]
    faults.added = (added,)
    assert [fault.status for fault in faults] == [500, 501, 502]


def test_chaos_spares_what_a_test_sets_up() -> None:
    faults = Faults()
    faults.chaos(1)
    definition = request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions")
    assert all(faults.pick(definition) is None for _ in range(500))
    own = request("PUT", WIDGET.path, **{"user-agent": "podless-test/1.0"})
    assert all(faults.pick(own) is None for _ in range(500))
    assert any(faults.pick(WIDGET) for _ in range(500))


@given(st.integers(0, 1 << 40))
def test_chaos_with_a_seed_decides_the_same(seed: int) -> None:
    def run() -> list[str]:
        faults = Faults()
        assert faults.chaos(seed) == seed
        asked = [WIDGET, STATUS, request("GET", "/api/v1/pods", "watch=true")] * 20
        return [repr(fault) for one in asked if (fault := faults.pick(one)) is not None]

    assert run() == run()
