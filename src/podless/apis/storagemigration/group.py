"""The group storagemigration.k8s.io."""

from podless.apis.shared.group import Group

GROUP = Group("storagemigration.k8s.io", 15800, earlier={"v1beta1": ""})

MIGRATIONS = GROUP.kind(
    "StorageVersionMigration", namespaced=False, status=True, hash_version="v1beta1", releases="1.37-"
)
