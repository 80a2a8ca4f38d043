"""The admission plugins of a server, in their order. To add one, write its module and put its line into the list."""

from __future__ import annotations

from podless.admission.mutating import MutatingPolicies
from podless.admission.plugin import Step
from podless.admission.validating import ValidatingPolicies
from podless.admission.webhooks import MutatingWebhooks, ValidatingWebhooks
from podless.apis.admissionregistration.admission import ParameterReading
from podless.apis.apiextensions.admission import Generations
from podless.apis.certificates.admission import Decisions, Requests
from podless.apis.core.admission.limitranger import LimitRanger
from podless.apis.core.admission.namespacelifecycle import NamespaceLifecycle
from podless.apis.core.admission.resourcequota import ObjectQuota
from podless.apis.core.admission.serviceallocator import ServiceAllocator
from podless.apis.core.metering import Meter
from podless.apis.networking.admission import DefaultIngressClass
from podless.apis.node.admission import RuntimeClasses
from podless.apis.policy.admission import PodSecurity
from podless.apis.rbac.admission import Escalation
from podless.apis.resource.admission import DeviceAccess
from podless.apis.scheduling.admission import DefaultTolerations, NodeTaints, Priority
from podless.apis.storage.admission import DefaultClass, Growth, Protection
from podless.auth.authorizer import Authorizer
from podless.kinds.state import State


def make_plugins(state: State, authorizer: Authorizer, meter: Meter | None = None) -> list[Step]:
    """Return all steps of a server, in the order of kube-apiserver's plugins (pkg/kubeapiserver/options/plugins.go).

    kube-apiserver does in the storage of a kind what stands between its plugins that mutate and those that validate.
    A comment gives the name of the plugin where ours is another one. meter: adds up for quotas.
    """
    return [
        NamespaceLifecycle(state),
        LimitRanger(state),
        NodeTaints(),  # TaintNodesByCondition
        PodSecurity(state),
        Priority(state),
        DefaultTolerations(),  # DefaultTolerationSeconds
        DefaultClass(state),  # DefaultStorageClass
        Protection(),  # StorageObjectInUseProtection
        Growth(state),  # PersistentVolumeClaimResize
        RuntimeClasses(state),  # RuntimeClass
        Decisions(authorizer),  # CertificateApproval, CertificateSigning
        Requests(),  # CertificateSubjectRestriction
        DefaultIngressClass(state),
        MutatingPolicies(state, authorizer),  # MutatingAdmissionPolicy
        MutatingWebhooks(state, authorizer),  # MutatingAdmissionWebhook
        # in the storage of kinds
        ServiceAllocator(state),
        DeviceAccess(state, authorizer),
        Escalation(authorizer),
        Generations(state),
        ParameterReading(state, authorizer),
        # plugins again
        ValidatingPolicies(state, authorizer),  # ValidatingAdmissionPolicy
        ValidatingWebhooks(state, authorizer),  # ValidatingAdmissionWebhook
        ObjectQuota(
            state, meter or Meter()
        ),  # ResourceQuota; the last one, for a write that it lets pass is stored next
    ]
