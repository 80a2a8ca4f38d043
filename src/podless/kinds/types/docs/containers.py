"""Texts of containers: what they run, what they are given, what they may do."""

from __future__ import annotations

from podless.kinds.types.docs.common import PROTOCOL

_OPTIONAL = "Whether the container starts even where there is no such object or key."
_PROFILE = "RuntimeDefault, Unconfined, or Localhost for a profile of the node."
_EXPANDED = "$(NAME) stands for a variable of env, $$ for a $."
_CONTAINER = {
    "args": f"The arguments, in place of the image's CMD. {_EXPANDED}",
    "command": f"The program, in place of the image's ENTRYPOINT; no shell is around it. {_EXPANDED}",
    "env": "Environment variables; they win over those of envFrom.",
    "envFrom": "Objects whose keys all become environment variables; the last one with a key has it.",
    "image": "The image to run, such as registry.example.com/web:1.2.",
    "imagePullPolicy": "Always, IfNotPresent or Never; Always for the tag latest, else IfNotPresent.",
    "lifecycle": "What is done when the container has started, and before it ends.",
    "livenessProbe": "Checks that the container works; it is restarted when this fails.",
    "name": "The container's name, unique in the pod. It never changes.",
    "ports": "The ports that the container listens on: for people and names, others can be reached as well.",
    "readinessProbe": "Checks that the container can take requests; services leave the pod out while this fails.",
    "resizePolicy": "Which resources can change without a restart of the container.",
    "resources": "How much CPU, memory and so on the container needs and may use.",
    "restartPolicy": "Whether this container is started again when it ends, in place of the pod's policy; "
    "Always makes an init container a sidecar.",
    "restartPolicyRules": "What becomes of the container by its exit code; the first rule that fits wins.",
    "securityContext": "As whom the container runs and what it may do; it goes before the pod's.",
    "startupProbe": "Checks that the container has started; the other probes wait for it.",
    "stdin": "Whether the container keeps a standard input that clients can attach to.",
    "stdinOnce": "Whether the standard input closes after the first client that attached to it.",
    "terminationMessagePath": "The file in which the container tells why it ended; /dev/termination-log where "
    "nothing is given.",
    "terminationMessagePolicy": "File, or FallbackToLogsOnError, which takes the log's end when a failed container "
    "left no file.",
    "tty": "Whether the container gets a terminal; needs stdin.",
    "volumeDevices": "Volumes that the container sees as raw block devices.",
    "volumeMounts": "Volumes that the container sees in its file system.",
    "workingDir": "The directory that the program starts in; the image's where nothing is given.",
}

TEXTS: dict[str, dict[str, str]] = {
    "ContainerPort": {
        "": "A port that a container listens on.",
        "containerPort": "The port's number in the pod, 1 to 65535.",
        "hostIP": "The address of the node on which hostPort is opened; all of them where nothing is given.",
        "hostPort": "A port of the node that leads here; one pod a node can have it. Best left out.",
        "name": "A name, unique in the pod, by which probes and services can mean the port.",
        "protocol": PROTOCOL,
    },
    "ConfigMapEnvSource": {
        "": "A ConfigMap whose keys become environment variables.",
        "name": "The ConfigMap's name.",
        "optional": "Whether the container starts even where there is no such ConfigMap.",
    },
    "SecretEnvSource": {
        "": "A Secret whose keys become environment variables.",
        "name": "The Secret's name.",
        "optional": "Whether the container starts even where there is no such Secret.",
    },
    "EnvFromSource": {
        "": "An object whose keys become environment variables.",
        "configMapRef": "The ConfigMap to take them from.",
        "prefix": "What the variables' names have before the key.",
        "secretRef": "The Secret to take them from.",
    },
    "ConfigMapKeySelector": {
        "": "One value of a ConfigMap.",
        "key": "The key under which the value is.",
        "name": "The ConfigMap's name.",
        "optional": _OPTIONAL,
    },
    "SecretKeySelector": {
        "": "One value of a Secret.",
        "key": "The key under which the value is.",
        "name": "The Secret's name.",
        "optional": _OPTIONAL,
    },
    "FileKeySelector": {
        "": "One value of a file with lines NAME=VALUE.",
        "key": "The name before the value, in the file.",
        "optional": "Whether the container starts even where there is no such file or name.",
        "path": "Where the file is in the volume.",
        "volumeName": "The pod's volume that has the file.",
    },
    "EnvVarSource": {
        "": "Where the value of an environment variable comes from: one of these.",
        "configMapKeyRef": "One value of a ConfigMap.",
        "fieldRef": "A field of the pod, such as metadata.name or status.podIP.",
        "fileKeyRef": "A line of a file that an init container wrote.",
        "resourceFieldRef": "What a container requests, or is limited to.",
        "secretKeyRef": "One value of a Secret.",
    },
    "EnvVar": {
        "": "One environment variable.",
        "name": "The variable's name: any printable ASCII without '='.",
        "value": "The value. $(NAME) stands for a variable given before, $$ for a $.",
        "valueFrom": "Where the value comes from, if it is not given here.",
    },
    "ResourceClaim": {
        "": "A resource claim of the pod that a container uses.",
        "name": "The name that the pod has for the claim, in spec.resourceClaims.",
        "request": "The request of the claim that is meant; all of them where nothing is given.",
    },
    "ResourceRequirements": {
        "": "How much of the node something needs and may use.",
        "claims": "The pod's resource claims that are used. They never change.",
        "limits": "The most that may be used, by resource: cpu is throttled, too much memory ends the container.",
        "requests": "What is set aside on the node, by resource; the limits where nothing is given.",
    },
    "ContainerResizePolicy": {
        "": "What a change of a resource does to a running container.",
        "resourceName": "The resource: cpu or memory.",
        "restartPolicy": "NotRequired changes it in place, RestartContainer starts the container again.",
    },
    "ContainerRestartRuleOnExitCodes": {
        "": "Exit codes that a rule is about.",
        "operator": "In or NotIn: whether the exit code is one of the values, or none of them.",
        "values": "The exit codes, at most 255 of them.",
    },
    "ContainerRestartRule": {
        "": "What becomes of a container that ended in a certain way.",
        "action": "Restart starts the container again, RestartAllContainers the whole pod in its place.",
        "exitCodes": "The exit codes for which the rule is.",
    },
    "VolumeMount": {
        "": "Where a container sees a volume.",
        "mountPath": "The path in the container; it may have no ':'.",
        "mountPropagation": "None, HostToContainer or Bidirectional: which later mounts the node and the container "
        "share; None where nothing is given.",
        "name": "The volume's name in the pod.",
        "readOnly": "Whether the container can only read.",
        "recursiveReadOnly": "Disabled, IfPossible or Enabled: whether mounts below this one are read-only as well.",
        "subPath": "The directory or file of the volume that is mounted; the volume's root where nothing is given.",
        "subPathExpr": "The same as subPath, with $(NAME) for variables of env. Only one of both.",
    },
    "VolumeDevice": {
        "": "A block device that a container sees.",
        "devicePath": "The path of the device in the container.",
        "name": "The name in the pod of a volume with a claim of mode Block.",
    },
    "Capabilities": {
        "": "Linux capabilities, beside those that the runtime gives anyway.",
        "add": "Those to have in addition, such as NET_ADMIN, or ALL.",
        "drop": "Those to lose, or ALL.",
    },
    "SELinuxOptions": {
        "": "The SELinux context that processes run in.",
        "level": "The level, such as s0:c123,c456.",
        "role": "The role.",
        "type": "The type.",
        "user": "The user.",
    },
    "WindowsSecurityContextOptions": {
        "": "As whom containers run on Windows.",
        "gmsaCredentialSpec": "The text of the credential spec of a group managed service account.",
        "gmsaCredentialSpecName": "The name of an object that has such a credential spec; a webhook reads it.",
        "hostProcess": "Whether the container runs as a process of the node; the same for all of a pod.",
        "runAsUserName": "The Windows user to run as; the image's where nothing is given.",
    },
    "SeccompProfile": {
        "": "Which system calls processes may make.",
        "localhostProfile": "The profile's file below the kubelet's seccomp directory; only for Localhost.",
        "type": _PROFILE,
    },
    "AppArmorProfile": {
        "": "Which AppArmor profile confines processes.",
        "localhostProfile": "The name of a profile that is loaded on the node; only for Localhost.",
        "type": _PROFILE,
    },
    "SecurityContext": {
        "": "As whom one container runs and what it may do. It goes before what the pod says.",
        "allowPrivilegeEscalation": "Whether a process may get more rights than its parent, as by setuid; "
        "always so for privileged ones.",
        "appArmorProfile": "The AppArmor profile of the container.",
        "capabilities": "Linux capabilities to add or drop.",
        "privileged": "Whether the container may do nearly all that root on the node may.",
        "procMount": "Default masks parts of /proc; Unmasked shows all, and needs hostUsers: false.",
        "readOnlyRootFilesystem": "Whether the container's own file system is read-only; volumes are not concerned.",
        "runAsGroup": "The group ID to run with; the runtime's choice where nothing is given.",
        "runAsNonRoot": "Whether to refuse a start as user 0.",
        "runAsUser": "The user ID to run as; the image's where nothing is given.",
        "seLinuxOptions": "The SELinux context of the container.",
        "seccompProfile": "The system calls that the container may make.",
        "windowsOptions": "What is only for Windows.",
    },
    "Container": {"": "One container of a pod.", **_CONTAINER},
    "EphemeralContainer": {
        "": "A container that is put into a running pod to look into it. It is never restarted, and never removed.",
        **_CONTAINER,
        "lifecycle": "Not allowed here.",
        "livenessProbe": "Not allowed here.",
        "ports": "Not allowed here.",
        "readinessProbe": "Not allowed here.",
        "resizePolicy": "Not allowed here.",
        "resources": "Not allowed here: the container uses what the pod has left.",
        "restartPolicy": "Not allowed here.",
        "restartPolicyRules": "Not allowed here.",
        "startupProbe": "Not allowed here.",
        "targetContainerName": "The container whose processes it sees, if the runtime knows how to show them.",
        "volumeMounts": "Volumes that the container sees; no subPath is allowed here.",
    },
}
