"""Texts of resource.k8s.io: the devices that drivers offer."""

from __future__ import annotations

TEXTS: dict[str, dict[str, str]] = {
    "DeviceTaint": {
        "": "A mark that keeps claims from a device, but those that tolerate it.",
        "key": "What the mark is called, as a label is.",
        "value": "More about it, as the value of a label.",
        "effect": "What it does: NoSchedule hinders new pods, NoExecute those that run as well, None nothing.",
        "timeAdded": "Since when the device has it; now, where that is not said.",
    },
    "Counter": {
        "": "An amount that devices share.",
        "value": "How much there is of it, or is taken.",
    },
    "CounterSet": {
        "": "Amounts of which several devices of a pool take their part.",
        "name": "The set's name, a label of DNS that no other set of the pool has.",
        "counters": "The amounts by name; no more than 32.",
    },
    "DeviceCounterConsumption": {
        "": "What a device takes from a set of counters while it is in use.",
        "counterSet": "The name of the set.",
        "counters": "How much of each counter; no more than 32.",
    },
    "DeviceAttribute": {
        "": "A fact about a device. One of the values is given.",
        "int": "A whole number.",
        "bool": "Yes or no.",
        "string": "A text of 64 bytes at the most.",
        "version": "A version as semver.org 2.0.0 writes them, of 64 bytes at the most.",
        "ints": "Several whole numbers. Not served by default.",
        "bools": "Several times yes or no. Not served by default.",
        "strings": "Several texts. Not served by default.",
        "versions": "Several versions. Not served by default.",
    },
    "CapacityRequestPolicyRange": {
        "": "Amounts between two bounds.",
        "min": "The least that can be had.",
        "max": "The most that can be had.",
        "step": "What may be had is the least and so many steps of this size.",
    },
    "CapacityRequestPolicy": {
        "": "Which parts of a capacity can be had.",
        "default": "What a claim gets that asks for no amount.",
        "validValues": "The amounts that can be had, the smallest first; no more than 10.",
        "validRange": "The bounds of what can be had.",
    },
    "DeviceCapacity": {
        "": "How much of something a device has.",
        "value": "The amount.",
        "requestPolicy": "Which parts of it can be had, of a device that several claims may share.",
    },
    "NodeAllocatableResourceMapping": {
        "": "How much of a resource of the node a device takes. Not served by default.",
        "capacityKey": "The capacity of the device that says how much.",
        "allocationMultiplier": "What that, or the device itself, is multiplied by.",
    },
    "Device": {
        "": "One device, or a part of one.",
        "name": "The device's name, a label of DNS that no other one of the pool has.",
        "attributes": "Facts about it by name; without a domain, of the driver's. With capacities 32 at the most.",
        "capacity": "How much it has of what, by name.",
        "consumesCounters": "What it takes from counters that devices share; from two sets at the most.",
        "nodeName": "The node where it is, if the slice says that each device has its own.",
        "nodeSelector": "The nodes where it can be used, if the slice says that each device has its own.",
        "allNodes": "It can be used on all nodes, if the slice says that each device has its own.",
        "taints": "Marks that keep claims from it; 16 at the most.",
        "bindsToNode": "A claim that gets it is tied to the node for which it was chosen.",
        "bindingConditions": "Conditions that must be true before a pod is bound that waits for it; 4 at the most.",
        "bindingFailureConditions": "Conditions that say that it cannot be made ready; 4 at the most.",
        "allowMultipleAllocations": "Several claims may have it at the same time.",
        "nodeAllocatableResourceMappings": "What it takes of the node's own resources. Not served by default.",
    },
    "ResourcePool": {
        "": "The pool that the devices of some slices make up.",
        "name": "The pool's name, often that of the node: up to 253 bytes, DNS subdomains with slashes between them.",
        "generation": "Counts the changes of the pool; slices of an older count are of the past.",
        "resourceSliceCount": "How many slices the pool has in this generation.",
    },
    "ResourceSliceSpec": {
        "": "The devices of a slice, and where they are. One of the four ways to say where is taken.",
        "driver": "Whose devices these are: the driver's name, a DNS subdomain. It stays.",
        "pool": "The pool that they are of.",
        "nodeName": "The one node that has them. It stays.",
        "nodeSelector": "The nodes where they can be used, in one term.",
        "allNodes": "They can be used on all nodes.",
        "devices": "The devices: 128 at the most, or 64 where some have taints or share counters.",
        "perDeviceNodeSelection": "Each device says for itself where it can be used.",
        "sharedCounters": "Counters that devices of the pool share, in a slice without devices; 8 sets at the most.",
    },
    "ResourceSlice": {
        "": "Devices that a driver offers: one part of a pool, or all of it.",
        "spec": "What is offered, and where.",
    },
}
