"""What a write of the status leaves alone, in kinds that let it change nothing else."""

from __future__ import annotations

from podless.kinds.strategy import Object

_OWN = ("generateName", "uid", "resourceVersion", "creationTimestamp", "deletionGracePeriodSeconds", "managedFields")


def keep_metadata(obj: Object, old: Object) -> None:
    """Metadata stays, but for whose the fields are, and for what may not change, which is refused.

    Source: ResetObjectMetaForStatus of k8s.io/apimachinery.
    """
    given = obj["metadata"]
    obj["metadata"] = {name: value for name, value in old["metadata"].items() if name not in _OWN}
    obj["metadata"] |= {name: given[name] for name in _OWN if name in given}
