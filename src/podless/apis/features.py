"""The Kubernetes releases that podless supports, and the changes of behaviour between them.

CHANGES names changes of behaviour without a feature gate (for gates see apis/gates.py), with the releases that behave
as the newest one. Code asks for either by name (runtime/release.py), never for a release.

Sources: recorded answers of kube-apiserver 1.30 to 1.36, and the changelogs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from podless.apis.gates import GATES, apply_gates, list_ineffective
from podless.apis.wording import make_sources, make_wording
from podless.runtime.bounded import bounded_cache
from podless.runtime.option import StartError
from podless.runtime.release import Release, covers

# RECORDED is the newest release with recorded answers; later ones follow from their published documents
OLDEST, RECORDED, LATEST = 30, 36, 37
NAMES: Final = tuple(f"1.{minor}" for minor in range(OLDEST, LATEST + 1))
DEFAULT: Final = f"1.{RECORDED}"
UNRECORDED: Final = f"{NAMES[-1]} is a preview that was not compared with a real server"  # for help texts
SPANS: Final = "1.31,1.33, 1.31-1.33 or 1.31-"  # the formats that choose_all accepts, for help texts


# name of the change: the releases that have it
CHANGES: Final[Mapping[str, str]] = {
    # CEL libraries: the release after the one that added them, because new expressions can use them only from then on
    "CELFormat": "1.31-",
    "CELOptionalsV2": "1.33-",
    "CELTwoVariables": "1.33-",
    "CELSemver": "1.34-",
    "CELListsV3": "1.35-",
    "EmulationInVersion": "1.31-",
    "BadDeleteOptions": "1.35-",  # invalid DeleteOptions are rejected with 400, before with 500
    "NumericFormats": "1.36-",  # formats of numbers are validated
    # changes of a pod's spec increase its generation, regardless of PodObservedGenerationTracking
    "PodGenerations": "1.33-",
    "SeldomFormatWarnings": "1.36-",  # warnings also about formats of numbers and other types
    "FormatWarnings": "1.34-",
    "ValuesAsJSON": "1.34-",  # field errors show values as JSON, before in Go's syntax
    "CELShownValues": "1.35-",  # failed rules show the value, before its type
    # warnings about forms of addresses and ranges; before, Services had some of them in other words
    "AddressWarnings": "1.33-",
    "HeadlessAffinityWarning": "1.34-",
    "PreferCloseDeprecated": "1.35-",
    "ExternalIPsDeprecated": "1.36-",
    "TokenRequestUIDs": "1.34-",
    "TokensInSecrets": "1.35-",  # warnings recommend tokens in Secrets to CSI drivers
    "OverlapsOfOthers": "-1.31,1.34-",  # no warning that a downward API file overlaps itself
    "AppArmorFieldsOnly": "1.34-",  # AppArmor annotations are not set from the fields
    "ContainerRestartPolicies": "1.34-",  # all containers can have restart policies, not only init containers
    "StatefulSetTemplates": "1.34-",  # pod templates of StatefulSets are fully validated
    "ChangeableHistoryLimit": "1.33-",  # revisionHistoryLimit of StatefulSets is mutable
    "GroupedReferences": "1.34-",  # an autoscaler's scaleTargetRef must name an API group
    "OneFaultOfAddresses": "1.33-",  # one error for each invalid address of an EndpointSlice
    "NameFormats": "1.35-",  # the formats k8s-short-name and k8s-long-name are validated
    "SomeKeys": "1.34-",  # items of list maps need not have all keys
    "WholeDecodePaths": "1.35-",  # paths of decode errors include inlined fields and types with their own decoders
    "BadRevisions": "1.33-",  # an invalid resourceVersion of a list is rejected with 400, before with 500
    "SetsOnce": "1.34-",  # DaemonSets and ReplicaSets: updates are validated once
    "TolerationValues": "1.32-",  # errors show a toleration's value, before the toleration
    "PathsOfFinalizers": "1.32-",  # warnings about finalizers name their path
    "HintOfZeroSleep": "1.32-",  # errors about sleep seconds have a hint about zero
    "ReasonsOfCreatingApplies": "1.32-",  # a forbidden create by server-side apply shows the full reason
    "ServicesOnce": "1.34-",  # Services: updates report metadata errors once
    "MissingBeforePreconditions": "1.34-",  # a write to a missing object is 404, whatever its preconditions
    "BadImpersonation": "1.35-",  # impersonation without a user is rejected with 400, before with 500
    "NoBlueprints": "-1.31,1.34-",  # bookmarks of watch lists have no annotation with an empty list
    "TablesOfWatchLists": "-1.31,1.33-",  # watch lists can be Tables
    "MachinesOfKernels": "1.36-",  # the kernel column of nodes shows the architecture, too
    "CELSizesOfConversions": "1.33-",  # cost estimates know the sizes of dyn() and of optional numbers
    "CELIntOrStringLengths": "1.33-",  # cost estimates know maxLength of int-or-string fields
    "CELCostOfOpaqueEquality": "1.32-",  # comparing opaque values costs one unit
    "CELPlainKeywords": "1.32-",  # reserved words are field names without their escape
    "OneStatus": "1.31-",  # resource.k8s.io/v1alpha2 has no Status of its own in OpenAPI
    "GatedPodTimes": "1.31-",  # the condition of a pod with scheduling gates has a lastTransitionTime
    "PlainRevisionData": "1.31-",  # errors show data of ControllerRevisions as bytes, before as a Go type
    "ServiceSelectors": "1.31-",  # field selectors for a Service's type and clusterIP
    "CheckedBundles": "1.31-",  # caBundles in definitions are validated
    "MatchResourcesPath": "1.32-",  # errors have the right path of a binding's matchResources
    "CELFoundTypes": "1.32-",  # errors name the found type of an expression next to the wanted ones
    # a list at an exact future resourceVersion times out, before it failed with an error of etcd
    "FutureRevisions": "1.34-",
    "MissingComponents": "1.33-",  # a missing ComponentStatus is 404, before 500
    "DriversOfNodes": "1.33-",  # errors about immutable fields of CSINode drivers have their path, before their type
    "OwnersWithoutPlaces": "-1.36",  # paths of errors have no index of ownerReferences
    # the syntax of a patch is checked after its object is found; later releases check it first
    "LatePatchSyntax": "-1.36",
    "YAMLDecodeErrors": "-1.36",  # decode errors of apply configurations speak of YAML; later releases of a patch
    # errors about the attributes of a review have the path of one of them; later releases have that of the spec
    "ReviewAttributePaths": "-1.36",
    "StatusPaths": "1.31-",  # paths of errors in the status of custom objects begin with "status"
    "LowerYAMLErrors": "1.31-",  # errors of YAML keys that are not strings
    "FixedQOSClass": "1.32-",  # status.qosClass of pods is kept and immutable
    "NoMoreBelowLogic": "1.31-",  # additionalProperties: false is allowed below allOf, anyOf, oneOf and not
    "StatusRatcheting": "1.31-",  # rules are ratcheted in status updates, too
    "NoLogs": "1.31-",  # /logs is not served
    "CELIndexesBeyond": "1.32-",  # indexOf and lastIndexOf accept the index after the end of a string
    "CELLastIndexOfNothing": "1.34-",  # lastIndexOf in an empty string returns -1
    # resize may lower memory limits, or set a first one, without restarting the container
    "ShrinkingMemoryLimits": "1.34-",
    "PodResizeValidator": "1.36-",  # resizes are compared with the node of the pod
    "ResizesOfPodsByGate": "1.35-",  # errors about resizes of pod-level resources name a gate
    "BareRequired": "1.34-",  # required errors of embedded resources have no text
    "ToleranceInAnnotations": "1.33-",  # autoscaling/v1 has the tolerance of autoscalers in annotations
    "EvictionReasons": "1.35-",  # rejected evictions give another reason if there are enough healthy pods
    "ForbiddenWhileTerminating": "1.34-",  # creates while a definition is terminating are 403, before 405
    "EmptiedFields": "1.36-",  # emptied fields of an apply stay empty maps and lists, before they became null
    "AcceptBeforeOptions": "-1.31,1.36-",  # the Accept header is checked before the options of lists and watches
    "ImpersonationAsUser": "1.36-",  # errors of impersonation without a user name show the user, before its parts
    "PodSpecOfHeldJobs": "1.36-",  # suspended Jobs: errors name the pod spec as immutable
    "StartTimesOfJobs": "1.36-",  # a changed startTime of a Job is an invalid value, before a missing one
    "RequiredMaxReplicas": "1.36-",  # a missing maxReplicas is a required error
    "RequiredFlowTypes": "1.36-",  # an empty type of a priority level or its response is a required error
    "RequiredHandlers": "1.36-",  # an empty handler of a RuntimeClass is a required error
    "ImmutableStorageClasses": "1.36-",  # changes of StorageClasses are errors of immutable fields
    # an empty attacher is a required error, and names of volumes are validated in updates, too
    "AttachersOnce": "1.36-",
    "NetworkPoliciesOnce": "1.36-",  # updates of NetworkPolicies are validated only if the spec changes
    "PlainItems": "1.36-",  # items of lists and maps have no defaults in OpenAPI
    "EmptyImageReferences": "-1.36",  # pod templates may have image volumes without a reference
    # errors about long messages in VolumeAttachments name a larger limit than they enforce
    "OddMessageLimits": "-1.36",
    "AlwaysOneReplica": "-1.36",  # minReplicas of autoscalers is at least 1; later releases have a gate for it
    "RecursiveLabelChanges": "-1.36",  # seLinuxChangePolicy is Recursive; later releases have a gate for MountOption
    "BareHTTPRules": "-1.36",  # HTTP rules of Ingresses have no description in OpenAPI
    "PublishedExamples": "1.36-",  # example and externalDocs of custom kinds are published in OpenAPI, and validated
    "ShardSelectors": "1.36-",  # OpenAPI has parameters for shard selectors
    "UnsafeDeletes": "1.32-",  # OpenAPI has parameters for unsafe deletes
    "DetailsAreNoList": "1.35-",  # details of a Status have no x-kubernetes-list-type in OpenAPI
    "DefaultReplicas": "1.34-",  # OpenAPI has a default for replicas of scales
    "SelectableFieldsIfAny": "-1.31,1.33-",  # OpenAPI has selectableFields only if there are any
    "UpdatesOnce": "1.35-",  # RBAC kinds, claims and replication controllers: updates are validated once
    "MissingDriversOnce": "1.35-",  # a missing CSI driver is only a required error, before also an invalid name
    "StrictURLHosts": "1.36-",  # the host of a URL has one colon, or is an IPv6 address in brackets
    "OmittedTimestamps": "1.34-",  # creationTimestamp is omitted instead of null
    "StatusResetsMetadata": "1.36-",  # custom objects: a status update owns no metadata
}


def choose_release(name: str = DEFAULT, gates: Mapping[str, bool] | None = None) -> Release:
    """Return a release with some gates set. Raises StartError for an unknown release or gate, or a locked gate."""
    if name not in NAMES:
        raise StartError(f"kubernetes-version: {name!r} is not one of {', '.join(NAMES)}")
    release = _release(name)
    if not gates:
        return release
    without = set(release.without)
    for gate, on in apply_gates(release.minor, gates).items():
        (without.discard if on else without.add)(gate)
    return replace(release, without=frozenset(without))


def describe_ineffective(name: str, gates: Mapping[str, bool]) -> str:
    """Return a warning about gates that are set and have no effect in podless, or ""."""
    idle = list_ineffective(_release(name).minor, gates)
    return f"feature-gates: no effect in podless: {', '.join(idle)}" if idle else ""


def choose_all(span: str) -> tuple[Release, ...]:
    """Return the releases in a span such as 1.31,1.34-, oldest first. Raises StartError."""
    for name in re.split("[,-]", span):
        if name:
            choose_release(name)
    try:
        chosen = tuple(choose_release(name) for name in NAMES if covers(span, _release(name).minor))
    except ValueError as error:
        raise StartError(f"kubernetes-version: {error}") from None
    if not chosen:
        raise StartError(f"kubernetes-version: no release is in {span!r}: put the older release first, as in 1.31-1.33")
    return chosen


@bounded_cache(16)
def _release(name: str) -> Release:
    minor = int(name.partition(".")[2])
    off = {gate.name for gate in GATES.values() if gate.has_effect(minor) and not gate.is_on(minor)}
    without = frozenset(off.union(one for one, span in CHANGES.items() if not covers(span, minor)))
    return Release(name, minor, without, make_wording(minor), make_sources(minor))


def parse_gates(text: str) -> dict[str, bool]:
    """Parse gates in kube-apiserver's format, NAME=true|false,… Raises ValueError."""
    found: dict[str, bool] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = (piece.strip() for piece in part.partition("="))
        if not name:
            raise ValueError(f"{part}: the name of a gate is missing")
        if value.lower() not in ("true", "false"):
            raise ValueError(f"{part}: the value must be true or false")
        found[name] = value.lower() == "true"
    return found
