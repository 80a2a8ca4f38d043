"""Printer columns of rbac.authorization.k8s.io."""

from __future__ import annotations

from collections.abc import Callable

from podless.apis.shared.columns import AGE, NAME, Columns, Object, PrinterColumn, at, string
from podless.runtime.meter import each


def _subjects(kind: str) -> Callable[[Object], str]:
    """Return a reader of the subjects of one kind, joined; service accounts with their namespaces."""

    def read(obj: Object) -> str:
        found = [subject for subject in each(at(obj, "subjects", default=())) if subject.get("kind") == kind]
        if kind == "ServiceAccount":
            return ", ".join(f"{subject.get('namespace', '')}/{subject.get('name', '')}" for subject in each(found))
        return ", ".join(subject.get("name", "") for subject in each(found))

    return read


def _role(obj: Object) -> str:
    return f"{at(obj, 'roleRef', 'kind')}/{at(obj, 'roleRef', 'name')}"


def _binding(struct: str) -> tuple[PrinterColumn, ...]:
    return (
        NAME,
        string("Role", f"{struct}.roleRef", _role),
        AGE,
        string("Users", "Users with the role.", _subjects("User"), wide=True),
        string("Groups", "Groups with the role.", _subjects("Group"), wide=True),
        string("ServiceAccounts", "ServiceAccounts with the role.", _subjects("ServiceAccount"), wide=True),
    )


COLUMNS: Columns = {
    "clusterrolebindings": _binding("ClusterRoleBinding"),
    "rolebindings": _binding("RoleBinding"),
}
