"""The Go structs of the built-in kinds, as tables; field order is that of the wire."""

from podless.kinds.types.apiextensions import CUSTOM_RESOURCE_DEFINITION, CUSTOM_RESOURCE_DEFINITION_BETA
from podless.kinds.types.autoscaling import SCALE
from podless.kinds.types.coordination import LEASE
from podless.kinds.types.core import CONFIG_MAP, NAMESPACE, SECRET, SERVICE_ACCOUNT
from podless.kinds.types.extensions import THIRD_PARTY_RESOURCE
from podless.kinds.types.jsonschema import JSON_SCHEMA_PROPS
from podless.meta.structs_meta import DELETE_OPTIONS, LIST_META, OBJECT_META, STATUS

__all__ = [
    "CONFIG_MAP",
    "CUSTOM_RESOURCE_DEFINITION",
    "CUSTOM_RESOURCE_DEFINITION_BETA",
    "DELETE_OPTIONS",
    "JSON_SCHEMA_PROPS",
    "LEASE",
    "LIST_META",
    "NAMESPACE",
    "OBJECT_META",
    "SCALE",
    "SECRET",
    "SERVICE_ACCOUNT",
    "STATUS",
    "THIRD_PARTY_RESOURCE",
]
