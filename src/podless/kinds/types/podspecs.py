"""What is wanted of a pod: where it may run, as whom, and how."""

from __future__ import annotations

from podless.kinds.types.containers import (
    APP_ARMOR_PROFILE,
    CONTAINER,
    EPHEMERAL_CONTAINER,
    RESOURCE_REQUIREMENTS,
    SE_LINUX_OPTIONS,
    SECCOMP_PROFILE,
    WINDOWS_SECURITY_CONTEXT_OPTIONS,
)
from podless.kinds.types.core import LOCAL_OBJECT_REFERENCE, RESOURCES
from podless.kinds.types.topology import NODE_SELECTOR, NODE_SELECTOR_TERM
from podless.kinds.types.volumes import VOLUME
from podless.meta.gotypes import BOOL, INT32, INT64, STRING, ListOf, String
from podless.meta.structs import Field, Struct
from podless.meta.structs_meta import LABEL_SELECTOR, OBJECT_META, STRING_MAP, STRINGS

_NODE_INCLUSION_POLICY = String("v1.NodeInclusionPolicy", ("Honor", "Ignore"))

SYSCTL = Struct("Sysctl", (Field("name", STRING, 1, always=True), Field("value", STRING, 2, always=True)))

POD_SECURITY_CONTEXT = Struct(
    "PodSecurityContext",
    (
        Field("seLinuxOptions", SE_LINUX_OPTIONS, 1, pointer=True),
        Field("windowsOptions", WINDOWS_SECURITY_CONTEXT_OPTIONS, 8, pointer=True),
        Field("runAsUser", INT64, 2, pointer=True),
        Field("runAsGroup", INT64, 6, pointer=True),
        Field("runAsNonRoot", BOOL, 3, pointer=True),
        Field("supplementalGroups", ListOf(INT64), 4),
        Field("supplementalGroupsPolicy", String("v1.SupplementalGroupsPolicy", ("Merge", "Strict")), 12, pointer=True),
        Field("fsGroup", INT64, 5, pointer=True),
        Field("sysctls", ListOf(SYSCTL), 7),
        Field(
            "fsGroupChangePolicy", String("v1.PodFSGroupChangePolicy", ("Always", "OnRootMismatch")), 9, pointer=True
        ),
        Field("seccompProfile", SECCOMP_PROFILE, 10, pointer=True),
        Field("appArmorProfile", APP_ARMOR_PROFILE, 11, pointer=True),
        Field("seLinuxChangePolicy", String("v1.PodSELinuxChangePolicy"), 13, pointer=True),
    ),
)

PREFERRED_SCHEDULING_TERM = Struct(
    "PreferredSchedulingTerm",
    (Field("weight", INT32, 1, always=True), Field("preference", NODE_SELECTOR_TERM, 2, always=True)),
)

NODE_AFFINITY = Struct(
    "NodeAffinity",
    (
        Field("requiredDuringSchedulingIgnoredDuringExecution", NODE_SELECTOR, 1, pointer=True),
        Field("preferredDuringSchedulingIgnoredDuringExecution", ListOf(PREFERRED_SCHEDULING_TERM), 2),
    ),
)

POD_AFFINITY_TERM = Struct(
    "PodAffinityTerm",
    (
        Field("labelSelector", LABEL_SELECTOR, 1, pointer=True),
        Field("namespaces", STRINGS, 2),
        Field("topologyKey", STRING, 3, always=True),
        Field("namespaceSelector", LABEL_SELECTOR, 4, pointer=True),
        Field("matchLabelKeys", STRINGS, 5),
        Field("mismatchLabelKeys", STRINGS, 6),
    ),
)

WEIGHTED_POD_AFFINITY_TERM = Struct(
    "WeightedPodAffinityTerm",
    (Field("weight", INT32, 1, always=True), Field("podAffinityTerm", POD_AFFINITY_TERM, 2, always=True)),
)

POD_AFFINITY = Struct(
    "PodAffinity",
    (
        Field("requiredDuringSchedulingIgnoredDuringExecution", ListOf(POD_AFFINITY_TERM), 1),
        Field("preferredDuringSchedulingIgnoredDuringExecution", ListOf(WEIGHTED_POD_AFFINITY_TERM), 2),
    ),
)

POD_ANTI_AFFINITY = Struct(
    "PodAntiAffinity",
    (
        Field("requiredDuringSchedulingIgnoredDuringExecution", ListOf(POD_AFFINITY_TERM), 1),
        Field("preferredDuringSchedulingIgnoredDuringExecution", ListOf(WEIGHTED_POD_AFFINITY_TERM), 2),
    ),
)

AFFINITY = Struct(
    "Affinity",
    (
        Field("nodeAffinity", NODE_AFFINITY, 1, pointer=True),
        Field("podAffinity", POD_AFFINITY, 2, pointer=True),
        Field("podAntiAffinity", POD_ANTI_AFFINITY, 3, pointer=True),
    ),
)

TOLERATION = Struct(
    "Toleration",
    (
        Field("key", STRING, 1),
        Field("operator", String("v1.TolerationOperator", ("Equal", "Exists", "Gt", "Lt")), 2),
        Field("value", STRING, 3),
        Field("effect", String("v1.TaintEffect", ("NoExecute", "NoSchedule", "PreferNoSchedule")), 4),
        Field("tolerationSeconds", INT64, 5, pointer=True),
    ),
)

HOST_ALIAS = Struct("HostAlias", (Field("ip", STRING, 1, always=True), Field("hostnames", STRINGS, 2)))

POD_DNS_CONFIG_OPTION = Struct(
    "PodDNSConfigOption", (Field("name", STRING, 1), Field("value", STRING, 2, pointer=True))
)

POD_DNS_CONFIG = Struct(
    "PodDNSConfig",
    (
        Field("nameservers", STRINGS, 1),
        Field("searches", STRINGS, 2),
        Field("options", ListOf(POD_DNS_CONFIG_OPTION), 3),
    ),
)

POD_READINESS_GATE = Struct(
    "PodReadinessGate", (Field("conditionType", String("v1.PodConditionType"), 1, always=True),)
)

TOPOLOGY_SPREAD_CONSTRAINT = Struct(
    "TopologySpreadConstraint",
    (
        Field("maxSkew", INT32, 1, always=True),
        Field("topologyKey", STRING, 2, always=True),
        Field(
            "whenUnsatisfiable",
            String("v1.UnsatisfiableConstraintAction", ("DoNotSchedule", "ScheduleAnyway")),
            3,
            always=True,
        ),
        Field("labelSelector", LABEL_SELECTOR, 4, pointer=True),
        Field("minDomains", INT32, 5, pointer=True),
        Field("nodeAffinityPolicy", _NODE_INCLUSION_POLICY, 6, pointer=True),
        Field("nodeTaintsPolicy", _NODE_INCLUSION_POLICY, 7, pointer=True),
        Field("matchLabelKeys", STRINGS, 8),
    ),
)

POD_OS = Struct("PodOS", (Field("name", String("v1.OSName"), 1, always=True),))

POD_SCHEDULING_GATE = Struct("PodSchedulingGate", (Field("name", STRING, 1, always=True),))

POD_RESOURCE_CLAIM = Struct(
    "PodResourceClaim",
    (
        Field("name", STRING, 1, always=True),
        Field("resourceClaimName", STRING, 3, pointer=True),
        Field("resourceClaimTemplateName", STRING, 4, pointer=True),
    ),
)

POD_SCHEDULING_GROUP = Struct(
    "PodSchedulingGroup", (Field("podGroupName", STRING, 1, pointer=True),), union=("", ("podGroupName",))
)

POD_SPEC = Struct(
    "PodSpec",
    (
        Field("volumes", ListOf(VOLUME), 1, keys=("name",), patch="merge,retainKeys", merge="name"),
        Field("initContainers", ListOf(CONTAINER), 20, keys=("name",), patch="merge", merge="name"),
        Field("containers", ListOf(CONTAINER), 2, always=True, keys=("name",), patch="merge", merge="name"),
        Field("ephemeralContainers", ListOf(EPHEMERAL_CONTAINER), 34, keys=("name",), patch="merge", merge="name"),
        Field("restartPolicy", String("v1.RestartPolicy", ("Always", "Never", "OnFailure")), 3, fill="Always"),
        Field("terminationGracePeriodSeconds", INT64, 4, pointer=True, fill=30),
        Field("activeDeadlineSeconds", INT64, 5, pointer=True),
        Field(
            "dnsPolicy",
            String("v1.DNSPolicy", ("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None")),
            6,
            fill="ClusterFirst",
        ),
        Field("nodeSelector", STRING_MAP, 7, atomic=True),
        Field("serviceAccountName", STRING, 8),
        Field("serviceAccount", STRING, 9),
        Field("automountServiceAccountToken", BOOL, 21, pointer=True),
        Field("nodeName", STRING, 10),
        Field("hostNetwork", BOOL, 11),
        Field("hostPID", BOOL, 12),
        Field("hostIPC", BOOL, 13),
        Field("shareProcessNamespace", BOOL, 27, pointer=True),
        Field("securityContext", POD_SECURITY_CONTEXT, 14, pointer=True, fill={}),
        Field("imagePullSecrets", ListOf(LOCAL_OBJECT_REFERENCE), 15, keys=("name",), patch="merge", merge="name"),
        Field("hostname", STRING, 16),
        Field("subdomain", STRING, 17),
        Field("affinity", AFFINITY, 18, pointer=True),
        Field("schedulerName", STRING, 19, fill="default-scheduler"),
        Field("tolerations", ListOf(TOLERATION), 22),
        Field("hostAliases", ListOf(HOST_ALIAS), 23, keys=("ip",), patch="merge", merge="ip"),
        Field("priorityClassName", STRING, 24),
        Field("priority", INT32, 25, pointer=True),
        Field("dnsConfig", POD_DNS_CONFIG, 26, pointer=True),
        Field("readinessGates", ListOf(POD_READINESS_GATE), 28),
        Field("runtimeClassName", STRING, 29, pointer=True),
        Field("enableServiceLinks", BOOL, 30, pointer=True),
        Field("preemptionPolicy", String("v1.PreemptionPolicy", ("Never", "PreemptLowerPriority")), 31, pointer=True),
        Field("overhead", RESOURCES, 32),
        Field(
            "topologySpreadConstraints",
            ListOf(TOPOLOGY_SPREAD_CONSTRAINT),
            33,
            keys=("topologyKey", "whenUnsatisfiable"),
            patch="merge",
            merge="topologyKey",
        ),
        Field("setHostnameAsFQDN", BOOL, 35, pointer=True),
        Field("os", POD_OS, 36, pointer=True),
        Field("hostUsers", BOOL, 37, pointer=True),
        Field("schedulingGates", ListOf(POD_SCHEDULING_GATE), 38, keys=("name",), patch="merge", merge="name"),
        Field("resourceClaims", ListOf(POD_RESOURCE_CLAIM), 39, keys=("name",), patch="merge,retainKeys", merge="name"),
        Field("resources", RESOURCE_REQUIREMENTS, 40, pointer=True),
        Field("hostnameOverride", STRING, 41, pointer=True),
        Field("schedulingGroup", POD_SCHEDULING_GROUP, 43, pointer=True),
    ),
)

POD_TEMPLATE_SPEC = Struct("PodTemplateSpec", (Field("metadata", OBJECT_META, 1), Field("spec", POD_SPEC, 2)))
