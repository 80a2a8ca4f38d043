"""What is published of the structs of secrets, service accounts and events; see facts.py."""

# ruff: noqa: E501

from __future__ import annotations

from podless.publish.openapi.fact import CORE, Fact

FACTS: dict[str, Fact] = {
    CORE + "Secret": Fact(
        "Secret holds secret data of a certain type. The total bytes of the values in the Data field must be less than MaxSecretSize bytes.",
        (),
        {
            "metadata": "Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata",
            "immutable": "Immutable, if set to true, ensures that data stored in the Secret cannot be updated (only object metadata can be modified). If not set to true, the field can be modified at any time. Defaulted to nil.",
            "data": "Data contains the secret data. Each key must consist of alphanumeric characters, '-', '_' or '.'. The serialized form of the secret data is a base64 encoded string, representing the arbitrary (possibly non-string) data value here. Described in https://tools.ietf.org/html/rfc4648#section-4",
            "stringData": "stringData allows specifying non-binary secret data in string form. It is provided as a write-only input field for convenience. All keys and values are merged into the data field on write, overwriting any existing values. The stringData field is never output when reading from the API.",
            "type": "Used to facilitate programmatic handling of secret data. More info: https://kubernetes.io/docs/concepts/configuration/secret/#secret-types",
        },
    ),
    CORE + "SecretList": Fact(
        "SecretList is a list of Secret.",
        ("items",),
        {
            "metadata": "Standard list metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds",
            "items": "Items is a list of secret objects. More info: https://kubernetes.io/docs/concepts/configuration/secret",
        },
    ),
    CORE + "ServiceAccount": Fact(
        "ServiceAccount binds together: * a name, understood by users, and perhaps by peripheral systems, for an identity * a principal that can be authenticated and authorized * a set of secrets",
        (),
        {
            "metadata": "Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata",
            "secrets": 'Secrets is a list of the secrets in the same namespace that pods running using this ServiceAccount are allowed to use. Pods are only limited to this list if this service account has a "kubernetes.io/enforce-mountable-secrets" annotation set to "true". The "kubernetes.io/enforce-mountable-secrets" annotation is deprecated since v1.32. Prefer separate namespaces to isolate access to mounted secrets. This field should not be used to find auto-generated service account token secrets for use outside of pods. Instead, tokens can be requested directly using the TokenRequest API, or service account token secrets can be manually created. More info: https://kubernetes.io/docs/concepts/configuration/secret',
            "imagePullSecrets": "ImagePullSecrets is a list of references to secrets in the same namespace to use for pulling any images in pods that reference this ServiceAccount. ImagePullSecrets are distinct from Secrets because Secrets can be mounted in the pod, but ImagePullSecrets are only accessed by the kubelet. More info: https://kubernetes.io/docs/concepts/containers/images/#specifying-imagepullsecrets-on-a-pod",
            "automountServiceAccountToken": "AutomountServiceAccountToken indicates whether pods running as this service account should have an API token automatically mounted. Can be overridden at the pod level.",
        },
        {
            "secrets": {
                "x-kubernetes-list-map-keys": ["name"],
                "x-kubernetes-list-type": "map",
                "x-kubernetes-patch-merge-key": "name",
                "x-kubernetes-patch-strategy": "merge",
            },
            "imagePullSecrets": {"x-kubernetes-list-type": "atomic"},
        },
    ),
    CORE + "ServiceAccountList": Fact(
        "ServiceAccountList is a list of ServiceAccount objects",
        ("items",),
        {
            "metadata": "Standard list metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds",
            "items": "List of ServiceAccounts. More info: https://kubernetes.io/docs/tasks/configure-pod-container/configure-service-account/",
        },
    ),
    CORE + "ObjectReference": Fact(
        "ObjectReference contains enough information to let you inspect or modify the referred object.",
        (),
        {
            "kind": "Kind of the referent. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds",
            "namespace": "Namespace of the referent. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/",
            "name": "Name of the referent. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#names",
            "uid": "UID of the referent. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#uids",
            "apiVersion": "API version of the referent.",
            "resourceVersion": "Specific resourceVersion to which this reference is made, if any. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#concurrency-control-and-consistency",
            "fieldPath": 'If referring to a piece of an object instead of an entire object, this string should contain a valid JSON/Go field access statement, such as desiredState.manifest.containers[2]. For example, if the object reference is to a container within a pod, this would take on a value like: "spec.containers{name}" (where "name" refers to the name of the container that triggered the event) or if no container name is specified "spec.containers[2]" (container with index 2 in this pod). This syntax is chosen only to have some well-defined way of referencing a part of an object.',
        },
    ),
    CORE + "LocalObjectReference": Fact(
        "LocalObjectReference contains enough information to let you locate the referenced object inside the same namespace.",
        (),
        {
            "name": "Name of the referent. This field is effectively required, but due to backwards compatibility is allowed to be empty. Instances of this type with an empty value here are almost certainly wrong. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#names"
        },
        {"name": {"default": ""}},
    ),
    CORE + "Event": Fact(
        "Event is a report of an event somewhere in the cluster.  Events have a limited retention time and triggers and messages may evolve with time.  Event consumers should not rely on the timing of an event with a given Reason reflecting a consistent underlying trigger, or the continued existence of events with that Reason.  Events should be treated as informative, best-effort, supplemental data.",
        ("metadata", "involvedObject"),
        {
            "metadata": "Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata",
            "involvedObject": "The object that this event is about.",
            "reason": "This should be a short, machine understandable string that gives the reason for the transition into the object's current status.",
            "message": "A human-readable description of the status of this operation.",
            "source": "The component reporting this event. Should be a short machine understandable string.",
            "firstTimestamp": "The time at which the event was first recorded. (Time of server receipt is in TypeMeta.)",
            "lastTimestamp": "The time at which the most recent occurrence of this event was recorded.",
            "count": "The number of times this event has occurred.",
            "type": "Type of this event (Normal, Warning), new types could be added in the future",
            "eventTime": "Time when this Event was first observed.",
            "series": "Data about the Event series this event represents or nil if it's a singleton Event.",
            "action": "What action was taken/failed regarding to the Regarding object.",
            "related": "Optional secondary object for more complex actions.",
            "reportingComponent": "Name of the controller that emitted this Event, e.g. `kubernetes.io/kubelet`.",
            "reportingInstance": "ID of the controller instance, e.g. `kubelet-xyzf`.",
        },
    ),
    CORE + "EventList": Fact(
        "EventList is a list of events.",
        ("items",),
        {
            "metadata": "Standard list metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds",
            "items": "List of events",
        },
    ),
    CORE + "EventSeries": Fact(
        "EventSeries contain information on series of events, i.e. thing that was/is happening continuously for some time.",
        (),
        {
            "count": "Number of occurrences in this series up to the last heartbeat time",
            "lastObservedTime": "Time of the last occurrence observed",
        },
    ),
    CORE + "EventSource": Fact(
        "EventSource contains information for an event.",
        (),
        {
            "component": "Component from which the event is generated.",
            "host": "Node name on which the event is generated.",
        },
    ),
    CORE + "ResourceQuota": Fact(
        "ResourceQuota sets aggregate quota restrictions enforced per namespace",
        (),
        {
            "metadata": "Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata",
            "spec": "Spec defines the desired quota. https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#spec-and-status",
            "status": "Status defines the actual enforced quota and its current usage. https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#spec-and-status",
        },
    ),
    CORE + "ResourceQuotaList": Fact(
        "ResourceQuotaList is a list of ResourceQuota items.",
        ("items",),
        {
            "metadata": "Standard list metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds",
            "items": "Items is a list of ResourceQuota objects. More info: https://kubernetes.io/docs/concepts/policy/resource-quotas/",
        },
    ),
    CORE + "ResourceQuotaSpec": Fact(
        "ResourceQuotaSpec defines the desired hard limits to enforce for Quota.",
        (),
        {
            "hard": "hard is the set of desired hard limits for each named resource. More info: https://kubernetes.io/docs/concepts/policy/resource-quotas/",
            "scopes": 'A collection of filters that must match each object tracked by a quota. If not specified, the quota matches all objects.\n\nPossible enum values:\n - `"BestEffort"` Match all pod objects that have best effort quality of service\n - `"CrossNamespacePodAffinity"` Match all pod objects that have cross-namespace pod (anti)affinity mentioned.\n - `"NotBestEffort"` Match all pod objects that do not have best effort quality of service\n - `"NotTerminating"` Match all pod objects where spec.activeDeadlineSeconds is nil\n - `"PriorityClass"` Match all pod objects that have priority class mentioned\n - `"Terminating"` Match all pod objects where spec.activeDeadlineSeconds >=0\n - `"VolumeAttributesClass"` Match all pvc objects that have volume attributes class mentioned.',
            "scopeSelector": "scopeSelector is also a collection of filters like scopes that must match each object tracked by a quota but expressed using ScopeSelectorOperator in combination with possible values. For a resource to match, both scopes AND scopeSelector (if specified in spec), must be matched.",
        },
        {"scopes": {"x-kubernetes-list-type": "atomic"}},
    ),
    CORE + "ResourceQuotaStatus": Fact(
        "ResourceQuotaStatus defines the enforced hard limits and observed use.",
        (),
        {
            "hard": "Hard is the set of enforced hard limits for each named resource. More info: https://kubernetes.io/docs/concepts/policy/resource-quotas/",
            "used": "Used is the current observed total usage of the resource in the namespace.",
        },
    ),
    CORE + "ScopeSelector": Fact(
        "A scope selector represents the AND of the selectors represented by the scoped-resource selector requirements.",
        (),
        {"matchExpressions": "A list of scope selector requirements by scope of the resources."},
        {"matchExpressions": {"x-kubernetes-list-type": "atomic"}},
    ),
    CORE + "ScopedResourceSelectorRequirement": Fact(
        "A scoped-resource selector requirement is a selector that contains values, a scope name, and an operator that relates the scope name and values.",
        ("scopeName", "operator"),
        {
            "scopeName": 'The name of the scope that the selector applies to.\n\nPossible enum values:\n - `"BestEffort"` Match all pod objects that have best effort quality of service\n - `"CrossNamespacePodAffinity"` Match all pod objects that have cross-namespace pod (anti)affinity mentioned.\n - `"NotBestEffort"` Match all pod objects that do not have best effort quality of service\n - `"NotTerminating"` Match all pod objects where spec.activeDeadlineSeconds is nil\n - `"PriorityClass"` Match all pod objects that have priority class mentioned\n - `"Terminating"` Match all pod objects where spec.activeDeadlineSeconds >=0\n - `"VolumeAttributesClass"` Match all pvc objects that have volume attributes class mentioned.',
            "operator": 'Represents a scope\'s relationship to a set of values. Valid operators are In, NotIn, Exists, DoesNotExist.\n\nPossible enum values:\n - `"DoesNotExist"`\n - `"Exists"`\n - `"In"`\n - `"NotIn"`',
            "values": "An array of string values. If the operator is In or NotIn, the values array must be non-empty. If the operator is Exists or DoesNotExist, the values array must be empty. This array is replaced during a strategic merge patch.",
        },
        {
            "scopeName": {
                "enum": [
                    "BestEffort",
                    "CrossNamespacePodAffinity",
                    "NotBestEffort",
                    "NotTerminating",
                    "PriorityClass",
                    "Terminating",
                    "VolumeAttributesClass",
                ]
            },
            "operator": {"enum": ["DoesNotExist", "Exists", "In", "NotIn"]},
            "values": {"x-kubernetes-list-type": "atomic"},
        },
    ),
}
