"""Names of ThirdPartyResources: to the kind and group that they define."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podless.apis.extensions.thirdparty import Defined, name_faults, parse_defined_name
from podless.meta.gvk import guess_plural

WORDS = st.from_regex(r"[a-z][a-z0-9]{0,5}", fullmatch=True)
KINDS = st.from_regex(r"([A-Z][a-z0-9]{0,5}){1,4}", fullmatch=True)
GROUPS = st.lists(st.from_regex(r"[a-z0-9]([a-z0-9-]{0,4}[a-z0-9])?", fullmatch=True), min_size=2, max_size=4).map(
    ".".join
)


def documented(kind: str) -> str:
    """The conversion as the document writes it, its first capital being assumed."""
    result = ""
    for index, char in enumerate(kind):
        if char.isupper() and index:
            result += "-"
        result += char.lower()
    return result


@given(KINDS, GROUPS)
def test_a_kind_has_one_name_which_defines_it(kind: str, group: str) -> None:
    assert parse_defined_name(f"{documented(kind)}.{group}") == (kind, group)


@given(st.lists(WORDS, min_size=1, max_size=4), GROUPS)
def test_a_name_defines_one_kind_which_has_that_name(words: list[str], group: str) -> None:
    name = f"{'-'.join(words)}.{group}"
    kind, found = parse_defined_name(name)
    assert (found, kind.lower()) == (group, "".join(words))
    assert f"{documented(kind)}.{group}" == name


@given(st.text(alphabet="abC-.09", max_size=14))
def test_a_name_is_sound_or_refused(name: str) -> None:
    if name_faults(name):
        with pytest.raises(ValueError, match=r".+"):
            parse_defined_name(name)
    else:
        kind, group = parse_defined_name(name)
        assert f"{documented(kind)}.{group}" == name


@pytest.mark.parametrize(
    ("name", "kind", "group", "plural"),
    [
        ("cron-tab.mygroup.example.com", "CronTab", "mygroup.example.com", "crontabs"),
        ("camel-case-kind.mygroup.example.com", "CamelCaseKind", "mygroup.example.com", "camelcasekinds"),
        ("foo.company.com", "Foo", "company.com", "foos"),
        ("policy.a.b", "Policy", "a.b", "policies"),
        ("bus.a.b", "Bus", "a.b", "buses"),
        ("v2-thing.a.b", "V2Thing", "a.b", "v2things"),
    ],
)
def test_known_names(name: str, kind: str, group: str, plural: str) -> None:
    assert parse_defined_name(name) == Defined(kind, group)
    assert parse_defined_name(name).plural == guess_plural(kind) == plural
    assert f"{documented(kind)}.{group}" == name


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("cron-tab.com", "must be at least three segments long: <kind>.<domain>.<tld>"),
        ("crontab", "must be at least three segments long: <kind>.<domain>.<tld>"),
        ("CronTab.mygroup.example.com", "a lowercase RFC 1123 subdomain must consist of lower case"),
        ("cron--tab.mygroup.example.com", "the first segment must be a kind in lower case"),
        ("cron-2tab.mygroup.example.com", "the first segment must be a kind in lower case"),
        ("2cron.mygroup.example.com", "the first segment must be a kind in lower case"),
        ("", "a lowercase RFC 1123 subdomain"),
    ],
)
def test_names_that_define_nothing(name: str, text: str) -> None:
    assert name_faults(name)[0].startswith(text)
