"""Parses indexes of Jobs, such as 1,3-5,7. Source: Kubernetes' pkg/apis/batch/validation."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from podless.codec import gotext
from podless.runtime.meter import each

_Interval = tuple[int, int]


class IndexFault(ValueError):
    """A text is not a list of indexes. The message is kube-apiserver's."""


def count_indexes(text: str, completions: int) -> int:
    """Return the number of indexes in a text such as "1,3-5".

    Raises IndexFault unless they are ascending and below completions.
    """
    if not text:
        return 0
    total, last = 0, None
    for segment in each(text.split(",")):
        first, end = _parse_interval(segment, completions)
        if last is not None and last >= first:
            raise IndexFault(f"non-increasing order, previous: {last}, current: {first}")
        total, last = total + end - first + 1, end
    return total


def find_index_fault(text: str, completions: int) -> str:
    """Return why a text is not a list of indexes, or ""."""
    try:
        count_indexes(text, completions)
    except IndexFault as error:
        return str(error)
    return ""


def find_overlap(completed: str, failed: str, completions: int) -> int | None:
    """Return the first index in both lists, or None. Invalid intervals are ignored."""
    if not completed or not failed:
        return None
    succeeded, failures = _parse_intervals(completed, completions), _parse_intervals(failed, completions)
    first, second = next(succeeded, None), next(failures, None)
    while first is not None and second is not None:
        if first[0] <= second[1] and second[0] <= first[1]:
            return max(first[0], second[0])
        if first[0] <= second[0]:
            first = next(succeeded, None)
        else:
            second = next(failures, None)
    return None


def _parse_intervals(text: str, completions: int) -> Iterator[_Interval]:
    for segment in each(text.split(",")):
        try:
            yield _parse_interval(segment, completions)
        except IndexFault:
            continue


def _parse_interval(text: str, completions: int) -> _Interval:
    first, *later_bounds = text.split("-", 2)
    if len(later_bounds) > 1:
        reason = "violates the requirement that an index interval can have at most two parts separated by '-'"
        raise IndexFault(f"the fragment {gotext.quote(text)} {reason}")
    numbers = []
    for bound in chain([first], later_bounds):
        try:
            number = gotext.parse_int(bound, name="Atoi")
        except ValueError:
            raise IndexFault(f"cannot convert string to integer for index: {gotext.quote(bound)}") from None
        if number >= completions:
            raise IndexFault(f"too large index: {gotext.quote(bound)}")
        numbers.append(number)
    if len(numbers) > 1 and numbers[0] >= numbers[1]:
        raise IndexFault(f"non-increasing order, previous: {numbers[0]}, current: {numbers[1]}")
    return numbers[0], numbers[-1]
