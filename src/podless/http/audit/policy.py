"""The rules of an audit policy (audit.k8s.io/v1): how much is logged of which request. The first match counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from podless.auth.attributes import Attributes
from podless.auth.user import User
from podless.codec import serializer
from podless.runtime.option import StartError

NONE, METADATA_LEVEL, REQUEST, REQUEST_RESPONSE = LEVELS = ("None", "Metadata", "Request", "RequestResponse")
RECEIVED, STARTED, COMPLETE, PANIC = STAGES = ("RequestReceived", "ResponseStarted", "ResponseComplete", "Panic")
# bodies of these contain credentials, and are logged only by rules that name the resource
_SECRETS = {("", "secrets"), ("", "serviceaccounts/token"), ("authentication.k8s.io", "tokenreviews")}


class BadPolicy(StartError):
    """The policy is invalid. The text is one line for a user."""


@dataclass(frozen=True, slots=True)
class AuditedResources:
    """A group with some of its resources. No resources: all of them; no names: all objects."""

    group: str
    resources: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    def matches(self, asked: Attributes) -> bool:
        """Return whether the request is for one of these resources."""
        if self.group != asked.group:
            return False
        if not self.resources:
            return True
        if self.names and asked.name not in self.names:
            return False
        whole = f"{asked.resource}/{asked.subresource}" if asked.subresource else asked.resource
        patterns = {whole, "*", f"{asked.resource}/*"}
        if asked.subresource:
            patterns.add(f"*/{asked.subresource}")
        return not patterns.isdisjoint(self.resources)

    def names_it(self, asked: Attributes) -> bool:
        """Return whether the rule names the requested resource literally."""
        return self.group == asked.group and _whole(asked) in self.resources


@dataclass(frozen=True, slots=True)
class AuditRule:
    """One rule: the requests that it matches, and the level. Empty parts match everything."""

    level: str
    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ()
    resources: tuple[AuditedResources, ...] = ()
    namespaces: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    omit: frozenset[str] = frozenset()
    managed: bool = True

    def matches_request(self, user: User, asked: Attributes) -> bool:
        """Return whether the rule matches a request of a user."""
        if self.users and user.name not in self.users:
            return False
        if self.groups and not any(group in user.groups for group in self.groups):
            return False
        if self.verbs and asked.verb not in self.verbs:
            return False
        if self.resources or self.namespaces:
            if not asked.resource or (self.namespaces and asked.namespace not in self.namespaces):
                return False
            return not self.resources or any(each.matches(asked) for each in self.resources)
        if self.paths:
            return bool(asked.path) and any(_path(pattern, asked.path) for pattern in self.paths)
        return True


_NOTHING = AuditRule(NONE)


@dataclass(frozen=True, slots=True)
class AuditPolicy:
    """The rules in order. A request that matches none is not logged."""

    rules: tuple[AuditRule, ...]

    def find_rule(self, user: User, asked: Attributes) -> AuditRule:
        """Return the rule for a request."""
        return next((rule for rule in self.rules if rule.matches_request(user, asked)), _NOTHING)


def tells_bodies(rule: AuditRule, asked: Attributes) -> bool:
    """Return whether bodies may be logged. Bodies with credentials need a rule that names their resource."""
    if (asked.group, _whole(asked)) not in _SECRETS:
        return True
    return any(each.names_it(asked) for each in rule.resources)


def _whole(asked: Attributes) -> str:
    return f"{asked.resource}/{asked.subresource}" if asked.subresource else asked.resource


def _path(pattern: str, path: str) -> bool:
    return path.startswith(pattern[:-1]) if pattern.endswith("*") else path == pattern


# the default: log the metadata of every answered request
METADATA = AuditPolicy((AuditRule(METADATA_LEVEL, omit=frozenset((RECEIVED,))),))


def read_policy(path: Path) -> AuditPolicy:
    """Return the policy in a YAML or JSON file. Raises BadPolicy."""
    try:
        raw = path.read_bytes()
        found = serializer.decode_yaml(raw)
    except OSError as error:
        raise BadPolicy(f"{path}: {(error.strerror or str(error)).lower()}") from None
    except serializer.YAMLError as error:
        raise BadPolicy(f"{path}: {error.message}") from None
    try:
        return parse_policy(found)
    except BadPolicy as error:
        raise BadPolicy(f"{path}: {error}") from None


def parse_policy(given: Any) -> AuditPolicy:
    """Return the policy of a decoded document. Raises BadPolicy."""
    if not isinstance(given, dict) or given.get("kind") != "Policy" or given.get("apiVersion") != "audit.k8s.io/v1":
        raise BadPolicy("not a Policy of audit.k8s.io/v1")
    omit = _stages(given, "omitStages")
    managed = given.get("omitManagedFields", False) is not True
    rules = given.get("rules")
    if not isinstance(rules, list) or not rules:
        raise BadPolicy("rules: at least one rule is required")
    return AuditPolicy(tuple(_rule(rule, f"rules[{place}]", omit, managed) for place, rule in enumerate(rules)))


_KNOWN = {
    "level", "users", "userGroups", "verbs", "resources", "namespaces", "nonResourceURLs", "omitStages",
    "omitManagedFields",
}  # fmt: skip


def _rule(given: Any, at: str, omit: frozenset[str], managed: bool) -> AuditRule:
    if not isinstance(given, dict):
        raise BadPolicy(f"{at}: not an object")
    if unknown := given.keys() - _KNOWN:
        raise BadPolicy(f"{at}: unknown field {min(unknown)}")
    level = given.get("level")
    if level not in LEVELS:
        raise BadPolicy(f"{at}.level: must be one of {', '.join(LEVELS)}, not {level!r}")
    resources = tuple(_resources(each, f"{at}.resources[{n}]") for n, each in enumerate(given.get("resources") or ()))
    paths = _texts(given, "nonResourceURLs", at)
    namespaces = _texts(given, "namespaces", at)
    if paths and (resources or namespaces):
        raise BadPolicy(f"{at}: set resources or nonResourceURLs, not both")
    if any("*" in path[:-1] or not path.startswith(("/", "*")) for path in paths):
        raise BadPolicy(f"{at}.nonResourceURLs: a path must begin with / and may end with *")
    return AuditRule(
        level,
        _texts(given, "users", at),
        _texts(given, "userGroups", at),
        _texts(given, "verbs", at),
        resources,
        namespaces,
        paths,
        omit | _stages(given, f"{at}.omitStages"),
        given["omitManagedFields"] is not True if "omitManagedFields" in given else managed,
    )


def _resources(given: Any, at: str) -> AuditedResources:
    if not isinstance(given, dict) or not isinstance(given.get("group", ""), str):
        raise BadPolicy(f"{at}: must be an object with group, resources and resourceNames")
    names = _texts(given, "resourceNames", at)
    resources = _texts(given, "resources", at)
    if names and not resources:
        raise BadPolicy(f"{at}.resourceNames: requires resources")
    return AuditedResources(given.get("group", ""), resources, names)


def _texts(given: dict[str, Any], key: str, at: str) -> tuple[str, ...]:
    found = given.get(key) or ()
    if not isinstance(found, Sequence) or isinstance(found, str) or not all(isinstance(each, str) for each in found):
        raise BadPolicy(f"{at}.{key}: must be a list of strings")
    return tuple(found)


def _stages(given: dict[str, Any], at: str) -> frozenset[str]:
    found = frozenset(_texts(given, at.rpartition(".")[2], at))
    if not found <= set(STAGES):
        raise BadPolicy(f"{at}: must be of {', '.join(STAGES)}")
    return found
