"""Texts of volumes whose files are made from objects."""

from __future__ import annotations

_MODE = "The permissions of files that give none themselves, 0 to 0777, octal in YAML, decimal in JSON; 0644 where "
_MODE += "nothing is given."
_ITEMS = "The keys that become files, and where; all keys, each a file of its name, where nothing is given."
_OPTIONAL = "Whether the pod starts even where there is no such object or key."
_OWN_MODE = "The file's permissions, 0 to 0777; the volume's where nothing is given."
_CONFIG_MAP = {"items": _ITEMS, "name": "The ConfigMap's name.", "optional": _OPTIONAL}
_AT = "The file's path in the volume, relative and without '..'."

TEXTS: dict[str, dict[str, str]] = {
    "ObjectFieldSelector": {
        "": "A field of the pod.",
        "apiVersion": "The version in which fieldPath is written; v1 where nothing is given.",
        "fieldPath": "The field, such as metadata.name or metadata.labels['app'].",
    },
    "ResourceFieldSelector": {
        "": "What a container requests, or is limited to.",
        "containerName": "The container; needed in volumes, else this one where nothing is given.",
        "divisor": "The unit in which the amount is told, rounded up; 1 where nothing is given.",
        "resource": "What is asked for, such as limits.cpu or requests.memory.",
    },
    "KeyToPath": {
        "": "A key that becomes a file.",
        "key": "The key.",
        "mode": _OWN_MODE,
        "path": _AT,
    },
    "SecretProjection": {
        "": "Files made of a Secret.",
        "items": _ITEMS,
        "name": "The Secret's name.",
        "optional": _OPTIONAL,
    },
    "DownwardAPIVolumeFile": {
        "": "A file that tells something of the pod.",
        "fieldRef": "The field of the pod: its name, namespace, UID, labels or annotations.",
        "mode": _OWN_MODE,
        "path": _AT,
        "resourceFieldRef": "What a container requests, or is limited to.",
    },
    "DownwardAPIProjection": {
        "": "Files that tell something of the pod.",
        "items": "The files.",
    },
    "ConfigMapProjection": {"": "Files made of a ConfigMap.", **_CONFIG_MAP},
    "ServiceAccountTokenProjection": {
        "": "A file with a token of the pod's service account, which is renewed in time.",
        "audience": "For whom the token is; for the API server where nothing is given.",
        "expirationSeconds": "For how many seconds a token holds, 600 at least; 3600 where nothing is given.",
        "path": _AT,
    },
    "ClusterTrustBundleProjection": {
        "": "A file with certificates to trust, in PEM and in no certain order.",
        "labelSelector": "The labels of the bundles, besides signerName; none where nothing is given, {} for all.",
        "name": "The ClusterTrustBundle's name. Not with signerName.",
        "optional": "Whether the pod starts even where there is no such bundle.",
        "path": _AT,
        "signerName": "The signer whose bundles are taken. Not with name.",
    },
    "PodCertificateProjection": {
        "": "Files with a private key and a certificate for the pod, which are renewed in time.",
        "certificateChainPath": "The path of the certificates in the volume, apart from the key.",
        "credentialBundlePath": "The path of one file with the key and the certificates, in PEM.",
        "keyPath": "The path of the key in the volume, apart from the certificates.",
        "keyType": "RSA3072, RSA4096, ECDSAP256, ECDSAP384, ECDSAP521 or ED25519.",
        "maxExpirationSeconds": "For how many seconds a certificate may hold, 3600 to 7862400; "
        "86400 where nothing is given.",
        "signerName": "The signer that is asked for the certificate.",
        "userAnnotations": "More for the signer to know, by key. What it means is up to the signer.",
    },
    "VolumeProjection": {
        "": "One of the sources that a volume's files come from.",
        "clusterTrustBundle": "Certificates to trust.",
        "configMap": "A ConfigMap.",
        "downwardAPI": "What is known of the pod.",
        "podCertificate": "A private key and a certificate for the pod.",
        "secret": "A Secret.",
        "serviceAccountToken": "A token of the pod's service account.",
    },
    "ProjectedVolumeSource": {
        "": "A volume with files from several sources.",
        "defaultMode": _MODE,
        "sources": "The sources; no two may have a file of the same path.",
    },
    "DownwardAPIVolumeSource": {
        "": "A volume with files that tell something of the pod.",
        "defaultMode": _MODE,
        "items": "The files.",
    },
    "SecretVolumeSource": {
        "": "A volume with the values of a Secret, each a file.",
        "defaultMode": _MODE,
        "items": _ITEMS,
        "optional": _OPTIONAL,
        "secretName": "The Secret's name.",
    },
    "ConfigMapVolumeSource": {
        "": "A volume with the values of a ConfigMap, each a file.",
        **_CONFIG_MAP,
        "defaultMode": _MODE,
    },
}
