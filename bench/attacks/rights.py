"""Roles, bindings and reviews (rows A, B and O)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from bench.asks.ask import ROLES, Ask
from bench.attacks.attack import CORE, PLAIN, RBAC, Attack, Site, get, numbers, post

_GROUP = "rbac.authorization.k8s.io"
_LOCAL = "/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews"
_ABOUT = {"namespace": "default", "verb": "get", "resource": "pods"}

_RULES = 160  # MB of 96,000 rules that are compiled once


def _role(site: Site, name: str, rules: list[Any]) -> None:
    site.post(f"{RBAC}/clusterroles", {"metadata": {"name": name}, "rules": rules})
    site.post(
        f"{RBAC}/clusterrolebindings",
        {
            "metadata": {"name": name},
            "subjects": [{"kind": "Group", "apiGroup": _GROUP, "name": "system:authenticated"}],
            "roleRef": {"apiGroup": _GROUP, "kind": "ClusterRole", "name": name},
        },
    )


def _bound(site: Site, kind: str = "Group") -> None:
    """A role of the namespace that is given to very many. Whoever is last of them is searched for longest."""
    subjects = [{"kind": kind, "apiGroup": _GROUP, "name": name} for name in numbers("bound", site.many(3000))]
    reference = {"apiGroup": _GROUP, "kind": "ClusterRole", "name": "view"}
    body = {"metadata": {"name": "many"}, "subjects": subjects, "roleRef": reference}
    site.post(f"{RBAC}/namespaces/default/rolebindings", body)


def _review(groups: list[str], **spec: Any) -> Any:
    return {
        "metadata": {"namespace": "default"},
        "spec": {"user": "u", "groups": groups, "resourceAttributes": _ABOUT} | spec,
    }


def _groups(site: Site) -> Sequence[Ask]:
    _bound(site)
    return [post(_LOCAL, _review([*numbers("g", site.many(20_000)), f"bound{site.many(3000) - 1}"]))]


def _extra(site: Site) -> Sequence[Ask]:
    """As many values of an attribute of the user, and a selector."""
    _bound(site, "User")
    extra = {name: numbers("v", 20) for name in numbers("e", site.many(1000))}
    last = f"bound{site.many(3000) - 1}"
    return [post(_LOCAL, _review(numbers("g", site.many(5000)), extra=extra, user=last))]


def _new_groups(site: Site) -> Iterator[Ask]:
    for turn in range(20):
        yield post(_LOCAL, _review(numbers(f"{turn:02}g", site.many(200_000))))


def _granted(site: Site) -> None:
    """Rules of eight roles, of which everybody has all."""
    own = {"verbs": ["*"], "apiGroups": [_GROUP], "resources": ["roles"]}
    _role(site, "own", [own])
    for number in range(8):
        names = numbers(f"r{number}x", site.many(12_000))
        _role(
            site,
            f"many{number}",
            [{"verbs": ["get"], "apiGroups": ["many.example.com"], "resources": [name]} for name in names],
        )


def _new_names(site: Site) -> Sequence[Ask]:
    _granted(site)
    return [get(f"{CORE}/pods/new{number}", user=PLAIN) for number in range(20)]


def _escalate(many: int) -> Any:
    def setup(site: Site) -> Sequence[Ask]:
        _granted(site)
        rules = [
            {"verbs": ["get"], "apiGroups": ["other.example.com"], "resources": [name]} for name in numbers("o", many)
        ]
        return [post(ROLES, {"metadata": {"name": "x"}, "rules": rules}, PLAIN)]

    return setup


def _own_rules(site: Site) -> Sequence[Ask]:
    _granted(site)
    review = {"spec": {"namespace": "default"}}
    return [post("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", review, PLAIN)] * 20


ATTACKS = [
    Attack("A", "a review of 20,000 groups, a binding of 3,000 groups", _groups),
    Attack("A2", "a review of 20,000 extra values and 5,000 groups, a binding of 3,000 users", _extra),
    Attack("A3", "20 reviews of the rules of a user who has 96,000", _own_rules, keeps=_RULES),
    Attack("B", "20 reviews of 200,000 new groups each", lambda site: list(_new_groups(site))),
    Attack("O2", "96,000 rules for everybody, 20 GETs of new names", _new_names, keeps=_RULES),
    Attack("O3", "96,000 rules for everybody, a role of one rule", _escalate(1), keeps=_RULES),
    Attack("O4", "96,000 rules for everybody, a role of 20 rules", _escalate(20), keeps=_RULES),
]
