"""ResourceQuota: what a write costs in a namespace of long quotas."""

from __future__ import annotations

from typing import Any, cast

import pytest

from podless.apis.core.admission import resourcequota
from podless.apis.core.admission.resourcequota import ResourceQuota
from podless.cache.entry import Entry
from tests.conftest import Client

SPACE = "/api/v1/namespaces/counting"


class SearchedText(bytes):
    """A text that counts how often it is searched."""

    searches = 0

    def __contains__(self, part: Any) -> bool:
        self.searches += 1
        return super().__contains__(part)


class Keyless:
    """A state without objects."""

    def collection(self, kind: Any) -> None:
        return None


def quota(text: bytes, name: str = "a", revision: int = 1) -> Entry:
    entry = Entry.make_unstored(f"/registry/resourcequotas/default/{name}", SearchedText(text))
    entry.revision = revision
    return entry


def searches(entry: Entry) -> int:
    return cast(SearchedText, entry.body).searches


def test_a_quota_is_searched_for_a_resource_once_a_revision() -> None:
    plugin = ResourceQuota(cast(Any, Keyless()), cast(Any, None))
    entry = quota(b'{"secrets":"1"}')
    for _ in range(3):
        assert not plugin._has_name(entry, "configmaps", [b'"configmaps"'])
        assert plugin._has_name(entry, "secrets", [b'"secrets"'])
    assert searches(entry) == 2
    changed = quota(b'{"configmaps":"1"}', revision=2)
    assert plugin._has_name(changed, "configmaps", [b'"configmaps"'])
    assert searches(changed) == 1


def test_few_results_of_searches_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resourcequota, "_MAX_SEARCHED", 10)
    plugin = ResourceQuota(cast(Any, Keyless()), cast(Any, None))
    for number in range(50):
        plugin._has_name(quota(b"{}", f"q{number}"), "configmaps", [b"x"])
    assert len(plugin._searched) == 10


def test_a_quota_counts_what_it_did_not_count_before(client: Client) -> None:
    assert client.post("/api/v1/namespaces", {"metadata": {"name": "counting"}}).status == 201
    quota = {"metadata": {"name": "q"}, "spec": {"hard": {"pods": "1"}}}
    assert client.post(f"{SPACE}/resourcequotas", quota).status == 201
    assert client.post(f"{SPACE}/configmaps", {"metadata": {"name": "a"}}).status == 201
    change = {"spec": {"hard": {"count/configmaps": "0"}}}
    assert client.merge(f"{SPACE}/resourcequotas/q", change).status == 200
    assert client.post(f"{SPACE}/configmaps", {"metadata": {"name": "b"}}).status == 403
