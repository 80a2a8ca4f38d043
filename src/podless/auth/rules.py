"""Policy rules: what one allows, compiled; and whether some rules cover others.

Source: "Using RBAC Authorization" of the Kubernetes documents, and the recorded answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from podless.auth.attributes import Attributes
from podless.meta.gotext import quote

PolicyRule = dict[str, Any]

ALL = "*"
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


def missing(held: Sequence[PolicyRule], wanted: Iterable[PolicyRule]) -> list[PolicyRule]:
    """The parts of the wanted rules that no single one of the held rules covers, put together where they are simple."""
    return _compact([part for rule in wanted for part in _parts(rule) if not any(_covers(one, part) for one in held)])


def _parts(rule: PolicyRule) -> Iterator[PolicyRule]:
    """The rule as many rules of one verb, group, resource and name each."""
    verbs = rule.get("verbs") or ()
    for group in rule.get("apiGroups") or ():
        for resource in rule.get("resources") or ():
            for verb in verbs:
                part = {"verbs": [verb], "apiGroups": [group], "resources": [resource]}
                names = rule.get("resourceNames") or ()
                yield from ({**part, "resourceNames": [name]} for name in names)
                if not names:
                    yield part
    for url in rule.get("nonResourceURLs") or ():
        yield from ({"verbs": [verb], "nonResourceURLs": [url]} for verb in verbs)


def _covers(rule: PolicyRule, part: PolicyRule) -> bool:
    if not _within(part["verbs"], rule.get("verbs")):
        return False
    urls = part.get("nonResourceURLs")
    if urls:
        return any(_url_covers(url, urls[0]) for url in rule.get("nonResourceURLs") or ())
    if not _within(part["apiGroups"], rule.get("apiGroups")):
        return False
    names = rule.get("resourceNames")
    if names and not ("resourceNames" in part and part["resourceNames"][0] in names):
        return False
    resource = part["resources"][0]
    held = rule.get("resources") or ()
    _, slash, sub = resource.partition("/")
    return ALL in held or resource in held or (bool(slash) and f"*/{sub}" in held)


def _within(part: list[str], held: list[str] | None) -> bool:
    return held is not None and (ALL in held or part[0] in held)


def _url_covers(held: str, url: str) -> bool:
    return held in (ALL, url) or (held.endswith(ALL) and url.startswith(held.rstrip(ALL)))


def _compact(parts: list[PolicyRule]) -> list[PolicyRule]:
    """Rules of the same group, resource and name become one with all their verbs."""
    simple: dict[tuple[Any, ...], PolicyRule] = {}
    rest = []
    for part in parts:
        if "nonResourceURLs" in part:
            rest.append(part)
            continue
        key = part["apiGroups"][0], part["resources"][0], *part.get("resourceNames", ())
        verbs = simple.setdefault(key, {**part, "verbs": []})["verbs"]
        verbs += [verb for verb in part["verbs"] if verb not in verbs]
    return [*rest, *simple.values()]


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
