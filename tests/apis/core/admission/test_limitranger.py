"""What the limits of a namespace cost: quantities are read once, and equal containers are looked at once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from podless.apis.core.admission.limitranger import _check_pod, _Quantities, _read_limit_range
from podless.apis.core.group import LIMIT_RANGES
from podless.cache.entry import Entry
from podless.codec import quantity
from tests.admission.test_pods import namespace as namespace  # a fixture
from tests.admission.test_pods import post
from tests.conftest import Client
from tests.cost import assert_linear

MANY = {f"example.com/r{number}": str(number + 1) for number in range(300)}


def stored(*items: dict[str, Any]) -> Entry:
    obj = {"metadata": {"name": "l"}, "spec": {"limits": list(items)}}
    return Entry.make_unstored(LIMIT_RANGES.key("one", "l"), json.dumps(obj).encode())


def spec(count: int, amounts: dict[str, str]) -> dict[str, Any]:
    resources = {"requests": amounts, "limits": amounts}
    return {"containers": [{"name": f"c{place}", "resources": dict(resources)} for place in range(count)]}


def bounds(**amounts: str) -> dict[str, Any]:
    return {"type": "Container", **{part: dict.fromkeys(MANY, text) for part, text in amounts.items()}}


def test_quantities_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read = list[str]()
    nanos = quantity.parse_nanos

    def counted(text: str) -> int:
        read.append(text)
        return nanos(text)

    monkeypatch.setattr(quantity, "parse_nanos", counted)
    entry = stored(bounds(min="1", max="1000", maxLimitRequestRatio="2"))
    _read_limit_range(entry)
    assert len(read) == 3 * len(MANY)
    read.clear()
    assert not [*_check_pod(_read_limit_range(entry).limits, spec(20, MANY), _Quantities())]
    assert len(read) == len(MANY)


def test_equal_containers_cost_no_more_than_to_compare_them() -> None:
    known = _read_limit_range(stored(bounds(min="1000", max="1"))).limits

    def judge(pod: dict[str, Any]) -> None:
        assert len(dict.fromkeys(_check_pod(known, pod, _Quantities()))) == 2 * len(MANY)

    assert_linear(judge, lambda size: spec(size, MANY | {"example.com/r0": "5"}), 20)


def test_each_error_is_told_once() -> None:
    pod = spec(2, {"cpu": "2"})
    pod["containers"].append({"name": "d"})
    known = _read_limit_range(stored({"type": "Container", "max": {"cpu": "1"}})).limits
    assert [*_check_pod(known, pod, _Quantities())] == [
        "maximum cpu usage per Container is 1, but limit is 2",
        "maximum cpu usage per Container is 1.  No limit is specified",
    ]


def test_a_pod_that_would_get_more_than_can_be_noted_is_refused_as_it_is(client: Client, namespace: str) -> None:
    many = {f"example.com/{'r' * 50}{number}": "1" for number in range(1000)}
    body = {"metadata": {"name": "l"}, "spec": {"limits": [{"type": "Container", "default": many}]}}
    assert client.post(f"{namespace}/limitranges", body).status == 201
    refused = post(client, namespace, containers=[{"name": f"c{place}", "image": "i"} for place in range(400)])
    assert refused.body["message"] == (
        'Pod "p" is invalid: metadata.annotations: Too long: may not be more than 262144 bytes'
    )
