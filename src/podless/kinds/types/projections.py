"""Volumes that show what the API has."""

from __future__ import annotations

from podless.kinds.types.core import LOCAL_OBJECT_REFERENCE
from podless.meta.gotypes import BOOL, INT32, INT64, QUANTITY, STRING, ListOf
from podless.meta.structs import Field, Struct
from podless.meta.structs_meta import LABEL_SELECTOR, STRING_MAP

KEY_TO_PATH = Struct(
    "KeyToPath",
    (
        Field("key", STRING, 1, always=True),
        Field("path", STRING, 2, always=True),
        Field("mode", INT32, 3, pointer=True),
    ),
)

SECRET_PROJECTION = Struct(
    "SecretProjection",
    (
        Field("localObjectReference", LOCAL_OBJECT_REFERENCE, 1, inline=True),
        Field("items", ListOf(KEY_TO_PATH), 2),
        Field("optional", BOOL, 4, pointer=True),
    ),
)

OBJECT_FIELD_SELECTOR = Struct(
    "ObjectFieldSelector",
    (Field("apiVersion", STRING, 1, fill="v1"), Field("fieldPath", STRING, 2, always=True)),
    atomic=True,
)

RESOURCE_FIELD_SELECTOR = Struct(
    "ResourceFieldSelector",
    (
        Field("containerName", STRING, 1),
        Field("resource", STRING, 2, always=True),
        Field("divisor", QUANTITY, 3, always=True, required=False),
    ),
    atomic=True,
)

DOWNWARD_API_VOLUME_FILE = Struct(
    "DownwardAPIVolumeFile",
    (
        Field("path", STRING, 1, always=True),
        Field("fieldRef", OBJECT_FIELD_SELECTOR, 2, pointer=True),
        Field("resourceFieldRef", RESOURCE_FIELD_SELECTOR, 3, pointer=True),
        Field("mode", INT32, 4, pointer=True),
    ),
)

DOWNWARD_API_PROJECTION = Struct("DownwardAPIProjection", (Field("items", ListOf(DOWNWARD_API_VOLUME_FILE), 1),))

CONFIG_MAP_PROJECTION = Struct(
    "ConfigMapProjection",
    (
        Field("localObjectReference", LOCAL_OBJECT_REFERENCE, 1, inline=True),
        Field("items", ListOf(KEY_TO_PATH), 2),
        Field("optional", BOOL, 4, pointer=True),
    ),
)

SERVICE_ACCOUNT_TOKEN_PROJECTION = Struct(
    "ServiceAccountTokenProjection",
    (
        Field("audience", STRING, 1),
        Field("expirationSeconds", INT64, 2, pointer=True, fill=3600),
        Field("path", STRING, 3, always=True),
    ),
)

CLUSTER_TRUST_BUNDLE_PROJECTION = Struct(
    "ClusterTrustBundleProjection",
    (
        Field("name", STRING, 1, pointer=True),
        Field("signerName", STRING, 2, pointer=True),
        Field("labelSelector", LABEL_SELECTOR, 3, pointer=True),
        Field("optional", BOOL, 5, pointer=True),
        Field("path", STRING, 4, always=True),
    ),
)

POD_CERTIFICATE_PROJECTION = Struct(
    "PodCertificateProjection",
    (
        Field("signerName", STRING, 1, required=True),
        Field("keyType", STRING, 2, required=True),
        Field("maxExpirationSeconds", INT32, 3, pointer=True),
        Field("credentialBundlePath", STRING, 4),
        Field("keyPath", STRING, 5),
        Field("certificateChainPath", STRING, 6),
        Field("userAnnotations", STRING_MAP, 7),
    ),
)

VOLUME_PROJECTION = Struct(
    "VolumeProjection",
    (
        Field("secret", SECRET_PROJECTION, 1, pointer=True),
        Field("downwardAPI", DOWNWARD_API_PROJECTION, 2, pointer=True),
        Field("configMap", CONFIG_MAP_PROJECTION, 3, pointer=True),
        Field("serviceAccountToken", SERVICE_ACCOUNT_TOKEN_PROJECTION, 4, pointer=True),
        Field("clusterTrustBundle", CLUSTER_TRUST_BUNDLE_PROJECTION, 5, pointer=True),
        Field("podCertificate", POD_CERTIFICATE_PROJECTION, 6, pointer=True),
    ),
)

PROJECTED_VOLUME_SOURCE = Struct(
    "ProjectedVolumeSource",
    (
        Field("sources", ListOf(VOLUME_PROJECTION), 1, always=True, required=False),
        Field("defaultMode", INT32, 2, pointer=True, fill=420),
    ),
)

DOWNWARD_API_VOLUME_SOURCE = Struct(
    "DownwardAPIVolumeSource",
    (Field("items", ListOf(DOWNWARD_API_VOLUME_FILE), 1), Field("defaultMode", INT32, 2, pointer=True, fill=420)),
)

SECRET_VOLUME_SOURCE = Struct(
    "SecretVolumeSource",
    (
        Field("secretName", STRING, 1),
        Field("items", ListOf(KEY_TO_PATH), 2),
        Field("defaultMode", INT32, 3, pointer=True, fill=420),
        Field("optional", BOOL, 4, pointer=True),
    ),
)

CONFIG_MAP_VOLUME_SOURCE = Struct(
    "ConfigMapVolumeSource",
    (
        Field("localObjectReference", LOCAL_OBJECT_REFERENCE, 1, inline=True),
        Field("items", ListOf(KEY_TO_PATH), 2),
        Field("defaultMode", INT32, 3, pointer=True, fill=420),
        Field("optional", BOOL, 4, pointer=True),
    ),
)
