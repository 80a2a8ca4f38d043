"""Texts of field errors that differ between releases: the newest release's text, and that of others.

A row applies to the releases of its span if the field ends as stated and the text matches. Only the detail of an error
is changed, never a user's text. Sources: recorded answers of kube-apiserver 1.30 to 1.36, and the changelogs.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from podless.runtime.datafiles import read_rows
from podless.runtime.release import covers


class Row(NamedTuple):
    """One text that differs.

    releases: those that have another text. field: a pattern for the end of the path. pattern: matches the newest text.
    replacement: the text of these releases; {last} is the group `last` of `field`.
    """

    releases: str
    field: str
    pattern: str
    replacement: str = ""


ROWS: Final = tuple(
    Row(releases, field.strip("-"), pattern.strip("-"), *replacement)
    for releases, field, pattern, *replacement in read_rows(Path(__file__).with_name("wording.txt"))
)


def make_wording(minor: int) -> Callable[[str, str], str] | None:
    """Return a function from a field and the newest release's text to this release's; None for no change."""
    rows = [
        (re.compile(f"(?:^|.*[.\\]])?(?:{field})$" if field else ""), re.compile(pattern or "$"), replacement)
        for releases, field, pattern, replacement in ROWS
        if covers(releases, minor)
    ]

    def reword(field: str, text: str) -> str:
        for at, pattern, replacement in rows:
            match = pattern.match(text)
            field_match = at.match(field) if match is not None else None
            if match is not None and field_match is not None:
                last = field_match.groupdict().get("last") or ""
                return match.expand(replacement.replace("{last}", last)) + text[match.end() :]
        return text

    return reword if rows else None


_CUSTOM = "k8s.io/apiextensions-apiserver/pkg/apiserver"
# lines of Go that construct schemes, named in errors about unregistered kinds: releases, newest, other
SOURCES: Final = (
    ("1.30", "", "pkg/runtime/scheme.go:100"),
    ("1.31-1.32", f"{_CUSTOM}/apiserver.go:55", f"{_CUSTOM}/apiserver.go:53"),
    ("1.31", f"{_CUSTOM}/customresource_handler.go:781", f"{_CUSTOM}/customresource_handler.go:721"),
    ("1.32-1.33", f"{_CUSTOM}/customresource_handler.go:781", f"{_CUSTOM}/customresource_handler.go:725"),
    ("1.34", f"{_CUSTOM}/customresource_handler.go:781", f"{_CUSTOM}/customresource_handler.go:730"),
    (
        "1.31-1.35",
        "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27",
        "pkg/apis/meta/internalversion/scheme/register.go:27",
    ),
)


def make_sources(minor: int) -> Callable[[str], str]:
    """Return a function from the newest release's line of Go that constructs a scheme to this release's."""
    rows = {newest: replacement for releases, newest, replacement in SOURCES if covers(releases, minor)}
    return lambda source: rows.get(source) or rows.get("", source)
