"""The admission plugins of the core group, and predicates about its kinds."""

from podless.apis.core.group import PODS
from podless.kinds.kind import Kind


def is_pod(kind: Kind) -> bool:
    """Return whether a kind is Pod."""
    return kind.plural == PODS.plural and not kind.group


def is_namespace(kind: Kind) -> bool:
    """Return whether a kind is Namespace."""
    return kind.plural == "namespaces" and not kind.group
