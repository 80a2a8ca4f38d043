"""The syntax of names: each check returns the error texts for a value, none for a valid one.

Source: k8s.io/apimachinery's util/validation, api/validate/content and api/validation, as recorded. Lengths are those
of the UTF-8 bytes, even where texts say characters.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from podless.runtime.dataclass import dataclass
from podless.runtime.datafiles import read_blocks
from podless.runtime.memo import made_once

# functions that return the faults of an object's name, and of a generateName, to which a suffix will be appended
Naming = tuple[Callable[[str], list[str]], Callable[[str], list[str]]]

_PORT = re.compile(r"[-a-z0-9]++")
_LETTER = re.compile(r"[a-z]")
_VARIABLE = re.compile(r"[ -<>-~]*+")


@dataclass(frozen=True)
class Syntax:
    """A block of syntaxes.txt. limit: such as "63 characters", "" for any length."""

    rule: str
    pattern: str
    scan: str
    examples: str
    limit: str = ""

    @property
    def max_bytes(self) -> int:
        """The maximum length in bytes, 0 for any."""
        return int(self.limit.partition(" ")[0] or 0)

    @made_once
    def matches(self) -> Callable[[str], object]:
        """Return a function that checks whether a whole value matches."""
        return re.compile(self.scan).fullmatch

    @made_once
    def accepts(self) -> Callable[[str], object]:
        """Return a function that checks whether a value has no fault."""
        # matching values are ASCII, so characters count as bytes
        bound = rf"(?=(?s:.{{0,{self.max_bytes}}})\Z)" if self.max_bytes else ""
        return re.compile(bound + self.scan).fullmatch

    @made_once
    def describe_syntax(self) -> str:
        """Return the error text for a value that does not match."""
        examples = " or ".join(f"'{example}', " for example in self.examples.split())
        return f"{self.rule} (e.g. {examples}regex used for validation is '{self.pattern}')"

    def find_errors(self, value: str) -> list[str]:
        """Return the faults of a value."""
        if self.accepts(value):
            return []
        errors = [f"must be no more than {self.limit}"] if 0 < self.max_bytes < _count_bytes(value) else []
        return errors if self.matches(value) else [*errors, self.describe_syntax]


_SYNTAXES = {name: Syntax(**dict(rows)) for name, rows in read_blocks(Path(__file__).with_name("syntaxes.txt")).items()}
_LABEL, _SUBDOMAIN, _SUBDOMAIN_IN_BYTES = map(_SYNTAXES.__getitem__, ("label", "subdomain", "subdomain-in-bytes"))
_KEY_NAME, LABEL_VALUE = _SYNTAXES["key-name"], _SYNTAXES["label-value"]

# each returns the faults of a text
check_subdomain = _SUBDOMAIN.find_errors  # names of most objects, API groups
check_label_1035 = _SYNTAXES["label-1035"].find_errors  # starts with a letter: plurals, versions, services
check_label_value = LABEL_VALUE.find_errors
check_underscored_subdomain = _SYNTAXES["underscored-subdomain"].find_errors  # DNS search paths
check_header_name = _SYNTAXES["header-name"].find_errors
check_percent = _SYNTAXES["percent"].find_errors  # such as 25%
check_c_identifier = _SYNTAXES["identifier"].find_errors  # of any length
check_long_name = _SUBDOMAIN_IN_BYTES.find_errors  # for fields with declarative validation, which counts in bytes
check_wildcard_subdomain = _SYNTAXES["wildcard-subdomain"].find_errors  # such as *.example.com


def check_label_name(value: str) -> list[str]:
    """Return the faults of an RFC 1123 label, such as a namespace's name."""
    errors = _LABEL.find_errors(value)
    if errors and errors[-1] == _LABEL.describe_syntax and _SUBDOMAIN.matches(value):
        errors[-1] = "must not contain dots"
    return errors


def check_qualified_name(value: str) -> list[str]:
    """Return the faults of a label key: a name of 63 bytes, with an optional DNS subdomain and a slash before it."""
    prefix, slash, name = value.rpartition("/")
    if "/" in prefix:
        form = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return [f"a valid label key {_KEY_NAME.describe_syntax} {form}"]
    errors = []
    if slash and not prefix:
        errors.append("prefix part must be non-empty")
    elif slash:
        errors += [f"prefix part {text}" for text in _SUBDOMAIN_IN_BYTES.find_errors(prefix)]
    if not name:
        errors.append("name part must be non-empty")
    return errors + [f"name part {text}" for text in _KEY_NAME.find_errors(name)]


def check_config_key(value: str) -> list[str]:
    """Return the faults of a key in the data of a ConfigMap or Secret."""
    return [*_SYNTAXES["config-key"].find_errors(value), *_find_backsteps(value)]


def _find_backsteps(value: str) -> list[str]:
    """Return the faults of a name that could lead out of a folder."""
    if value in (".", ".."):
        return [f"must not be '{value}'"]
    return ["must not start with '..'"] if value.startswith("..") else []


def check_variable_name(value: str) -> list[str]:
    """Validate the name of an environment variable."""
    if not value:
        return ["environment variable name must be non-empty"]
    if _VARIABLE.fullmatch(value):
        return []
    return ["a valid environment variable name must consist only of printable ASCII characters other than '='"]


def check_strict_variable_name(value: str) -> list[str]:
    """Return the faults of a variable's name without RelaxedEnvironmentVariableValidation."""
    return [*_SYNTAXES["variable"].find_errors(value), *_find_backsteps(value)]


def check_port_name(value: str) -> list[str]:
    """Validate the name of a port."""
    errors = ["must be no more than 15 characters"] if _count_bytes(value) > 15 else []
    if not _PORT.fullmatch(value):
        errors.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not _LETTER.search(value):
        errors.append("must contain at least one letter (a-z)")
    if "--" in value:
        errors.append("must not contain consecutive hyphens")
    if value.startswith("-") or value.endswith("-"):
        errors.append("must not begin or end with a hyphen")
    return errors


def check_subdomain_prefix(value: str) -> list[str]:
    """Return the faults of a generateName for names that are subdomains."""
    return check_subdomain(_mask_dash(value))


def check_label_prefix(value: str) -> list[str]:
    """Return the faults of a generateName for names that are labels."""
    return check_label_name(_mask_dash(value))


def check_label_1035_prefix(value: str) -> list[str]:
    """Return the faults of a generateName for names that are RFC 1035 labels."""
    return check_label_1035(_mask_dash(value))


def check_path_segment(value: str) -> list[str]:
    """Check one segment of a URL's path, such as the name of an RBAC object."""
    return [f"may not be '{value}'"] if value in (".", "..") else check_path_prefix(value)


def check_path_prefix(value: str) -> list[str]:
    """Return the faults of a generateName for names that are path segments."""
    return [f"may not contain '{char}'" for char in "/%" if char in value]


def accept_name(value: str) -> list[str]:
    """Return no faults, for names that are not checked here."""
    return []


SUBDOMAINS = (check_subdomain, check_subdomain_prefix)
LABELS = (check_label_name, check_label_prefix)
LABELS_1035 = (check_label_1035, check_label_1035_prefix)
ANY_NAMES = (accept_name, accept_name)
PATH_SEGMENTS = (check_path_segment, check_path_prefix)


def _mask_dash(name: str) -> str:
    """Replace a trailing dash, which is valid in a generateName because a suffix follows."""
    return name[:-2] + "a" if len(name) > 1 and name.endswith("-") else name


def _count_bytes(value: str) -> int:
    return len(value) if value.isascii() else len(value.encode())
