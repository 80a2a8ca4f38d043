"""The kinds of apps/v1."""

from __future__ import annotations

from podless.kinds.types.claims import PERSISTENT_VOLUME_CLAIM
from podless.kinds.types.podspecs import POD_TEMPLATE_SPEC
from podless.meta.gotypes import BOOL, INT32, INT64, INT_OR_STRING, RAW, STRING, TIME, ListOf, String
from podless.meta.structs import Field, Struct
from podless.meta.structs_meta import LABEL_SELECTOR, condition, resource

CONTROLLER_REVISION = resource(
    "ControllerRevision", Field("data", RAW, 2, pointer=True), Field("revision", INT64, 3, always=True)
)

ROLLING_UPDATE_DAEMON_SET = Struct(
    "RollingUpdateDaemonSet",
    (Field("maxUnavailable", INT_OR_STRING, 1, pointer=True), Field("maxSurge", INT_OR_STRING, 2, pointer=True)),
)

DAEMON_SET_UPDATE_STRATEGY = Struct(
    "DaemonSetUpdateStrategy",
    (
        Field("type", String("v1.DaemonSetUpdateStrategyType", ("OnDelete", "RollingUpdate")), 1, fill="RollingUpdate"),
        Field("rollingUpdate", ROLLING_UPDATE_DAEMON_SET, 2, pointer=True),
    ),
)

DAEMON_SET_SPEC = Struct(
    "DaemonSetSpec",
    (
        Field("selector", LABEL_SELECTOR, 1, pointer=True, always=True),
        Field("template", POD_TEMPLATE_SPEC, 2, always=True),
        Field("updateStrategy", DAEMON_SET_UPDATE_STRATEGY, 3),
        Field("minReadySeconds", INT32, 4),
        Field("revisionHistoryLimit", INT32, 6, pointer=True, fill=10),
    ),
)

DAEMON_SET_CONDITION = condition("DaemonSetCondition")

DAEMON_SET_STATUS = Struct(
    "DaemonSetStatus",
    (
        Field("currentNumberScheduled", INT32, 1, always=True),
        Field("numberMisscheduled", INT32, 2, always=True),
        Field("desiredNumberScheduled", INT32, 3, always=True),
        Field("numberReady", INT32, 4, always=True),
        Field("observedGeneration", INT64, 5),
        Field("updatedNumberScheduled", INT32, 6),
        Field("numberAvailable", INT32, 7),
        Field("numberUnavailable", INT32, 8),
        Field("collisionCount", INT32, 9, pointer=True),
        Field("conditions", ListOf(DAEMON_SET_CONDITION), 10, keys=("type",), patch="merge", merge="type"),
    ),
)

DAEMON_SET = resource("DaemonSet", Field("spec", DAEMON_SET_SPEC, 2), Field("status", DAEMON_SET_STATUS, 3))

ROLLING_UPDATE_DEPLOYMENT = Struct(
    "RollingUpdateDeployment",
    (Field("maxUnavailable", INT_OR_STRING, 1, pointer=True), Field("maxSurge", INT_OR_STRING, 2, pointer=True)),
)

DEPLOYMENT_STRATEGY = Struct(
    "DeploymentStrategy",
    (
        Field("type", String("v1.DeploymentStrategyType", ("Recreate", "RollingUpdate")), 1, fill="RollingUpdate"),
        Field("rollingUpdate", ROLLING_UPDATE_DEPLOYMENT, 2, pointer=True),
    ),
)

DEPLOYMENT_SPEC = Struct(
    "DeploymentSpec",
    (
        Field("replicas", INT32, 1, pointer=True, fill=1),
        Field("selector", LABEL_SELECTOR, 2, pointer=True, always=True),
        Field("template", POD_TEMPLATE_SPEC, 3, always=True),
        Field("strategy", DEPLOYMENT_STRATEGY, 4, patch="retainKeys"),
        Field("minReadySeconds", INT32, 5),
        Field("revisionHistoryLimit", INT32, 6, pointer=True, fill=10),
        Field("paused", BOOL, 7),
        Field("progressDeadlineSeconds", INT32, 9, pointer=True, fill=600),
    ),
)

DEPLOYMENT_CONDITION = Struct(
    "DeploymentCondition",
    (
        Field("type", String("v1.DeploymentConditionType"), 1, always=True),
        Field("status", String("v1.ConditionStatus"), 2, always=True),
        Field("lastUpdateTime", TIME, 6, always=True, required=False),
        Field("lastTransitionTime", TIME, 7, always=True, required=False),
        Field("reason", STRING, 4),
        Field("message", STRING, 5),
    ),
)

DEPLOYMENT_STATUS = Struct(
    "DeploymentStatus",
    (
        Field("observedGeneration", INT64, 1),
        Field("replicas", INT32, 2),
        Field("updatedReplicas", INT32, 3),
        Field("readyReplicas", INT32, 7),
        Field("availableReplicas", INT32, 4),
        Field("unavailableReplicas", INT32, 5),
        Field("terminatingReplicas", INT32, 9, pointer=True),
        Field("conditions", ListOf(DEPLOYMENT_CONDITION), 6, keys=("type",), patch="merge", merge="type"),
        Field("collisionCount", INT32, 8, pointer=True),
    ),
)

DEPLOYMENT = resource("Deployment", Field("spec", DEPLOYMENT_SPEC, 2), Field("status", DEPLOYMENT_STATUS, 3))

REPLICA_SET_SPEC = Struct(
    "ReplicaSetSpec",
    (
        Field("replicas", INT32, 1, pointer=True, fill=1),
        Field("minReadySeconds", INT32, 4),
        Field("selector", LABEL_SELECTOR, 2, pointer=True, always=True),
        Field("template", POD_TEMPLATE_SPEC, 3),
    ),
)

REPLICA_SET_CONDITION = condition("ReplicaSetCondition")

REPLICA_SET_STATUS = Struct(
    "ReplicaSetStatus",
    (
        Field("replicas", INT32, 1, always=True),
        Field("fullyLabeledReplicas", INT32, 2),
        Field("readyReplicas", INT32, 4),
        Field("availableReplicas", INT32, 5),
        Field("terminatingReplicas", INT32, 7, pointer=True),
        Field("observedGeneration", INT64, 3),
        Field("conditions", ListOf(REPLICA_SET_CONDITION), 6, keys=("type",), patch="merge", merge="type"),
    ),
)

REPLICA_SET = resource("ReplicaSet", Field("spec", REPLICA_SET_SPEC, 2), Field("status", REPLICA_SET_STATUS, 3))

ROLLING_UPDATE_STATEFUL_SET_STRATEGY = Struct(
    "RollingUpdateStatefulSetStrategy",
    (Field("partition", INT32, 1, pointer=True), Field("maxUnavailable", INT_OR_STRING, 2, pointer=True)),
)

STATEFUL_SET_UPDATE_STRATEGY = Struct(
    "StatefulSetUpdateStrategy",
    (
        Field("type", String("v1.StatefulSetUpdateStrategyType", ("OnDelete", "RollingUpdate")), 1),
        Field("rollingUpdate", ROLLING_UPDATE_STATEFUL_SET_STRATEGY, 2, pointer=True),
    ),
)

STATEFUL_SET_PERSISTENT_VOLUME_CLAIM_RETENTION_POLICY = Struct(
    "StatefulSetPersistentVolumeClaimRetentionPolicy",
    (
        Field("whenDeleted", String("v1.PersistentVolumeClaimRetentionPolicyType"), 1),
        Field("whenScaled", String("v1.PersistentVolumeClaimRetentionPolicyType"), 2),
    ),
)

STATEFUL_SET_ORDINALS = Struct("StatefulSetOrdinals", (Field("start", INT32, 1, always=True, required=False),))

STATEFUL_SET_SPEC = Struct(
    "StatefulSetSpec",
    (
        Field("replicas", INT32, 1, pointer=True, fill=1),
        Field("selector", LABEL_SELECTOR, 2, pointer=True, always=True),
        Field("template", POD_TEMPLATE_SPEC, 3, always=True),
        Field("volumeClaimTemplates", ListOf(PERSISTENT_VOLUME_CLAIM), 4),
        Field("serviceName", STRING, 5, always=True, required=False),
        Field(
            "podManagementPolicy",
            String("v1.PodManagementPolicyType", ("OrderedReady", "Parallel")),
            6,
            fill="OrderedReady",
        ),
        Field("updateStrategy", STATEFUL_SET_UPDATE_STRATEGY, 7),
        Field("revisionHistoryLimit", INT32, 8, pointer=True, fill=10),
        Field("minReadySeconds", INT32, 9),
        Field(
            "persistentVolumeClaimRetentionPolicy",
            STATEFUL_SET_PERSISTENT_VOLUME_CLAIM_RETENTION_POLICY,
            10,
            pointer=True,
        ),
        Field("ordinals", STATEFUL_SET_ORDINALS, 11, pointer=True),
    ),
)

STATEFUL_SET_CONDITION = condition("StatefulSetCondition")

STATEFUL_SET_STATUS = Struct(
    "StatefulSetStatus",
    (
        Field("observedGeneration", INT64, 1),
        Field("replicas", INT32, 2, always=True),
        Field("readyReplicas", INT32, 3),
        Field("currentReplicas", INT32, 4),
        Field("updatedReplicas", INT32, 5),
        Field("currentRevision", STRING, 6),
        Field("updateRevision", STRING, 7),
        Field("collisionCount", INT32, 9, pointer=True),
        Field("conditions", ListOf(STATEFUL_SET_CONDITION), 10, keys=("type",), patch="merge", merge="type"),
        Field("availableReplicas", INT32, 11, always=True, required=False),
    ),
)

STATEFUL_SET = resource("StatefulSet", Field("spec", STATEFUL_SET_SPEC, 2), Field("status", STATEFUL_SET_STATUS, 3))
