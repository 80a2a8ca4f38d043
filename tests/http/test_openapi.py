"""OpenAPI documents over HTTP."""

from __future__ import annotations

import threading

import pytest

from podless import Server
from podless.publish.openapi.serve import Library
from tests.conftest import Client


def test_documents_are_made_beside_the_loop_and_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    answer = Library.answer

    def noted(self: Library, document: str, request: object) -> object:
        seen.append(threading.current_thread().name)
        return answer(self, document, request)  # type: ignore[arg-type]

    monkeypatch.setattr(Library, "answer", noted)
    with Server() as server:
        client = Client(server.url, server.token)
        for path in ("/openapi/v2", "/openapi/v3", "/openapi/v3/api/v1"):
            seen.clear()
            first, again = client.get(path), client.get(path)
            assert first.status == again.status == 200
            assert first.body == again.body
            assert "aside" in seen[0]
            assert "aside" not in seen[1]
        client.close()
