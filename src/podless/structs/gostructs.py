"""Built-in objects as the Go structs that a real server keeps them in, for its errors show those: {"Type":"Recreate"}.

Such a struct has every field, under its Go name, and in an order of its own. Most of both follows from our tables of
the wire's structs; what does not is told here. Source: Kubernetes' pkg/apis, as recorded.
"""

from __future__ import annotations

import difflib
import json
from typing import Any

from podless.codec import gotext
from podless.runtime.jsonobject import Object
from podless.runtime.meter import each
from podless.structs import gotypes, structs
from podless.structs.gotypes import GoType, ListOf
from podless.structs.structfiles import load_struct
from podless.structs.structs import Field, Struct

# JSON names -> Go names, where the latter do not only begin with a capital
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
# the same for the fields of one struct
_OWN_NAMES = {
    ("GlusterfsPersistentVolumeSource", "endpoints"): "EndpointsName",
    ("GlusterfsVolumeSource", "endpoints"): "EndpointsName",
    ("NetworkDeviceData", "ips"): "IPs",
    **{("DeviceAttribute", name): f"{name.capitalize()}Value" for name in ("int", "bool", "string", "version")},
    **{("DeviceAttribute", f"{name}s"): f"{name.capitalize()}Values" for name in ("int", "bool", "string", "version")},
    **{
        (struct, name): given
        for struct in ("RBDPersistentVolumeSource", "RBDVolumeSource")
        for name, given in {
            "monitors": "CephMonitors", "image": "RBDImage", "pool": "RBDPool", "user": "RadosUser",
        }.items()
    },
}  # fmt: skip
_DISKS = """azureFile vsphereVolume azureDisk photonPersistentDisk"""
_OF_VOLUMES = """hostPath emptyDir gcePersistentDisk awsElasticBlockStore gitRepo secret nfs iscsi glusterfs
persistentVolumeClaim rbd quobyte flexVolume cinder cephfs flocker downwardAPI fc azureFile configMap
vsphereVolume azureDisk photonPersistentDisk projected portworxVolume scaleIO storageos csi ephemeral image"""
_OF_PERSISTENT = f"""gcePersistentDisk awsElasticBlockStore hostPath glusterfs nfs rbd quobyte iscsi flexVolume cinder
cephfs fc flocker {_DISKS} portworxVolume scaleIO local storageos csi"""
# the order of fields, where it is not that of the wire
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
    "PersistentVolumeSpec": f"""capacity {_OF_PERSISTENT} accessModes claimRef persistentVolumeReclaimPolicy
    storageClassName mountOptions volumeMode nodeAffinity volumeAttributesClassName""",
    "PersistentVolumeSource": _OF_PERSISTENT,
    "PodSecurityContext": """seLinuxOptions windowsOptions runAsUser runAsGroup runAsNonRoot supplementalGroups
    supplementalGroupsPolicy fsGroup fsGroupChangePolicy sysctls seccompProfile appArmorProfile seLinuxChangePolicy""",
    "PodSpec": """volumes initContainers containers ephemeralContainers restartPolicy terminationGracePeriodSeconds
    activeDeadlineSeconds dnsPolicy nodeSelector serviceAccountName automountServiceAccountToken nodeName
    securityContext imagePullSecrets hostname subdomain setHostnameAsFQDN affinity schedulerName tolerations hostAliases
    priorityClassName priority preemptionPolicy dnsConfig readinessGates runtimeClassName overhead enableServiceLinks
    topologySpreadConstraints os schedulingGates resourceClaims resources hostnameOverride schedulingGroup""",
    "ServiceSpec": """type ports selector clusterIP clusterIPs ipFamilies ipFamilyPolicy externalName externalIPs
    loadBalancerIP sessionAffinity sessionAffinityConfig loadBalancerSourceRanges externalTrafficPolicy
    healthCheckNodePort publishNotReadyAddresses allocateLoadBalancerNodePorts loadBalancerClass internalTrafficPolicy
    trafficDistribution""",
    "Volume": f"name {_OF_VOLUMES}",
    "VolumeSource": _OF_VOLUMES,
}
# fields that only the Go struct has: behind which, and what they are when nothing is said
_ADDED = {
    ("DaemonSetSpec", "minReadySeconds"): ("TemplateGeneration", 0),
    ("DeploymentSpec", "paused"): ("RollbackTo", None),
}
# pointers on the wire that are none there
_PLAIN = frozenset(
    {
        ("DeploymentSpec", "replicas"), ("LimitedPriorityLevelConfiguration", "nominalConcurrencyShares"),
        ("ReplicaSetSpec", "replicas"), ("RollingUpdateDaemonSet", "maxSurge"),
        ("RollingUpdateDaemonSet", "maxUnavailable"), ("RollingUpdateDeployment", "maxSurge"),
        ("RollingUpdateDeployment", "maxUnavailable"), ("RollingUpdateStatefulSetStrategy", "partition"),
        ("ServiceAccountTokenProjection", "expirationSeconds"), ("StatefulSetSpec", "replicas"),
    }
)  # fmt: skip
# what a PodSpec says itself on the wire, and its security context there
_OF_HOST = ("hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "hostUsers")
_MOVED = {"hostNetwork": False, "hostPID": False, "hostIPC": False, "shareProcessNamespace": None, "hostUsers": None}
_META = "meta/v1"  # whose structs have names for the wire in Go, too
_OBJECT_META = load_struct(_META, "ObjectMeta")
_MOST_LINES = 4000  # of documents that are compared line by line


def format_struct(struct: Struct, value: Object | None) -> Any:
    """The value of a struct, as JSON that has Go's names: what errors show. None is a null pointer."""
    return None if value is None else _struct(struct, value)


def format_structs(struct: Struct, values: list[Object] | None) -> Any:
    """Several of them."""
    return None if values is None else [_struct(struct, value) for value in each(values)]


def diff_structs(struct: Struct, old: Object, new: Object) -> str:
    """Where two values of a struct differ, as a unified diff of their lines."""
    one, other = _lines(struct, old), _lines(struct, new)
    if len(one) + len(other) > _MOST_LINES:
        return _block(one, other)
    return "".join(list(difflib.unified_diff(one, other))[2:])


def _lines(struct: Struct, value: Object) -> list[str]:
    text = json.dumps(_struct(struct, value), indent=1, ensure_ascii=False, separators=(",", ": "))
    return [f"{line}\n" for line in each(gotext.escape_json(text).split("\n"))]


def _block(one: list[str], other: list[str]) -> str:
    """The same of documents so long that only what both begin and end with is left out."""
    first = next((place for place, pair in enumerate(zip(each(one), other, strict=False)) if pair[0] != pair[1]), None)
    first = min(len(one), len(other)) if first is None else first
    last = 0
    while last < min(len(one), len(other)) - first and one[-1 - last] == other[-1 - last]:
        last += 1
    start, kept = max(0, first - 3), max(0, last - 3)
    gone, come = one[first : len(one) - last], other[first : len(other) - last]
    before, after = one[start:first], one[len(one) - last : len(one) - kept]
    sizes = [len(before) + len(part) + len(after) for part in (gone, come)]
    head = f"@@ -{start + 1},{sizes[0]} +{start + 1},{sizes[1]} @@\n"
    marked = [
        *(f" {line}" for line in each(before)),
        *(f"-{line}" for line in each(gone)),
        *(f"+{line}" for line in each(come)),
    ]
    return "".join([head, *marked, *(f" {line}" for line in each(after))])


def _struct(struct: Struct, value: Object) -> Any:
    if struct.home == _META:
        return value
    plan: list[tuple[str, str, Field]] = struct.made("gostruct", lambda: _plan(struct))
    out: Object = {}
    if struct.name == "PodSecurityContext":
        out = {_name(struct.name, name): value.get(name, empty) for name, empty in _MOVED.items()}
    elif struct.name == "PodSpec":
        value = {**value, "securityContext": _context(value)}
    for name, given, known in plan:
        if name == "metadata":
            metadata = structs.arrange_fields(_OBJECT_META, value.get(name, {}))
            out |= {key: item for key, item in each(metadata).items() if item is not None}
            continue
        item = value.get(name)
        out[given] = _blank(struct, known) if item is None else _read(known.type, item)
        if added := _ADDED.get((struct.name, name)):
            out[added[0]] = added[1]
    return out


def _context(spec: Object) -> Object:
    moved = {name: spec[name] for name in _OF_HOST if name in spec}
    return {**(spec.get("securityContext") or {}), **moved}


def _plan(struct: Struct) -> list[tuple[str, str, Field]]:
    """JSON name, Go name and field, in Go's order."""
    known = {field.name: field for field in struct.fields}
    order = _ORDERS[struct.name].split() if struct.name in _ORDERS else list(known)
    return [(name, _name(struct.name, name), known[name]) for name in order if name in known]


def _name(struct: str, name: str) -> str:
    return _OWN_NAMES.get((struct, name)) or _NAMES.get(name) or name[0].upper() + name[1:]


def _read(kind: GoType, item: Any) -> Any:
    if isinstance(kind, Struct):
        return _struct(kind, item)
    if isinstance(kind, ListOf):
        return [_read(kind.item, one) for one in each(item)] if isinstance(kind.item, Struct) else item
    if isinstance(kind, gotypes.MapOf) and isinstance(kind.item, Struct):
        return {key: _struct(kind.item, one) for key, one in each(item).items()}
    return item


def _blank(struct: Struct, known: Field) -> Any:
    """What a field is that nothing was said of."""
    if known.pointer and (struct.name, known.name) not in _PLAIN:
        return None
    if isinstance(known.type, Struct):
        return _struct(known.type, {})
    if isinstance(known.type, gotypes.String):
        return ""
    if isinstance(known.type, gotypes.Bool):
        return False
    if isinstance(known.type, gotypes.Int | gotypes.Float | gotypes.IntOrString):
        return 0
    return "0" if isinstance(known.type, gotypes.Quantity) else None
