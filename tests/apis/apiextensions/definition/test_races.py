"""Threads that validate schemas at the same time: servers of one process share what is known to be valid."""

from __future__ import annotations

import pytest

from podless.apis.apiextensions.definition import schemas
from podless.cel.rules import DefinitionRules
from podless.schema import KeywordOptions
from tests.races import interleaved

SCHEMAS = [{"type": "object", "properties": {"a": {"type": "string", "maxLength": place}}} for place in range(6)]


@pytest.mark.parametrize("seed", range(10))
def test_digests_that_another_thread_drops_are_made_again(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    monkeypatch.setattr(schemas, "_FAULTLESS", {})
    monkeypatch.setattr(schemas, "_CACHED", 1)

    def validate() -> None:
        checker = schemas.Checker(DefinitionRules(), KeywordOptions(), new=True)
        for schema in SCHEMAS:
            for _ in range(3):
                assert checker.validate_schema(schema, "", status=False) == []

    interleaved("definition/schemas", validate, validate, seed=seed, longest=8, step="opcode")
    assert len(schemas._FAULTLESS) <= 1
