"""Parts of the messages to users that several layers write."""

from __future__ import annotations

from collections.abc import Sequence


def format_count(number: int, noun: str) -> str:
    """Return a number with its noun, plural unless it is 1."""
    return f"{number} {noun}{'s' * (number != 1)}"


def suggest_name(name: str, candidates: Sequence[str]) -> str:
    """Return the end of an error about an unknown name or flag: the most similar known one, or ""."""
    from difflib import get_close_matches

    bare = {candidate.lower().lstrip("-"): candidate for candidate in candidates}
    matches = get_close_matches(name.lower().lstrip("-"), bare, 1)
    return f"; did you mean {bare[matches[0]]}?" if matches else ""
