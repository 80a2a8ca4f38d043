"""What the checker of histories accepts, and what it refuses."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.faults.linearizable import UNKNOWN, Operation, State, step, wrong


@st.composite
def histories(draw: st.DrawFn) -> list[Operation]:
    """What several clients see of an object that does one thing after the other.

    Each thing happens at a moment of its own, somewhere between its call and its answer.
    """
    state: State = None
    found, values = [], ["0"]
    for number in range(draw(st.integers(1, 25))):
        start = number - draw(st.floats(0, 3))
        end = number + draw(st.floats(0, 3))
        kind = draw(st.sampled_from(["get", "create", "update", "delete"]))
        value = str(number + 1)
        if kind == "get":
            done = Operation("a", kind, state is not None, start, end, state or "")
        elif kind == "create":
            done = Operation("a", kind, state is None, start, end, value)
        elif kind == "delete":
            done = Operation("a", kind, state is not None, start, end)
        else:
            expect = draw(st.sampled_from(values)) if state is None or draw(st.booleans()) else state
            done = Operation("a", kind, state == expect, start, end, value, expect, state is None)
        fits, after = step(state, done)
        assert fits
        if kind != "get" and draw(st.integers(0, 5)) == 0:  # nobody learns what became of it
            after = after if draw(st.booleans()) else state
            done = done._replace(ok=True, end=UNKNOWN)
        state = after
        values += [value] if state == value else []
        found.append(done)
    return found


@given(histories(), st.randoms(use_true_random=False))
def test_what_a_real_object_did_is_accepted(history: list[Operation], random: st.DataObject) -> None:
    random.shuffle(history)  # type: ignore[attr-defined]
    assert wrong(history) == []


def told(kind: str, start: float, end: float, value: str = "", expect: str = "", ok: bool = True) -> Operation:
    return Operation("a", kind, ok, start, end, value, expect)


@given(histories())
def test_a_stale_read_is_refused(history: list[Operation]) -> None:
    late = 1000.0
    after = [told("delete", late, late + 1), told("create", late + 2, late + 3, "x")]
    after += [told("update", late + 4, late + 5, "y", "x"), told("get", late + 6, late + 7, "x")]
    known = [one for one in history if one.end != UNKNOWN]
    assert wrong([*known, *after]) == ["a"]
    assert wrong([told("create", 0, 1, "x"), told("update", 2, 5, "y", "x"), told("get", 3, 4, "x")]) == []


@given(st.integers(2, 20), st.integers(0, 18))
def test_a_lost_write_is_refused(count: int, which: int) -> None:
    lost = min(which, count - 2)
    history = [told("create", 0, 1, "0")]
    for number in range(1, count):
        history.append(told("update", 2 * number, 2 * number + 1, str(number), str(number - 1)))
    assert wrong(history) == []
    seen = told("get", 2 * count, 2 * count + 1, str(count - 1))
    assert wrong([*history, seen]) == []
    assert wrong([*history, seen._replace(value=str(lost))]) == ["a"]
    assert wrong([one for number, one in enumerate(history) if number != lost]) == ["a"]


def test_a_write_of_unknown_outcome_may_have_happened_at_any_time_or_not_at_all() -> None:
    history = [told("create", 0, 1, "0"), told("update", 2, UNKNOWN, "1", "0")]
    assert wrong([*history, told("get", 3, 4, "0"), told("get", 5, 6, "1")]) == []
    assert wrong([*history, told("get", 3, 4, "0"), told("get", 5, 6, "0")]) == []
    assert wrong([*history, told("get", 3, 4, "1"), told("get", 5, 6, "0")]) == ["a"]
    assert wrong([told("get", 0, 1, "1"), told("create", 2, UNKNOWN, "1")]) == ["a"]


def test_two_may_not_replace_the_same() -> None:
    first = told("create", 0, 1, "0")
    both = [told("update", 2, 5, "1", "0"), told("update", 3, 6, "2", "0")]
    assert wrong([first, *both]) == ["a"]
    assert wrong([first, both[0], both[1]._replace(ok=False)]) == []


def test_keys_are_judged_alone() -> None:
    right = [told("create", 0, 1, "0"), told("get", 2, 3, "0")]
    others = [one._replace(key="b", value="1" if one.kind == "get" else "0") for one in right]
    assert wrong([*right, *others]) == ["b"]
