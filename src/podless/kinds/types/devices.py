"""The devices that drivers offer: resource.k8s.io/v1 ResourceSlice, and what claims share with it."""

from __future__ import annotations

from podless.kinds.types.topology import NODE_SELECTOR
from podless.meta.gotypes import BOOL, INT64, QUANTITY, STRING, TIME, ListOf, MapOf, String
from podless.meta.structs import Field, Struct
from podless.meta.structs_meta import STRINGS, resource

QUALIFIED_NAME = String("v1.QualifiedName")
EFFECT = String("v1.DeviceTaintEffect", ("NoExecute", "NoSchedule", "None"))

DEVICE_TAINT = Struct(
    "DeviceTaint",
    (
        Field("key", STRING, 1, always=True),
        Field("value", STRING, 2),
        Field("effect", EFFECT, 3, always=True),
        Field("timeAdded", TIME, 4, pointer=True),
    ),
)

COUNTER = Struct("Counter", (Field("value", QUANTITY, 1, always=True),))
_COUNTERS = MapOf(COUNTER, "map[string]v1.Counter")

COUNTER_SET = Struct(
    "CounterSet", (Field("name", STRING, 1, always=True), Field("counters", _COUNTERS, 2, required=True))
)

DEVICE_COUNTER_CONSUMPTION = Struct(
    "DeviceCounterConsumption",
    (Field("counterSet", STRING, 1, always=True), Field("counters", _COUNTERS, 2, required=True)),
)

DEVICE_ATTRIBUTE = Struct(
    "DeviceAttribute",
    (
        Field("int", INT64, 2, pointer=True),
        Field("bool", BOOL, 3, pointer=True),
        Field("string", STRING, 4, pointer=True),
        Field("version", STRING, 5, pointer=True),
        Field("ints", ListOf(INT64), 6),
        Field("bools", ListOf(BOOL), 7),
        Field("strings", STRINGS, 8),
        Field("versions", STRINGS, 9),
    ),
)

CAPACITY_REQUEST_POLICY_RANGE = Struct(
    "CapacityRequestPolicyRange",
    (
        Field("min", QUANTITY, 1, pointer=True, required=True),
        Field("max", QUANTITY, 2, pointer=True),
        Field("step", QUANTITY, 3, pointer=True),
    ),
)

CAPACITY_REQUEST_POLICY = Struct(
    "CapacityRequestPolicy",
    (
        Field("default", QUANTITY, 1, pointer=True, always=True, required=False),
        Field("validValues", ListOf(QUANTITY), 3),
        Field("validRange", CAPACITY_REQUEST_POLICY_RANGE, 4, pointer=True),
    ),
)

DEVICE_CAPACITY = Struct(
    "DeviceCapacity",
    (Field("value", QUANTITY, 1, always=True), Field("requestPolicy", CAPACITY_REQUEST_POLICY, 2, pointer=True)),
)

NODE_ALLOCATABLE_RESOURCE_MAPPING = Struct(
    "NodeAllocatableResourceMapping",
    (
        Field("capacityKey", QUALIFIED_NAME, 1, pointer=True),
        Field("allocationMultiplier", QUANTITY, 2, pointer=True),
    ),
)

DEVICE = Struct(
    "Device",
    (
        Field("name", STRING, 1, always=True),
        Field("attributes", MapOf(DEVICE_ATTRIBUTE, "map[v1.QualifiedName]v1.DeviceAttribute"), 2),
        Field("capacity", MapOf(DEVICE_CAPACITY, "map[v1.QualifiedName]v1.DeviceCapacity"), 3),
        Field("consumesCounters", ListOf(DEVICE_COUNTER_CONSUMPTION), 4),
        Field("nodeName", STRING, 5, pointer=True),
        Field("nodeSelector", NODE_SELECTOR, 6, pointer=True),
        Field("allNodes", BOOL, 7, pointer=True),
        Field("taints", ListOf(DEVICE_TAINT), 8),
        Field("bindsToNode", BOOL, 9, pointer=True),
        Field("bindingConditions", STRINGS, 10),
        Field("bindingFailureConditions", STRINGS, 11),
        Field("allowMultipleAllocations", BOOL, 12, pointer=True),
        Field(
            "nodeAllocatableResourceMappings",
            MapOf(NODE_ALLOCATABLE_RESOURCE_MAPPING, "map[v1.ResourceName]v1.NodeAllocatableResourceMapping"),
            13,
        ),
    ),
)

RESOURCE_POOL = Struct(
    "ResourcePool",
    (
        Field("name", STRING, 1, always=True),
        Field("generation", INT64, 2, always=True),
        Field("resourceSliceCount", INT64, 3, always=True),
    ),
)

RESOURCE_SLICE_SPEC = Struct(
    "ResourceSliceSpec",
    (
        Field("driver", STRING, 1, always=True),
        Field("pool", RESOURCE_POOL, 2, always=True),
        Field("nodeName", STRING, 3, pointer=True),
        Field("nodeSelector", NODE_SELECTOR, 4, pointer=True),
        Field("allNodes", BOOL, 5, pointer=True),
        Field("devices", ListOf(DEVICE), 6),
        Field("perDeviceNodeSelection", BOOL, 7, pointer=True),
        Field("sharedCounters", ListOf(COUNTER_SET), 8),
    ),
)

RESOURCE_SLICE = resource("ResourceSlice", Field("spec", RESOURCE_SLICE_SPEC, 2, always=True))
