"""Pages: where one ends the next begins, and a token leads nowhere else."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from podless.apis.core.group import CONFIG_MAPS, EVENTS
from podless.cache.cache import Cache
from podless.kinds.conversion import Converter
from podless.kinds.kind import Kind
from podless.kinds.registry import Registry
from podless.meta.errors import BadRequest, Expired
from podless.remote.client import WebhookClient
from podless.store import Operation, StoredValue
from podless.store.sqlite import SQLiteStore
from podless.verbs import options
from podless.verbs.call import API, Call, Many
from podless.verbs.list import ContinueToken, list_objects, read_token, write_token


async def served(kind: Kind = CONFIG_MAPS, names: str = "abcde") -> API:
    """Objects with these names, of which every other one has the label odd."""
    store = SQLiteStore()
    await store.open()
    cache = Cache(store)
    await cache.open()
    api = API(store, cache, Registry(), Converter(WebhookClient()))
    for index, name in enumerate(names):
        value = b'{"metadata":{"name":"%b","namespace":"ns","labels":{"odd":"%d"},"resourceVersion":"'
        value %= (name.encode(), index % 2)
        await store.commit([Operation(kind.key("ns", name), StoredValue(value + b'"}}', len(value)), 0)])
    return api


async def page(api: API, kind: Kind = CONFIG_MAPS, **query: str) -> Many:
    call = Call(kind, kind.versions[0], "ns", "", query={name.rstrip("_"): [value] for name, value in query.items()})
    return await list_objects(api, call, await api.load_collection(kind), options.list_options(call))


def token(**fields: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps({"v": "meta.k8s.io/v1", **fields}).encode()).rstrip(b"=").decode()


def named(many: Many) -> str:
    return "".join(entry.name for entry in many.entries)


@pytest.mark.parametrize("selector", ["odd=1", "odd!=0", "odd"])
async def test_a_full_page_goes_on_where_anything_follows(selector: str) -> None:
    api = await served()
    first = await page(api, labelSelector=selector, limit="2")
    assert (len(first.entries), first.remaining, bool(first.token)) == (2, None, True)
    rest = await page(api, labelSelector=selector, limit="2", continue_=first.token)
    whole = await page(api, labelSelector=selector)
    assert named(first) + named(await page(api, labelSelector=selector, continue_=first.token)) == named(whole)
    assert len(rest.entries) == min(2, len(whole.entries) - 2)


async def test_nothing_is_limited_at_the_revision_0_but_events() -> None:
    assert named(await page(await served(), resourceVersion="0", limit="2")) == "abcde"
    assert named(await page(await served(EVENTS), EVENTS, resourceVersion="0", limit="2")) == "ab"


async def test_a_token_says_where_it_begins() -> None:
    api = await served()
    assert named(await page(api, continue_=token(rv=3, start="b"))) == "bc"
    assert named(await page(api, continue_=token(rv=3, start="b\0"))) == "c"
    assert named(await page(api, continue_=token(rv=-1, start="/c"))) == "cde"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (token(rv=0, start="a"), "incorrect encoded start resourceVersion"),
        (token(start="a"), "incorrect encoded start resourceVersion"),
        (token(rv=1), "encoded start key empty"),
        (token(rv=1, start="../a"), r"is not valid: \.\./a"),
        (token(rv=1, start="a//b"), "is not valid: a//b"),
        (token(rv="1", start="a"), r"cannot unmarshal string into Go struct field continueToken\.rv of type int64"),
        (token(v="v2"), "server does not recognize this encoded version v2"),
        (base64.urlsafe_b64encode(b"[]").decode().rstrip("="), "into Go value of type storage.continueToken"),
        ("a", "illegal base64 data at input byte 0"),
        ("ab=", "illegal base64 data at input byte 2"),
        ("ab\xe9", "illegal base64 data at input byte 2"),
    ],
)
def test_a_token_that_leads_nowhere_is_refused(text: str, why: str) -> None:
    with pytest.raises(BadRequest, match=f"invalid continue token: continue key is not valid: .*{why}|{why}"):
        read_token(text)


def test_a_token_is_read_as_it_was_written() -> None:
    assert read_token(write_token(ContinueToken(7, "ns/a\0"))) == ContinueToken(7, "ns/a\0")


async def test_a_token_and_a_revision_exclude_each_other() -> None:
    with pytest.raises(BadRequest, match="specifying resource version is not allowed when using continue"):
        await page(await served(), resourceVersion="x", continue_=token(rv=3, start="b"))


async def test_what_is_compacted_has_expired_and_a_token_goes_on_in_the_present() -> None:
    api = await served()
    first = await page(api, limit="2")
    blank = StoredValue(b'{"metadata":{"resourceVersion":""}}', 32)
    await api.store.compact(await api.store.commit([Operation(CONFIG_MAPS.key("ns", "f"), blank, 0)]))
    with pytest.raises(Expired, match="or use the continue token in this response") as refused:
        await page(api, continue_=first.token)
    assert named(await page(api, continue_=refused.value.status()["metadata"]["continue"])) == "cdef"
    with pytest.raises(Expired, match=r"The resourceVersion for the provided list is too old\."):
        await page(api, resourceVersion="3", resourceVersionMatch="Exact")
