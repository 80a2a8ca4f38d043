"""What a write of the status leaves alone, in kinds that let it change nothing else."""

from __future__ import annotations

from podless.kinds.strategy import Object


def keep_metadata(obj: Object, old: Object) -> None:
    """Metadata stays, but for whose the fields are. Source: ResetObjectMetaForStatus of k8s.io/apimachinery."""
    fields = obj["metadata"].get("managedFields")
    obj["metadata"] = {name: value for name, value in old["metadata"].items() if name != "managedFields"}
    if fields is not None:
        obj["metadata"]["managedFields"] = fields
