"""Compiles a ThirdPartyResource to a kind that preserves all fields, like a definition without schemas."""

from __future__ import annotations

from typing import Any

from podless.apis.extensions.thirdparty.names import parse_defined_name
from podless.kinds.custom import CustomStrategy
from podless.kinds.kind import VERBS, VERBS_TERMINATING, Kind, Version, sort_versions
from podless.runtime.meter import each


class ThirdPartyStrategy(CustomStrategy):
    """Strategy of these objects. Updates need no resourceVersion."""

    allow_unconditional_update = True


def compile_third(resource: dict[str, Any], *, created: int, changed: int) -> Kind:
    """Return the kind of a stored ThirdPartyResource. Objects are stored in its first version.

    created, changed: the revisions of its creation and of its latest change.
    """
    metadata = resource["metadata"]
    kind, group = what = parse_defined_name(metadata["name"])
    terminating = "deletionTimestamp" in metadata
    versions = [Version(one["name"]) for one in each(resource["versions"])]
    return Kind(
        group=group,
        plural=what.plural,
        kind=kind,
        singular=kind.lower(),
        list_kind=f"{kind}List",
        namespaced=True,
        versions=sort_versions(versions),
        storage_version=versions[0].name,
        strategy=ThirdPartyStrategy(preserve=True),
        preserve=True,
        uid=metadata["uid"],
        created=created,
        changed=changed,
        terminating=terminating,
        verbs=VERBS_TERMINATING if terminating else VERBS,
    )
