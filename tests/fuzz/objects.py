"""One sound object of each kind that is served, by the path of its collection."""

from __future__ import annotations

from typing import Any

from podless.runtime.jsonobject import Object
from tests.conftest import CRDS, definition
from tests.fuzz.wire import GROUP


def obj(version: str, kind: str, **fields: Any) -> Object:
    metadata = {
        "name": "a",
        "labels": {"app": "a"},
        "annotations": {"a": "b"},
        "finalizers": ["example.com/a"],
        "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u", "controller": True}],
        "generateName": "a-",
    }
    return {"apiVersion": version, "kind": kind, "metadata": metadata} | fields


RULES = [{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["a"]}]
SUBJECTS = [{"kind": "User", "name": "a", "apiGroup": "rbac.authorization.k8s.io"}]
ADMISSION = "/apis/admissionregistration.k8s.io/v1"
HOOK: Object = {
    "name": "a.example.com",
    "clientConfig": {"service": {"namespace": "x", "name": "y", "path": "/z", "port": 443}, "caBundle": ""},
    "rules": [
        {"apiGroups": ["none"], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["nones"], "scope": "*"}
    ],
    "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
    "failurePolicy": "Ignore",
    "matchPolicy": "Exact",
    "timeoutSeconds": 1,
    "namespaceSelector": {
        "matchLabels": {"a": "b"},
        "matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}],
    },
    "matchConditions": [{"name": "c", "expression": "request.name == 'a'"}],
}
POLICY: Object = {
    "failurePolicy": "Ignore",
    "matchConstraints": {"resourceRules": HOOK["rules"]},
    "variables": [{"name": "v", "expression": "1"}],
    "validations": [
        {"expression": "variables.v == 1", "message": "m", "messageExpression": "'m'", "reason": "Invalid"}
    ],
    "auditAnnotations": [{"key": "k", "valueExpression": "'v'"}],
}
GADGET: Object = {
    "n": 1,
    "s": "a",
    "l": [{"k": "a"}],
    "set": ["a"],
    "any": {"x": {"y": [1]}},
    "io": 1,
    "m": {"a": 1.5},
    "t": "2020-01-01T00:00:00Z",
}
REVIEW = {"user": "u", "groups": ["g"], "resourceAttributes": {"verb": "get", "resource": "pods", "namespace": "n"}}

POD_SPEC: Object = {
    "containers": [
        {
            "name": "c",
            "image": "i",
            "env": [{"name": "E", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
            "ports": [{"containerPort": 80, "name": "web"}],
            "resources": {"requests": {"cpu": "100m"}, "limits": {"memory": "1Gi"}},
            "volumeMounts": [{"name": "v", "mountPath": "/v"}],
            "livenessProbe": {"httpGet": {"path": "/", "port": "web"}},
        }
    ],
    "volumes": [{"name": "v", "configMap": {"name": "m", "items": [{"key": "k", "path": "p"}]}}],
    "tolerations": [{"key": "k", "operator": "Exists", "effect": "NoSchedule"}],
    "securityContext": {"runAsUser": 1, "runAsNonRoot": True},
}
TEMPLATE: Object = {"metadata": {"labels": {"app": "a"}}, "spec": POD_SPEC}
ONCE: Object = {"metadata": {"labels": {"app": "a"}}, "spec": {**POD_SPEC, "restartPolicy": "Never"}}
SELECTED: Object = {"replicas": 1, "selector": {"matchLabels": {"app": "a"}}, "template": TEMPLATE}
APPS = "/apis/apps/v1/namespaces/default"
NETWORKS = "/apis/networking.k8s.io/v1/namespaces/default"
CLAIM: Object = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}

OBJECTS: dict[str, Object] = {
    "/api/v1/namespaces/default/pods": obj("v1", "Pod", spec=POD_SPEC),
    f"{APPS}/deployments": obj("apps/v1", "Deployment", spec=SELECTED),
    f"{APPS}/statefulsets": obj("apps/v1", "StatefulSet", spec={**SELECTED, "serviceName": "s"}),
    f"{APPS}/daemonsets": obj("apps/v1", "DaemonSet", spec={"selector": SELECTED["selector"], "template": TEMPLATE}),
    "/apis/batch/v1/namespaces/default/jobs": obj("batch/v1", "Job", spec={"template": ONCE, "completions": 1}),
    "/apis/batch/v1/namespaces/default/cronjobs": obj(
        "batch/v1", "CronJob", spec={"schedule": "* * * * *", "jobTemplate": {"spec": {"template": ONCE}}}
    ),
    "/api/v1/namespaces/default/services": obj(
        "v1", "Service", spec={"ports": [{"port": 80, "name": "web", "targetPort": 80}], "selector": {"app": "a"}}
    ),
    "/api/v1/namespaces/default/persistentvolumeclaims": obj("v1", "PersistentVolumeClaim", spec=CLAIM),
    "/api/v1/namespaces/default/limitranges": obj(
        "v1", "LimitRange", spec={"limits": [{"type": "PersistentVolumeClaim", "max": {"storage": "1Ti"}}]}
    ),
    f"{NETWORKS}/ingresses": obj(
        "networking.k8s.io/v1",
        "Ingress",
        spec={"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}, "tls": [{"hosts": ["a.b"]}]},
    ),
    f"{NETWORKS}/networkpolicies": obj(
        "networking.k8s.io/v1",
        "NetworkPolicy",
        spec={"podSelector": {}, "ingress": [{"from": [{"ipBlock": {"cidr": "10.0.0.0/8"}}], "ports": [{"port": 1}]}]},
    ),
    "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers": obj(
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        spec={"maxReplicas": 3, "scaleTargetRef": {"kind": "Deployment", "name": "a", "apiVersion": "apps/v1"}},
    ),
    "/apis/policy/v1/namespaces/default/poddisruptionbudgets": obj(
        "policy/v1", "PodDisruptionBudget", spec={"minAvailable": "50%", "selector": {"matchLabels": {"app": "a"}}}
    ),
    "/api/v1/nodes": obj("v1", "Node", spec={"taints": [{"key": "k", "effect": "NoSchedule"}]}),
    "/apis/scheduling.k8s.io/v1/priorityclasses": obj("scheduling.k8s.io/v1", "PriorityClass", value=5),
    "/apis/storage.k8s.io/v1/storageclasses": obj("storage.k8s.io/v1", "StorageClass", provisioner="p"),
    "/api/v1/namespaces": obj("v1", "Namespace", spec={"finalizers": ["kubernetes"]}),
    "/api/v1/namespaces/default/configmaps": obj("v1", "ConfigMap", data={"a": "b"}, binaryData={"c": "ZA=="}),
    "/api/v1/namespaces/default/secrets": obj("v1", "Secret", data={"a": "ZA=="}, stringData={"b": "c"}, type="Opaque"),
    "/api/v1/namespaces/default/serviceaccounts": obj("v1", "ServiceAccount", secrets=[{"name": "s"}]),
    "/api/v1/namespaces/default/events": obj(
        "v1",
        "Event",
        involvedObject={"kind": "ConfigMap", "name": "a", "namespace": "default"},
        reason="R",
        type="Normal",
    ),
    "/api/v1/namespaces/default/resourcequotas": obj("v1", "ResourceQuota", spec={"hard": {"configmaps": "1000"}}),
    "/apis/coordination.k8s.io/v1/namespaces/default/leases": obj(
        "coordination.k8s.io/v1", "Lease", spec={"holderIdentity": "h", "leaseDurationSeconds": 1}
    ),
    "/apis/rbac.authorization.k8s.io/v1/clusterroles": obj(
        "rbac.authorization.k8s.io/v1", "ClusterRole", rules=RULES, aggregationRule={"clusterRoleSelectors": [{}]}
    ),
    "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles": obj(
        "rbac.authorization.k8s.io/v1", "Role", rules=RULES
    ),
    "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings": obj(
        "rbac.authorization.k8s.io/v1",
        "RoleBinding",
        subjects=SUBJECTS,
        roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"},
    ),
    f"{ADMISSION}/validatingwebhookconfigurations": obj(
        "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", webhooks=[HOOK]
    ),
    f"{ADMISSION}/mutatingwebhookconfigurations": obj(
        "admissionregistration.k8s.io/v1",
        "MutatingWebhookConfiguration",
        webhooks=[{**HOOK, "reinvocationPolicy": "Never"}],
    ),
    f"{ADMISSION}/validatingadmissionpolicies": obj(
        "admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", spec=POLICY
    ),
    f"{ADMISSION}/validatingadmissionpolicybindings": obj(
        "admissionregistration.k8s.io/v1",
        "ValidatingAdmissionPolicyBinding",
        spec={"policyName": "none", "validationActions": ["Deny"], "matchResources": {"resourceRules": HOOK["rules"]}},
    ),
    CRDS: definition(f"b.{GROUP}") | {},
    f"/apis/{GROUP}/v1/namespaces/default/gadgets": obj(f"{GROUP}/v1", "Gadget", spec=GADGET, status={"n": 1}),
    "/apis/authorization.k8s.io/v1/subjectaccessreviews": obj(
        "authorization.k8s.io/v1", "SubjectAccessReview", spec=REVIEW
    ),
    "/apis/authentication.k8s.io/v1/tokenreviews": obj(
        "authentication.k8s.io/v1", "TokenReview", spec={"token": "a.b.c"}
    ),
    "/api/v1/namespaces/default/serviceaccounts/default/token": obj(
        "authentication.k8s.io/v1", "TokenRequest", spec={"audiences": ["a"], "expirationSeconds": 600}
    ),
}
