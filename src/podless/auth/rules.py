"""Policy rules: what one allows, compiled; and whether some rules cover others.

Source: "Using RBAC Authorization" of the Kubernetes documents, and the recorded answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, product
from typing import Any

from podless.auth.attributes import Attributes
from podless.meta.gotext import quote

PolicyRule = dict[str, Any]

ALL = "*"
_ANY_NAME = ""
# the fields of a rule in the order in which its text names them
_SHOWN = {
    "apiGroups": "APIGroups",
    "resources": "Resources",
    "nonResourceURLs": "NonResourceURLs",
    "resourceNames": "ResourceNames",
    "verbs": "Verbs",
}


class Rule:
    """One policy rule, compiled. None in place of a set: everything."""

    __slots__ = ("_groups", "_names", "_paths", "_prefixes", "_resources", "_verbs")

    def __init__(self, rule: PolicyRule) -> None:
        self._verbs = _set(rule, "verbs")
        self._groups = _set(rule, "apiGroups")
        self._resources = _set(rule, "resources")
        self._names = frozenset(rule.get("resourceNames") or ()) or None
        urls = rule.get("nonResourceURLs") or []
        self._paths = frozenset(urls)
        self._prefixes = tuple(url.rstrip(ALL) for url in urls if url.endswith(ALL))

    def allows(self, asked: Attributes) -> bool:
        """Whether the rule allows what is asked for."""
        if self._verbs is not None and asked.verb not in self._verbs:
            return False
        if asked.path:
            return asked.path in self._paths or asked.path.startswith(self._prefixes)
        if self._groups is not None and asked.group not in self._groups:
            return False
        if self._names is not None and asked.name not in self._names:
            return False
        if self._resources is None:
            return True
        if not asked.subresource:
            return asked.resource in self._resources
        sub = asked.subresource
        return f"{asked.resource}/{sub}" in self._resources or f"*/{sub}" in self._resources


def _set(rule: PolicyRule, name: str) -> frozenset[str] | None:
    given = rule.get(name) or ()
    return None if ALL in given else frozenset(given)


def missing(held: Sequence[PolicyRule], wanted: Iterable[PolicyRule], most: int = 10_000) -> list[PolicyRule]:
    """The parts of the wanted rules that no single one of the held rules covers.

    A part has one verb, group, resource and name; those of the same group, resource and name become one rule with all
    their verbs. most: how many parts are told: a rule of 80 groups, resources and verbs has half a million.
    """
    simple: dict[tuple[str, ...], PolicyRule] = {}
    rest: list[PolicyRule] = []
    for part in islice(_missing(held, wanted), most):
        if "nonResourceURLs" in part:
            rest.append(part)
            continue
        key = part["apiGroups"][0], part["resources"][0], *part.get("resourceNames", ())
        known = simple.setdefault(key, part)
        if known is not part:
            known["verbs"].append(part["verbs"][0])
    return [*rest, *simple.values()]


def _missing(held: Sequence[PolicyRule], wanted: Iterable[PolicyRule]) -> Iterator[PolicyRule]:
    """The parts that are not covered.

    What covers one verb, group, resource or name is a set of held rules, as the bits of a number: a part is covered
    where its four sets have a rule in common. Items with the same set are looked at together.
    """
    cover = _Cover(held)
    for rule in wanted:
        verbs = [(verb, cover.plain("verbs", verb)) for verb in rule.get("verbs") or ()]
        for url in rule.get("nonResourceURLs") or ():
            by_url = cover.url(url)
            yield from ({"verbs": [verb], "nonResourceURLs": [url]} for verb, by_verb in verbs if not by_url & by_verb)
        groups = _alike(rule.get("apiGroups") or (), lambda group: cover.plain("apiGroups", group))
        resources = _alike(rule.get("resources") or (), cover.resource)
        names = _alike(rule.get("resourceNames") or (_ANY_NAME,), cover.name)
        for by_group, by_resource, by_name in product(groups, resources, names):
            by_all = by_group & by_resource & by_name
            lacking = [verb for verb, by_verb in verbs if not by_all & by_verb]
            if not lacking:
                continue
            for group, resource, name in product(groups[by_group], resources[by_resource], names[by_name]):
                part = {"apiGroups": [group], "resources": [resource]} | ({"resourceNames": [name]} if name else {})
                yield from ({"verbs": [verb], **part} for verb in lacking)


def _alike(items: Iterable[str], covering: Callable[[str], int]) -> dict[int, list[str]]:
    """The items by the rules that cover them."""
    found: dict[int, list[str]] = {}
    for item in items:
        found.setdefault(covering(item), []).append(item)
    return found


class _Cover:
    """Which of the held rules cover an item; each rule is a bit."""

    def __init__(self, held: Sequence[PolicyRule]) -> None:
        self._items: dict[str, dict[str, int]] = {name: {} for name in _SHOWN}
        self._prefixes: dict[int, dict[str, int]] = {}  # by their length
        for place, rule in enumerate(held):
            bit = 1 << place
            for name, known in self._items.items():
                for item in rule.get(name) or ((_ANY_NAME,) if name == "resourceNames" else ()):
                    known[item] = known.get(item, 0) | bit
            for url in rule.get("nonResourceURLs") or ():
                if url.endswith(ALL):
                    prefix = url.rstrip(ALL)
                    same = self._prefixes.setdefault(len(prefix), {})
                    same[prefix] = same.get(prefix, 0) | bit

    def plain(self, name: str, item: str) -> int:
        """The rules that have the item, or all, in one of their fields."""
        known = self._items[name]
        return known.get(item, 0) | known.get(ALL, 0)

    def name(self, name: str) -> int:
        """The rules for a name; those that give none are for all."""
        known = self._items["resourceNames"]
        return known.get(name, 0) | known.get(_ANY_NAME, 0)

    def resource(self, resource: str) -> int:
        """The rules for a resource, which may be a subresource of any."""
        _, slash, sub = resource.partition("/")
        return self.plain("resources", resource) | (self._items["resources"].get(f"*/{sub}", 0) if slash else 0)

    def url(self, url: str) -> int:
        """The rules for a path."""
        found = self._items["nonResourceURLs"].get(url, 0)
        for length, prefixes in self._prefixes.items():
            if length <= len(url):
                found |= prefixes.get(url[:length], 0)
        return found


def text(rule: PolicyRule) -> str:
    """A rule as error texts show it."""
    shown = [f"{label}:{quoted(rule[name])}" for name, label in _SHOWN.items() if rule.get(name)]
    return f"{{{', '.join(shown)}}}"


def quoted(items: Iterable[str]) -> str:
    """A list of strings as Go prints it."""
    return f"[{' '.join(map(quote, items))}]"


def joined(errors: Sequence[str]) -> str:
    """Several errors as one text."""
    texts = list(dict.fromkeys(errors))
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
