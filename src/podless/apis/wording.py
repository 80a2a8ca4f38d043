"""Texts of field errors that differ between releases: the newest release's text, and that of others.

A row applies to the releases of its span if the field ends as stated and the text matches. Only the detail of an error
is changed, never a user's text. Sources: recorded answers of kube-apiserver 1.30 to 1.36, and the changelogs.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from podless.runtime.release import covers


class Row(NamedTuple):
    """One text that differs.

    releases: those that have another text. field: a pattern for the end of the path. pattern: matches the newest text.
    replacement: the text of these releases; {last} is the group `last` of `field`.
    """

    releases: str
    field: str
    pattern: str
    replacement: str


_REPEATED = r"(must be a valid path|must not be empty|must not contain line breaks|must be non-empty if specified)"
ROWS: Final = (
    # limits had other texts, and counts were always plural
    Row(
        "-1.31",
        r"(annotations|fieldManager|manager)",
        r"may not be more than (\d+) bytes?",
        r"must have at most \1 bytes",
    ),
    Row("-1.31", "", r"may not be more than (\d+) bytes?", r"may not be longer than \1"),
    Row("-1.33", "", r"(must have at most 1 item|may not be more than 1 byte)", r"\1s"),
    # lengths of names were in characters
    Row("-1.34", "", r"((?:(?:name|prefix) part )?must be no more than \d+) bytes", r"\1 characters"),
    Row("-1.34", "", r"a valid label key must consist", r"a qualified name must consist"),
    # texts began with the name of the field
    Row("-1.33", r"variables\[\d+\]\.name", r"must be a valid CEL identifier", r"name is not a valid CEL identifier"),
    Row("-1.33", r"(?P<last>fieldPath|message|messageExpression)", _REPEATED, r"{last} \1"),
    Row("-1.33", r"ownerReferences\.(?P<last>kind|uid|name|apiVersion)", _REPEATED, r"{last} \1"),
    Row(
        "-1.33",
        "selectableFields",
        r"may only be set when `version\.schema\.openAPIV3Schema` is not included",
        "selectableFields may only be set when version.schema.openAPIV3Schema is not included",
    ),
    Row("-1.33", "selectableFields", r"(may only be set when)", r"selectableFields \1"),
    # missing fields were reported twice
    Row("-1.33", r"(?:c|webhookC)lientConfig\.service\.(?P<last>name|namespace)", r"", "service {last} is required"),
    Row("-1.33", r"versions\[\d+\]\.schema\.openAPIV3Schema", r"", "schemas are required"),
    Row("-1.33", r"os\.name", r"", "cannot be empty"),
    Row("-1.33", r"(backend|defaultBackend)\.resource\.(?P<last>name|kind)", r"", "{last} is required"),
    Row("-1.33", r"spec\.parameters\.(?P<last>name|kind)", r"", "{last} is required"),
    Row("-1.33", r"default\.(apiVersion|kind)", r"", "must not be empty"),
    Row(
        "-1.35",
        r"resizePolicy",
        r"must be 'NotRequired' when pod `restartPolicy`",
        "must be 'NotRequired' when `restartPolicy`",
    ),
    Row(
        "-1.33",
        "completionTime",
        r"must be equal to or after `startTime`",
        "completionTime cannot be set before startTime",
    ),
    Row("-1.33", "completionTime", r"field is immutable", "completionTime cannot be mutated"),
    Row("-1.33", r"(?P<last>uncountedTerminatedPods)", r"must be (empty for finished job)", r"{last} needs to be \1"),
    Row("-1.33", r"hostNetwork|HostPID|HostIPC", r"when `hostUsers` is false", "when `pod.Spec.HostUsers` is false"),
    Row("-1.33", r"conditions\[\d+\]\.(?:lastTransitionTime|reason)", r"", "must be set"),
    Row("-1.33", r"spec\.type", r"(must be 'Exempt' if and only if) `name`", r"type \1 name"),
    Row("-1.32", r"storedVersions\[\d+\]", r"missing from spec\.versions; .*", "must appear in spec.versions"),
    Row("-1.30", "", r"(must evaluate to (?:bool|string|one of \[[^\]]*\])) but got \w+", r"\1"),
    # declarative rules of Kubernetes only report the type of the error
    Row("1.37-", r"verbs", r"verbs must contain at least one value", ""),
    Row("1.37-", r"validationActions", r"at least one validation action is required", ""),
    Row("1.37-", r"limited", r"must not be empty when type is Limited", ""),
    Row("1.37-", r"exempt", r"must be nil if the type is Limited", ""),
    Row("1.37-", r"roleRef", r"cannot change roleRef", "field is immutable"),
    Row("-1.34", "operator", r'(supported values: "Equal", "Exists"), "Lt", "Gt"', r"\1"),
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
