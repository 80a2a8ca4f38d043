"""A cluster without HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest

from podless.apis.core.group import NAMESPACES
from podless.cluster import Cluster
from podless.runtime.option import parse_duration
from podless.settings import ClusterSettings


async def test_it_is_built_and_used_without_a_listener_and_beside_others(tmp_path: Path) -> None:
    clusters = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        clusters.append(Cluster(ClusterSettings(), tmp_path / name))
    try:
        for cluster in clusters:
            await cluster.start()
        for cluster in clusters:
            namespaces = await cluster.api.load_collection(NAMESPACES)
            assert namespaces.get(NAMESPACES.key("", "default")) is not None
            assert [name for name in cluster.health.list_checks("livez") if await cluster.health.find_fault(name)] == []
        assert clusters[0].token != clusters[1].token
    finally:
        for cluster in clusters:
            await cluster.stop()


@pytest.mark.parametrize(("text", "seconds"), [("1h", 3600.0), ("1h30m", 5400.0), ("90s", 90.0), ("0.5s", 0.5)])
def test_a_duration(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "1", "0s", "1d", "h", "-1s", "1s1m", "1.5h", "1h1", "1..5s"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="expected a duration such as"):
        parse_duration(text)
