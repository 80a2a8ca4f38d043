"""Texts of apps: Deployments, StatefulSets, DaemonSets and what is behind them."""

from __future__ import annotations

from podless.kinds.types.docs.common import CONDITION, GENERATION

_READY = "Seconds that a new pod must be ready to count as available; 0 where nothing is given."
_HISTORY = "How many old revisions are kept to go back to; 10 where nothing is given."
_SELECTOR = "The labels of the pods; the template must have them. It never changes."
_REPLICAS = "How many pods are wanted; 1 where nothing is given."
_COLLISIONS = "Counts hashes that were already taken; part of the next hash."
_COUNT = "A number or a percentage."

TEXTS: dict[str, dict[str, str]] = {
    "ControllerRevision": {
        "": "A state of a StatefulSet's or DaemonSet's template, kept to go back to.",
        "data": "The state. It never changes.",
        "revision": "Counts the revisions; the highest is the newest.",
    },
    "RollingUpdateDaemonSet": {
        "": "How pods are replaced, some at a time.",
        "maxSurge": f"On how many nodes a new pod starts before the old one ends; 0 where nothing is given. {_COUNT}",
        "maxUnavailable": f"On how many nodes the pod may be missing; 1 where nothing is given. {_COUNT}",
    },
    "DaemonSetUpdateStrategy": {
        "": "How pods are replaced when the template changes.",
        "rollingUpdate": "How fast; only for RollingUpdate.",
        "type": "RollingUpdate, or OnDelete to replace pods only when somebody deletes them.",
    },
    "DaemonSetSpec": {
        "": "Which pods every node is to have.",
        "minReadySeconds": _READY,
        "revisionHistoryLimit": _HISTORY,
        "selector": _SELECTOR,
        "template": "What the pods are like; its node selector and affinity say which nodes get one.",
        "updateStrategy": "How pods are replaced when the template changes.",
    },
    "DaemonSetCondition": {"": "One thing that is so of a DaemonSet.", **CONDITION},
    "DaemonSetStatus": {
        "": "How many nodes have their pod.",
        "collisionCount": _COLLISIONS,
        "conditions": "What is known of the DaemonSet.",
        "currentNumberScheduled": "How many nodes that should have a pod have one.",
        "desiredNumberScheduled": "How many nodes should have a pod.",
        "numberAvailable": "How many nodes have a pod that has been ready for minReadySeconds.",
        "numberMisscheduled": "How many nodes have a pod that they should not have.",
        "numberReady": "How many nodes have a pod that is ready.",
        "numberUnavailable": "How many nodes should have an available pod and have none.",
        "observedGeneration": GENERATION,
        "updatedNumberScheduled": "How many nodes have a pod of the newest template.",
    },
    "DaemonSet": {
        "": "Keeps one pod running on every node, or on every node of some kind.",
        "spec": "Which pods the nodes are to have.",
        "status": "How many nodes have their pod.",
    },
    "RollingUpdateDeployment": {
        "": "How pods are replaced, some at a time.",
        "maxSurge": f"How many pods there may be beyond replicas; 25% where nothing is given. {_COUNT}",
        "maxUnavailable": f"How many of replicas may be missing; 25% where nothing is given. {_COUNT}",
    },
    "DeploymentStrategy": {
        "": "How pods are replaced when the template changes.",
        "rollingUpdate": "How fast; only for RollingUpdate.",
        "type": "RollingUpdate, or Recreate to end all old pods before new ones start.",
    },
    "DeploymentSpec": {
        "": "How many pods are wanted, what they are like, and how they are replaced.",
        "minReadySeconds": _READY,
        "paused": "Whether changes of the template wait.",
        "progressDeadlineSeconds": "Seconds without progress after which the condition Progressing becomes False; "
        "600 where nothing is given.",
        "replicas": _REPLICAS,
        "revisionHistoryLimit": "How many old ReplicaSets are kept to go back to; 10 where nothing is given.",
        "selector": _SELECTOR,
        "strategy": "How pods are replaced when the template changes.",
        "template": "What the pods are like; their restart policy must be Always.",
    },
    "DeploymentCondition": {
        "": "One thing that is so, or is not so, of a Deployment.",
        **CONDITION,
        "lastUpdateTime": "When the condition was last written.",
        "type": "What the condition is about: Available, Progressing or ReplicaFailure.",
    },
    "DeploymentStatus": {
        "": "How many pods there are, and how far an update is.",
        "availableReplicas": "How many pods have been ready for minReadySeconds.",
        "collisionCount": _COLLISIONS,
        "conditions": "Whether the Deployment is available, makes progress and so on.",
        "observedGeneration": GENERATION,
        "readyReplicas": "How many pods are ready.",
        "replicas": "How many pods there are, of all templates.",
        "terminatingReplicas": "How many pods are ending.",
        "unavailableReplicas": "How many more pods must become available.",
        "updatedReplicas": "How many pods are of the newest template.",
    },
    "Deployment": {
        "": "Keeps a number of like pods running, and replaces them bit by bit when their template changes.",
        "spec": "How many pods are wanted, what they are like, and how they are replaced.",
        "status": "How many pods there are, and how far an update is.",
    },
    "ReplicaSetSpec": {
        "": "How many pods are wanted, and what they are like.",
        "minReadySeconds": _READY,
        "replicas": _REPLICAS,
        "selector": _SELECTOR,
        "template": "What new pods are like; pods that there are do not change.",
    },
    "ReplicaSetCondition": {
        "": "One thing that is so of a ReplicaSet.",
        **CONDITION,
        "type": "What the condition is about: ReplicaFailure.",
    },
    "ReplicaSetStatus": {
        "": "How many pods there are.",
        "availableReplicas": "How many pods have been ready for minReadySeconds.",
        "conditions": "What is known of the ReplicaSet.",
        "fullyLabeledReplicas": "How many pods have all labels of the template.",
        "observedGeneration": GENERATION,
        "readyReplicas": "How many pods are ready.",
        "replicas": "How many pods there are.",
        "terminatingReplicas": "How many pods are ending.",
    },
    "ReplicaSet": {
        "": "Keeps a number of like pods running; mostly made by a Deployment, one for each template.",
        "spec": "How many pods are wanted, and what they are like.",
        "status": "How many pods there are.",
    },
    "RollingUpdateStatefulSetStrategy": {
        "": "How pods are replaced, from the highest number down.",
        "maxUnavailable": f"How many pods may be missing; 1 where nothing is given. {_COUNT}",
        "partition": "Only pods from this number on are replaced; 0, which is all, where nothing is given.",
    },
    "StatefulSetUpdateStrategy": {
        "": "How pods are replaced when the template changes.",
        "rollingUpdate": "How fast, and which; only for RollingUpdate.",
        "type": "RollingUpdate, or OnDelete to replace pods only when somebody deletes them.",
    },
    "StatefulSetPersistentVolumeClaimRetentionPolicy": {
        "": "What becomes of claims that are no longer needed.",
        "whenDeleted": "Retain or Delete: for claims of a StatefulSet that is deleted; Retain where nothing is given.",
        "whenScaled": "Retain or Delete: for claims of pods that are too many; Retain where nothing is given.",
    },
    "StatefulSetOrdinals": {
        "": "How pods are numbered.",
        "start": "The first pod's number; 0 where nothing is given.",
    },
    "StatefulSetSpec": {
        "": "How many pods are wanted, what they are like, and what each of them keeps.",
        "minReadySeconds": _READY,
        "ordinals": "How pods are numbered; from 0 where nothing is given.",
        "persistentVolumeClaimRetentionPolicy": "What becomes of claims that are no longer needed; "
        "they stay where nothing is given.",
        "podManagementPolicy": "OrderedReady starts and ends pods one after the other, Parallel all at once. "
        "It never changes.",
        "replicas": _REPLICAS,
        "revisionHistoryLimit": _HISTORY,
        "selector": _SELECTOR,
        "serviceName": "The headless Service, made by the user, that gives the pods names. It never changes.",
        "template": "What the pods are like; each is named after the StatefulSet, with a '-' and its number.",
        "updateStrategy": "How pods are replaced when the template changes.",
        "volumeClaimTemplates": "What claims each pod gets and keeps; they win over volumes of the same name.",
    },
    "StatefulSetCondition": {"": "One thing that is so of a StatefulSet.", **CONDITION},
    "StatefulSetStatus": {
        "": "How many pods there are, and how far an update is.",
        "availableReplicas": "How many pods have been ready for minReadySeconds.",
        "collisionCount": _COLLISIONS,
        "conditions": "What is known of the StatefulSet.",
        "currentReplicas": "How many pods are of currentRevision.",
        "currentRevision": "The ControllerRevision that pods have before an update.",
        "observedGeneration": GENERATION,
        "readyReplicas": "How many pods are ready.",
        "replicas": "How many pods there are.",
        "updateRevision": "The ControllerRevision that pods have after the update.",
        "updatedReplicas": "How many pods are of updateRevision.",
    },
    "StatefulSet": {
        "": "Keeps numbered pods running, each with a name and storage of its own.",
        "spec": "How many pods are wanted, what they are like, and what each of them keeps.",
        "status": "How many pods there are, and how far an update is.",
    },
}
