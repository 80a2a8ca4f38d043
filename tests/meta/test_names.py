from __future__ import annotations

from collections.abc import Callable

import pytest

from podless.meta import names

Check = Callable[[str], list[str]]

GOOD: list[tuple[Check, list[str]]] = [
    (names.check_label_name, ["a", "a-b", "1", "a" * 63]),
    (names.check_subdomain, ["a", "a.b-c.1", "a" * 253]),
    (names.check_label_1035, ["a", "a-1", "a" * 63]),
    (names.check_qualified_name, ["a", "A_b.c-1", "example.com/a", "a" * 63, "a" * 253 + "/b"]),
    (names.check_label_value, ["", "a", "A_b.c-1", "a" * 63]),
    (names.check_config_key, ["a", ".a", "A_b-c.1", "a" * 253]),
    (names.check_path_segment, ["a", "A B", "...", ":"]),
    (names.check_subdomain_prefix, ["a-", "a.b-", "a"]),
    (names.check_label_prefix, ["a-", "a"]),
]
BAD: list[tuple[Check, str, list[str]]] = [
    (names.check_label_name, "a.b", ["must not contain dots"]),
    (names.check_label_name, "a" * 64, ["must be no more than 63 characters"]),
    (names.check_subdomain, "a" * 254, ["must be no more than 253 characters"]),
    (names.check_label_1035, "a" * 64, ["must be no more than 63 characters"]),
    (names.check_qualified_name, "/a", ["prefix part must be non-empty"]),
    (names.check_qualified_name, "a" * 64, ["name part must be no more than 63 bytes"]),
    (names.check_qualified_name, "a" * 254 + "/b", ["prefix part must be no more than 253 bytes"]),
    (names.check_label_value, "a" * 64, ["must be no more than 63 bytes"]),
    (names.check_config_key, ".", ["must not be '.'"]),
    (names.check_config_key, "..", ["must not be '..'"]),
    (names.check_config_key, "..a", ["must not start with '..'"]),
    (names.check_path_segment, "..", ["may not be '..'"]),
    (names.check_path_segment, "a/b%", ["may not contain '/'", "may not contain '%'"]),
]
FAULTY: list[tuple[Check, str, str]] = [
    (
        names.check_label_name,
        "A",
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-'",
    ),
    (names.check_subdomain, "a\n", "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters"),
    (
        names.check_subdomain,
        "a..b",
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters",
    ),
    (
        names.check_label_1035,
        "1a",
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with",
    ),
    (names.check_qualified_name, "a b", "name part must consist of alphanumeric characters, '-', '_' or '.'"),
    (names.check_qualified_name, "a/b/c", "a valid label key must consist of alphanumeric characters, '-', '_' or '.'"),
    (names.check_qualified_name, "A.com/b", "prefix part a lowercase RFC 1123 subdomain must consist of"),
    (names.check_label_value, "-", "a valid label must be an empty string or consist of alphanumeric characters"),
    (names.check_config_key, "a b", "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"),
    (names.check_subdomain_prefix, "-", "a lowercase RFC 1123 subdomain must consist of"),
    (names.check_subdomain_prefix, "AB-", "a lowercase RFC 1123 subdomain must consist of"),
]


@pytest.mark.parametrize(("check", "values"), GOOD)
def test_good_names_draw_nothing(check: Check, values: list[str]) -> None:
    assert [value for value in values if check(value)] == []


@pytest.mark.parametrize(("check", "value", "texts"), BAD)
def test_bad_names_are_told(check: Check, value: str, texts: list[str]) -> None:
    assert check(value) == texts


@pytest.mark.parametrize(("check", "value", "start"), FAULTY)
def test_syntax_is_told_with_its_rule(check: Check, value: str, start: str) -> None:
    (text,) = check(value)
    assert text.startswith(start)
    assert "regex used for validation is '" in text


def test_the_whole_text_is_that_of_a_real_server() -> None:
    key = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
    rule = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an"
    examples = "(e.g. 'MyName',  or 'my.name',  or '123-abc', "
    text = f"{rule} alphanumeric character {examples}regex used for validation is '{key}')"
    assert names.check_qualified_name("") == ["name part must be non-empty", f"name part {text}"]
    form = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
    assert names.check_qualified_name("a/b/c") == [f"a valid label key {text} {form}"]


def test_lengths_are_those_of_bytes() -> None:
    assert names.check_label_value("é" * 32)[0] == "must be no more than 63 bytes"
