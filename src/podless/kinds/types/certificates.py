"""The kinds of certificates.k8s.io/v1."""

from __future__ import annotations

from podless.kinds.types.authorization import EXTRA_VALUE
from podless.meta.gotypes import BYTES, INT32, STRING, TIME, ListOf, MapOf, String
from podless.meta.structs import Field, Struct
from podless.meta.structs_meta import STRINGS, resource

CERTIFICATE_SIGNING_REQUEST_SPEC = Struct(
    "CertificateSigningRequestSpec",
    (
        Field("request", BYTES, 1, always=True),
        Field("signerName", STRING, 7, always=True),
        Field("expirationSeconds", INT32, 8, pointer=True),
        Field(
            "usages",
            ListOf(
                String(
                    "v1.KeyUsage",
                    (
                        "any",
                        "cert sign",
                        "client auth",
                        "code signing",
                        "content commitment",
                        "crl sign",
                        "data encipherment",
                        "decipher only",
                        "digital signature",
                        "email protection",
                        "encipher only",
                        "ipsec end system",
                        "ipsec tunnel",
                        "ipsec user",
                        "key agreement",
                        "key encipherment",
                        "microsoft sgc",
                        "netscape sgc",
                        "ocsp signing",
                        "s/mime",
                        "server auth",
                        "signing",
                        "timestamping",
                    ),
                )
            ),
            5,
        ),
        Field("username", STRING, 2),
        Field("uid", STRING, 3),
        Field("groups", STRINGS, 4),
        Field("extra", MapOf(EXTRA_VALUE), 6),
    ),
)

CERTIFICATE_SIGNING_REQUEST_CONDITION = Struct(
    "CertificateSigningRequestCondition",
    (
        Field("type", String("v1.RequestConditionType"), 1, always=True),
        Field("status", String("v1.ConditionStatus"), 6, always=True),
        Field("reason", STRING, 2),
        Field("message", STRING, 3),
        Field("lastUpdateTime", TIME, 4, always=True, required=False),
        Field("lastTransitionTime", TIME, 5, always=True, required=False),
    ),
)

CERTIFICATE_SIGNING_REQUEST_STATUS = Struct(
    "CertificateSigningRequestStatus",
    (
        Field("conditions", ListOf(CERTIFICATE_SIGNING_REQUEST_CONDITION), 1, keys=("type",)),
        Field("certificate", BYTES, 2),
    ),
)

CERTIFICATE_SIGNING_REQUEST = resource(
    "CertificateSigningRequest",
    Field("spec", CERTIFICATE_SIGNING_REQUEST_SPEC, 2, always=True),
    Field("status", CERTIFICATE_SIGNING_REQUEST_STATUS, 3),
)
