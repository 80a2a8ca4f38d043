"""Paths of podless log --why."""

from __future__ import annotations

from typing import Any

import pytest

from podless.cli.history.log import find_field
from podless.history.difference import ABSENT

OBJECT = {
    "metadata": {"labels": {"a/b.c": "1"}},
    "spec": {"replicas": 0, "containers": [{"name": "n.x", "image": "i"}], "args": ["p", "q"]},
}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("spec.replicas", 0),
        ('metadata.labels["a/b.c"]', "1"),
        ("spec.containers[name=n.x].image", "i"),
        ("spec.args[1]", "q"),
        ("spec.args[7]", ABSENT),
        ("spec.containers[name=z].image", ABSENT),
        ("spec.none.x", ABSENT),
        ("spec.replicas.x", ABSENT),
    ],
)
def test_a_path_is_followed_as_the_log_writes_it(path: str, value: Any) -> None:
    assert find_field(OBJECT, path) == value
