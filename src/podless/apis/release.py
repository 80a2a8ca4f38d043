"""Which Kubernetes release is served, and differences between releases other than kinds, fields, gates and changes.

All layers ask `Facts`; no module outside of apis names a version. Source: kube-apiserver of that release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from podless.runtime.bounded import bounded_cache
from podless.runtime.dataclass import dataclass
from podless.runtime.release import Release, covers


class Schemes(NamedTuple):
    """The lines of Go that construct kube-apiserver's schemes, which its errors name.

    of_groups: of groups with their own scheme. legacy: of all other built-in groups. options: of DeleteOptions. scale:
    of the Scale of custom objects. webhooks: of reviews that webhooks answer.
    """

    of_groups: Mapping[str, str]
    legacy: str
    options: str
    scale: str
    webhooks: str


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """Facts about a release that are not a kind, field, gate or change.

    groups: the group-versions in which kinds of all groups, such as DeleteOptions, are registered. more_groups: those
    that only OpenAPI v2 lists. parameters, bodies: names of shared parameters and bodies in OpenAPI v2, each with the
    hash that the release gives it.
    """

    minor: int
    patch: int
    schemes: Schemes
    groups: Mapping[str, tuple[str, ...]]
    more_groups: Mapping[str, tuple[str, ...]]
    parameters: Mapping[str, str]
    bodies: Mapping[str, str]

    @property
    def name(self) -> str:
        """The release as users and documents name it, without the patch."""
        return f"1.{self.minor}"

    @property
    def version(self) -> str:
        """The version as a Git tag: v1.36.2."""
        return f"v{self.name}.{self.patch}"

    @property
    def compatible(self) -> int:
        """The oldest minor release that the server can be rolled back to."""
        return self.minor - 1


# the group-versions that DeleteOptions and WatchEvent are registered in, and those that only OpenAPI v2 lists
_GROUPS: Mapping[str, tuple[str, ...]] = {
    "": ("v1",),
    "admissionregistration.k8s.io": ("v1", "v1alpha1", "v1beta1"),
    "apps": ("v1", "v1beta1", "v1beta2"),
    "authentication.k8s.io": ("v1", "v1alpha1", "v1beta1"),
    "authorization.k8s.io": ("v1", "v1beta1"),
    "autoscaling": ("v1", "v2"),
    "batch": ("v1", "v1beta1"),
    "certificates.k8s.io": ("v1", "v1alpha1", "v1beta1"),
    "coordination.k8s.io": ("v1", "v1alpha2", "v1beta1"),
    "discovery.k8s.io": ("v1", "v1beta1"),
    "events.k8s.io": ("v1", "v1beta1"),
    "extensions": ("v1beta1",),
    "flowcontrol.apiserver.k8s.io": ("v1", "v1beta1", "v1beta2", "v1beta3"),
    "internal.apiserver.k8s.io": ("v1alpha1",),
    "networking.k8s.io": ("v1", "v1beta1"),
    "node.k8s.io": ("v1", "v1alpha1", "v1beta1"),
    "policy": ("v1", "v1beta1"),
    "rbac.authorization.k8s.io": ("v1", "v1alpha1", "v1beta1"),
    "resource.k8s.io": ("v1", "v1alpha3", "v1beta1", "v1beta2"),
    "scheduling.k8s.io": ("v1", "v1alpha2", "v1beta1"),
    "storage.k8s.io": ("v1", "v1alpha1", "v1beta1"),
    "storagemigration.k8s.io": ("v1beta1",),
}
# group-versions that are not registered in all releases
_REGISTERED: Mapping[tuple[str, str], str] = {
    ("autoscaling", "v2beta1"): "-1.35",
    ("autoscaling", "v2beta2"): "-1.35",
    ("coordination.k8s.io", "v1alpha1"): "1.31",
    ("coordination.k8s.io", "v1alpha2"): "1.32-",
    ("networking.k8s.io", "v1alpha1"): "-1.33",
    ("resource.k8s.io", "v1"): "1.34-",
    ("resource.k8s.io", "v1alpha2"): "1.30",
    ("resource.k8s.io", "v1alpha3"): "1.31-",
    ("resource.k8s.io", "v1beta1"): "1.32-",
    ("resource.k8s.io", "v1beta2"): "1.33-",
    ("scheduling.k8s.io", "v1alpha1"): "-1.35",
    ("lifecycle.k8s.io", "v1alpha1"): "1.37-",
    ("scheduling.k8s.io", "v1alpha2"): "1.36",
    ("scheduling.k8s.io", "v1alpha3"): "1.37-",
    ("storagemigration.k8s.io", "v1"): "1.37-",
    ("storagemigration.k8s.io", "v1alpha1"): "-1.34",
    ("storagemigration.k8s.io", "v1beta1"): "1.35-",
}
_MORE_GROUPS: Mapping[str, tuple[str, ...]] = {
    "admission.k8s.io": ("v1", "v1beta1"),
    "apiextensions.k8s.io": ("v1", "v1beta1"),
    "apiregistration.k8s.io": ("v1", "v1beta1"),
    "imagepolicy.k8s.io": ("v1alpha1",),
}

# names of shared parameters in OpenAPI v2, which kube-apiserver makes from hashes of the parameters. kubectl looks for
# dryRun and fieldValidation in the operations themselves, so these are not shared
_SHARED = (
    "allowWatchBookmarks-HC2hJt-J continue-QfD61s0i fieldManager-Qy4HdaTW fieldSelector-xIcQKXFG force-tOGGb0Yi "
    "gracePeriodSeconds--K5HaBOS ignoreStoreReadErrorWithClusterBreakingPotential-QbNkfIqj labelSelector-5Zw57w4C "
    "limit-1NfNmdNH namespace-vgWSWtn3 orphanDependents-uRB25kX5 pretty-tJGM1-ng propagationPolicy-6jk3prlO "
    "resourceVersion-5WAnf1kx resourceVersionMatch-t8XhRHeC sendInitialEvents-rLXlEK_k shardSelector-Kgyki_3_ "
    "timeoutSeconds-yvYezaOC watch-XNNPZGbK"
)
_PARAMETERS = {name[:-9]: name for name in _SHARED.split()}
_PARAMETERS |= {"fieldManager for patch": "fieldManager-7c6nTn1T", "path in path": "path-z6Ciiujn"}
# the same for options of connect requests: kind of the options: type: names with hashes
_OPTIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "NodeProxyOptions": {"string": ("path-rFDtV0x9",)},
    "PodAttachOptions": {
        "boolean": ("stderr-26jJhFUR", "stdin-sEFnN3IS", "stdout-005YMKE6", "tty-g7MlET_l"),
        "string": ("container-_Q-EJ3nR",),
    },
    "PodExecOptions": {
        "boolean": ("stderr-W_1TNlWc", "stdin-PSzNhyUC", "stdout--EZLRwV1", "tty-s0flW37O"),
        "string": ("command-Py3eQybp", "container-i5dOmRiM"),
    },
    "PodLogOptions": {
        "boolean": (
            "follow-9OIXh_2R", "insecureSkipTLSVerifyBackend-gM00jVbe", "previous-1jxDPu3y", "timestamps-c17fW1w_",
        ),
        "integer": ("limitBytes-zwd1RXuc", "sinceSeconds-vE2NLdnP", "tailLines-9xQLWHMV"),
        "string": ("container-1GeXxFDC", "stream-l-48cgXv"),
    },
    "PodPortForwardOptions": {"integer": ("ports-91KROJmm",)},
    "PodProxyOptions": {"string": ("path-oPbzgLUj",)},
    "ServiceProxyOptions": {"string": ("path-QCf0eosM",)},
}  # fmt: skip
_PARAMETERS |= {
    f"{name.partition('-')[0]} {kind} {form}": name
    for kind, forms in _OPTIONS.items()
    for form, names in forms.items()
    for name in names
}
# the same for generic bodies: component: name
_BODIES = {"DeleteOptions": "body-2Y1dVQaQ", "Patch": "body-78PwaGsr"}

RELEASE = Facts(
    minor=36,
    patch=2,
    schemes=Schemes(
        of_groups={
            "apiextensions.k8s.io": "k8s.io/apiextensions-apiserver/pkg/apiserver/apiserver.go:55",
            "apiregistration.k8s.io": "k8s.io/kube-aggregator/pkg/apiserver/scheme/scheme.go:34",
        },
        legacy="pkg/api/legacyscheme/scheme.go:30",
        options="k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27",
        scale="k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go:781",
        webhooks="k8s.io/apiserver/pkg/util/webhook/client.go:71",
    ),
    groups=_GROUPS,
    more_groups=_MORE_GROUPS,
    parameters=_PARAMETERS,
    bodies=_BODIES,
)

# the recorded patch release by minor release, or that of the documents read
_PATCHES: Mapping[int, int] = {30: 14, 31: 14, 32: 13, 33: 13, 34: 9, 35: 6, 37: 2}


@bounded_cache(16)
def facts_of(release: Release) -> Facts:
    """Return the facts about a release: those of the newest one, with the known differences."""
    if release.minor not in _PATCHES:
        return RELEASE
    return replace(RELEASE, minor=release.minor, patch=_PATCHES[release.minor], groups=_groups_in(release.minor))


def _groups_in(minor: int) -> Mapping[str, tuple[str, ...]]:
    """Return the group-versions in which a release registers such kinds."""
    versions_by_group = {group: {*versions} for group, versions in _GROUPS.items()}
    for (group, version), span in _REGISTERED.items():
        registered = versions_by_group.setdefault(group, set())
        (registered.add if covers(span, minor) else registered.discard)(version)
    return {group: tuple(sorted(versions)) for group, versions in sorted(versions_by_group.items()) if versions}
