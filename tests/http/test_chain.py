"""The filters that a request passes."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import orjson
import pytest
from greenlet import getcurrent

from podless.auth.authenticate import Authenticator
from podless.auth.authorizer import AllowAll, Attributes, Decision
from podless.auth.tokens import StaticTokens
from podless.auth.user import ANONYMOUS, User
from podless.http.chain import chain_filters, list_filters
from podless.http.filters import parse_timeout
from podless.http.limits import Limits
from podless.http.message import Answer, Handler, HTTPRequest, Pending, Response, settle_answer
from podless.meta.errors import BadRequest
from podless.offload.offloop import OffLoop
from podless.runtime.slices import _Worker

ZOE = User("zoe")


class Nobody(AllowAll):
    """Nobody may do anything."""

    def decide(self, user: User, asked: Attributes) -> Decision:
        return Decision(False)


class Slow(AllowAll):
    """Finding out takes long. sliced: who was decided about in slices."""

    def __init__(self) -> None:
        self.sliced: list[str] = []

    def is_costly(self, user: User, *asked: Attributes) -> bool:
        return True

    def decide(self, user: User, asked: Attributes) -> Decision:
        assert isinstance(getcurrent(), _Worker)
        self.sliced.append(user.name)
        return Decision(True)

    def is_allowed(self, user: User, asked: Attributes) -> bool:
        return self.decide(user, asked).allowed


def api(authorizer: AllowAll | None = None) -> Any:
    return cast(
        Any,
        SimpleNamespace(
            authenticator=Authenticator(StaticTokens({"z": ZOE})),
            authorizer=authorizer or AllowAll(),
            cache=SimpleNamespace(fresh=True),
            store=SimpleNamespace(prompt=True),
            off_loop=OffLoop(),
        ),
    )


def asked(target: str = "/api/v1/namespaces", **headers: str) -> HTTPRequest:
    return HTTPRequest.of("GET", target, {name.lower().replace("_", "-"): value for name, value in headers.items()})


def code(answer: Answer | Pending) -> int:
    assert isinstance(answer, Response)
    return answer.status


def message(answer: Answer) -> str:
    assert isinstance(answer, Response)
    found: str = orjson.loads(b"".join(answer.chunks))["message"]
    return found


async def test_a_request_has_all_that_the_filters_found_and_is_answered_in_the_same_call() -> None:
    seen: list[HTTPRequest] = []

    def handler(request: HTTPRequest) -> Response:
        seen.append(request)
        return Response(200)

    handle = chain_filters(list_filters(api(), Limits()), handler)
    assert code(handle(asked(Authorization="Bearer z"))) == 200
    assert code(handle(asked(Authorization="Bearer z", Impersonate_User="ann"))) == 200
    assert code(handle(asked())) == 200
    assert [request.user.name for request in seen] == ["zoe", "ann", ANONYMOUS.name]
    assert {request.info.verb for request in seen} == {"list"}


async def test_a_filter_is_inserted_with_one_line() -> None:
    passed = list_filters(api(), Limits())

    def refusing(handler: Handler) -> Handler:
        return lambda request: Response(503)

    passed.append(refusing)
    assert code(chain_filters(passed, lambda request: Response(200))(asked())) == 503


async def test_who_may_not_gets_no_further() -> None:
    def handler(request: HTTPRequest) -> Response:
        raise AssertionError

    handle = chain_filters(list_filters(api(Nobody()), Limits()), handler)
    denied = handle(asked())
    assert isinstance(denied, Response)
    assert (denied.status, list(denied.headers)) == (403, [("X-Content-Type-Options", "nosniff")])
    assert code(handle(asked(Authorization="Bearer z", Impersonate_User="ann"))) == 403
    assert code(await settle_answer(handle(asked(Authorization="Bearer bad")))) == 401


async def test_what_takes_long_to_decide_is_decided_in_slices() -> None:
    authorizer = Slow()
    handle = chain_filters(list_filters(api(authorizer), Limits()), lambda request: Response(200))
    assert code(await settle_answer(handle(asked(Authorization="Bearer z")))) == 200
    assert code(await settle_answer(handle(asked(Authorization="Bearer z", Impersonate_User="ann")))) == 200
    assert {*authorizer.sliced} == {"zoe", "ann"}


@pytest.mark.parametrize("later", [False, True])
async def test_what_is_raised_becomes_a_status_and_warnings_go_with_it(later: bool) -> None:
    def handler(request: HTTPRequest) -> Answer | Pending:
        async def answer() -> Answer:
            raise BadRequest("no")

        request.warnings.append("careful")
        if later:
            return answer()
        raise BadRequest("no")

    answer = await settle_answer(chain_filters(list_filters(api(), Limits()), handler)(asked()))
    assert (code(answer), message(answer)) == (400, "no")
    assert answer.headers == [("Warning", '299 - "careful"')]


async def test_a_blank_too_much_before_a_token_is_warned_of() -> None:
    answer = await settle_answer(
        chain_filters(list_filters(api(), Limits()), lambda request: Response(200))(asked(Authorization="Bearer  z"))
    )
    assert "extra space before the bearer token" in answer.headers[0][1]


# deadlines


@pytest.mark.parametrize("target", ["/nowhere", "/version", "/apis/g/v1/cogs/b", "/api/v1/namespaces"])
async def test_a_bad_timeout_is_told_before_anything_else(target: str) -> None:
    handle = chain_filters(list_filters(api(Nobody()), Limits()), lambda request: Response(200))
    answer = await settle_answer(handle(asked(f"{target}?timeout=invalid", Authorization="Bearer bad")))
    text = 'invalid timeout specified in the request URL - time: invalid duration "invalid"'
    assert (code(answer), message(answer)) == (400, text)


async def test_a_watch_has_no_deadline() -> None:
    handle = chain_filters(list_filters(api(), Limits()), lambda request: Response(200))
    assert code(handle(asked("/api/v1/namespaces?watch=1&timeout=invalid"))) == 200


async def test_what_takes_longer_than_its_client_gives_it_is_answered_and_goes_on() -> None:
    gate, done = asyncio.Event(), asyncio.Event()

    async def work() -> Answer:
        await gate.wait()
        done.set()
        return Response(200)

    answer = await settle_answer(
        chain_filters(list_filters(api(), Limits()), lambda request: work())(asked("/version?timeout=1ms"))
    )
    assert isinstance(answer, Response)
    assert answer.status == 504
    assert answer.chunks[0].endswith(b"\n")  # type: ignore[index]
    assert message(answer) == "Timeout: request did not complete within the allotted timeout"
    gate.set()
    await done.wait()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("1h30m", 5400.0), ("500us", 0.0005), ("1.5s", 1.5), ("-2s", -2.0), ("+1ms", 0.001), ("0", 0.0), ("1m1s", 61.0)],
)
def test_a_duration_is_seconds(text: str, seconds: float) -> None:
    assert parse_timeout(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "1", "s", "1x", "1" * 5000 + "s"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(BadRequest, match="invalid timeout specified"):
        parse_timeout(text)
