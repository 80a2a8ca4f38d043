"""Texts of resource.k8s.io: what is wanted of devices, and got."""

from __future__ import annotations

_CONFIG = "What drivers are told, in the order given; 32 entries at the most."
_OPAQUE = "What one driver is told, in its own words."
_SELECTORS = "Expressions that a device has to fulfil, all of them; 32 at the most."
_REQUESTS = "The requests that it is about, a choice as request/choice; all where none is named. 32 at the most."
_WANTED: dict[str, str] = {
    "deviceClassName": "The DeviceClass of the devices.",
    "selectors": _SELECTORS,
    "allocationMode": "ExactCount for so many devices as `count` says, All for every one that fits.",
    "count": "How many devices, where the mode is ExactCount; one, where that is not said.",
    "tolerations": "The taints that a device may have nevertheless; 16 at the most.",
    "capacity": "How much of each device is needed.",
}

TEXTS: dict[str, dict[str, str]] = {
    "CELDeviceSelector": {
        "": "An expression in CEL over a device.",
        "expression": "Gives true for a device that fits. `device` has driver, attributes and capacity (by domain and"
        " name) and allowMultipleAllocations. 10 KiB at the most.",
    },
    "DeviceSelector": {
        "": "Says which devices fit.",
        "cel": "An expression that has to be true.",
    },
    "OpaqueDeviceConfiguration": {
        "": "Words for one driver, which nobody else understands.",
        "driver": "The driver.",
        "parameters": "A JSON object of 10 KiB at the most.",
    },
    "DeviceClassConfiguration": {
        "": "What drivers are told of devices of a class.",
        "opaque": _OPAQUE,
    },
    "DeviceClassSpec": {
        "": "Which devices are of a class, and what their drivers are told.",
        "selectors": _SELECTORS,
        "config": _CONFIG,
        "extendedResourceName": "The extended resource by which pods may ask for devices of the class.",
    },
    "DeviceClass": {
        "": "Devices that are alike, as those see it who use them.",
        "spec": "Which devices.",
    },
    "CapacityRequirements": {
        "": "How much of a device is needed.",
        "requests": "The least amounts by name.",
    },
    "DeviceToleration": {
        "": "A taint that one does not mind.",
        "key": "The key of the taint; every one, where none is named.",
        "operator": "Equal wants the value to be the same, Exists wants none.",
        "value": "The value of the taint.",
        "effect": "The effect of the taint; every one, where none is named.",
        "tolerationSeconds": "For how long a NoExecute taint is tolerated; for ever, where that is not said.",
    },
    "ExactDeviceRequest": {
        "": "What is wanted, with no choice.",
        **_WANTED,
        "adminAccess": "To look after devices that others use, in namespaces that are marked for it.",
    },
    "DeviceSubRequest": {
        "": "One choice of what would do.",
        "name": "The choice's name, a label of DNS that no other choice of the request has.",
        **_WANTED,
    },
    "DeviceRequest": {
        "": "A wish for devices of one sort: exactly this, or the first of some choices that there is.",
        "name": "The request's name, a label of DNS that no other one of the claim has.",
        "exactly": "What is wanted.",
        "firstAvailable": "Choices, the best one first; 8 at the most.",
    },
    "DeviceConstraint": {
        "": "What has to hold between the devices of several requests.",
        "requests": _REQUESTS,
        "matchAttribute": "All devices have this attribute, with one value.",
        "distinctAttribute": "All devices have this attribute, each with another value.",
    },
    "DeviceClaimConfiguration": {
        "": "What drivers are told of devices of a claim.",
        "requests": _REQUESTS,
        "opaque": _OPAQUE,
    },
    "DeviceClaim": {
        "": "The devices that a claim is to.",
        "requests": "The devices that are wanted, each of which must be there; 32 requests at the most.",
        "constraints": "What has to hold between them; 32 entries at the most.",
        "config": _CONFIG,
    },
    "ResourceClaimSpec": {
        "": "What is claimed. It never changes.",
        "devices": "The devices.",
    },
    "DeviceRequestAllocationResult": {
        "": "A device that was given for a request.",
        "request": "The name of the request, or request/choice.",
        "driver": "The device's driver.",
        "pool": "The device's pool.",
        "device": "The device's name in the pool.",
        "adminAccess": "It was given to be looked after.",
        "tolerations": "The taints that the request tolerated then; 16 at the most.",
        "bindingConditions": "Conditions of the device that must be true before the pod is bound.",
        "bindingFailureConditions": "Conditions of the device that say that it cannot be made ready.",
        "shareID": "Tells shares of one device apart: a UUID in small letters.",
        "consumedCapacity": "How much of the device this takes, by name.",
    },
    "DeviceAllocationConfiguration": {
        "": "What drivers were told.",
        "source": "Whether the class (FromClass) or the claim (FromClaim) says so.",
        "requests": _REQUESTS,
        "opaque": _OPAQUE,
    },
    "DeviceAllocationResult": {
        "": "What was given.",
        "results": "The devices; 32 at the most.",
        "config": "What their drivers were told, that of classes first.",
    },
    "AllocationResult": {
        "": "What a claim got.",
        "devices": "The devices.",
        "nodeSelector": "Where they can be used; everywhere, where that is not said.",
        "allocationTimestamp": "When they were given.",
    },
    "ResourceClaimConsumerReference": {
        "": "One that may use what was given, most often a pod.",
        "apiGroup": 'The group of its kind; "" for the core group.',
        "resource": "The plural of its kind.",
        "name": "Its name.",
        "uid": "Its uid.",
    },
    "NetworkDeviceData": {
        "": "A device as the network sees it.",
        "interfaceName": "The name of the interface; 256 bytes at the most.",
        "ips": "The addresses, each with the length of its network's prefix; 16 at the most.",
        "hardwareAddress": "The address of the hardware, such as a MAC; 128 bytes at the most.",
    },
    "AllocatedDeviceStatus": {
        "": "How a device is that was given, as its driver tells.",
        "driver": "The device's driver.",
        "pool": "The device's pool.",
        "device": "The device's name in the pool.",
        "shareID": "The share of the device that is meant.",
        "conditions": "Conditions of the device; 8 at the most.",
        "data": "More in the driver's own words: a JSON object of 10 KiB at the most.",
        "networkData": "What the network sees of it.",
    },
    "ResourceClaimStatus": {
        "": "What was given, to whom, and how it is.",
        "allocation": "What was given; nothing yet, where this is missing.",
        "reservedFor": "Who may use it; 256 at the most.",
        "devices": "How the devices are.",
    },
    "ResourceClaim": {
        "": "A claim to devices that pods can use.",
        "spec": "What is wanted.",
        "status": "What has come of it.",
    },
    "ResourceClaimTemplateSpec": {
        "": "What each claim is made of.",
        "metadata": "Labels and annotations of the claims.",
        "spec": "What the claims want.",
    },
    "ResourceClaimTemplate": {
        "": "A pattern of claims: each pod that names it gets a claim of its own.",
        "spec": "The pattern. It never changes.",
    },
}
