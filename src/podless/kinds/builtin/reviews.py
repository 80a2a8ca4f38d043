"""Questions to the server as kinds: what is created is answered, and not stored.

Who somebody is (authentication.k8s.io/v1), who may do what (authorization.k8s.io/v1), and requests for tokens.
"""

from __future__ import annotations

from podless.kinds.builtin.declared import declare
from podless.kinds.builtin.typed import TypedStrategy
from podless.kinds.kind import Kind
from podless.kinds.types import authentication, authorization
from podless.meta.structs import Struct

AUTHENTICATION = "authentication.k8s.io"
AUTHORIZATION = "authorization.k8s.io"


def _kind(group: str, struct: Struct, *, namespaced: bool = False) -> Kind:
    return declare(
        group,
        struct.name,
        f"{struct.name.lower()}s",
        strategy=TypedStrategy(),
        struct=struct,
        namespaced=namespaced,
        verbs=("create",),
        virtual=True,
    )


SELF_SUBJECT_REVIEWS = _kind(AUTHENTICATION, authentication.SELF_SUBJECT_REVIEW)
TOKEN_REVIEWS = _kind(AUTHENTICATION, authentication.TOKEN_REVIEW)
LOCAL_SUBJECT_ACCESS_REVIEWS = _kind(AUTHORIZATION, authorization.LOCAL_SUBJECT_ACCESS_REVIEW, namespaced=True)
SELF_SUBJECT_ACCESS_REVIEWS = _kind(AUTHORIZATION, authorization.SELF_SUBJECT_ACCESS_REVIEW)
SELF_SUBJECT_RULES_REVIEWS = _kind(AUTHORIZATION, authorization.SELF_SUBJECT_RULES_REVIEW)
SUBJECT_ACCESS_REVIEWS = _kind(AUTHORIZATION, authorization.SUBJECT_ACCESS_REVIEW)
ALL = (
    LOCAL_SUBJECT_ACCESS_REVIEWS,
    SELF_SUBJECT_ACCESS_REVIEWS,
    SELF_SUBJECT_REVIEWS,
    SELF_SUBJECT_RULES_REVIEWS,
    SUBJECT_ACCESS_REVIEWS,
    TOKEN_REVIEWS,
)

# below service accounts only
TOKEN_REQUESTS = _kind(AUTHENTICATION, authentication.TOKEN_REQUEST, namespaced=True)
