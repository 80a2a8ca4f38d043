"""The group authentication.k8s.io."""

from podless.apis.shared.group import Group

GROUP = Group("authentication.k8s.io", 17700, needed=True, earlier={"v1alpha1": "*", "v1beta1": "*"})

SELF_SUBJECT_REVIEWS = GROUP.review("SelfSubjectReview")
TOKEN_REVIEWS = GROUP.review("TokenReview")
TOKEN_REQUESTS = GROUP.send("TokenRequest")
