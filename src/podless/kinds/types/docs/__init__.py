"""What the fields of the API mean, in a sentence each: one table a group, beside the structs that they describe.

OpenAPI documents (and so `kubectl explain`), the columns of tables and whoever else tells people about a field read it
here. A table is a module with TEXTS: name of the Go struct -> name of the field -> its text, "" for the struct itself.
It is imported when something of its group is first asked for, so a server that nobody asks holds none of it. The
versions of a group share a table: what an older version has besides is in it under the same names.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from podless.meta.bounded import bounded_cache

Texts = Mapping[str, str]

META = "meta.k8s.io"
# the modules with structs of the core group, here and in kinds/types
CORE = (
    "core", "services", "topology", "projections", "volumes", "disks", "probes", "containers", "running", "podspecs",
    "pods", "nodes", "claims", "cluster",
)  # fmt: skip
# API group -> the modules that describe its structs; structs that all groups share are those of meta.k8s.io
_MODULES: Mapping[str, tuple[str, ...]] = {
    META: ("meta",),
    "": CORE,
    "admissionregistration.k8s.io": ("admission",),
    "apiextensions.k8s.io": ("apiextensions", "jsonschema"),
    "apiregistration.k8s.io": ("apiregistration",),
    "apps": ("apps",),
    "authentication.k8s.io": ("authentication",),
    "authorization.k8s.io": ("authorization",),
    "autoscaling": ("autoscaling", "scalers"),
    "batch": ("batch",),
    "certificates.k8s.io": ("certificates",),
    "coordination.k8s.io": ("coordination",),
    "discovery.k8s.io": ("discovery",),
    "events.k8s.io": ("events",),
    "extensions": ("extensions",),
    "flowcontrol.apiserver.k8s.io": ("flowcontrol",),
    "networking.k8s.io": ("networking",),
    "node.k8s.io": ("runtimeclasses",),
    "policy": ("policy",),
    "rbac.authorization.k8s.io": ("rbac",),
    "resource.k8s.io": ("resource", "devices"),
    "scheduling.k8s.io": ("scheduling",),
    "storage.k8s.io": ("storage",),
}
GROUPS = tuple(_MODULES)
_NONE: Texts = {}


@bounded_cache(64)
def table(group: str) -> Mapping[str, Texts]:
    """All texts of a group; an empty table for a group that has none."""
    found: dict[str, Texts] = {}
    for module in _MODULES.get(group, ()):
        found |= import_module(f"{__name__}.{module}").TEXTS
    return found


def text(group: str, struct: str, field: str = "") -> str:
    """What a field of a struct is for, or the struct itself; "" where nothing is written of it.

    What nearly every object has (apiVersion, kind, metadata, spec, status) is told of all alike where its own struct
    says nothing.
    """
    own = table(group).get(struct, _NONE).get(field, "")
    return own if own or not field else table(META)["Object"].get(field, "")
