"""Texts of pods, their status and the options of their subresources."""

from __future__ import annotations

from podless.kinds.types.docs.common import GENERATION, PROBED

_CONTAINER = "The container; may be left out where the pod has only one."
_PROXY = {"path": "The path of the request that is passed on."}
_STREAMS = {
    "container": _CONTAINER,
    "stderr": "Whether standard error is sent to the client.",
    "stdin": "Whether the client's input is sent to standard input.",
    "stdout": "Whether standard output is sent to the client.",
    "tty": "Whether there is a terminal; standard error is then part of the output.",
}

TEXTS: dict[str, dict[str, str]] = {
    "PodCondition": {
        "": "One thing that is so, or is not so, of a pod.",
        **PROBED,
        "observedGeneration": GENERATION,
        "type": "What the condition is about: PodScheduled, Initialized, ContainersReady, Ready or another one.",
    },
    "HostIP": {
        "": "An address of the pod's node.",
        "ip": "The address.",
    },
    "PodIP": {
        "": "An address of the pod.",
        "ip": "The address.",
    },
    "PodResourceClaimStatus": {
        "": "The claim that was made for a pod from a template.",
        "name": "The name that the pod has for the claim.",
        "resourceClaimName": "The ResourceClaim; none was needed where nothing is given.",
    },
    "ContainerExtendedResourceRequest": {
        "": "Which request of a claim stands for a container's extended resource.",
        "containerName": "The container.",
        "requestName": "The request in the claim.",
        "resourceName": "The extended resource, such as example.com/gpu.",
    },
    "PodExtendedResourceClaimStatus": {
        "": "The claim that was made for a pod's extended resources.",
        "requestMappings": "What the requests of the claim are for.",
        "resourceClaimName": "The ResourceClaim.",
    },
    "NodeAllocatableResourceClaimStatus": {
        "": "CPU, memory and the like that a claim takes from the node.",
        "containers": "The containers that use the claim.",
        "resourceClaimName": "The ResourceClaim.",
        "resources": "How much it takes, by resource.",
    },
    "PodStatus": {
        "": "What is known of a pod.",
        "allocatedResources": "What the node has set aside for the pod as a whole.",
        "conditions": "Whether the pod has a node, is ready and so on.",
        "containerStatuses": "What is known of the containers.",
        "ephemeralContainerStatuses": "What is known of the ephemeral containers.",
        "extendedResourceClaimStatus": "The claim that was made for extended resources.",
        "hostIP": "The address of the pod's node.",
        "hostIPs": "All addresses of the pod's node; the first is hostIP.",
        "initContainerStatuses": "What is known of the init containers, in their order.",
        "message": "Why the pod is as it is, for people.",
        "nodeAllocatableResourceClaimStatuses": "CPU, memory and the like that the pod's claims take from the node.",
        "nominatedNodeName": "The node on which room is being made for the pod; it may still get another one.",
        "observedGeneration": GENERATION,
        "phase": "Pending until containers start, then Running; Succeeded or Failed when all have ended; or Unknown.",
        "podIP": "The pod's address in the cluster.",
        "podIPs": "The pod's addresses, one for each IP family; the first is podIP.",
        "qosClass": "Guaranteed, Burstable or BestEffort, by requests and limits; a full node evicts the last first.",
        "reason": "Why the pod is as it is, in one CamelCase word such as Evicted.",
        "resize": "Deprecated: see the conditions PodResizePending and PodResizeInProgress.",
        "resourceClaimStatuses": "The claims that were made from templates.",
        "resources": "The pod's requests and limits that are in force.",
        "startTime": "When the node took on the pod, before it pulled images.",
    },
    "Pod": {
        "": "Containers that run together on a node, with the same network and volumes.",
        "spec": "What is wanted of the pod. Very little of it can change.",
        "status": "What is known of the pod. Written by its node.",
    },
    "PodTemplate": {
        "": "What pods are made from, as an object of its own.",
        "template": "What the pods are like.",
    },
    "Binding": {
        "": "Gives a pod its node.",
        "metadata": "Its name is the pod's.",
        "target": "The node.",
    },
    "PodLogOptions": {
        "": "Which part of a container's log is wanted.",
        "container": _CONTAINER,
        "follow": "Whether to go on with what the container writes from now on.",
        "insecureSkipTLSVerifyBackend": "Whether to take the log from a node whose certificate cannot be checked.",
        "limitBytes": "How many bytes to send at most; the last line may be cut.",
        "previous": "Whether to show the log of the container before the last restart.",
        "sinceSeconds": "Only what was written in so many seconds before now.",
        "sinceTime": "Only what was written after this time. Not with sinceSeconds.",
        "stream": "All, Stdout or Stderr; All where nothing is given.",
        "tailLines": "Only so many lines from the end.",
        "timestamps": "Whether each line begins with the time at which it was written.",
    },
    "PodExecOptions": {
        "": "A program to run in a container.",
        **_STREAMS,
        "command": "The program and its arguments. There is no shell around it.",
    },
    "PodAttachOptions": {"": "Which streams of a running container are wanted.", **_STREAMS},
    "PodPortForwardOptions": {
        "": "Ports of a pod to be reached through the API server.",
        "ports": "The ports; for WebSockets only.",
    },
    "PodProxyOptions": {"": "A request that is passed on to a pod.", **_PROXY},
    "ServiceProxyOptions": {"": "A request that is passed on to a service.", **_PROXY},
}
