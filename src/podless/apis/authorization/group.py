"""The group authorization.k8s.io."""

from podless.apis.shared.group import Group

GROUP = Group(
    "authorization.k8s.io",
    17600,
    needed=True,
    admin=(("create", "localsubjectaccessreviews"),),
    earlier={"v1beta1": "*"},
)

LOCAL_SUBJECT_ACCESS_REVIEWS = GROUP.review("LocalSubjectAccessReview", namespaced=True)
SELF_SUBJECT_ACCESS_REVIEWS = GROUP.review("SelfSubjectAccessReview")
SELF_SUBJECT_RULES_REVIEWS = GROUP.review("SelfSubjectRulesReview")
SUBJECT_ACCESS_REVIEWS = GROUP.review("SubjectAccessReview")
