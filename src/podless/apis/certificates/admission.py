"""Admission of certificates' kinds: who may request, approve and sign which certificates.

Source: the CertificateApproval, CertificateSigning and CertificateSubjectRestriction plugins of kube-apiserver.
"""

from __future__ import annotations

from typing import ClassVar

from podless.admission.attributes import CREATE, UPDATE, AdmissionAttributes
from podless.admission.plugin import Plugin
from podless.admission.refusals import forbid_write
from podless.apis.certificates.group import GROUP, POD_REQUESTS, SIGNING_REQUESTS, TRUST_BUNDLES
from podless.auth.authorizer import Attributes, Authorizer
from podless.auth.user import MASTERS, User
from podless.kinds.kind import Kind
from podless.meta import field

_GROUP = GROUP.name
_CLIENT = "kubernetes.io/kube-apiserver-client"
_MASTERS = f"use of {_CLIENT} signer with {MASTERS} group is not allowed"


class CertificateRequester(Plugin):
    """Sets the requesting user in the spec of new requests."""

    def mutates(self, operation: str, kind: Kind, subresource: str, namespace: str) -> bool:
        return operation == CREATE and kind == SIGNING_REQUESTS

    async def mutate(self, attr: AdmissionAttributes) -> None:
        assert attr.obj is not None
        spec, user = attr.obj["spec"], attr.user
        requester = {
            "username": user.name,
            "uid": user.uid,
            "groups": list(user.groups),
            "extra": {key: list(values) for key, values in sorted(user.extra.items())},
        }
        for name in requester:
            spec.pop(name, None)
        spec |= {name: value for name, value in requester.items() if value}


class CertificateSubjectRestriction(Plugin):
    """Rejects client certificates for the group system:masters."""

    def validates(self, operation: str, kind: Kind, subresource: str) -> bool:
        return operation == CREATE and kind == SIGNING_REQUESTS

    async def validate(self, attr: AdmissionAttributes) -> None:
        assert attr.obj is not None
        if attr.obj["spec"]["signerName"] == _CLIENT and MASTERS in _read_organizations(attr.obj["spec"]):
            raise forbid_write(attr, _MASTERS)


class _SignerPermission(Plugin):
    """Requires the permission to `verb` for the signer, for writes of `subresource`."""

    subresource: ClassVar[str]
    verb: ClassVar[str]

    def validates(self, operation: str, kind: Kind, subresource: str) -> bool:
        return operation == UPDATE and subresource == self.subresource and kind == SIGNING_REQUESTS

    async def validate(self, attr: AdmissionAttributes) -> None:
        assert attr.old is not None
        signer = attr.old["spec"]["signerName"]
        if not _is_signer(self._authorizer, attr.user, self.verb, signer):
            raise forbid_write(attr, f'user not permitted to {self.verb} requests with signerName "{signer}"')


class CertificateApproval(_SignerPermission):
    """Requires the permission to approve requests for the signer."""

    subresource = "approval"
    verb = "approve"


class CertificateSigning(_SignerPermission):
    """Requires the permission to sign for the signer if the certificate or the Failed condition changes."""

    subresource = "status"
    verb = "sign"

    async def validate(self, attr: AdmissionAttributes) -> None:
        assert attr.obj is not None
        assert attr.old is not None
        if _get_outcome(attr.obj) != _get_outcome(attr.old):
            await super().validate(attr)


class ClusterTrustBundleAttest(Plugin):
    """Requires the permission to attest for the signer of a ClusterTrustBundle."""

    def validates(self, operation: str, kind: Kind, subresource: str) -> bool:
        return kind == TRUST_BUNDLES and operation in (CREATE, UPDATE)

    async def validate(self, attr: AdmissionAttributes) -> None:
        assert attr.obj is not None
        signer = attr.obj["spec"].get("signerName")
        if not signer or attr.is_unchanged:
            return
        if not _is_signer(self._authorizer, attr.user, "attest", signer):
            raise forbid_write(attr, f'user not permitted to attest for signerName "{signer}"')


class PodCertificateSigning(Plugin):
    """Requires the permission to sign for the signer if the status of a PodCertificateRequest changes."""

    def allocates(self, operation: str, kind: Kind, subresource: str) -> bool:
        return kind == POD_REQUESTS and subresource == "status"

    async def allocate(self, attr: AdmissionAttributes) -> None:
        """Record that the user may not sign."""
        assert attr.obj is not None
        assert attr.old is not None
        signer, user = attr.old["spec"]["signerName"], attr.user
        if (attr.obj.get("status") or {}) == (attr.old.get("status") or {}):
            return
        if not _is_signer(self._authorizer, user, "sign", signer):
            reason = f'User "{user.name}" is not permitted to "sign" for signer "{signer}"'
            attr.refuse_fields([field.forbidden("spec.signerName", reason)])


def _is_signer(authorizer: Authorizer, user: User, verb: str, signer: str) -> bool:
    """Return whether a user has the permission `verb` for a signer, or for all signers of its domain."""
    names = signer, f"{signer.partition('/')[0]}/*"
    questions = (Attributes(verb, _GROUP, "*", "signers", "", "", name) for name in names)
    return any(authorizer.is_allowed(user, question) for question in questions)


def _get_outcome(obj: dict[str, object]) -> tuple[object, list[object]]:
    """Return the result of signing: the certificate, and the Failed conditions."""
    status = obj.get("status") or {}
    assert isinstance(status, dict)
    failed = [condition for condition in status.get("conditions") or [] if condition.get("type") == "Failed"]
    return status.get("certificate"), failed


def _read_organizations(spec: dict[str, str]) -> list[object]:
    """Return the organizations in a certificate request, which become the user's groups."""
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    from podless.apis.certificates.certificatesigningrequests import decode_request

    der = decode_request(spec)
    if der is None:
        return []
    subject = x509.load_der_x509_csr(der).subject
    return [attribute.value for attribute in subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]
