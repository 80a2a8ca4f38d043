"""Texts of nodes."""

from __future__ import annotations

from podless.kinds.types.docs.common import CONDITION

_CONFIG = "The configuration that the kubelet"

TEXTS: dict[str, dict[str, str]] = {
    "Taint": {
        "": "Keeps pods that do not tolerate it away from a node.",
        "effect": "NoSchedule lets none in, PreferNoSchedule avoids them, NoExecute drives out running ones as well.",
        "key": "The taint's key.",
        "timeAdded": "When the taint was added; toleration seconds count from here.",
        "value": "The taint's value.",
    },
    "ConfigMapNodeConfigSource": {
        "": "A ConfigMap with a kubelet's configuration. No longer used.",
        "kubeletConfigKey": "The key under which the configuration is.",
        "name": "The ConfigMap's name.",
        "namespace": "The ConfigMap's namespace.",
        "resourceVersion": "The state of the ConfigMap that is meant; in the status only.",
        "uid": "The ConfigMap's UID; in the status only.",
    },
    "NodeConfigSource": {
        "": "Where a kubelet's configuration comes from. No longer used.",
        "configMap": "The ConfigMap that has it.",
    },
    "NodeSpec": {
        "": "What is wanted of a node.",
        "configSource": "No longer used: where the kubelet's configuration comes from.",
        "externalID": "No longer used.",
        "podCIDR": "The range from which pods of the node get their addresses.",
        "podCIDRs": "The ranges for pods, one for each IP family; the first is podCIDR.",
        "providerID": "What the cloud provider calls the machine, as PROVIDER://ID.",
        "taints": "What keeps pods that do not tolerate it away.",
        "unschedulable": "Whether new pods stay away, as after kubectl cordon.",
    },
    "NodeCondition": {
        "": "One thing that is so, or is not so, of a node.",
        **CONDITION,
        "lastHeartbeatTime": "When the node last told of the condition.",
        "type": "What the condition is about: Ready, MemoryPressure, DiskPressure, PIDPressure and others.",
    },
    "NodeAddress": {
        "": "An address of a node.",
        "address": "The address or name.",
        "type": "Hostname, InternalIP, ExternalIP, InternalDNS or ExternalDNS.",
    },
    "DaemonEndpoint": {
        "": "Where a program on the node listens.",
        "Port": "The port's number.",
    },
    "NodeDaemonEndpoints": {
        "": "Where the node's programs listen.",
        "kubeletEndpoint": "Where the kubelet listens.",
    },
    "NodeSwapStatus": {
        "": "The swap of a node.",
        "capacity": "How much swap there is, in bytes.",
    },
    "NodeSystemInfo": {
        "": "What a node runs on.",
        "architecture": "The processor's architecture, such as amd64.",
        "bootID": "Tells this boot of the node from all others.",
        "containerRuntimeVersion": "The container runtime and its version, such as containerd://2.0.0.",
        "kernelVersion": "The version of the kernel.",
        "kubeProxyVersion": "Deprecated: not the version of kube-proxy.",
        "kubeletVersion": "The version of the kubelet.",
        "machineID": "The ID that the operating system has for the machine, from /etc/machine-id.",
        "operatingSystem": "linux or windows.",
        "osImage": "The operating system with its version, for people.",
        "swap": "The node's swap.",
        "systemUUID": "The ID that the hardware or hypervisor has for the machine.",
    },
    "ContainerImage": {
        "": "An image that a node has.",
        "names": "The image's names, with tags and digests.",
        "sizeBytes": "The image's size in bytes.",
    },
    "AttachedVolume": {
        "": "A volume that a node has been given.",
        "devicePath": "Where the node has the device.",
        "name": "The volume's name.",
    },
    "NodeConfigStatus": {
        "": "Which configuration a kubelet uses. No longer used.",
        "active": f"{_CONFIG} runs with.",
        "assigned": f"{_CONFIG} is to try next.",
        "error": "What is wrong with the assigned configuration.",
        "lastKnownGood": f"{_CONFIG} falls back to.",
    },
    "NodeRuntimeHandlerFeatures": {
        "": "What a runtime handler knows how to do.",
        "recursiveReadOnlyMounts": "Whether mounts below a read-only one can be read-only, too.",
        "userNamespaces": "Whether pods can have user IDs of their own.",
    },
    "NodeRuntimeHandler": {
        "": "A runtime handler of a node.",
        "features": "What the handler knows how to do.",
        "name": "The handler's name, as runtime classes have it; empty for the default one.",
    },
    "NodeFeatures": {
        "": "What the container runtime of a node knows how to do, whatever the handler.",
        "supplementalGroupsPolicy": "Whether supplementalGroupsPolicy of pods is heeded.",
    },
    "NodeStatus": {
        "": "What is known of a node.",
        "addresses": "The node's addresses and names.",
        "allocatable": "How much pods may use, by resource: the capacity without what the system keeps.",
        "capacity": "How much the node has, by resource.",
        "conditions": "Whether the node is ready, short of memory and so on.",
        "config": "No longer used: which configuration the kubelet uses.",
        "daemonEndpoints": "Where the node's programs listen.",
        "declaredFeatures": "Names of features that the node has.",
        "features": "What the container runtime knows how to do.",
        "images": "Images that the node has.",
        "nodeInfo": "What the node runs on: versions and IDs.",
        "phase": "No longer used: Pending, Running or Terminated.",
        "runtimeHandlers": "The runtime handlers that pods can choose.",
        "volumesAttached": "What the attach controller has given the node.",
        "volumesInUse": "Attachable volumes that pods of the node have mounted.",
    },
    "Node": {
        "": "A machine that runs pods.",
        "spec": "What is wanted of the node.",
        "status": "What is known of the node. Written by its kubelet.",
    },
    "NodeProxyOptions": {
        "": "A request that is passed on to a node.",
        "path": "The path of the request that is passed on.",
    },
}
