"""Errors that nobody has thought of: clients and the log learn that there is one, and nothing of what was sent."""

from __future__ import annotations

import logging
from typing import Any

import orjson
import pytest

from podless.http import status


def failing(secret: str) -> Exception:
    try:
        try:
            int(secret)
        except ValueError as error:
            raise KeyError(secret) from error
    except KeyError as caught:
        return caught
    raise AssertionError


def test_the_text_of_an_unknown_error_is_told_nobody(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        answer = status.render(failing("hunter2"))
    document: Any = orjson.loads(b"".join(answer.chunks))
    assert (answer.status, document["message"]) == (500, "Internal error occurred: see the server's log")
    assert "hunter2" not in caplog.text
    assert "builtins.ValueError\nthen\n" in caplog.text
    assert "builtins.KeyError" in caplog.text
    assert "in failing" in caplog.text
