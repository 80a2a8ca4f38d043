"""Printer columns of rbac.authorization.k8s.io."""

from __future__ import annotations

from collections.abc import Callable

from podless.apis.shared.columns import AGE, NAME, Columns, Object, PrinterColumn, at, string
from podless.runtime.meter import each


def _subjects_reader(kind: str) -> Callable[[Object], str]:
    """Return a reader of the subjects of one kind, joined; service accounts with their namespaces."""

    def read_subjects(obj: Object) -> str:
        subjects = [subject for subject in each(at(obj, "subjects", default=())) if subject.get("kind") == kind]
        if kind == "ServiceAccount":
            return ", ".join(f"{subject.get('namespace', '')}/{subject.get('name', '')}" for subject in each(subjects))
        return ", ".join(subject.get("name", "") for subject in each(subjects))

    return read_subjects


def _read_role(obj: Object) -> str:
    return f"{at(obj, 'roleRef', 'kind')}/{at(obj, 'roleRef', 'name')}"


def _binding_columns(struct: str) -> tuple[PrinterColumn, ...]:
    return (
        NAME,
        string("Role", f"{struct}.roleRef", _read_role),
        AGE,
        string("Users", "Users with the role.", _subjects_reader("User"), wide=True),
        string("Groups", "Groups with the role.", _subjects_reader("Group"), wide=True),
        string("ServiceAccounts", "ServiceAccounts with the role.", _subjects_reader("ServiceAccount"), wide=True),
    )


COLUMNS: Columns = {
    "clusterrolebindings": _binding_columns("ClusterRoleBinding"),
    "rolebindings": _binding_columns("RoleBinding"),
}
