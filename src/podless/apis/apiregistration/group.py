"""The group apiregistration.k8s.io."""

from podless.apis.shared.group import Group

GROUP = Group(
    "apiregistration.k8s.io",
    18500,
    needed=True,
    package="io.k8s.kube-aggregator.pkg.apis.apiregistration",
    earlier={"v1beta1": "*"},
)

API_SERVICES = GROUP.kind(
    "APIService", namespaced=False, categories=("api-extensions",), status=True, status_tables=False
)
