from __future__ import annotations

from podless.console.links import LIFETIME, Links


def test_a_code_works_once() -> None:
    links = Links()
    code = links.make()
    assert links.take(code)
    assert not links.take(code)


def test_a_code_expires() -> None:
    now = [100.0]
    links = Links(lambda: now[0])
    code, later = links.make(), links.make()
    now[0] += LIFETIME - 1
    assert links.take(code)
    now[0] += 2
    assert not links.take(later)


def test_codes_are_bounded_and_the_oldest_makes_room() -> None:
    links = Links()
    codes = [links.make() for _ in range(40)]
    assert not links.take(codes[0])
    assert links.take(codes[-1])
    assert len(links._ends) < 16


def test_an_unknown_code_uses_nothing_up() -> None:
    links = Links()
    code = links.make()
    assert not links.take("")
    assert not links.take("\ud800")
    assert links.take(code)
