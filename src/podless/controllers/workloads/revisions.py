"""The ControllerRevisions of StatefulSets and DaemonSets, which `kubectl rollout history` and `rollout undo` read.

Source: pkg/controller/history of Kubernetes.
"""

from __future__ import annotations

from collections.abc import Set

from podless.apis.apps.group import CONTROLLER_REVISIONS
from podless.controllers.workloads import ask
from podless.runtime.jsonobject import Object
from podless.verbs.call import API


async def record_revision(api: API, owner: Object, ref: Object, name: str, label: Object, used: Set[str]) -> None:
    """Make the present template of an owner its newest revision, and delete the oldest ones beyond the history limit.

    ref: the reference to the owner. name: of the revision, the same for equal templates. label: with the hash of the
    template. used: revisions to keep, because pods have them.
    """
    metadata, template = owner["metadata"], owner["spec"]["template"]
    collection = await api.load_collection(CONTROLLER_REVISIONS)
    entries = collection.entries_under(CONTROLLER_REVISIONS.keys.scope(metadata["namespace"]))[0]
    revisions = [entry.decode() for entry in entries if entry.name == name or ref["uid"].encode() in entry.body]
    own_revisions = sorted((item for item in revisions if _is_owned(item, ref)), key=lambda item: int(item["revision"]))
    newest = own_revisions[-1]["revision"] if own_revisions else 0
    current = next((item for item in revisions if item["metadata"]["name"] == name), None)
    if current is None:
        labels = {**((template.get("metadata") or {}).get("labels") or {}), **label}
        head = {"name": name, "namespace": metadata["namespace"], "labels": labels, "ownerReferences": [ref]}
        if metadata.get("annotations"):
            head["annotations"] = metadata["annotations"]
        data = {"spec": {"template": {**template, "$patch": "replace"}}}
        await ask.create_object(api, CONTROLLER_REVISIONS, {"metadata": head, "data": data, "revision": newest + 1})
    elif not _is_owned(current, ref):  # left by an owner with the same name
        changes = {"metadata": {"ownerReferences": [ref]}, "revision": newest + 1}
        await ask.change_object(api, CONTROLLER_REVISIONS, current, changes)
    elif current["revision"] < newest:
        await ask.change_object(api, CONTROLLER_REVISIONS, current, {"revision": newest + 1})
    old = [item for item in own_revisions if item is not current and item["metadata"]["name"] not in used]
    for item in old[: max(0, len(old) - owner["spec"]["revisionHistoryLimit"])]:
        await ask.drop_object(api, CONTROLLER_REVISIONS, item)


def _is_owned(revision: Object, ref: Object) -> bool:
    return any(reference["uid"] == ref["uid"] for reference in revision["metadata"].get("ownerReferences") or ())
