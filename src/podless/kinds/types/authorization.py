"""The structs of authorization.k8s.io/v1: questions about who may do what."""

from __future__ import annotations

from podless.meta.gotypes import BOOL, STRING, ListOf, MapOf
from podless.meta.structs import Field, Struct
from podless.meta.structs_meta import (
    FIELD_SELECTOR_REQUIREMENT,
    LABEL_SELECTOR_REQUIREMENT,
    OBJECT_META,
    STRINGS,
    TYPE_META,
)

EXTRA_VALUE = ListOf(STRING, "v1.ExtraValue")

FIELD_SELECTOR_ATTRIBUTES = Struct(
    "FieldSelectorAttributes",
    (Field("rawSelector", STRING, 1), Field("requirements", ListOf(FIELD_SELECTOR_REQUIREMENT), 2)),
)

LABEL_SELECTOR_ATTRIBUTES = Struct(
    "LabelSelectorAttributes",
    (Field("rawSelector", STRING, 1), Field("requirements", ListOf(LABEL_SELECTOR_REQUIREMENT), 2)),
)

RESOURCE_ATTRIBUTES = Struct(
    "ResourceAttributes",
    (
        Field("namespace", STRING, 1),
        Field("verb", STRING, 2),
        Field("group", STRING, 3),
        Field("version", STRING, 4),
        Field("resource", STRING, 5),
        Field("subresource", STRING, 6),
        Field("name", STRING, 7),
        Field("fieldSelector", FIELD_SELECTOR_ATTRIBUTES, 8, pointer=True),
        Field("labelSelector", LABEL_SELECTOR_ATTRIBUTES, 9, pointer=True),
    ),
)

NON_RESOURCE_ATTRIBUTES = Struct("NonResourceAttributes", (Field("path", STRING, 1), Field("verb", STRING, 2)))

_ATTRIBUTES = (
    Field("resourceAttributes", RESOURCE_ATTRIBUTES, 1, pointer=True),
    Field("nonResourceAttributes", NON_RESOURCE_ATTRIBUTES, 2, pointer=True),
)

SELF_SUBJECT_ACCESS_REVIEW_SPEC = Struct("SelfSubjectAccessReviewSpec", _ATTRIBUTES)

SUBJECT_ACCESS_REVIEW_SPEC = Struct(
    "SubjectAccessReviewSpec",
    (
        *_ATTRIBUTES,
        Field("user", STRING, 3),
        Field("groups", STRINGS, 4),
        Field("extra", MapOf(EXTRA_VALUE), 5),
        Field("uid", STRING, 6),
    ),
)

SUBJECT_ACCESS_REVIEW_STATUS = Struct(
    "SubjectAccessReviewStatus",
    (
        Field("allowed", BOOL, 1, always=True),
        Field("denied", BOOL, 4),
        Field("reason", STRING, 2),
        Field("evaluationError", STRING, 3),
    ),
)

RESOURCE_RULE = Struct(
    "ResourceRule",
    (
        Field("verbs", STRINGS, 1, always=True),
        Field("apiGroups", STRINGS, 2),
        Field("resources", STRINGS, 3),
        Field("resourceNames", STRINGS, 4),
    ),
)

NON_RESOURCE_RULE = Struct(
    "NonResourceRule", (Field("verbs", STRINGS, 1, always=True), Field("nonResourceURLs", STRINGS, 2))
)

SELF_SUBJECT_RULES_REVIEW_SPEC = Struct("SelfSubjectRulesReviewSpec", (Field("namespace", STRING, 1),))

SUBJECT_RULES_REVIEW_STATUS = Struct(
    "SubjectRulesReviewStatus",
    (
        Field("resourceRules", ListOf(RESOURCE_RULE), 1, always=True),
        Field("nonResourceRules", ListOf(NON_RESOURCE_RULE), 2, always=True),
        Field("incomplete", BOOL, 3, always=True),
        Field("evaluationError", STRING, 4),
    ),
)


def _review(name: str, spec: Struct, status: Struct) -> Struct:
    head = (*TYPE_META, Field("metadata", OBJECT_META, 1))
    return Struct(name, (*head, Field("spec", spec, 2, required=True), Field("status", status, 3)))


SUBJECT_ACCESS_REVIEW = _review("SubjectAccessReview", SUBJECT_ACCESS_REVIEW_SPEC, SUBJECT_ACCESS_REVIEW_STATUS)
LOCAL_SUBJECT_ACCESS_REVIEW = _review(
    "LocalSubjectAccessReview", SUBJECT_ACCESS_REVIEW_SPEC, SUBJECT_ACCESS_REVIEW_STATUS
)
SELF_SUBJECT_ACCESS_REVIEW = _review(
    "SelfSubjectAccessReview", SELF_SUBJECT_ACCESS_REVIEW_SPEC, SUBJECT_ACCESS_REVIEW_STATUS
)
SELF_SUBJECT_RULES_REVIEW = _review(
    "SelfSubjectRulesReview", SELF_SUBJECT_RULES_REVIEW_SPEC, SUBJECT_RULES_REVIEW_STATUS
)
