"""What is Kubernetes and no machinery: a folder for each API group, a .fields file for each of its versions.

A folder's group.py declares the group and its kinds (apis/shared/group.py). README.md tells the format of .fields
files, and structs/structfiles.py reads them.
"""

# The built-in API groups by their folders: catalog.py imports them, since whoever needs one struct needs no group.
# The roles admin, edit and view have their rules in this order.
FOLDERS = (
    "core",
    "events",
    "discovery",
    "apps",
    "autoscaling",
    "batch",
    "extensions",
    "policy",
    "networking",
    "coordination",
    "resource",
    "authentication",
    "authorization",
    "rbac",
    "admissionregistration",
    "apiextensions",
    "apiregistration",
    "certificates",
    "flowcontrol",
    "node",
    "scheduling",
    "storage",
    "storagemigration",
)
