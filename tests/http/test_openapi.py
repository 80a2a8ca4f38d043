"""OpenAPI documents over HTTP."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from podless import Server
from podless.publish.openapi import documents, v3
from tests.conftest import Client


def test_what_takes_long_is_made_beside_the_loop_and_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def noted(work: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            seen.append(threading.current_thread().name)
            return work(*args)

        return call

    monkeypatch.setattr(documents, "make_builtin_part", noted(documents.make_builtin_part))
    monkeypatch.setattr(v3, "make_group_version_document", noted(v3.make_group_version_document))
    with Server() as server:
        client = Client(server.url, server.token)
        for path, made in (("/openapi/v2", 1), ("/openapi/v3", 0), ("/openapi/v3/api/v1", 1)):
            seen.clear()
            first, again = client.get(path), client.get(path)
            assert first.status == again.status == 200
            assert first.body == again.body
            assert len(seen) == made
            assert all("off-loop" in name for name in seen)
        client.close()
