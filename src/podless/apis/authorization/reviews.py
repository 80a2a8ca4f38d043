"""Questions to the server as kinds: what is created is answered, and not stored.

Who somebody is (authentication.k8s.io/v1), who may do what (authorization.k8s.io/v1), and requests for tokens.
"""

from __future__ import annotations

from podless.apis.shared.declared import declare
from podless.apis.shared.typed import TypedStrategy
from podless.kinds.kind import Kind
from podless.structs.structfiles import find_home, load_struct

AUTHENTICATION = "authentication.k8s.io"
AUTHORIZATION = "authorization.k8s.io"


def _kind(group: str, noun: str, *, namespaced: bool = False) -> Kind:
    return declare(
        group,
        noun,
        f"{noun.lower()}s",
        strategy=TypedStrategy(),
        struct=load_struct(find_home(group, "v1"), noun),
        namespaced=namespaced,
        verbs=("create",),
        virtual=True,
    )


SELF_SUBJECT_REVIEWS = _kind(AUTHENTICATION, "SelfSubjectReview")
TOKEN_REVIEWS = _kind(AUTHENTICATION, "TokenReview")
LOCAL_SUBJECT_ACCESS_REVIEWS = _kind(AUTHORIZATION, "LocalSubjectAccessReview", namespaced=True)
SELF_SUBJECT_ACCESS_REVIEWS = _kind(AUTHORIZATION, "SelfSubjectAccessReview")
SELF_SUBJECT_RULES_REVIEWS = _kind(AUTHORIZATION, "SelfSubjectRulesReview")
SUBJECT_ACCESS_REVIEWS = _kind(AUTHORIZATION, "SubjectAccessReview")
ALL = (
    LOCAL_SUBJECT_ACCESS_REVIEWS,
    SELF_SUBJECT_ACCESS_REVIEWS,
    SELF_SUBJECT_REVIEWS,
    SELF_SUBJECT_RULES_REVIEWS,
    SUBJECT_ACCESS_REVIEWS,
    TOKEN_REVIEWS,
)

# below service accounts only
TOKEN_REQUESTS = _kind(AUTHENTICATION, "TokenRequest", namespaced=True)
