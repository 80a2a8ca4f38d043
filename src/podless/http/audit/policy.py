"""The rules of an audit policy (audit.k8s.io/v1): how much is logged of which request. The first match counts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from podless.auth.authorizer import Attributes
from podless.auth.user import User
from podless.codec import serializer
from podless.runtime.dataclass import dataclass
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

    def matches(self, attributes: Attributes) -> bool:
        """Return whether the request is for one of these resources."""
        if self.group != attributes.group:
            return False
        if not self.resources:
            return True
        if self.names and attributes.name not in self.names:
            return False
        patterns = {attributes.full_resource, "*", f"{attributes.resource}/*"}
        if attributes.subresource:
            patterns.add(f"*/{attributes.subresource}")
        return not patterns.isdisjoint(self.resources)

    def names_resource(self, attributes: Attributes) -> bool:
        """Return whether the rule names the requested resource literally."""
        return self.group == attributes.group and attributes.full_resource in self.resources


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

    def matches_request(self, user: User, attributes: Attributes) -> bool:
        """Return whether the rule matches a request of a user."""
        if self.users and user.name not in self.users:
            return False
        if self.groups and not any(group in user.groups for group in self.groups):
            return False
        if self.verbs and attributes.verb not in self.verbs:
            return False
        if self.resources or self.namespaces:
            if not attributes.resource or (self.namespaces and attributes.namespace not in self.namespaces):
                return False
            return not self.resources or any(resource.matches(attributes) for resource in self.resources)
        if self.paths:
            return bool(attributes.path) and any(_matches_path(pattern, attributes.path) for pattern in self.paths)
        return True


_NO_RULE = AuditRule(NONE)


@dataclass(frozen=True, slots=True)
class AuditPolicy:
    """The rules in order. A request that matches none is not logged."""

    rules: tuple[AuditRule, ...]

    def find_rule(self, user: User, attributes: Attributes) -> AuditRule:
        """Return the rule for a request."""
        return next((rule for rule in self.rules if rule.matches_request(user, attributes)), _NO_RULE)


def logs_bodies(rule: AuditRule, attributes: Attributes) -> bool:
    """Return whether bodies may be logged. Bodies with credentials need a rule that names their resource."""
    if (attributes.group, attributes.full_resource) not in _SECRETS:
        return True
    return any(resource.names_resource(attributes) for resource in rule.resources)


def _matches_path(pattern: str, path: str) -> bool:
    return path.startswith(pattern[:-1]) if pattern.endswith("*") else path == pattern


# the default: log the metadata of every answered request
METADATA = AuditPolicy((AuditRule(METADATA_LEVEL, omit=frozenset((RECEIVED,))),))


def read_policy(path: Path) -> AuditPolicy:
    """Return the policy in a YAML or JSON file. Raises BadPolicy."""
    try:
        yaml = serializer.decode_yaml(path.read_bytes())
    except OSError as error:
        raise BadPolicy(f"{path}: {(error.strerror or str(error)).lower()}") from None
    except serializer.YAMLError as error:
        raise BadPolicy(f"{path}: {error.message}") from None
    try:
        return parse_policy(yaml)
    except BadPolicy as error:
        raise BadPolicy(f"{path}: {error}") from None


def parse_policy(document: Any) -> AuditPolicy:
    """Return the policy of a decoded document. Raises BadPolicy."""
    if (
        not isinstance(document, dict)
        or document.get("kind") != "Policy"
        or document.get("apiVersion") != "audit.k8s.io/v1"
    ):
        raise BadPolicy("not a Policy of audit.k8s.io/v1")
    omit = _parse_stages(document, "omitStages")
    managed = document.get("omitManagedFields", False) is not True
    rules = document.get("rules")
    if not isinstance(rules, list) or not rules:
        raise BadPolicy("rules: at least one rule is required")
    return AuditPolicy(tuple(_parse_rule(rule, f"rules[{index}]", omit, managed) for index, rule in enumerate(rules)))


_RULE_FIELDS = {
    "level", "users", "userGroups", "verbs", "resources", "namespaces", "nonResourceURLs", "omitStages",
    "omitManagedFields",
}  # fmt: skip


def _parse_rule(document: Any, at: str, omit: frozenset[str], managed: bool) -> AuditRule:
    if not isinstance(document, dict):
        raise BadPolicy(f"{at}: not an object")
    if unknown := document.keys() - _RULE_FIELDS:
        raise BadPolicy(f"{at}: unknown field {min(unknown)}")
    level = document.get("level")
    if level not in LEVELS:
        raise BadPolicy(f"{at}.level: must be one of {', '.join(LEVELS)}, not {level!r}")
    resources = tuple(
        _parse_resources(resource, f"{at}.resources[{n}]") for n, resource in enumerate(document.get("resources") or ())
    )
    paths = _parse_texts(document, "nonResourceURLs", at)
    namespaces = _parse_texts(document, "namespaces", at)
    if paths and (resources or namespaces):
        raise BadPolicy(f"{at}: set resources or nonResourceURLs, not both")
    if any("*" in path[:-1] or not path.startswith(("/", "*")) for path in paths):
        raise BadPolicy(f"{at}.nonResourceURLs: a path must begin with / and may end with *")
    return AuditRule(
        level,
        _parse_texts(document, "users", at),
        _parse_texts(document, "userGroups", at),
        _parse_texts(document, "verbs", at),
        resources,
        namespaces,
        paths,
        omit | _parse_stages(document, f"{at}.omitStages"),
        document["omitManagedFields"] is not True if "omitManagedFields" in document else managed,
    )


def _parse_resources(document: Any, at: str) -> AuditedResources:
    if not isinstance(document, dict) or not isinstance(document.get("group", ""), str):
        raise BadPolicy(f"{at}: must be an object with group, resources and resourceNames")
    names = _parse_texts(document, "resourceNames", at)
    resources = _parse_texts(document, "resources", at)
    if names and not resources:
        raise BadPolicy(f"{at}.resourceNames: requires resources")
    return AuditedResources(document.get("group", ""), resources, names)


def _parse_texts(document: dict[str, Any], key: str, at: str) -> tuple[str, ...]:
    texts = document.get(key) or ()
    if not isinstance(texts, Sequence) or isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
        raise BadPolicy(f"{at}.{key}: must be a list of strings")
    return tuple(texts)


def _parse_stages(document: dict[str, Any], at: str) -> frozenset[str]:
    stages = frozenset(_parse_texts(document, at.rpartition(".")[2], at))
    if not stages <= set(STAGES):
        raise BadPolicy(f"{at}: must be of {', '.join(STAGES)}")
    return stages
