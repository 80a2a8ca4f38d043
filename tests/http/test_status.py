"""Errors that nobody has thought of: clients and the log learn that there is one, and nothing of what was sent."""

from __future__ import annotations

import logging
from typing import Any

import orjson
import pytest

from podless.http import status
from podless.http.message import HTTPRequest, Response
from podless.meta.errors import BadRequest


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
        answer = status.render_error(failing("hunter2"))
    document: Any = orjson.loads(b"".join(answer.chunks))
    assert (answer.status, document["message"]) == (500, "Internal error occurred: see the server's log")
    assert "hunter2" not in caplog.text
    assert "builtins.ValueError\nthen\n" in caplog.text
    assert "builtins.KeyError" in caplog.text
    assert "in failing" in caplog.text


@pytest.mark.parametrize(
    ("accept", "indented"),
    [
        ("application/json;as=Table;v=v1;g=meta.k8s.io", True),
        ("application/json;as=Table;v=v1;g=meta.k8s.io,application/json", False),
        ("application/json;pretty=1", True),
        ("text/css", True),
        ("", False),
    ],
)
def test_an_error_is_indented_for_clients_that_take_no_status(accept: str, indented: bool) -> None:
    def fail(_: HTTPRequest) -> Response:
        raise BadRequest("no")

    answer: Any = status.with_status(fail)(HTTPRequest.of("GET", "/", {"accept": accept}))
    body = b"".join(answer.chunks)
    assert (b"\n  " in body) is indented
    assert body.endswith(b"\n") is not indented
    assert orjson.loads(body)["message"] == "no"


@pytest.mark.parametrize("accept", ["", "application/yaml", "application/vnd.kubernetes.protobuf"])
@pytest.mark.parametrize("agent", ["", "curl/8"])
async def test_a_long_message_is_sent_in_pieces(accept: str, agent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = 'a "quoted" \u00e9 \U0001f600 \n ' * 20_000
    causes = [{"message": "short"}, {"message": text, "field": "a"}, *([{"message": "b"}] * 2000)]
    error = BadRequest(text, {"causes": causes})
    request = HTTPRequest.of("POST", "/", {"accept": accept, "user-agent": agent})

    async def fail() -> Response:
        raise error

    pending: Any = status.with_status(lambda request: fail())(request)
    answer = await pending
    pieces = [bytes(piece) for piece in answer.chunks]
    monkeypatch.setattr(status, "_LONG_MESSAGE", len(text) + 1)
    short: Any = status.with_status(lambda request: (_ for _ in ()).throw(error))(request)
    assert (answer.status, answer.media) == (short.status, short.media)
    assert b"".join(pieces) == b"".join(short.chunks)
    assert accept or max(map(len, pieces)) < len(text) // 2
    assert accept or answer.own_size > 2 * len(text)
