"""Validates changes of a pod with scheduling gates: its node selectors may only become stricter.

Source: Kubernetes' pkg/apis/core/validation.
"""

from __future__ import annotations

from podless.apis.podspec.affinity import REQUIRED
from podless.apis.shared.typed import keep_parts
from podless.meta import field
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.structs import gostructs
from podless.structs.structfiles import load_struct

NODE_SELECTOR_TERM = load_struct("core/v1", "NodeSelectorTerm")

_TERMS = f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms"


def validate_gated_selectors(spec: Object, old: Object) -> field.Errors:
    """Validate node selectors of a pod with scheduling gates.

    Then restores the old ones, so that the comparison of the rest ignores them.
    """
    node_selector, before = spec.get("nodeSelector") or {}, old.get("nodeSelector") or {}
    if node_selector != before:
        if any(node_selector.get(key) != value for key, value in each(before).items()):
            reason = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
            yield field.invalid("spec.nodeSelector", spec.get("nodeSelector"), reason)
        keep_parts(spec, old, "nodeSelector")
    nodes, nodes_before = (((state.get("affinity") or {}).get("nodeAffinity")) for state in (spec, old))
    if nodes == nodes_before:
        return
    yield from _validate_added_terms(nodes or {}, nodes_before or {})
    remaining = {name: value for name, value in each(spec.get("affinity") or {}).items() if name != "nodeAffinity"}
    if nodes_before is not None:
        spec["affinity"] = {"nodeAffinity": nodes_before, **remaining}
    elif remaining:
        spec["affinity"] = remaining
    else:
        keep_parts(spec, old, "affinity")


def _validate_added_terms(added_terms: Object, before: Object) -> field.Errors:
    node_selector_terms = (before.get(REQUIRED) or {}).get("nodeSelectorTerms") or []
    terms = (added_terms.get(REQUIRED) or {}).get("nodeSelectorTerms") or []
    if node_selector_terms and len(node_selector_terms) != len(terms):
        reason = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
        yield field.invalid(_TERMS, gostructs.format_structs(NODE_SELECTOR_TERM, terms or None), reason)
        return
    for index, (term, old) in enumerate(zip(each(terms), node_selector_terms, strict=False)):
        if not _only_adds(term, old):
            text = gostructs.format_struct(NODE_SELECTOR_TERM, term)
            yield field.invalid(f"{_TERMS}[{index}]", text, "only additions are allowed (no mutations or deletions)")


def _only_adds(term: Object, old: Object) -> bool:
    field_names = ("matchExpressions", "matchFields")
    if not any(old.get(name) for name in field_names):
        return not any(term.get(name) for name in field_names)
    return all((term.get(name) or [])[: len(old.get(name) or [])] == (old.get(name) or []) for name in field_names)
