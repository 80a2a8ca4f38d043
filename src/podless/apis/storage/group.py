"""The group storage.k8s.io."""

from podless.apis.shared.group import Group

GROUP = Group("storage.k8s.io", 16800, earlier={"v1alpha1": "", "v1beta1": ""})

CSI_DRIVERS = GROUP.kind("CSIDriver", namespaced=False, shown_deleted=True)
CSI_NODES = GROUP.kind("CSINode", namespaced=False, status_ahead="1.37", shown_deleted=True)
CSI_STORAGE_CAPACITIES = GROUP.kind("CSIStorageCapacity")
STORAGE_CLASSES = GROUP.kind("StorageClass", "sc", namespaced=False, shown_deleted=True)
VOLUME_ATTACHMENTS = GROUP.kind("VolumeAttachment", namespaced=False, status=True, shown_deleted=True)
VOLUME_ATTRIBUTES_CLASSES = GROUP.kind(
    "VolumeAttributesClass",
    "vac",
    namespaced=False,
    shown_deleted=True,
    hash_version="v1beta1",
    hash_in="-1.35",
    releases="1.34-",
)
