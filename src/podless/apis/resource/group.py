"""The group resource.k8s.io."""

from functools import partial

from podless.apis.shared.group import READ, WRITE, Group

GROUP = Group(
    "resource.k8s.io",
    16200,
    version_priorities={"v1": 21},
    view=((READ, "resourceclaims resourceclaims/status resourceclaimtemplates"),),
    edit=((WRITE, "resourceclaims resourceclaimtemplates"),),
    earlier={"v1alpha3": "", "v1beta1": "", "v1beta2": ""},
)

_kind = partial(GROUP.kind, shown_deleted=True, releases="1.34-")
DEVICE_CLASSES = _kind("DeviceClass", namespaced=False)
RESOURCE_CLAIMS = _kind("ResourceClaim", status=True, status_tables=False)
RESOURCE_CLAIM_TEMPLATES = _kind("ResourceClaimTemplate")
RESOURCE_SLICES = _kind("ResourceSlice", namespaced=False)
DEVICE_TAINT_RULES = GROUP.kind(
    "DeviceTaintRule", namespaced=False, status=True, hash_version="v1beta2", releases="1.37-"
)
