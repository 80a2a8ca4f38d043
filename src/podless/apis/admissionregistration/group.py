"""The group admissionregistration.k8s.io."""

from functools import partial

from podless.apis.shared.group import Group

GROUP = Group("admissionregistration.k8s.io", 16700, needed=True, earlier={"v1alpha1": "*", "v1beta1": "*"})

_kind = partial(GROUP.kind, namespaced=False, categories=("api-extensions",))
MUTATING_BINDINGS = _kind(
    "MutatingAdmissionPolicyBinding",
    rules="admissionpolicies:MUTATING_BINDING",
    hash_version="v1beta1",
    hash_in="-1.36",
    releases="1.36-",
)
MUTATING_POLICIES = _kind(
    "MutatingAdmissionPolicy",
    rules="admissionpolicies:MUTATING",
    hash_version="v1beta1",
    hash_in="-1.36",
    releases="1.36-",
)
MUTATING_WEBHOOKS = _kind("MutatingWebhookConfiguration", rules="webhookconfigurations:STRATEGY")
VALIDATING_BINDINGS = _kind("ValidatingAdmissionPolicyBinding", rules="admissionpolicies:VALIDATING_BINDING")
VALIDATING_POLICIES = _kind("ValidatingAdmissionPolicy", rules="admissionpolicies:VALIDATING", status=True)
VALIDATING_WEBHOOKS = _kind("ValidatingWebhookConfiguration", rules="webhookconfigurations:STRATEGY")
