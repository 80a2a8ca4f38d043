"""Rows of a watch's initial state: made once for each state of an object, for lists and all watches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from podless.app import App
from podless.cache.entry import Entry
from podless.http.message import Stream, settle_answer
from podless.kinds import view
from podless.kinds.kind import Kind, Version
from podless.runtime.collector import pause_gc
from podless.runtime.jsonobject import Object
from podless.server import Server
from podless.testing.ask import Lines, ask_app, make_request, send_request

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PATH = "/api/v1/namespaces/default/configmaps"


async def test_an_object_is_decoded_once_for_all_watches_that_show_it_as_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[str] = []
    load_inner = view.load_inner

    def load(kind: Kind, version: Version, entry: Entry) -> Object:
        decoded.append(entry.key)
        return load_inner(kind, version, entry)

    monkeypatch.setattr(view, "load_inner", load)
    async with Server() as server:
        app = server._get_app()
        assert app.handler is not None
        for data, times in (("a", 1), ("b", 2)):
            body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}, "data": {data: data}}
            await ask_app(app, *(("POST", PATH) if times == 1 else ("PUT", f"{PATH}/one")), body)
            for _ in range(3):
                event = await first_event(app, "one")
                assert event["object"]["rows"][0]["cells"][:2] == ["one", 1]
                assert event["object"]["columnDefinitions"]
            assert len([key for key in decoded if key.endswith("/one")]) == times


async def test_the_garbage_collector_rests_while_a_long_object_becomes_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses = 0  # of these rows: other work of the server can pause the collector meanwhile
    seen: dict[str, int] = {}
    load_inner = view.load_inner

    def load(kind: Kind, version: Version, entry: Entry) -> Object:
        seen[entry.key.rpartition("/")[2]] = pauses
        return load_inner(kind, version, entry)

    @contextmanager
    def count_pause() -> Iterator[None]:
        nonlocal pauses
        with pause_gc():
            pauses += 1
            try:
                yield
            finally:
                pauses -= 1

    monkeypatch.setattr(view, "load_inner", load)
    monkeypatch.setattr(view, "pause_gc", count_pause)
    monkeypatch.setattr(view, "_LONG_BODY", 10_000)  # so short that work on it stays on the loop
    async with Server() as server:
        app = server._get_app()
        for name, size in (("short", 10), ("long", 20_000)):
            body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": "x" * size}}
            await ask_app(app, "POST", PATH, body)
            await first_event(app, name)
            assert pauses == 0
    assert seen == {"short": 0, "long": 1}


async def test_the_metadata_of_a_long_object_is_made_once_for_all_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[str] = []
    load_inner = view.load_inner

    def load(kind: Kind, version: Version, entry: Entry) -> Object:
        decoded.append(entry.key)
        return load_inner(kind, version, entry)

    monkeypatch.setattr(view, "load_inner", load)
    async with Server() as server:
        app = server._get_app()
        for turn, label in enumerate(("a", "b")):
            body: Object = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "x" * 300_000}}
            body["metadata"] = {"name": "long", "labels": {"l": label}}
            await ask_app(app, *(("POST", PATH) if not turn else ("PUT", f"{PATH}/long")), body)
            for _ in range(3):
                request = make_request(app, "GET", PATH, None, "", {})
                request.headers["accept"] = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
                shown, _ = await send_request(app, request)
                [labels] = [item["metadata"]["labels"] for item in shown["items"] if item["metadata"]["name"] == "long"]
                assert labels == {"l": label}
        assert len([key for key in decoded if key.endswith("/long")]) == 2


async def first_event(app: App, name: str) -> Object:
    """Watch an object as a Table, and return the first event."""
    assert app.handler is not None
    request = make_request(app, "GET", PATH, None, "", {"watch": "true", "fieldSelector": f"metadata.name={name}"})
    request.headers["accept"] = TABLE
    answer = await settle_answer(app.handler(request))
    assert isinstance(answer, Stream)
    lines = Lines()
    lines._stop = answer.start(lines)
    event = await lines.next()
    assert event is not None
    lines.stop()
    return event
