"""The group apiextensions.k8s.io."""

from podless.apis.shared.group import Group

GROUP = Group(
    "apiextensions.k8s.io",
    16700,
    needed=True,
    off_by_default=("v1beta1",),
    package="io.k8s.apiextensions-apiserver.pkg.apis.apiextensions",
    unlisted={"v1": "ConversionReview", "v1beta1": "ConversionReview"},
)

DEFINITIONS = GROUP.kind(
    "CustomResourceDefinition",
    "crd",
    "crds",
    namespaced=False,
    categories=("api-extensions",),
    status=True,
    status_tables=False,
    versions=("v1", "v1beta1"),
    hash_version="v1beta1",
    deprecated={
        "v1beta1": "apiextensions.k8s.io/v1beta1 CustomResourceDefinition is deprecated in v1.16+, "
        "unavailable in v1.22+; use apiextensions.k8s.io/v1 CustomResourceDefinition"
    },
)
