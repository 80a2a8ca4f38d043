"""The Kubernetes releases that podless speaks, and what differs between them.

CHANGES has names of our own for what a release does otherwise without a feature gate (apis/gates.py): the releases that
do it as the newest one does. Code asks for either by name (runtime/release.py), never for a release.

Sources: recorded answers of kube-apiservers 1.30 to 1.36, and the changelogs.
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

# the newest release whose answers are recorded: later ones are known by what they publish
OLDEST, RECORDED, LATEST = 30, 36, 37
NAMES: Final = tuple(f"1.{minor}" for minor in range(OLDEST, LATEST + 1))
DEFAULT: Final = f"1.{RECORDED}"
UNRECORDED: Final = f"{NAMES[-1]} is a preview: not compared with a real server yet"  # for help
SPANS: Final = "1.31,1.33, 1.31-1.33 or 1.31-"  # the forms that choose_all takes, for help


# name of the change -> the releases that have it
CHANGES: Final[Mapping[str, str]] = {
    # libraries of CEL: the first release that takes them in new expressions is one behind the one that brought them
    "CELFormat": "1.31-",
    "CELOptionalsV2": "1.33-",
    "CELTwoVariables": "1.33-",
    "CELSemver": "1.34-",
    "CELListsV3": "1.35-",
    "EmulationInVersion": "1.31-",
    "BadDeleteOptions": "1.35-",  # are 400, and were 500
    "NumericFormats": "1.36-",  # are checked
    "PodGenerations": "1.33-",  # count changes of the spec, whatever PodObservedGenerationTracking says of the status
    "SeldomFormatWarnings": "1.36-",  # also for numbers, and for formats of other types
    "FormatWarnings": "1.34-",
    "ValuesAsJSON": "1.34-",  # in field errors; in Go's syntax before
    "CELShownValues": "1.35-",  # in failures of rules; types before
    "HeadlessAffinityWarning": "1.34-",
    "PreferCloseDeprecated": "1.35-",
    "ExternalIPsDeprecated": "1.36-",
    "TokenRequestUIDs": "1.34-",
    "TokensInSecrets": "1.35-",  # are recommended to CSI drivers that want tokens
    "OverlapsOfOthers": "-1.31,1.34-",  # no file of the downward API is told to be in its own way
    "AppArmorFieldsOnly": "1.34-",  # no annotations of pods are made of them
    "ContainerRestartPolicies": "1.34-",  # are known, also of those that are no init containers
    "StatefulSetTemplates": "1.34-",  # are validated as those of others are
    "ChangeableHistoryLimit": "1.33-",  # of StatefulSets
    "GroupedReferences": "1.34-",  # the targets of autoscalers name an API group
    "OneFaultOfAddresses": "1.33-",  # of EndpointSlices
    "NameFormats": "1.35-",  # k8s-short-name and k8s-long-name are checked
    "SomeKeys": "1.34-",  # of an item of a map list are enough
    "WholeDecodePaths": "1.35-",  # have what is inline, and what types that decode themselves say
    "BadRevisions": "1.33-",  # of lists are 400, and were 500
    "SetsOnce": "1.34-",  # are validated in updates: DaemonSets and ReplicaSets
    "TolerationValues": "1.32-",  # are shown alone, and not with the toleration
    "PathsOfFinalizers": "1.32-",  # are named in warnings
    "HintOfZeroSleep": "1.32-",  # is in errors about the seconds to sleep
    "ReasonsOfCreatingApplies": "1.32-",  # that are forbidden are told in full
    "ServicesOnce": "1.34-",  # are not told twice of errors of their metadata in updates
    "MissingBeforePreconditions": "1.34-",  # a write to a missing object is 404, whatever it wants of it
    "BadImpersonation": "1.35-",  # without a user is 400, and was 500
    "NoBlueprints": "-1.31,1.34-",  # of lists are in bookmarks
    "TablesOfWatchLists": "-1.31,1.33-",  # are served
    "MachinesOfKernels": "1.36-",  # are in the column of nodes' kernels
    "CELSizesOfConversions": "1.33-",  # by dyn, and those of optional numbers, are known to estimates of costs
    "CELIntOrStringLengths": "1.33-",  # that definitions limit are known to estimates of costs
    "CELCostOfOpaqueEquality": "1.32-",  # is one unit
    "CELPlainKeywords": "1.32-",  # are names of fields without their escape
    "OneStatus": "1.31-",  # in OpenAPI; resource.k8s.io/v1alpha2 had one, too
    "GatedPodTimes": "1.31-",  # are set: when scheduling gates began to hold a pod
    "PlainRevisionData": "1.31-",  # of ControllerRevisions, in errors; as a type with its own encoding before
    "ServiceSelectors": "1.31-",  # for the type and the address of services
    "CheckedBundles": "1.31-",  # of certificates, in definitions
    "MatchResourcesPath": "1.32-",  # of policy bindings is spelled right in errors
    "CELFoundTypes": "1.32-",  # of expressions of policies are told with those that are wanted
    "FutureRevisions": "1.34-",  # that lists ask for exactly are a timeout, and were an error of etcd
    "MissingComponents": "1.33-",  # are 404, and were 500
    "DriversOfNodes": "1.33-",  # that must not change are named by their path, and were by their type
    "OwnersWithoutPlaces": "-1.36",  # are in the paths of errors
    "LatePatchSyntax": "-1.36",  # is told when the patch is decoded; it was not looked at before the object
    "YAMLDecodeErrors": "-1.36",  # of applied objects are told as such, and not as those of a patch
    "ReviewAttributePaths": "-1.36",  # of errors name one of the two that a review can have
    "StatusPaths": "1.31-",  # of errors in the status of custom objects begin with it
    "LowerYAMLErrors": "1.31-",  # of keys that are no text
    "FixedQOSClass": "1.32-",  # is kept, and must not change in the status of pods
    "NoMoreBelowLogic": "1.31-",  # additionalProperties: false may stand below allOf, anyOf, oneOf and not
    "StatusRatcheting": "1.31-",  # of rules, where the status alone is written
    "NoLogs": "1.31-",  # are served at /logs
    "CELIndexesBeyond": "1.32-",  # of the end of a string are no errors of indexOf and lastIndexOf
    "CELLastIndexOfNothing": "1.34-",  # in an empty string is -1
    "ShrinkingMemoryLimits": "1.34-",  # are fine in a resize, and first ones, without a restart of the container
    "BareRequired": "1.34-",  # is told of embedded resources without words
    "ToleranceInAnnotations": "1.33-",  # of autoscalers in autoscaling/v1
    "EvictionReasons": "1.35-",  # are told where there are enough healthy pods
    "ForbiddenWhileTerminating": "1.34-",  # are creates while the definition goes; they were 405
    "EmptiedFields": "1.36-",  # of an apply stay as empty maps and lists; they became null
    "AcceptBeforeOptions": "-1.31,1.36-",  # what a client takes is looked at before the options of lists and watches
    "ImpersonationAsUser": "1.36-",  # without a user's name is told as a user
    "PodSpecOfHeldJobs": "1.36-",  # is what must not change, told alone
    "RequiredMaxReplicas": "1.36-",  # none at all are told as missing
    "RequiredHandlers": "1.36-",  # of runtime classes: an empty one is told as missing
    "ImmutableStorageClasses": "1.36-",  # changes are told as those of immutable fields
    "AttachersOnce": "1.36-",  # are told as missing, and names of volumes are looked at in updates too
    "NetworkPoliciesOnce": "1.36-",  # are validated when they change
    "PlainItems": "1.36-",  # of lists and maps have no defaults in OpenAPI
    "EmptyImageReferences": "-1.36",  # of volumes are fine in templates of pods
    "OddMessageLimits": "-1.36",  # of errors of volumes are told: those of their metadata
    "BareHTTPRules": "-1.36",  # of Ingresses have no text in OpenAPI
    "PublishedExamples": "1.36-",  # and externalDocs of custom kinds are in OpenAPI, and looked at in definitions
    "ShardSelectors": "1.36-",  # are parameters in OpenAPI
    "UnsafeDeletes": "1.32-",  # are parameters in OpenAPI
    "DetailsAreNoList": "1.35-",  # in OpenAPI
    "DefaultReplicas": "1.34-",  # of scales are in OpenAPI
    "SelectableFieldsIfAny": "-1.31,1.33-",  # are in OpenAPI
    "UpdatesOnce": "1.35-",  # of RBAC, claims and replication controllers are validated once
    "MissingDriversOnce": "1.35-",  # of CSI are told as missing, and not as names that are wrong, too
    "StrictURLColons": "1.36-",  # only one may be in the host of a URL
    "OmittedTimestamps": "1.34-",  # creationTimestamp is left out where it was null
    "StatusResetsMetadata": "1.36-",  # of custom objects: who writes the status owns no metadata
}


def choose_release(name: str = DEFAULT, gates: Mapping[str, bool] | None = None) -> Release:
    """Return a release with some gates set. Raises StartError for one that is not known, or cannot be set so."""
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
    """Return a warning about gates that are set and change nothing here, or ""."""
    idle = list_ineffective(_release(name).minor, gates)
    return f"feature-gates: podless does not act on {', '.join(idle)}: it answers as by default" if idle else ""


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
    """Return the gates in NAME=true|false,… as kube-apiserver takes them. Raises ValueError."""
    found: dict[str, bool] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = (piece.strip() for piece in part.partition("="))
        if not name:
            raise ValueError(f"{part}: the name of a gate is missing")
        if value.lower() not in ("true", "false"):
            raise ValueError(f"{part}: the value must be true or false")
        found[name] = value.lower() == "true"
    return found
