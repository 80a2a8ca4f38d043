"""Deprecated labels of nodes. Source: Kubernetes' pkg/api/node."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from podless.runtime.jsonobject import Object
from podless.runtime.meter import each

# label: its replacement, and the version since when
RENAMED = {
    "beta.kubernetes.io/arch": ("kubernetes.io/arch", "v1.14"),
    "beta.kubernetes.io/os": ("kubernetes.io/os", "v1.14"),
    "failure-domain.beta.kubernetes.io/region": ("topology.kubernetes.io/region", "v1.17"),
    "failure-domain.beta.kubernetes.io/zone": ("topology.kubernetes.io/zone", "v1.17"),
    "beta.kubernetes.io/instance-type": ("node.kubernetes.io/instance-type", "v1.17"),
}


def warn_of_label(label: str) -> str:
    """Return the warning about a deprecated node label, or ""."""
    new = RENAMED.get(label)
    return f'deprecated since {new[1]}; use "{new[0]}" instead' if new is not None else ""


def list_term_warnings(terms: Collection[Object], path: str) -> Iterator[str]:
    """Yield the warnings about deprecated labels in node selector terms."""
    for index, term in enumerate(each(terms)):
        yield from _list_expression_warnings(term, f"{path}[{index}]")


def list_topology_warnings(terms: Collection[Object], path: str) -> Iterator[str]:
    """Yield the warnings about deprecated labels in topology selector terms."""
    for position, term in enumerate(each(terms)):
        for index, expression in enumerate(each(term.get("matchLabelExpressions") or [])):
            if text := warn_of_label(expression.get("key") or ""):
                yield f"{path}[{position}].matchLabelExpressions[{index}].key: {text}"


def list_selector_warnings(selector: Object, path: str) -> Iterator[str]:
    """Yield the warnings about deprecated labels in a label selector for nodes."""
    yield from _list_expression_warnings(selector, path)
    for label in sorted(each(selector.get("matchLabels") or {})):
        if text := warn_of_label(label):
            yield f"{path}.matchLabels.{label}: {text}"


def _list_expression_warnings(term: Object, path: str) -> Iterator[str]:
    for index, expression in enumerate(each(term.get("matchExpressions") or [])):
        if text := warn_of_label(expression.get("key") or ""):
            yield f"{path}.matchExpressions[{index}].key: {expression['key']} is {text}"
