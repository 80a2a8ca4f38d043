"""The admission plugins of the core group, and what plugins of other groups ask about its kinds."""

from podless.apis.core.group import PODS
from podless.kinds.kind import Kind


def is_pod(kind: Kind) -> bool:
    """Return whether objects of a kind are pods."""
    return kind.plural == PODS.plural and not kind.group


def is_namespace(kind: Kind) -> bool:
    """Return whether objects of a kind are namespaces."""
    return kind.plural == "namespaces" and not kind.group
