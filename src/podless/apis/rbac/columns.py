"""Cells of the printer columns of rbac.authorization.k8s.io."""

from __future__ import annotations

from collections.abc import Callable

from podless.apis.shared.columns import Object, at
from podless.runtime.meter import each


def subjects(kind: str) -> Callable[[Object], str]:
    """Return a reader of the subjects of one kind, joined; service accounts with their namespaces."""

    def read_subjects(obj: Object) -> str:
        chosen = [subject for subject in each(at(obj, "subjects", default=())) if subject.get("kind") == kind]
        if kind == "ServiceAccount":
            return ", ".join(f"{subject.get('namespace', '')}/{subject.get('name', '')}" for subject in each(chosen))
        return ", ".join(subject.get("name", "") for subject in each(chosen))

    return read_subjects
