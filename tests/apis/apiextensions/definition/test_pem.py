"""Bundles are looked through once: blocks of PEM, and what stands between them."""

from __future__ import annotations

import pytest

from podless.apis.apiextensions.definition.webhook import _split_pem
from tests.cost import assert_linear

ONE = b"-----BEGIN A-----\nx\n-----END A-----"


@pytest.mark.parametrize(
    ("data", "found", "rest"),
    [
        (b"", [], b""),
        (ONE, [(b"A", b"x\n")], b""),
        (b"a" + ONE + b"b" + ONE, [(b"A", b"x\n"), (b"A", b"x\n")], b"ab"),
        (b"-----BEGIN B-----\n" + ONE, [(b"A", b"x\n")], b"-----BEGIN B-----\n"),
        (b"-----BEGIN B-----  \n" + ONE + b"-----END B-----", [(b"B", ONE)], b""),
        (b"-----BEGIN A-----x\n-----END A-----", [], b"-----BEGIN A-----x\n-----END A-----"),
    ],
)
def test_blocks(data: bytes, found: list[tuple[bytes, bytes]], rest: bytes) -> None:
    assert _split_pem(data) == (found, rest)


@pytest.mark.parametrize("piece", [ONE, b"-----BEGIN A-----\n", b"-----END A-----", b"-----BEGIN %d-----\n"])
def test_a_long_bundle(piece: bytes) -> None:
    assert_linear(_split_pem, lambda size: b"".join(piece.replace(b"%d", b"%d" % n) for n in range(size)))
