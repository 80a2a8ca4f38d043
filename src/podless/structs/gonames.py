"""Names and order of fields in Go's internal structs, in which a real server keeps built-in objects.

Most follow from the structs of the API; the exceptions are listed here. Source: Kubernetes' pkg/apis, as recorded.
"""

from __future__ import annotations

from typing import Any

from podless.runtime.jsonobject import Object
from podless.structs.structs import Field, Struct

# JSON name -> Go name, if they differ in more than the first capital
_NAMES = {
    "apiGroup": "APIGroup", "apiGroups": "APIGroups", "apiVersion": "APIVersion",
    "awsElasticBlockStore": "AWSElasticBlockStore", "cel": "CEL", "cephfs": "CephFS",
    "chapAuthDiscovery": "DiscoveryCHAPAuth", "chapAuthSession": "SessionCHAPAuth",
    "cidr": "CIDR", "cidrs": "CIDRs", "csi": "CSI", "diskURI": "DataDiskURI",
    "dnsConfig": "DNSConfig", "dnsPolicy": "DNSPolicy", "externalID": "DoNotUseExternalID", "fc": "FC",
    "fsGroup": "FSGroup", "fsGroupChangePolicy": "FSGroupChangePolicy", "fsGroupPolicy": "FSGroupPolicy",
    "fsType": "FSType", "gcePersistentDisk": "GCEPersistentDisk", "gid": "GID",
    "gmsaCredentialSpec": "GMSACredentialSpec", "gmsaCredentialSpecName": "GMSACredentialSpecName", "grpc": "GRPC",
    "http": "HTTP", "httpGet": "HTTPGet", "httpHeaders": "HTTPHeaders", "ip": "IP", "ipBlock": "IPBlock",
    "ipFamilies": "IPFamilies", "ipFamilyPolicy": "IPFamilyPolicy", "ipMode": "IPMode", "iqn": "IQN",
    "iscsi": "ISCSI", "iscsiInterface": "ISCSIInterface", "lastState": "LastTerminationState", "nfs": "NFS",
    "os": "OS", "osImage": "OSImage", "pdName": "PDName", "qosClass": "QOSClass", "rbd": "RBD",
    "seLinuxChangePolicy": "SELinuxChangePolicy", "seLinuxMount": "SELinuxMount", "seLinuxOptions": "SELinuxOptions",
    "sslEnabled": "SSLEnabled", "storageos": "StorageOS", "tcpSocket": "TCPSocket", "tls": "TLS", "tty": "TTY",
    "ttlSecondsAfterFinished": "TTLSecondsAfterFinished", "uid": "UID", "wwids": "WWIDs",
}  # fmt: skip
# exceptions for the fields of one struct
_OWN_NAMES = {
    ("GlusterfsPersistentVolumeSource", "endpoints"): "EndpointsName",
    ("GlusterfsVolumeSource", "endpoints"): "EndpointsName",
    ("NetworkDeviceData", "ips"): "IPs",
    **{("DeviceAttribute", name): f"{name.capitalize()}Value" for name in ("int", "bool", "string", "version")},
    **{("DeviceAttribute", f"{name}s"): f"{name.capitalize()}Values" for name in ("int", "bool", "string", "version")},
    **{
        (struct, name): go
        for struct in ("RBDPersistentVolumeSource", "RBDVolumeSource")
        for name, go in {
            "monitors": "CephMonitors", "image": "RBDImage", "pool": "RBDPool", "user": "RadosUser",
        }.items()
    },
}  # fmt: skip
_DISKS = """azureFile vsphereVolume azureDisk photonPersistentDisk"""
_VOLUME_FIELDS = """hostPath emptyDir gcePersistentDisk awsElasticBlockStore gitRepo secret nfs iscsi glusterfs
persistentVolumeClaim rbd quobyte flexVolume cinder cephfs flocker downwardAPI fc azureFile configMap
vsphereVolume azureDisk photonPersistentDisk projected portworxVolume scaleIO storageos csi ephemeral image"""
_PV_FIELDS = f"""gcePersistentDisk awsElasticBlockStore hostPath glusterfs nfs rbd quobyte iscsi flexVolume cinder
cephfs fc flocker {_DISKS} portworxVolume scaleIO local storageos csi"""
# the order of fields, if it differs from that of the API
_ORDERS = {
    "CSIDriverSpec": """attachRequired fsGroupPolicy podInfoOnMount volumeLifecycleModes storageCapacity tokenRequests
    requiresRepublish seLinuxMount nodeAllocatableUpdatePeriodSeconds serviceAccountTokenInSecrets
    preventPodSchedulingIfMissing""",
    "ContainerResourceMetricSource": "name container target",
    "ContainerResourceMetricStatus": "name container current",
    "JobSpec": """parallelism completions podFailurePolicy successPolicy activeDeadlineSeconds backoffLimit
    backoffLimitPerIndex maxFailedIndexes selector manualSelector template ttlSecondsAfterFinished completionMode
    suspend podReplacementPolicy managedBy""",
    "JobStatus": """conditions startTime completionTime active terminating ready succeeded failed completedIndexes
    failedIndexes uncountedTerminatedPods""",
    "NodeSpec": "podCIDRs providerID unschedulable taints configSource externalID",
    "PersistentVolumeSpec": f"""capacity {_PV_FIELDS} accessModes claimRef persistentVolumeReclaimPolicy
    storageClassName mountOptions volumeMode nodeAffinity volumeAttributesClassName""",
    "PersistentVolumeSource": _PV_FIELDS,
    "PodSecurityContext": """seLinuxOptions windowsOptions runAsUser runAsGroup runAsNonRoot supplementalGroups
    supplementalGroupsPolicy fsGroup fsGroupChangePolicy sysctls seccompProfile appArmorProfile seLinuxChangePolicy""",
    "PodSpec": """volumes initContainers containers ephemeralContainers restartPolicy terminationGracePeriodSeconds
    activeDeadlineSeconds dnsPolicy nodeSelector serviceAccountName automountServiceAccountToken nodeName
    securityContext imagePullSecrets hostname subdomain setHostnameAsFQDN affinity schedulerName tolerations hostAliases
    priorityClassName priority preemptionPolicy dnsConfig readinessGates runtimeClassName overhead enableServiceLinks
    topologySpreadConstraints os schedulingGates resourceClaims resources hostnameOverride workloadRef
    schedulingGroup""",
    "ServiceSpec": """type ports selector clusterIP clusterIPs ipFamilies ipFamilyPolicy externalName externalIPs
    loadBalancerIP sessionAffinity sessionAffinityConfig loadBalancerSourceRanges externalTrafficPolicy
    healthCheckNodePort publishNotReadyAddresses allocateLoadBalancerNodePorts loadBalancerClass internalTrafficPolicy
    trafficDistribution""",
    "Volume": f"name {_VOLUME_FIELDS}",
    "VolumeSource": _VOLUME_FIELDS,
}
# fields that only the Go struct has: (struct, field before it) -> (name, zero value in JSON, zero value in Go's syntax)
ADDED = {
    ("DaemonSetSpec", "minReadySeconds"): ("TemplateGeneration", 0, "0"),
    ("DeploymentSpec", "paused"): ("RollbackTo", None, "(*apps.RollbackConfig)(nil)"),
}
# fields that are pointers in the API, but not in the internal struct
_NO_POINTERS = frozenset(
    {
        ("DeploymentSpec", "replicas"), ("LimitedPriorityLevelConfiguration", "nominalConcurrencyShares"),
        ("ReplicaSetSpec", "replicas"), ("RollingUpdateDaemonSet", "maxSurge"),
        ("RollingUpdateDaemonSet", "maxUnavailable"), ("RollingUpdateDeployment", "maxSurge"),
        ("RollingUpdateDeployment", "maxUnavailable"), ("RollingUpdateStatefulSetStrategy", "partition"),
        ("ServiceAccountTokenProjection", "expirationSeconds"), ("StatefulSetSpec", "replicas"),
    }
)  # fmt: skip
# fields of PodSpec in the API, which the internal struct has in its security context
_HOST_FIELDS = ("hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "hostUsers")
MOVED = {"hostNetwork": False, "hostPID": False, "hostIPC": False, "shareProcessNamespace": None, "hostUsers": None}


def name_field(struct: str, name: str) -> str:
    """Return the Go name of a field, by its name in JSON."""
    return _OWN_NAMES.get((struct, name)) or _NAMES.get(name) or name[0].upper() + name[1:]


def order_fields(struct: Struct) -> list[tuple[str, str, Field]]:
    """Return (JSON name, Go name, field) for all fields in Go's order; inline structs are replaced by their fields."""
    fields = {field.name: field for field in struct.fields}
    order = _ORDERS[struct.name].split() if struct.name in _ORDERS else list(fields)
    return [(name, name_field(struct.name, name), fields[name]) for name in order if name in fields]


def order_parts(struct: Struct) -> list[tuple[str, Field]]:
    """Return (Go name, field) for all fields in Go's order; an inline struct is one of them."""
    order = {name: index for index, name in enumerate(_ORDERS.get(struct.name, "").split())}
    entries: list[tuple[int, str, Field]] = []
    for index, field in enumerate(struct.declared_fields):
        if field.inline and isinstance(field.type, Struct):
            first = min((order[member.name] for member in field.type.fields if member.name in order), default=index)
            entries.append((first, field.type.name, field))
        elif not order or field.name in order:
            name = "ObjectMeta" if field.name == "metadata" else name_field(struct.name, field.name)
            entries.append((order.get(field.name, index), name, field))
    entries.sort(key=lambda entry: entry[0])
    return [(name, field) for _, name, field in entries]


def is_pointer(struct: Struct, field: Field) -> bool:
    """Return whether a field is a pointer in Go's internal struct, as most pointers of the API are."""
    return field.pointer and (struct.name, field.name) not in _NO_POINTERS


def move_fields(struct: Struct, value: Object) -> Object:
    """Return the value of a struct with its fields at their places in Go's internal struct."""
    if struct.name != "PodSpec":
        return value
    moved: dict[str, Any] = {name: value[name] for name in _HOST_FIELDS if name in value}
    return {**value, "securityContext": {**(value.get("securityContext") or {}), **moved}}
