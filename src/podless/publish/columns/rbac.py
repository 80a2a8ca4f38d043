"""Columns of rbac.authorization.k8s.io."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from podless.publish.columns.cell import AGE, NAME, Cell, Object, Of, at
from podless.runtime.meter import each


def _subjects(kind: str) -> Callable[[Object], str]:
    """Reads the subjects of one kind, joined; service accounts with their namespaces."""

    def read(obj: Object) -> str:
        found = [subject for subject in each(at(obj, "subjects", default=())) if subject.get("kind") == kind]
        if kind == "ServiceAccount":
            return ", ".join(f"{subject.get('namespace', '')}/{subject.get('name', '')}" for subject in each(found))
        return ", ".join(subject.get("name", "") for subject in each(found))

    return read


def _role(obj: Object) -> str:
    return f"{at(obj, 'roleRef', 'kind')}/{at(obj, 'roleRef', 'name')}"


def _bindings(struct: str) -> tuple[Cell, ...]:
    people = {"Users": "User", "Groups": "Group", "ServiceAccounts": "ServiceAccount"}
    others = (
        Cell(name, "string", f"The {name} that have the role.", _subjects(kind), priority=1)
        for name, kind in people.items()
    )
    return (NAME, Cell("Role", "string", Of("rbac.authorization.k8s.io", struct, "roleRef"), _role), AGE, *others)


COLUMNS: Mapping[str, tuple[Cell, ...]] = {
    "clusterrolebindings": _bindings("ClusterRoleBinding"),
    "rolebindings": _bindings("RoleBinding"),
}
