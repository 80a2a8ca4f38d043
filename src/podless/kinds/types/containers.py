"""Containers: what they run, what they are given, what they may do."""

from __future__ import annotations

from podless.kinds.types.core import LOCAL_OBJECT_REFERENCE, RESOURCES
from podless.kinds.types.probes import LIFECYCLE, PROBE
from podless.kinds.types.projections import OBJECT_FIELD_SELECTOR, RESOURCE_FIELD_SELECTOR
from podless.meta.gotypes import BOOL, INT32, INT64, STRING, ListOf, String
from podless.meta.structs import Field, Struct
from podless.meta.structs_meta import STRINGS

_TERMINATION_MESSAGE_POLICY = String("v1.TerminationMessagePolicy", ("FallbackToLogsOnError", "File"))
_PULL_POLICY = String("v1.PullPolicy", ("Always", "IfNotPresent", "Never"))

CONTAINER_PORT = Struct(
    "ContainerPort",
    (
        Field("name", STRING, 1),
        Field("hostPort", INT32, 2),
        Field("containerPort", INT32, 3, always=True),
        Field("protocol", String("v1.Protocol", ("SCTP", "TCP", "UDP")), 4, default="TCP"),
        Field("hostIP", STRING, 5),
    ),
)

CONFIG_MAP_ENV_SOURCE = Struct(
    "ConfigMapEnvSource",
    (Field("localObjectReference", LOCAL_OBJECT_REFERENCE, 1, inline=True), Field("optional", BOOL, 2, pointer=True)),
)

SECRET_ENV_SOURCE = Struct(
    "SecretEnvSource",
    (Field("localObjectReference", LOCAL_OBJECT_REFERENCE, 1, inline=True), Field("optional", BOOL, 2, pointer=True)),
)

ENV_FROM_SOURCE = Struct(
    "EnvFromSource",
    (
        Field("prefix", STRING, 1),
        Field("configMapRef", CONFIG_MAP_ENV_SOURCE, 2, pointer=True),
        Field("secretRef", SECRET_ENV_SOURCE, 3, pointer=True),
    ),
)

CONFIG_MAP_KEY_SELECTOR = Struct(
    "ConfigMapKeySelector",
    (
        Field("localObjectReference", LOCAL_OBJECT_REFERENCE, 1, inline=True),
        Field("key", STRING, 2, always=True),
        Field("optional", BOOL, 3, pointer=True),
    ),
    atomic=True,
)

SECRET_KEY_SELECTOR = Struct(
    "SecretKeySelector",
    (
        Field("localObjectReference", LOCAL_OBJECT_REFERENCE, 1, inline=True),
        Field("key", STRING, 2, always=True),
        Field("optional", BOOL, 3, pointer=True),
    ),
    atomic=True,
)

FILE_KEY_SELECTOR = Struct(
    "FileKeySelector",
    (
        Field("volumeName", STRING, 1, always=True),
        Field("path", STRING, 2, always=True),
        Field("key", STRING, 3, always=True),
        Field("optional", BOOL, 4, pointer=True, default=False),
    ),
    atomic=True,
)

ENV_VAR_SOURCE = Struct(
    "EnvVarSource",
    (
        Field("fieldRef", OBJECT_FIELD_SELECTOR, 1, pointer=True),
        Field("resourceFieldRef", RESOURCE_FIELD_SELECTOR, 2, pointer=True),
        Field("configMapKeyRef", CONFIG_MAP_KEY_SELECTOR, 3, pointer=True),
        Field("secretKeyRef", SECRET_KEY_SELECTOR, 4, pointer=True),
        Field("fileKeyRef", FILE_KEY_SELECTOR, 5, pointer=True),
    ),
)

ENV_VAR = Struct(
    "EnvVar",
    (
        Field("name", STRING, 1, always=True),
        Field("value", STRING, 2),
        Field("valueFrom", ENV_VAR_SOURCE, 3, pointer=True),
    ),
)

RESOURCE_CLAIM = Struct("ResourceClaim", (Field("name", STRING, 1, always=True), Field("request", STRING, 2)))

RESOURCE_REQUIREMENTS = Struct(
    "ResourceRequirements",
    (
        Field("limits", RESOURCES, 1),
        Field("requests", RESOURCES, 2),
        Field("claims", ListOf(RESOURCE_CLAIM), 3, keys=("name",)),
    ),
)

CONTAINER_RESIZE_POLICY = Struct(
    "ContainerResizePolicy",
    (
        Field("resourceName", String("v1.ResourceName"), 1, always=True),
        Field("restartPolicy", String("v1.ResourceResizeRestartPolicy"), 2, always=True),
    ),
)

CONTAINER_RESTART_RULE_ON_EXIT_CODES = Struct(
    "ContainerRestartRuleOnExitCodes",
    (
        Field("operator", String("v1.ContainerRestartRuleOnExitCodesOperator"), 1, required=True),
        Field("values", ListOf(INT32), 2, keys=()),
    ),
)

CONTAINER_RESTART_RULE = Struct(
    "ContainerRestartRule",
    (
        Field("action", String("v1.ContainerRestartRuleAction"), 1, required=True),
        Field("exitCodes", CONTAINER_RESTART_RULE_ON_EXIT_CODES, 2, pointer=True),
    ),
)

VOLUME_MOUNT = Struct(
    "VolumeMount",
    (
        Field("name", STRING, 1, always=True),
        Field("readOnly", BOOL, 2),
        Field("recursiveReadOnly", String("v1.RecursiveReadOnlyMode"), 7, pointer=True),
        Field("mountPath", STRING, 3, always=True),
        Field("subPath", STRING, 4),
        Field(
            "mountPropagation",
            String("v1.MountPropagationMode", ("Bidirectional", "HostToContainer", "None")),
            5,
            pointer=True,
        ),
        Field("subPathExpr", STRING, 6),
    ),
)

VOLUME_DEVICE = Struct(
    "VolumeDevice", (Field("name", STRING, 1, always=True), Field("devicePath", STRING, 2, always=True))
)

CAPABILITIES = Struct(
    "Capabilities",
    (Field("add", ListOf(String("v1.Capability")), 1), Field("drop", ListOf(String("v1.Capability")), 2)),
)

SE_LINUX_OPTIONS = Struct(
    "SELinuxOptions",
    (Field("user", STRING, 1), Field("role", STRING, 2), Field("type", STRING, 3), Field("level", STRING, 4)),
)

WINDOWS_SECURITY_CONTEXT_OPTIONS = Struct(
    "WindowsSecurityContextOptions",
    (
        Field("gmsaCredentialSpecName", STRING, 1, pointer=True),
        Field("gmsaCredentialSpec", STRING, 2, pointer=True),
        Field("runAsUserName", STRING, 3, pointer=True),
        Field("hostProcess", BOOL, 4, pointer=True),
    ),
)

SECCOMP_PROFILE = Struct(
    "SeccompProfile",
    (
        Field("type", String("v1.SeccompProfileType", ("Localhost", "RuntimeDefault", "Unconfined")), 1, always=True),
        Field("localhostProfile", STRING, 2, pointer=True),
    ),
    union=("type", ("localhostProfile",)),
)

APP_ARMOR_PROFILE = Struct(
    "AppArmorProfile",
    (
        Field("type", String("v1.AppArmorProfileType", ("Localhost", "RuntimeDefault", "Unconfined")), 1, always=True),
        Field("localhostProfile", STRING, 2, pointer=True),
    ),
    union=("type", ("localhostProfile",)),
)

SECURITY_CONTEXT = Struct(
    "SecurityContext",
    (
        Field("capabilities", CAPABILITIES, 1, pointer=True),
        Field("privileged", BOOL, 2, pointer=True),
        Field("seLinuxOptions", SE_LINUX_OPTIONS, 3, pointer=True),
        Field("windowsOptions", WINDOWS_SECURITY_CONTEXT_OPTIONS, 10, pointer=True),
        Field("runAsUser", INT64, 4, pointer=True),
        Field("runAsGroup", INT64, 8, pointer=True),
        Field("runAsNonRoot", BOOL, 5, pointer=True),
        Field("readOnlyRootFilesystem", BOOL, 6, pointer=True),
        Field("allowPrivilegeEscalation", BOOL, 7, pointer=True),
        Field("procMount", String("v1.ProcMountType", ("Default", "Unmasked")), 9, pointer=True),
        Field("seccompProfile", SECCOMP_PROFILE, 11, pointer=True),
        Field("appArmorProfile", APP_ARMOR_PROFILE, 12, pointer=True),
    ),
)

# what containers of all sorts have
_FIELDS = (
    Field("name", STRING, 1, always=True),
    Field("image", STRING, 2),
    Field("command", STRINGS, 3),
    Field("args", STRINGS, 4),
    Field("workingDir", STRING, 5),
    Field("ports", ListOf(CONTAINER_PORT), 6, keys=("containerPort", "protocol"), patch="merge", merge="containerPort"),
    Field("envFrom", ListOf(ENV_FROM_SOURCE), 19),
    Field("env", ListOf(ENV_VAR), 7, keys=("name",), patch="merge", merge="name"),
    Field("resources", RESOURCE_REQUIREMENTS, 8),
    Field("resizePolicy", ListOf(CONTAINER_RESIZE_POLICY), 23),
    Field("restartPolicy", String("v1.ContainerRestartPolicy"), 24, pointer=True),
    Field("restartPolicyRules", ListOf(CONTAINER_RESTART_RULE), 25),
    Field("volumeMounts", ListOf(VOLUME_MOUNT), 9, keys=("mountPath",), patch="merge", merge="mountPath"),
    Field("volumeDevices", ListOf(VOLUME_DEVICE), 21, keys=("devicePath",), patch="merge", merge="devicePath"),
    Field("livenessProbe", PROBE, 10, pointer=True),
    Field("readinessProbe", PROBE, 11, pointer=True),
    Field("startupProbe", PROBE, 22, pointer=True),
    Field("lifecycle", LIFECYCLE, 12, pointer=True),
    Field("terminationMessagePath", STRING, 13, fill="/dev/termination-log"),
    Field("terminationMessagePolicy", _TERMINATION_MESSAGE_POLICY, 20, fill="File"),
    Field("imagePullPolicy", _PULL_POLICY, 14),
    Field("securityContext", SECURITY_CONTEXT, 15, pointer=True),
    Field("stdin", BOOL, 16),
    Field("stdinOnce", BOOL, 17),
    Field("tty", BOOL, 18),
)

CONTAINER = Struct("Container", _FIELDS)

EPHEMERAL_CONTAINER_COMMON = Struct("EphemeralContainerCommon", _FIELDS)

EPHEMERAL_CONTAINER = Struct(
    "EphemeralContainer",
    (
        Field("ephemeralContainerCommon", EPHEMERAL_CONTAINER_COMMON, 1, inline=True),
        Field("targetContainerName", STRING, 2),
    ),
)
