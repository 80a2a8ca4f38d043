"""What a server marks objects with."""

from __future__ import annotations

import re
import uuid
from datetime import UTC, datetime, timedelta

from podless.meta import objectmeta
from podless.runtime import clock


def test_uids_are_random_uuids() -> None:
    made = {objectmeta.make_uid() for _ in range(1000)}
    assert len(made) == 1000
    assert all(str(uuid.UUID(text)) == text for text in made)
    assert {(uuid.UUID(text).version, uuid.UUID(text).variant) for text in made} == {(4, uuid.RFC_4122)}


def test_the_time_is_told_in_whole_seconds() -> None:
    told = clock.now()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", told)
    assert abs(datetime.fromisoformat(told) - datetime.now(UTC)) < timedelta(seconds=60)
