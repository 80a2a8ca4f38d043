"""What a run's log reads from requests."""

from __future__ import annotations

import pytest

from podless.explore.points import compare_logs, read_version


@pytest.mark.parametrize(
    ("body", "version"),
    [
        (b'{"metadata":{"name":"one","resourceVersion":"12"}}', 12),
        (b'{"metadata":{"name":"one"}}', 0),
        (b'{"metadata":{"resourceVersion":"x"}}', 0),
        (b'[{"op":"remove","path":"/metadata/finalizers"}]', 0),
        (b"metadata: {resourceVersion: 12}", 0),
        (b"", 0),
    ],
)
def test_the_version_that_a_write_is_based_on(body: bytes, version: int) -> None:
    assert read_version(body) == version


def test_where_two_logs_part() -> None:
    assert compare_logs(["a 200", "b 201"], ["a 200", "b 409"]) == "request 2: b 201 / b 409"
    assert compare_logs(["a 200"], ["a 200", "b 201"]) == "one run ends before: b 201"
    assert compare_logs(["a 200"], ["a 200"]) == ""
