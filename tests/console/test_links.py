from __future__ import annotations

from podless.console import LIFETIME, Links


def test_a_code_works_once() -> None:
    links = Links()
    code = links.make_code()
    assert links.use_code(code)
    assert not links.use_code(code)


def test_a_code_expires() -> None:
    now = [100.0]
    links = Links(lambda: now[0])
    code, later = links.make_code(), links.make_code()
    now[0] += LIFETIME - 1
    assert links.use_code(code)
    now[0] += 2
    assert not links.use_code(later)


def test_codes_are_bounded_and_the_oldest_makes_room() -> None:
    links = Links()
    codes = [links.make_code() for _ in range(40)]
    assert not links.use_code(codes[0])
    assert links.use_code(codes[-1])
    assert len(links._ends) < 16


def test_an_unknown_code_uses_nothing_up() -> None:
    links = Links()
    code = links.make_code()
    assert not links.use_code("")
    assert not links.use_code("\ud800")
    assert links.use_code(code)
