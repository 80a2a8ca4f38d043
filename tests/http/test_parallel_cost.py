"""What reads at the same time cost: their number and the length of an object grow, and what they share is made once.

Rows G4 to G7 of bench/attacks/reads.py measure the same, with a clock.
"""

from __future__ import annotations

import asyncio
import itertools
import math

import pytest

from podless.http.message import Stream, settle_answer
from podless.runtime import slices
from podless.testing.ask import Lines, make_request
from tests.conftest import CRDS, definition
from tests.http.test_request_cost import named, numbers
from tests.http.test_stored_cost import ATTEMPTS, SIZE, TABLE, _Ours, columns, fault
from tests.inside import Ask, Inside

pytestmark = pytest.mark.slow

_NUMBERS = itertools.count()
_READERS = 8
PARTIAL = {"accept": "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"}


def define(inside: Inside, length: int) -> str:
    """Serve a kind whose columns look through all of an object, and store one. Returns the path of its objects."""
    group = f"g{next(_NUMBERS)}.parallel.example.com"
    spec = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    made = definition(group, schema=schema, **columns(5, "..a"))
    path = f"/apis/{group}/v1/namespaces/default/gadgets"
    body = named(
        {"apiVersion": f"{group}/v1", "kind": "Gadget", "spec": {name: {"a": 1} for name in numbers(length, "k")}}
    )
    for ask in (Ask("POST", CRDS, made), Ask("POST", path, body)):
        status, told = inside.send(ask)
        assert status == 201, told
    return path


async def _ask(inside: Inside, ask: Ask) -> int:
    status, told, lines = await inside._ask(ask)
    assert status == 200, told
    return lines


async def _watch(inside: Inside, path: str) -> int:
    """The lines of a watch as Table until its first event."""
    request = make_request(inside._app, "GET", path, None, "", {"watch": "true"})
    request.headers.update(TABLE)
    assert inside._app.handler is not None
    answer = await settle_answer(inside._app.handler(request))
    assert isinstance(answer, Stream)
    count, lines = _Ours(), Lines()
    with count:
        lines._stop = answer.start(lines)
    assert await lines.next() is not None
    lines.stop()
    return count.number


# what is read, and whether something is asked of the object for each reader
READS = {
    "an object as Table": ("/x", TABLE, True),
    "a list as Table": ("", TABLE, False),
    "metadata of a list": ("", PARTIAL, False),
    "an object for people": ("/x?pretty=1", {}, False),
    "an object as YAML": ("/x", {"accept": "application/yaml"}, True),
    "a watch as Table": None,
}


@pytest.mark.parametrize("read", READS)
def test_reads_at_the_same_time(inside: Inside, read: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "SLICE", math.inf)
    given = READS[read]

    async def reads(path: str, readers: int) -> int:
        if given is None:
            found = [_watch(inside, path) for _ in range(readers)]
        else:
            found = [_ask(inside, Ask("GET", path + given[0], None, given[1])) for _ in range(readers)]
        return sum(await asyncio.gather(*found))

    least: dict[tuple[int, int], int] = {}
    told = ""
    for _ in range(ATTEMPTS):
        for size, times in itertools.product((1, 2), (1, 2)):
            path = define(inside, SIZE * 5 * size)
            found = inside._loop.run_until_complete(reads(path, _READERS * times))
            least[times, size] = min(found, least.get((times, size), found))
        told = fault(least, given is not None and given[2])
        if not told:
            return
    assert not told, (told, least)
