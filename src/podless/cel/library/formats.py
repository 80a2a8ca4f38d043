"""Named formats of strings (Kubernetes)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from podless.cel import values
from podless.cel.cost import PER_CHARACTER, PER_PATTERN, UNIT, CallSite, Cost, Estimate
from podless.cel.functions import Library, declare
from podless.cel.values import NONE, Optional
from podless.codec import gotime
from podless.codec.gourl import URLError, parse_url
from podless.meta import names
from podless.runtime.dataclass import dataclass
from podless.runtime.lazy import compile_late

_UUID = compile_late(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}\Z", re.IGNORECASE)
_BASE64 = compile_late(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})\Z")
_CLOCK = compile_late(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})\Z")
_MAX_PATTERN = 128


@dataclass(frozen=True, slots=True)
class Format:
    """A format. pattern: the length of an equivalent pattern, which decides the cost."""

    name: str
    check: Callable[[str], list[str]]
    pattern: int


values.NAMES[Format] = "kubernetes.NamedFormat"


def _is_datetime(text: str) -> bool:
    day, separator, clock = text.lower().partition("t")
    match = _CLOCK.match(clock)
    if not separator or match is None or not gotime.is_date(day):
        return False
    return match[1] <= "23" and match[2] <= "59" and match[3] <= "59"


def _check_uri(text: str) -> list[str]:
    try:
        parse_url(text, True)
    except URLError as error:
        return [str(error)]
    return []


def _check_prefix(check: Callable[[str], list[str]]) -> Callable[[str], list[str]]:
    """Return a check for a prefix: it replaces a trailing dash by a valid character."""
    return lambda text: check(f"{text[:-2]}a" if len(text) > 1 and text.endswith("-") else text)


def _make_check(test: Callable[[str], object], text: str) -> Callable[[str], list[str]]:
    return lambda value: [] if test(value) else [text]


FORMATS = {
    "dns1123Label": Format("DNS1123Label", names.check_label_name, 30),
    "dns1123Subdomain": Format("DNS1123Subdomain", names.check_subdomain, 60),
    "dns1035Label": Format("DNS1035Label", names.check_label_1035, 30),
    "qualifiedName": Format("QualifiedName", names.check_qualified_name, 60),
    "dns1123LabelPrefix": Format("DNS1123LabelPrefix", _check_prefix(names.check_label_name), 30),
    "dns1123SubdomainPrefix": Format("DNS1123SubdomainPrefix", _check_prefix(names.check_subdomain), 60),
    "dns1035LabelPrefix": Format("DNS1035LabelPrefix", _check_prefix(names.check_label_1035), 30),
    "labelValue": Format("LabelValue", names.check_label_value, 40),
    "uri": Format("URI", _check_uri, 1103),
    "uuid": Format("uuid", _make_check(_UUID.match, "does not match the UUID format"), 94),
    "byte": Format("byte", _make_check(_BASE64.match, "invalid base64"), 84),
    "date": Format("date", _make_check(gotime.is_date, "invalid date"), 88),
    "datetime": Format("datetime", _make_check(_is_datetime, "invalid datetime"), 88),
}


def _validate_text(form: Format, text: str) -> Optional:
    errors = form.check(text)
    return Optional(errors) if errors else NONE


def _find_format(name: str) -> Optional:
    return Optional(FORMATS[name]) if name in FORMATS else NONE


def _estimate_validation(site: CallSite) -> Estimate:
    return site.get_size(1).scale(PER_CHARACTER).scale(_MAX_PATTERN * PER_PATTERN), None


def _count_validation(form: Format, text: str, *_: Any) -> int:
    return math.ceil((1.0 + len(text)) * PER_CHARACTER) * math.ceil(form.pattern * PER_PATTERN)


_VALIDATION = Cost(_estimate_validation, _count_validation)
LIBRARY = Library(
    "formats",
    (
        declare(
            "<NamedFormat>.validate(string) -> optional(list(string))", "format-validate", _validate_text, _VALIDATION
        ),
        declare("format.named(string) -> optional(NamedFormat)", "format-named", _find_format, UNIT),
        *(
            declare(f"format.{name}() -> NamedFormat", f"format.{name}", lambda found=found: found)
            for name, found in FORMATS.items()
        ),
    ),
    feature="CELFormat",
)
