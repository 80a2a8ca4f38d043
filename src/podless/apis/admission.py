"""The ordered list of a server's admission plugins. To add a plugin, write its module and add it to the list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podless.admission.mutating import MutatingAdmissionPolicy
from podless.admission.plugin import Plugin
from podless.admission.validating import ValidatingAdmissionPolicy
from podless.admission.webhooks import MutatingAdmissionWebhook, ValidatingAdmissionWebhook
from podless.apis.admissionregistration.admission import ParameterAccessCheck
from podless.apis.apiextensions.admission import DefinitionConflictCheck
from podless.apis.certificates.admission import (
    CertificateApproval,
    CertificateRequester,
    CertificateSigning,
    CertificateSubjectRestriction,
    ClusterTrustBundleAttest,
    PodCertificateSigning,
)
from podless.apis.core.admission.limitranger import LimitRanger
from podless.apis.core.admission.namespacelifecycle import NamespaceLifecycle
from podless.apis.core.admission.noderesize import NodeDeclaredFeatureValidator, PodResizeValidator
from podless.apis.core.admission.resourcequota import ResourceQuota
from podless.apis.core.admission.serviceallocator import ServiceAllocator
from podless.apis.core.metering import Meter
from podless.apis.networking.admission import DefaultIngressClass
from podless.apis.node.admission import RuntimeClass
from podless.apis.policy.admission import PodSecurity
from podless.apis.rbac.admission import EscalationCheck
from podless.apis.resource.admission import DeviceAccessCheck
from podless.apis.scheduling.admission import DefaultTolerationSeconds, Priority, TaintNodesByCondition
from podless.apis.storage.admission import (
    DefaultStorageClass,
    PersistentVolumeClaimResize,
    StorageObjectInUseProtection,
)
from podless.auth.authorizer import Authorizer
from podless.kinds.state import State

if TYPE_CHECKING:
    from podless.hooks.loaded import LoadedHooks


def make_plugins(
    state: State, authorizer: Authorizer, meter: Meter | None = None, hooks: LoadedHooks | None = None
) -> list[Plugin]:
    """Return all plugins of a server, in the order of kube-apiserver's plugins (pkg/kubeapiserver/options/plugins.go).

    The plugins between the mutating and the validating ones do what kube-apiserver does in the storage of a kind.
    meter: sums for quotas. hooks: of podless.hooks, called with webhooks.
    """
    return [
        NamespaceLifecycle(state, authorizer),
        LimitRanger(state, authorizer),
        TaintNodesByCondition(state, authorizer),
        PodSecurity(state, authorizer),
        Priority(state, authorizer),
        DefaultTolerationSeconds(state, authorizer),
        DefaultStorageClass(state, authorizer),
        StorageObjectInUseProtection(state, authorizer),
        PersistentVolumeClaimResize(state, authorizer),
        RuntimeClass(state, authorizer),
        CertificateApproval(state, authorizer),
        CertificateSigning(state, authorizer),
        ClusterTrustBundleAttest(state, authorizer),
        CertificateRequester(state, authorizer),  # in kube-apiserver a part of the kind's strategy
        CertificateSubjectRestriction(state, authorizer),
        DefaultIngressClass(state, authorizer),
        NodeDeclaredFeatureValidator(state, authorizer),
        PodResizeValidator(state, authorizer),
        MutatingAdmissionPolicy(state, authorizer),
        MutatingAdmissionWebhook(state, authorizer, hooks),
        # in kube-apiserver a part of the kind's storage
        ServiceAllocator(state, authorizer),
        DeviceAccessCheck(state, authorizer),
        EscalationCheck(state, authorizer),
        PodCertificateSigning(state, authorizer),
        DefinitionConflictCheck(state, authorizer),
        ParameterAccessCheck(state, authorizer),
        # plugins of kube-apiserver again
        ValidatingAdmissionPolicy(state, authorizer),
        ValidatingAdmissionWebhook(state, authorizer, hooks),
        ResourceQuota(state, meter or Meter()),  # last, because a write is committed together with its quota usage
    ]
