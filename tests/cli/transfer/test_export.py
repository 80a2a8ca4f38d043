"""What an export asks for: pages of few bytes, whatever the size of objects is."""

from __future__ import annotations

import io
import json
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

import pytest

from podless.cli.progress import Progress
from podless.cli.transfer import export as module
from podless.cli.transfer.documents import ExportSink
from podless.cli.transfer.export import Choice, Export
from podless.remote.cluster import RemoteCluster
from podless.remote.resources import APIResource

_MAPS = APIResource("v1", "configmaps", "ConfigMap", True)


class Server:
    """Has config maps of some sizes. pages: the bytes of each answer."""

    def __init__(self, sizes: list[int]) -> None:
        self.received = 0
        self.pages: list[int] = []
        self._sizes = sizes

    async def send(self, method: str, path: str) -> Any:
        query = parse_qs(urlsplit(path).query)
        start, most = int(query.get("continue", ["0"])[0]), int(query["limit"][0])
        part = self._sizes[start : start + most]
        items = [{"metadata": {"name": f"m{start + at}"}, "data": {"a": "x" * size}} for at, size in enumerate(part)]
        end = start + len(part)
        page = {"metadata": {"continue": str(end) if end < len(self._sizes) else ""}, "items": items}
        self.pages.append(len(json.dumps(page)))
        self.received += self.pages[-1]
        return page


class Kept:
    """A sink that remembers names."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def put(self, obj: dict[str, Any], full: str, *, needed: bool = False) -> None:
        self.names.append(obj["metadata"]["name"])


@pytest.mark.parametrize("sizes", [[10] * 3000, [1 << 20] * 40, [10] * 1000 + [100_000] * 300, []])
async def test_a_page_has_few_bytes(sizes: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    async def found(cluster: object, refuse: object) -> list[APIResource]:
        return [_MAPS]

    monkeypatch.setattr(module, "discover_resources", found)
    server, sink = Server(sizes), Kept()
    made = Export(
        cast(RemoteCluster, server),
        Choice(only=True),
        cast(ExportSink, sink),
        Progress(told := io.StringIO(), elsewhere=False),
    )
    await made.run()
    assert not told.getvalue()
    assert sink.names == [f"m{number}" for number in range(len(sizes))]
    largest = max(sizes, default=0)
    assert sum(size > module._BYTES + largest + 1000 for size in server.pages) <= 2  # where sizes are not known yet
    assert len(server.pages) < len(sizes) / module._PAGE + sum(sizes) / module._BYTES + 15
