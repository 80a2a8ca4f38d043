"""Kubernetes' API groups: a folder for each group, with a .fields file for each of its versions.

A folder's group.py declares the group and its kinds (apis/shared/group.py). README.md describes the format of .fields
files; structs/structfiles.py reads them.
"""

# The built-in API groups by folder. catalog.py imports them, because a module that needs one struct needs no group. The
# rules of the roles admin, edit and view are in this order.
FOLDERS = (
    "core", "events", "discovery", "apps", "autoscaling", "batch", "extensions", "policy", "networking",
    "coordination", "resource", "authentication", "authorization", "rbac", "admissionregistration", "apiextensions",
    "apiregistration", "certificates", "flowcontrol", "node", "scheduling", "storage", "storagemigration",
)  # fmt: skip
