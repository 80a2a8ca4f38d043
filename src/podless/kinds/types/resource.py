"""What is wanted of devices, and got: the kinds of resource.k8s.io/v1 but ResourceSlice."""

from __future__ import annotations

from podless.kinds.types.devices import EFFECT
from podless.kinds.types.topology import NODE_SELECTOR
from podless.meta.gotypes import BOOL, INT64, QUANTITY, RAW, STRING, TIME, UID, ListOf, MapOf, String
from podless.meta.structs import Field, Struct
from podless.meta.structs_meta import CONDITION, OBJECT_META, STRINGS, resource

_QUALIFIED = String("v1.FullyQualifiedName")
_AMOUNTS = MapOf(QUANTITY, "map[v1.QualifiedName]resource.Quantity")

CEL_DEVICE_SELECTOR = Struct("CELDeviceSelector", (Field("expression", STRING, 1, always=True),))

DEVICE_SELECTOR = Struct("DeviceSelector", (Field("cel", CEL_DEVICE_SELECTOR, 1, pointer=True),))

OPAQUE_DEVICE_CONFIGURATION = Struct(
    "OpaqueDeviceConfiguration", (Field("driver", STRING, 1, always=True), Field("parameters", RAW, 2, always=True))
)

DEVICE_CONFIGURATION = Struct("DeviceConfiguration", (Field("opaque", OPAQUE_DEVICE_CONFIGURATION, 1, pointer=True),))

DEVICE_CLASS_CONFIGURATION = Struct(
    "DeviceClassConfiguration", (Field("deviceConfiguration", DEVICE_CONFIGURATION, 1, inline=True),)
)

DEVICE_CLASS_SPEC = Struct(
    "DeviceClassSpec",
    (
        Field("selectors", ListOf(DEVICE_SELECTOR), 1),
        Field("config", ListOf(DEVICE_CLASS_CONFIGURATION), 2),
        Field("extendedResourceName", STRING, 4, pointer=True),
    ),
)

DEVICE_CLASS = resource("DeviceClass", Field("spec", DEVICE_CLASS_SPEC, 2, always=True))

CAPACITY_REQUIREMENTS = Struct("CapacityRequirements", (Field("requests", _AMOUNTS, 1),))

DEVICE_TOLERATION = Struct(
    "DeviceToleration",
    (
        Field("key", STRING, 1),
        Field("operator", String("v1.DeviceTolerationOperator", ("Equal", "Exists")), 2, default="Equal"),
        Field("value", STRING, 3),
        Field("effect", EFFECT, 4),
        Field("tolerationSeconds", INT64, 5, pointer=True),
    ),
)


def _wanted(first: int) -> tuple[Field, ...]:
    """What is wanted of devices, in fields of these numbers and on; `named` ones have a name before."""
    return (
        Field("deviceClassName", STRING, first, always=True),
        Field("selectors", ListOf(DEVICE_SELECTOR), first + 1),
        Field("allocationMode", String("v1.DeviceAllocationMode", ("All", "ExactCount")), first + 2, fill="ExactCount"),
        Field("count", INT64, first + 3),
    )


_ALSO = (Field("tolerations", ListOf(DEVICE_TOLERATION), 6), Field("capacity", CAPACITY_REQUIREMENTS, 7, pointer=True))

EXACT_DEVICE_REQUEST = Struct("ExactDeviceRequest", (*_wanted(1), Field("adminAccess", BOOL, 5, pointer=True), *_ALSO))

DEVICE_SUB_REQUEST = Struct("DeviceSubRequest", (Field("name", STRING, 1, always=True), *_wanted(2), *_ALSO))

DEVICE_REQUEST = Struct(
    "DeviceRequest",
    (
        Field("name", STRING, 1, always=True),
        Field("exactly", EXACT_DEVICE_REQUEST, 2, pointer=True),
        Field("firstAvailable", ListOf(DEVICE_SUB_REQUEST), 3),
    ),
)

DEVICE_CONSTRAINT = Struct(
    "DeviceConstraint",
    (
        Field("requests", STRINGS, 1),
        Field("matchAttribute", _QUALIFIED, 2, pointer=True),
        Field("distinctAttribute", _QUALIFIED, 3, pointer=True),
    ),
)

DEVICE_CLAIM_CONFIGURATION = Struct(
    "DeviceClaimConfiguration",
    (Field("requests", STRINGS, 1), Field("deviceConfiguration", DEVICE_CONFIGURATION, 2, inline=True)),
)

DEVICE_CLAIM = Struct(
    "DeviceClaim",
    (
        Field("requests", ListOf(DEVICE_REQUEST), 1, always=True, required=False),
        Field("constraints", ListOf(DEVICE_CONSTRAINT), 2),
        Field("config", ListOf(DEVICE_CLAIM_CONFIGURATION), 3),
    ),
)

RESOURCE_CLAIM_SPEC = Struct("ResourceClaimSpec", (Field("devices", DEVICE_CLAIM, 1),))

DEVICE_REQUEST_ALLOCATION_RESULT = Struct(
    "DeviceRequestAllocationResult",
    (
        Field("request", STRING, 1, always=True),
        Field("driver", STRING, 2, always=True),
        Field("pool", STRING, 3, always=True),
        Field("device", STRING, 4, always=True),
        Field("adminAccess", BOOL, 5, pointer=True),
        Field("tolerations", ListOf(DEVICE_TOLERATION), 6),
        Field("bindingConditions", STRINGS, 7),
        Field("bindingFailureConditions", STRINGS, 8),
        Field("shareID", UID, 9, pointer=True),
        Field("consumedCapacity", _AMOUNTS, 10),
    ),
)

DEVICE_ALLOCATION_CONFIGURATION = Struct(
    "DeviceAllocationConfiguration",
    (
        Field("source", String("v1.AllocationConfigSource", ("FromClaim", "FromClass")), 1, always=True),
        Field("requests", STRINGS, 2),
        Field("deviceConfiguration", DEVICE_CONFIGURATION, 3, inline=True),
    ),
)

DEVICE_ALLOCATION_RESULT = Struct(
    "DeviceAllocationResult",
    (
        Field("results", ListOf(DEVICE_REQUEST_ALLOCATION_RESULT), 1),
        Field("config", ListOf(DEVICE_ALLOCATION_CONFIGURATION), 2),
    ),
)

ALLOCATION_RESULT = Struct(
    "AllocationResult",
    (
        Field("devices", DEVICE_ALLOCATION_RESULT, 1),
        Field("nodeSelector", NODE_SELECTOR, 3, pointer=True),
        Field("allocationTimestamp", TIME, 5, pointer=True),
    ),
)

RESOURCE_CLAIM_CONSUMER_REFERENCE = Struct(
    "ResourceClaimConsumerReference",
    (
        Field("apiGroup", STRING, 1),
        Field("resource", STRING, 3, always=True),
        Field("name", STRING, 4, always=True),
        Field("uid", UID, 5, always=True),
    ),
)

NETWORK_DEVICE_DATA = Struct(
    "NetworkDeviceData",
    (Field("interfaceName", STRING, 1), Field("ips", STRINGS, 2), Field("hardwareAddress", STRING, 3)),
)

ALLOCATED_DEVICE_STATUS = Struct(
    "AllocatedDeviceStatus",
    (
        Field("driver", STRING, 1, always=True),
        Field("pool", STRING, 2, always=True),
        Field("device", STRING, 3, always=True),
        Field("shareID", STRING, 7, pointer=True),
        Field("conditions", ListOf(CONDITION), 4, always=True, required=False, keys=("type",)),
        Field("data", RAW, 5, pointer=True),
        Field("networkData", NETWORK_DEVICE_DATA, 6, pointer=True),
    ),
)

RESOURCE_CLAIM_STATUS = Struct(
    "ResourceClaimStatus",
    (
        Field("allocation", ALLOCATION_RESULT, 1, pointer=True),
        Field(
            "reservedFor",
            ListOf(RESOURCE_CLAIM_CONSUMER_REFERENCE),
            2,
            keys=("uid",),
            patch="merge",
            merge="uid",
        ),
        Field("devices", ListOf(ALLOCATED_DEVICE_STATUS), 4, keys=("driver", "device", "pool", "shareID")),
    ),
)

RESOURCE_CLAIM = resource(
    "ResourceClaim",
    Field("spec", RESOURCE_CLAIM_SPEC, 2, always=True),
    Field("status", RESOURCE_CLAIM_STATUS, 3),
)

RESOURCE_CLAIM_TEMPLATE_SPEC = Struct(
    "ResourceClaimTemplateSpec",
    (Field("metadata", OBJECT_META, 1), Field("spec", RESOURCE_CLAIM_SPEC, 2, always=True)),
)

RESOURCE_CLAIM_TEMPLATE = resource("ResourceClaimTemplate", Field("spec", RESOURCE_CLAIM_TEMPLATE_SPEC, 2, always=True))
