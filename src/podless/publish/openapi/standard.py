"""What the documents of all group-versions share, as names: components, parameters, groups.

Source: the documents that kube-apiserver 1.36 publishes.
"""

from __future__ import annotations

REF = "#/components/schemas/"
CORE = "io.k8s.api.core.v1."
META = "io.k8s.apimachinery.pkg.apis.meta.v1."
VERSION = "io.k8s.apimachinery.pkg.version."
SCALE = "io.k8s.api.autoscaling.v1.Scale"
# group -> what stands before the version in the names of its components, where that is not io.k8s.api and the group
_PACKAGES = {
    "apiextensions.k8s.io": "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions",
    "apiregistration.k8s.io": "io.k8s.kube-aggregator.pkg.apis.apiregistration",
}

# every group-version that DeleteOptions and WatchEvent are registered in, and those that version 2 alone tells of
GROUPS: dict[str, tuple[str, ...]] = {
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
MORE_GROUPS: dict[str, tuple[str, ...]] = {
    "admission.k8s.io": ("v1", "v1beta1"),
    "apiextensions.k8s.io": ("v1", "v1beta1"),
    "apiregistration.k8s.io": ("v1", "v1beta1"),
    "imagepolicy.k8s.io": ("v1alpha1",),
}

# name -> its type and place; one name has two texts, which are those of publish/texts.py
PARAMETERS: dict[str, tuple[str, str]] = {
    "allowWatchBookmarks": ("boolean", "query"),
    "continue": ("string", "query"),
    "dryRun": ("string", "query"),
    "fieldManager": ("string", "query"),
    "fieldManager for patch": ("string", "query"),
    "fieldSelector": ("string", "query"),
    "fieldValidation": ("string", "query"),
    "force": ("boolean", "query"),
    "gracePeriodSeconds": ("integer", "query"),
    "ignoreStoreReadErrorWithClusterBreakingPotential": ("boolean", "query"),
    "labelSelector": ("string", "query"),
    "limit": ("integer", "query"),
    "namespace": ("string", "path"),
    "orphanDependents": ("boolean", "query"),
    "path in path": ("string", "path"),
    "pretty": ("string", "query"),
    "propagationPolicy": ("string", "query"),
    "resourceVersion": ("string", "query"),
    "resourceVersionMatch": ("string", "query"),
    "sendInitialEvents": ("boolean", "query"),
    "shardSelector": ("string", "query"),
    "timeoutSeconds": ("integer", "query"),
    "watch": ("boolean", "query"),
}

# what a v2 document calls the parameters that its paths share: the names that a real server makes of a hash of its own
# parameter; kubectl looks for dryRun and fieldValidation in the operations themselves, and so they are not shared
SHARED: dict[str, str] = {
    "allowWatchBookmarks": "allowWatchBookmarks-HC2hJt-J",
    "continue": "continue-QfD61s0i",
    "fieldManager": "fieldManager-Qy4HdaTW",
    "fieldManager for patch": "fieldManager-7c6nTn1T",
    "fieldSelector": "fieldSelector-xIcQKXFG",
    "force": "force-tOGGb0Yi",
    "gracePeriodSeconds": "gracePeriodSeconds--K5HaBOS",
    "ignoreStoreReadErrorWithClusterBreakingPotential": "ignoreStoreReadErrorWithClusterBreakingPotential-QbNkfIqj",
    "labelSelector": "labelSelector-5Zw57w4C",
    "limit": "limit-1NfNmdNH",
    "namespace": "namespace-vgWSWtn3",
    "orphanDependents": "orphanDependents-uRB25kX5",
    "path in path": "path-z6Ciiujn",
    "pretty": "pretty-tJGM1-ng",
    "propagationPolicy": "propagationPolicy-6jk3prlO",
    "resourceVersion": "resourceVersion-5WAnf1kx",
    "resourceVersionMatch": "resourceVersionMatch-t8XhRHeC",
    "sendInitialEvents": "sendInitialEvents-rLXlEK_k",
    "shardSelector": "shardSelector-Kgyki_3_",
    "timeoutSeconds": "timeoutSeconds-yvYezaOC",
    "watch": "watch-XNNPZGbK",
}
# the same for the options of what leads on: kind of the options -> their types -> their names with the hashes
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
SHARED |= {
    f"{name.partition('-')[0]} {kind} {form}": name
    for kind, forms in _OPTIONS.items()
    for form, names in forms.items()
    for name in names
}
# the same for bodies that are of no certain kind: component -> name
BODIES = {"DeleteOptions": "body-2Y1dVQaQ", "Patch": "body-78PwaGsr"}
# how clients say who they are
BEARER = {"description": "A token, as Bearer TOKEN.", "type": "apiKey", "name": "authorization", "in": "header"}


def package_of(group: str, version: str) -> str:
    """What stands before the names of a built-in group's components."""
    known = _PACKAGES.get(group) or f"io.k8s.api.{group.partition('.')[0] or 'core'}"
    return f"{known}.{version}."
