"""Policy rules: which requests the rules of a role allow, and which rules cover others.

Source: "Using RBAC Authorization" of the Kubernetes documentation, and recorded answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, product
from typing import Any

from podless.auth.authorizer import Attributes, PolicyRule
from podless.codec.gotext import quote
from podless.runtime.meter import charge, each

ALL = "*"
_ANY_NAME = ""
# the fields of a rule, in the order of its text
_LABELS = {
    "apiGroups": "APIGroups",
    "resources": "Resources",
    "nonResourceURLs": "NonResourceURLs",
    "resourceNames": "ResourceNames",
    "verbs": "Verbs",
}
_WORD = 64  # sets of at least this many rules are stored as bits, smaller ones as indexes
_REMEMBERED = 256  # items whose covering rules are cached
_STEP = 1 << 12  # bits of a set that one step intersects
# the rules that list an item: bits, or a few indexes
_Indexes = int | tuple[int, ...]
_RuleTable = dict[str, _Indexes]


class RoleRules:
    """The rules of one role, indexed by their fields. Indexing takes time in proportion to the number of items.

    A set of rules is an int with a bit for each rule. A check of four fields intersects four sets, which handles
    thousands of rules in one step.
    """

    __slots__ = ("_groups", "_named", "_paths", "_prefixes", "_resources", "_unnamed", "_verbs", "count")

    def __init__(self, rules: Sequence[PolicyRule]) -> None:
        self.count = len(rules)
        fields: dict[str, dict[str, Any]] = {name: {} for name in _LABELS}
        prefixes: dict[int, dict[str, Any]] = {}
        unnamed = []
        for index, rule in enumerate(rules):
            charge(len(rule))
            alone = (index,)  # one tuple for all items of this rule, to save memory
            for name, items in rule.items():
                if (rules_by_value := fields.get(name)) is not None:
                    _note_items(rules_by_value, items or (), alone)
            if not rule.get("resourceNames"):
                unnamed.append(index)
            for url in rule.get("nonResourceURLs") or ():
                if url.endswith(ALL):
                    prefix = url.rstrip(ALL)
                    _note_items(prefixes.setdefault(len(prefix), {}), (prefix,), alone)
        for rules_by_value in (*fields.values(), *prefixes.values()):
            _pack_sets(rules_by_value, self.count)
        self._verbs: _RuleTable = fields["verbs"]
        self._groups: _RuleTable = fields["apiGroups"]
        self._resources: _RuleTable = fields["resources"]
        self._named: _RuleTable = fields["resourceNames"]
        self._paths: _RuleTable = fields["nonResourceURLs"]
        self._prefixes: dict[int, _RuleTable] = prefixes  # key: length of the prefix
        self._unnamed = _to_bits(unnamed) if unnamed else 0

    def allows_request(self, attributes: Attributes) -> bool:
        """Return whether one of the rules allows a request."""
        matching = self.rules_for_verb(attributes.verb)
        if not matching:
            return False
        if attributes.path:
            return bool(matching & self.rules_for_url(attributes.path))
        matching &= self.rules_for_group(attributes.group)
        if not matching:
            return False
        if attributes.subresource:
            sub = attributes.subresource
            matching &= self._rules_with_any(self._resources, f"{attributes.resource}/{sub}", f"*/{sub}", ALL)
        else:
            matching &= self._rules_with_any(self._resources, attributes.resource, ALL)
        return bool(matching and matching & self.rules_for_name(attributes.name))

    def rules_for_verb(self, verb: str) -> int:
        """Return the rules for a verb."""
        return self._rules_with_any(self._verbs, verb, ALL)

    def rules_for_group(self, group: str) -> int:
        """Return the rules for an API group."""
        return self._rules_with_any(self._groups, group, ALL)

    def rules_for_resource(self, resource: str) -> int:
        """Return the rules for a resource, which can include a subresource."""
        _, slash, sub = resource.partition("/")
        return self._rules_with_any(self._resources, resource, ALL, *((f"*/{sub}",) if slash else ()))

    def rules_for_name(self, name: str) -> int:
        """Return the rules for a name: those that list it, and those without resourceNames."""
        matching = self._named.get(name)
        return self._unnamed if matching is None else self._unnamed | _to_bits(matching)

    def rules_without_names(self, _: str = "") -> int:
        """Return the rules without resourceNames."""
        return self._unnamed

    def rules_for_url(self, url: str) -> int:
        """Return the rules for a path."""
        result = self._rules_with_any(self._paths, url)
        for length, prefixes in self._prefixes.items():
            if length <= len(url) and (matching := prefixes.get(url[:length])) is not None:
                result |= _to_bits(matching)
        return result

    def find_entries(self, name: str, item: str) -> tuple[_Indexes | None, ...]:
        """Return the index entries of an item. Items with equal entries are in the same rules.

        name: of the field.
        """
        if name == "resources":
            _, slash, sub = item.partition("/")
            return self._resources.get(item), self._resources.get(f"*/{sub}") if slash else None
        table = self._verbs if name == "verbs" else self._groups if name == "apiGroups" else self._named
        return (table.get(item),)

    def _rules_with_any(self, table: _RuleTable, *items: str) -> int:
        """Return the rules that list one of some items."""
        result = 0
        for item in items:
            if (matching := table.get(item)) is not None:
                result |= _to_bits(matching)
        return result


def _note_items(table: dict[str, Any], items: Sequence[str], number: tuple[int]) -> None:
    """Index the items of a rule. number: its number."""
    for item in each(items):
        numbers = table.setdefault(item, number)
        if numbers is not number:
            if numbers.__class__ is list:
                numbers.append(number[0])
            else:
                table[item] = [numbers[0], number[0]]


def _pack_sets(table: dict[str, Any], count: int) -> None:
    """Store large sets of rules as bits."""
    charge(len(table))
    for item, places in table.items():
        table[item] = _to_bits(places) if len(places) * _WORD >= count else tuple(places)


def _to_bits(indexes: _Indexes | list[int]) -> int:
    """Return a set of rules as bits. indexes: their indexes, sorted."""
    if isinstance(indexes, int):
        return indexes
    if len(indexes) == 1:
        return 1 << indexes[0]
    bits = bytearray(indexes[-1] // 8 + 1)
    for index in indexes:
        bits[index >> 3] |= 1 << (index & 7)
    return int.from_bytes(bits, "little")


def find_missing(roles: Sequence[RoleRules], rules: Iterable[PolicyRule], limit: int = 10_000) -> list[PolicyRule]:
    """Return the parts of the wanted rules that no single rule of the held roles covers.

    A part has one verb, group, resource and name; parts with the same group, resource and name become one rule with all
    their verbs. limit: the maximum number of parts: a rule with 80 groups, resources and verbs has 512,000.
    """
    simple: dict[tuple[str, ...], PolicyRule] = {}
    missing: list[PolicyRule] = []
    for part in islice(_list_missing(roles, rules), limit):
        if "nonResourceURLs" in part:
            missing.append(part)
            continue
        key = part["apiGroups"][0], part["resources"][0], *part.get("resourceNames", ())
        merged = simple.setdefault(key, part)
        if merged is not part:
            merged["verbs"].append(part["verbs"][0])
    return [*missing, *simple.values()]


def _list_missing(roles: Sequence[RoleRules], rules: Iterable[PolicyRule]) -> Iterator[PolicyRule]:
    """Yield the parts that are not covered.

    The held rules that cover one verb, group, resource or name are a set of bits. A part is covered if its four sets
    have a rule in common. Items with equal sets are handled together.
    """
    cover = _RuleCover(roles)
    for rule in rules:
        verbs = cover.group_items("verbs", rule.get("verbs") or ())
        for url in rule.get("nonResourceURLs") or ():
            lacking = cover.find_missing(verbs, cover.find_rules(RoleRules.rules_for_url, url))
            yield from ({"verbs": [verb], "nonResourceURLs": [url]} for verb in rule["verbs"] if verb in lacking)
        groups = cover.group_items("apiGroups", rule.get("apiGroups") or ())
        resources = cover.group_items("resources", rule.get("resources") or ())
        names = cover.group_items("resourceNames", rule.get("resourceNames") or (_ANY_NAME,))
        for same_groups, same_resources in product(groups, resources):
            by_both = cover.find_rules(RoleRules.rules_for_group, same_groups[0]) & cover.find_rules(
                RoleRules.rules_for_resource, same_resources[0]
            )
            for same_names in names:
                named = rule.get("resourceNames")
                by_all = by_both & cover.find_rules(
                    RoleRules.rules_for_name if named else RoleRules.rules_without_names, same_names[0]
                )
                lacking = cover.find_missing(verbs, by_all)
                if not lacking:
                    continue
                for group, resource, name in product(same_groups, same_resources, same_names):
                    scope = {"apiGroups": [group], "resources": [resource]} | (
                        {"resourceNames": [name]} if name else {}
                    )
                    yield from ({"verbs": [verb], **scope} for verb in rule["verbs"] if verb in lacking)


class _RuleCover:
    """The rules of some roles that cover an item; each rule is a bit."""

    def __init__(self, roles: Sequence[RoleRules]) -> None:
        self._numbered: list[tuple[int, RoleRules]] = []
        self._cache: dict[tuple[Callable[[RoleRules, str], int], str], int] = {}
        offset = 0
        for rules in roles:
            self._numbered.append((offset, rules))
            offset += rules.count
        self._steps = 1 + offset // _STEP  # steps to intersect two sets

    def find_rules(self, find: Callable[[RoleRules, str], int], item: str) -> int:
        """Return the rules that cover an item. find: returns those of one role."""
        key = find, item
        result = self._cache.get(key)
        if result is None:
            result = 0
            charge(len(self._numbered) + self._steps)
            for offset, rules in self._numbered:
                if bits := find(rules, item):
                    result |= bits << offset
            while len(self._cache) >= _REMEMBERED:
                del self._cache[next(iter(self._cache))]
            self._cache[key] = result
        return result

    def group_items(self, name: str, items: Sequence[str]) -> list[Sequence[str]]:
        """Group the items of a field: items in the same rules go together."""
        if len(items) < 2:
            return [items] if items else []
        groups: dict[tuple[object, ...], list[str]] = {}
        for item in items:
            charge(len(self._numbered))
            places = (rules.find_entries(name, item) for _, rules in self._numbered)
            key = tuple((number, bits) for number, bits in enumerate(places) if any(bits))
            groups.setdefault(key, []).append(item)
        return [*groups.values()]

    def find_missing(self, verbs: Sequence[Sequence[str]], by_rest: int) -> set[str]:
        """Return the verbs without a covering rule. by_rest: the rules that cover group, resource and name."""
        charge(len(verbs) * self._steps)
        return {
            verb
            for same_verbs in verbs
            if not by_rest & self.find_rules(RoleRules.rules_for_verb, same_verbs[0])
            for verb in same_verbs
        }


def format_rule(rule: PolicyRule) -> str:
    """Format a rule as in kube-apiserver's error texts."""
    texts = [f"{label}:{quote_strings(rule[name])}" for name, label in _LABELS.items() if rule.get(name)]
    return f"{{{', '.join(texts)}}}"


def quote_strings(items: Iterable[str]) -> str:
    """Format a list of strings as Go does."""
    return f"[{' '.join(map(quote, items))}]"


def join_errors(errors: Sequence[str]) -> str:
    """Join errors into one text, without duplicates."""
    texts = list(dict.fromkeys(errors))
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
