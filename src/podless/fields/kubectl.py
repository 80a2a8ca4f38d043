"""The annotation in which client-side applies of kubectl keep the applied object, and its use in server-side applies.

Source: k8s.io/apimachinery pkg/util/managedfields, as kube-apiserver uses it.
"""

from __future__ import annotations

from typing import Final

from podless.codec import serializer
from podless.fields import sets
from podless.fields.check import check_value
from podless.fields.collect import collect_leaves
from podless.fields.compare import compare_values
from podless.fields.merge import Conflicts, WriteTarget
from podless.fields.sets import Fields
from podless.fields.typed import SchemaMisfit
from podless.meta.objectmeta import MAX_ANNOTATIONS
from podless.runtime.jsonobject import Object

LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
MANAGER: Final = "kubectl"  # the only apply manager whose annotation is used and updated


def is_upgrade(target: WriteTarget, live: Object, conflicts: Conflicts) -> bool:
    """Return whether kubectl set all conflicting fields by client-side apply, and they still have these values.

    Removes such conflicts, so that the error shows only the others.
    """
    allowed = _find_last_applied(target, live)
    if allowed is None:
        return False
    conflicts.conflicts = [found for found in conflicts.conflicts if not sets.has_path(allowed, found[1])]
    return not conflicts.conflicts


def _find_last_applied(target: WriteTarget, live: Object) -> Fields | None:
    text = ((live.get("metadata") or {}).get("annotations") or {}).get(LAST_APPLIED)
    if not text:
        return None
    shape = target.get_shape(target.version)
    try:
        last = serializer.decode_json(text.encode())
        if not isinstance(last, dict) or last.get("apiVersion") != target.version:
            return None
        check_value(last, shape)
        check_value(live, shape)
    except (serializer.JSONError, SchemaMisfit):
        return None
    fields = collect_leaves(last, shape)
    for changed in compare_values(last, live, shape):
        fields = sets.subtract_set(fields, changed)
    return fields


def note_applied(metadata: Object, applied: Object) -> None:
    """Update the last-applied annotation, if there is one, after a server-side apply of kubectl."""
    annotations = metadata.get("annotations") or {}
    if not annotations.get(LAST_APPLIED):
        return
    last = {**applied, "metadata": dict(applied.get("metadata") or {})}
    if isinstance(last["metadata"].get("annotations"), dict):
        last["metadata"]["annotations"] = {
            key: text for key, text in last["metadata"]["annotations"].items() if key != LAST_APPLIED
        }
    noted = {**annotations, LAST_APPLIED: sets.encode_compact(last) + "\n"}
    if sum(len(key.encode()) + len(text.encode()) for key, text in noted.items()) > MAX_ANNOTATIONS:
        del noted[LAST_APPLIED]
    metadata["annotations"] = noted
