"""Fields that came in before: what is told of a request is the same whether they are known or not."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from podless.http.info import RequestLine
from podless.http.message import HTTPRequest
from podless.http.parsing import Heads, RequestParser

FIELDS = (
    b"Host: h\r\n",
    b"Host: g\r\nAccept: */*\r\n",
    b"Host: h\r\nHost: h\r\n",
    b"Accept: a\r\n",
    b"host:h\r\naccept: a\r\nAccept: b\r\n",
    b"Host: h\r\nContent-Length: 2\r\n",
    b"Host: h\r\nContent-Length: 0\r\n",
    b"content-length: 02\r\nHost: h\r\n",
    b"Host: h\r\nContent-Length: 2\r\ncontent-length: 2\r\n",
    b"Host: h\r\nContent-Length: 2\r\nContent-Length: 10\r\n",
    b"Host: h\r\nContent-Length: +2\r\n",
    b"Host: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n",
    b"Host: h\r\nX: Content-Length: 2\r\nContent-Length: 10\r\n",
    b"Host: h\r\nContent-Length:2\r\n",
    b"Host: h\r\nContent-Length: 10\r\n",
    b"Host: h\r\nConnection: close\r\n",
    b"Host: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n",
    b"Host: h\r\nTransfer-Encoding: chunked\r\n",
    b"Host: h\r\nX: " + b"x" * 5000 + b"\r\n",
    b"Host: h\nAccept: a\r\n",
)
LINES = (
    b"GET / HTTP/1.1\r\n",
    b"GET /a?b=c HTTP/1.1\r\n",
    b"GET /a%20b?watch=1&x=y,z HTTP/1.1\r\n",
    b"GET /a b HTTP/1.1\r\n",
    b"GET /\xc3\xa9 HTTP/1.1\r\n",
    b"GET /a#b HTTP/1.1\r\n",
    b"GET a HTTP/1.1\r\n",
    b"GET  / HTTP/1.1\r\n",
    b"GET / HTTP/1.0\r\n",
    b"GET / HTTP/1.1\n",
    b"GET HTTP/1.1\r\n",
    b"GET /\tHTTP/1.1\r\n",
    b"HEAD / HTTP/1.1\r\n",
    b"POST / HTTP/1.1\r\n",
    b"PATCH /a/b?c=d HTTP/1.1\r\n",
    b"post / HTTP/1.1\r\n",
    b" POST / HTTP/1.1\r\n",
    b"/ HTTP/1.1\r\n",
    b"FOO / HTTP/1.1\r\n",
    b"GET / HTTP/1.1\r\nX: GET / HTTP/1.1\r\n",
)
ENDS = (
    b"\r\n",
    b"\r\nab",
    b"\r\n0123456789",
    b"\r\n\r\n01234567",
    b"\r\n\r\n",
    b"\n",
    b"",
    b"\r\n0\r\n\r\n",
    b"\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n",
)

pieces = st.builds(
    lambda line, fields, end: line + fields + end,
    st.sampled_from(LINES),
    st.sampled_from(FIELDS),
    st.sampled_from(ENDS),
)


class Told:
    """What a parser tells."""

    def __init__(self, heads: Heads | None) -> None:
        self.told: list[object] = []
        self.known = 0
        self._last: HTTPRequest | None = None
        self.parser = RequestParser(self, 1 << 14, HTTPRequest.of, heads)

    def begin_head(self) -> None:
        pass

    def take_head(self, request: HTTPRequest, length: int) -> None:
        fields = dict(request.headers)
        self.told.append((request.method, request.path, request.query_text, fields, request.keep_alive, length))

    def take_piece(self, part: bytes) -> None:
        self.told.append(part)

    def end_request(self) -> None:
        self.told.append("end")

    def take_request(self, line: RequestLine, headers: dict[str, str], body: bytes) -> None:
        self.known += 1
        request = HTTPRequest(line, headers)
        request.body = body
        self.take_head(request, len(request.body))
        if request.body:
            self.take_piece(request.body)
        self.end_request()

    def fail_request(self, status: int, text: str) -> None:
        self.told.append((status, text))


@given(st.lists(st.lists(pieces, max_size=4), max_size=6))
def test_known_fields_make_no_difference(connections: list[list[bytes]]) -> None:
    heads = Heads()
    for sent in connections:
        known, plain = Told(heads), Told(None)
        for piece in sent:
            known.parser.feed(piece)
            plain.parser.feed(piece)
        assert known.told == plain.told


def test_fields_are_known_from_the_second_request_on_and_on_other_connections() -> None:
    heads = Heads()
    first, second = Told(heads), Told(heads)
    for told in (first, second):
        for path in (b"/a", b"/b?c=d"):
            told.parser.feed(b"GET %b HTTP/1.1\r\nHost: h\r\nAccept: a\r\n\r\n" % path)
    assert (first.known, second.known) == (1, 2)
    assert first.told == second.told


def test_bodies_of_other_lengths_come_with_known_fields() -> None:
    heads = Heads()
    known, plain = Told(heads), Told(None)
    for told in (known, plain):
        for body in (b"a", b"bc", b"012", b"0123456789"):
            told.parser.feed(b"POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
    assert (known.known, known.told) == (3, plain.told)


def test_no_more_are_remembered_than_may_be() -> None:
    heads = Heads()
    for number in range(1000):
        told = Told(heads)
        told.parser.feed(b"GET / HTTP/1.1\r\nHost: h%d\r\n\r\n" % number)
    assert len(heads._cached) == 256
    long = b"GET / HTTP/1.1\r\nHost: h\r\nX: %b\r\n\r\n" % (b"x" * 4096)
    told = Told(heads)
    for _ in range(2):
        told.parser.feed(long)
    assert told.known == 0
