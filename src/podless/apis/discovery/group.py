"""The group discovery.k8s.io."""

from podless.apis.shared.group import READ, Group

GROUP = Group("discovery.k8s.io", 16200, view=((READ, "endpointslices"),), earlier={"v1beta1": ""})

ENDPOINT_SLICES = GROUP.kind("EndpointSlice", hash_version="v1beta1", hash_in="1.30")
