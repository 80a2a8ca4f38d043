"""Texts of what is wanted of a pod: where it may run, as whom, and how."""

from __future__ import annotations

_MUST = "Must hold when the pod gets its node; what changes later is ignored."
_SHOULD = "Should hold when the pod gets its node: the higher the sum of weights, the better the node."
_INCLUSION = "Honor or Ignore: whether nodes that the pod cannot go to by their"
_WEIGHT = "How much it counts, 1 to 100."

TEXTS: dict[str, dict[str, str]] = {
    "Sysctl": {
        "": "A kernel parameter of the pod.",
        "name": "The parameter's name, such as net.core.somaxconn.",
        "value": "The parameter's value.",
    },
    "PodSecurityContext": {
        "": "As whom the pod's containers run; what a container says itself goes before.",
        "appArmorProfile": "The AppArmor profile of all containers.",
        "fsGroup": "The group ID that owns the pod's volumes, which all containers have as well.",
        "fsGroupChangePolicy": "Always gives the volumes to fsGroup at every start, OnRootMismatch only where the root "
        "is another's.",
        "runAsGroup": "The group ID to run with; the runtime's choice where nothing is given.",
        "runAsNonRoot": "Whether to refuse a start as user 0.",
        "runAsUser": "The user ID to run as; the image's where nothing is given.",
        "seLinuxChangePolicy": "MountOption labels volumes by how they are mounted, Recursive labels file by file.",
        "seLinuxOptions": "The SELinux context of all containers.",
        "seccompProfile": "The system calls that the containers may make.",
        "supplementalGroups": "More group IDs that the containers' processes have.",
        "supplementalGroupsPolicy": "Merge adds the groups that the image gives its user; Strict does not.",
        "sysctls": "Kernel parameters of the pod; some are only allowed where the node allows them.",
        "windowsOptions": "What is only for Windows.",
    },
    "PreferredSchedulingTerm": {
        "": "Nodes that are preferred, and by how much.",
        "preference": "Which nodes are meant.",
        "weight": _WEIGHT,
    },
    "NodeAffinity": {
        "": "On which nodes a pod may run, and on which it should.",
        "preferredDuringSchedulingIgnoredDuringExecution": _SHOULD,
        "requiredDuringSchedulingIgnoredDuringExecution": _MUST,
    },
    "PodAffinityTerm": {
        "": "Pods, and what it means to be near them.",
        "labelSelector": "The pods' labels; no pod where nothing is given.",
        "matchLabelKeys": "Keys of labels that those pods must have with the same values as the new pod.",
        "mismatchLabelKeys": "Keys of labels that those pods must have with other values than the new pod.",
        "namespaceSelector": "Labels of namespaces to look for the pods in, besides namespaces; {} for all.",
        "namespaces": "Namespaces to look for the pods in; the pod's own where there is no selector either.",
        "topologyKey": "A label of nodes: nodes with the same value of it are near one another.",
    },
    "WeightedPodAffinityTerm": {
        "": "Pods to be near to or far from, and how much that counts.",
        "podAffinityTerm": "The pods, and what it means to be near them.",
        "weight": _WEIGHT,
    },
    "PodAffinity": {
        "": "Pods that the pod must or should be near.",
        "preferredDuringSchedulingIgnoredDuringExecution": _SHOULD,
        "requiredDuringSchedulingIgnoredDuringExecution": _MUST,
    },
    "PodAntiAffinity": {
        "": "Pods that the pod must or should not be near.",
        "preferredDuringSchedulingIgnoredDuringExecution": "Should hold when the pod gets its node: the lower the "
        "sum of weights, the better the node.",
        "requiredDuringSchedulingIgnoredDuringExecution": _MUST,
    },
    "Affinity": {
        "": "Rules for where a pod may run, and where it should.",
        "nodeAffinity": "By the labels of nodes.",
        "podAffinity": "Near certain other pods.",
        "podAntiAffinity": "Far from certain other pods.",
    },
    "Toleration": {
        "": "Taints of nodes that do not keep a pod away.",
        "effect": "NoSchedule, PreferNoSchedule or NoExecute; any of them where nothing is given.",
        "key": "The taint's key; any key where nothing is given, with the operator Exists.",
        "operator": "Equal, Exists, Lt or Gt; Equal where nothing is given. Exists takes any value, Lt and Gt numbers.",
        "tolerationSeconds": "For how many seconds the pod stays on a node with the taint, for NoExecute; "
        "for ever where nothing is given.",
        "value": "The taint's value; none with Exists.",
    },
    "HostAlias": {
        "": "A line of the pod's /etc/hosts.",
        "hostnames": "The names of the address.",
        "ip": "The address.",
    },
    "PodDNSConfigOption": {
        "": "An option of the resolver, as in resolv.conf.",
        "name": "The option's name, such as ndots.",
        "value": "The option's value, for those that have one.",
    },
    "PodDNSConfig": {
        "": "Additions to what dnsPolicy puts into the pod's resolv.conf.",
        "nameservers": "Addresses of name servers, three at most.",
        "options": "Options of the resolver; they win over those of the policy.",
        "searches": "Domains in which short names are looked for.",
    },
    "PodReadinessGate": {
        "": "A condition that must be True for the pod to be ready.",
        "conditionType": "The condition's type, in status.conditions.",
    },
    "TopologySpreadConstraint": {
        "": "How evenly pods are spread over zones, nodes or other domains.",
        "labelSelector": "The labels of the pods that are counted.",
        "matchLabelKeys": "Keys of labels that counted pods must have with the same values as the new pod.",
        "maxSkew": "By how many pods a domain may be ahead of the one with the fewest.",
        "minDomains": "While there are fewer domains than this, the fewest pods count as 0; only with DoNotSchedule.",
        "nodeAffinityPolicy": f"{_INCLUSION} labels are left out; Honor where nothing is given.",
        "nodeTaintsPolicy": f"{_INCLUSION} taints are left out; Ignore where nothing is given.",
        "topologyKey": "A label of nodes: nodes with the same value of it are one domain.",
        "whenUnsatisfiable": "DoNotSchedule makes the pod wait, ScheduleAnyway takes the best node.",
    },
    "PodOS": {
        "": "The operating system of a pod.",
        "name": "linux or windows. Fields that are only for the other one are refused.",
    },
    "PodSchedulingGate": {
        "": "Something that a pod waits for before it gets a node.",
        "name": "The gate's name; whoever put it there takes it away.",
    },
    "PodResourceClaim": {
        "": "Devices that a pod claims, by an existing claim or a template of one.",
        "name": "The name by which containers mean the claim.",
        "resourceClaimName": "The ResourceClaim in the pod's namespace, which other pods may use as well.",
        "resourceClaimTemplateName": "The ResourceClaimTemplate of which the pod gets a claim of its own.",
    },
    "PodSchedulingGroup": {
        "": "Pods that get their nodes together.",
        "podGroupName": "The PodGroup in the pod's namespace.",
    },
    "PodSpec": {
        "": "What is wanted of a pod.",
        "activeDeadlineSeconds": "After how many seconds on its node the pod is ended as failed.",
        "affinity": "Rules for the nodes that the pod may and should run on.",
        "automountServiceAccountToken": "Whether the containers get a token of the service account in their files; "
        "else the account says.",
        "containers": "The containers, one at least. None can be added or removed later.",
        "dnsConfig": "Additions to what dnsPolicy says.",
        "dnsPolicy": "ClusterFirst, ClusterFirstWithHostNet, Default for the node's own, or None for dnsConfig alone.",
        "enableServiceLinks": "Whether containers get environment variables about the namespace's services; "
        "true where nothing is given.",
        "ephemeralContainers": "Containers to look into the running pod, added by the subresource ephemeralcontainers.",
        "hostAliases": "Lines for the containers' /etc/hosts.",
        "hostIPC": "Whether the pod shares the node's IPC namespace.",
        "hostNetwork": "Whether the pod shares the node's network; its ports are then ports of the node.",
        "hostPID": "Whether the pod sees the node's processes.",
        "hostUsers": "false gives the pod user IDs of its own, so that its root is none on the node.",
        "hostname": "The pod's host name; its name where nothing is given.",
        "hostnameOverride": "A host name in place of hostname, subdomain and domain; up to 64 characters.",
        "imagePullSecrets": "Secrets with which the images are pulled.",
        "initContainers": "Containers that run one after the other before the others start; each must succeed, "
        "but sidecars run on.",
        "nodeName": "The node that the pod runs on. Set by the scheduler, for pods that have none.",
        "nodeSelector": "Labels that the pod's node must have.",
        "os": "The operating system that the pod is for.",
        "overhead": "What the pod uses besides its containers, by resource. Filled in from the runtime class.",
        "preemptionPolicy": "PreemptLowerPriority or Never: whether other pods are removed to make room for this one.",
        "priority": "The pod's priority, the higher the more important. Filled in from priorityClassName.",
        "priorityClassName": "The PriorityClass that says the pod's priority; the default class, or 0, without it.",
        "readinessGates": "Conditions that must be True, besides the containers' readiness, for the pod to be ready.",
        "resourceClaims": "Devices that must be there before the pod starts.",
        "resources": "What the containers may use together: cpu, memory and hugepages.",
        "restartPolicy": "Always, OnFailure or Never: whether containers are started again when they end.",
        "runtimeClassName": "The RuntimeClass with which the pod runs; the node's default runtime without it.",
        "schedulerName": "The scheduler that chooses the pod's node; default-scheduler where nothing is given.",
        "schedulingGates": "What the pod waits for before it gets a node. None can be added later.",
        "schedulingGroup": "The group of pods that get their nodes together.",
        "securityContext": "As whom the containers run, and settings of the pod as a whole.",
        "serviceAccount": "Deprecated: the same as serviceAccountName.",
        "serviceAccountName": "The ServiceAccount that the pod is to the API server; default where nothing is given.",
        "setHostnameAsFQDN": "Whether the kernel's host name has the domain in it; false where nothing is given.",
        "shareProcessNamespace": "Whether the containers see one another's processes.",
        "subdomain": "With it the pod's full name is HOSTNAME.SUBDOMAIN.NAMESPACE.svc and the cluster's domain.",
        "terminationGracePeriodSeconds": "Seconds between the signal to end and the kill; 0 kills at once, "
        "30 where nothing is given.",
        "tolerations": "Taints of nodes that do not keep the pod away.",
        "topologySpreadConstraints": "How the pod and others like it spread over domains; all must hold.",
        "volumes": "Volumes that the containers can mount.",
    },
    "PodTemplateSpec": {
        "": "What pods are made from.",
        "metadata": "Labels and annotations of the pods.",
        "spec": "What is wanted of the pods.",
    },
}
