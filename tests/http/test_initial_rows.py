"""Rows of a watch's initial state: made once for each state of an object, for lists and all watches."""

from __future__ import annotations

import pytest

from podless.cache.entry import Entry
from podless.http.message import Stream, settle_answer
from podless.kinds import view
from podless.kinds.kind import Kind, Version
from podless.runtime.jsonobject import Object
from podless.server import Server
from podless.testing.ask import Lines, ask_app, make_request

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
        app = server._running()
        assert app.handler is not None
        for data, times in (("a", 1), ("b", 2)):
            body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}, "data": {data: data}}
            await ask_app(app, *(("POST", PATH) if times == 1 else ("PUT", f"{PATH}/one")), body)
            for _ in range(3):
                request = make_request(
                    app, "GET", PATH, None, "", {"watch": "true", "fieldSelector": "metadata.name=one"}
                )
                request.headers["accept"] = TABLE
                answer = await settle_answer(app.handler(request))
                assert isinstance(answer, Stream)
                lines = Lines()
                lines._stop = answer.start(lines)
                event = await lines.next()
                assert event is not None
                assert event["object"]["rows"][0]["cells"][:2] == ["one", 1]
                assert event["object"]["columnDefinitions"]
                lines.stop()
            assert len([key for key in decoded if key.endswith("/one")]) == times
