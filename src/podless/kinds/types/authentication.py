"""The structs of authentication.k8s.io/v1: questions about who somebody is, and requests for tokens."""

from __future__ import annotations

from podless.kinds.types.authorization import EXTRA_VALUE
from podless.meta.gotypes import BOOL, INT64, STRING, TIME, UID, MapOf
from podless.meta.structs import Field, Struct
from podless.meta.structs_meta import OBJECT_META, STRINGS, TYPE_META

_HEAD = (*TYPE_META, Field("metadata", OBJECT_META, 1))

USER_INFO = Struct(
    "UserInfo",
    (
        Field("username", STRING, 1),
        Field("uid", STRING, 2),
        Field("groups", STRINGS, 3),
        Field("extra", MapOf(EXTRA_VALUE), 4),
    ),
)

SELF_SUBJECT_REVIEW_STATUS = Struct("SelfSubjectReviewStatus", (Field("userInfo", USER_INFO, 1),))
SELF_SUBJECT_REVIEW = Struct("SelfSubjectReview", (*_HEAD, Field("status", SELF_SUBJECT_REVIEW_STATUS, 2)))

TOKEN_REVIEW_SPEC = Struct(
    "TokenReviewSpec", (Field("token", STRING, 1, required=True), Field("audiences", STRINGS, 2))
)

TOKEN_REVIEW_STATUS = Struct(
    "TokenReviewStatus",
    (
        Field("authenticated", BOOL, 1),
        Field("user", USER_INFO, 2),
        Field("audiences", STRINGS, 4),
        Field("error", STRING, 3),
    ),
)

TOKEN_REVIEW = Struct(
    "TokenReview", (*_HEAD, Field("spec", TOKEN_REVIEW_SPEC, 2, required=True), Field("status", TOKEN_REVIEW_STATUS, 3))
)

BOUND_OBJECT_REFERENCE = Struct(
    "BoundObjectReference",
    (Field("kind", STRING, 1), Field("apiVersion", STRING, 2), Field("name", STRING, 3), Field("uid", UID, 4)),
)

TOKEN_REQUEST_SPEC = Struct(
    "TokenRequestSpec",
    (
        Field("audiences", STRINGS, 1, always=True, required=False),
        Field("expirationSeconds", INT64, 4, pointer=True, always=True, required=False, fill=3600),
        Field("boundObjectRef", BOUND_OBJECT_REFERENCE, 3, pointer=True, always=True, required=False),
    ),
)

TOKEN_REQUEST_STATUS = Struct(
    "TokenRequestStatus",
    (
        Field("token", STRING, 1, always=True, required=False),
        Field("expirationTimestamp", TIME, 2, always=True, required=False),
    ),
)

TOKEN_REQUEST = Struct(
    "TokenRequest", (*_HEAD, Field("spec", TOKEN_REQUEST_SPEC, 2), Field("status", TOKEN_REQUEST_STATUS, 3))
)
