"""Questions to the server as kinds: what is created is answered, and not stored.

Who somebody is (authentication.k8s.io/v1), who may do what (authorization.k8s.io/v1), and requests for tokens.
"""

from __future__ import annotations

from podless.kinds.builtin.typed import TypedStrategy
from podless.kinds.kind import Kind, Version
from podless.kinds.strategy import Object
from podless.kinds.types import authentication, authorization
from podless.meta.structs import Struct

AUTHENTICATION = "authentication.k8s.io"
AUTHORIZATION = "authorization.k8s.io"
_LIFE = 3600  # seconds that a token is good for where nothing is said


class TokenRequestStrategy(TypedStrategy):
    """A token is good for an hour unless told otherwise."""

    def default(self, version: Version, obj: Object) -> None:
        """How long the token is to be good."""
        if obj["spec"].get("expirationSeconds") is None:
            obj["spec"]["expirationSeconds"] = _LIFE


def _kind(group: str, struct: Struct, *, namespaced: bool = False, strategy: TypedStrategy | None = None) -> Kind:
    noun = struct.name
    return Kind(
        group=group,
        plural=f"{noun.lower()}s",
        kind=noun,
        singular=noun.lower(),
        list_kind=f"{noun}List",
        namespaced=namespaced,
        versions=(Version("v1"),),
        storage_version="v1",
        strategy=strategy or TypedStrategy(),
        struct=struct,
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
TOKEN_REQUESTS = _kind(AUTHENTICATION, authentication.TOKEN_REQUEST, namespaced=True, strategy=TokenRequestStrategy())
