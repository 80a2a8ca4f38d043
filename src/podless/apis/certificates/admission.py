"""Who may ask for which certificates, approve them and sign them.

Source: the CertificateApproval, CertificateSigning and CertificateSubjectRestriction plugins of kube-apiserver.
"""

from __future__ import annotations

from typing import ClassVar

from podless.admission.attributes import CREATE, UPDATE, AdmissionAttributes
from podless.admission.plugin import Plugin
from podless.auth.attributes import Attributes
from podless.auth.authorizer import Authorizer
from podless.auth.user import MASTERS
from podless.kinds.kind import Kind
from podless.meta.errors import Forbidden

_GROUP, _PLURAL = "certificates.k8s.io", "certificatesigningrequests"
_CLIENT = "kubernetes.io/kube-apiserver-client"
_MASTERS = f"use of {_CLIENT} signer with {MASTERS} group is not allowed"


class CertificateRequester(Plugin):
    """Record in new requests which user sends them."""

    builtin = True

    def mutates(self, operation: str, kind: Kind, subresource: str, namespace: str) -> bool:
        return operation == CREATE and kind.plural == _PLURAL and kind.group == _GROUP

    async def mutate(self, attr: AdmissionAttributes) -> None:
        assert attr.obj is not None
        spec, user = attr.obj["spec"], attr.user
        said = {
            "username": user.name,
            "uid": user.uid,
            "groups": list(user.groups),
            "extra": {key: list(values) for key, values in sorted(user.extra.items())},
        }
        for name in said:
            spec.pop(name, None)
        spec |= {name: value for name, value in said.items() if value}


class CertificateSubjectRestriction(Plugin):
    """Reject client certificates for members of the group that may do everything."""

    builtin = True

    def validates(self, operation: str, kind: Kind, subresource: str) -> bool:
        return operation == CREATE and kind.plural == _PLURAL and kind.group == _GROUP

    async def validate(self, attr: AdmissionAttributes) -> None:
        assert attr.obj is not None
        if attr.obj["spec"]["signerName"] == _CLIENT and MASTERS in _read_organizations(attr.obj["spec"]):
            raise Forbidden(_PLURAL, _GROUP, attr.name, _MASTERS)


class _SignerPermission(Plugin):
    """Require the right to `verb` in the name of the signer for writes of `subresource`."""

    builtin = True
    subresource: ClassVar[str]
    verb: ClassVar[str]

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    def validates(self, operation: str, kind: Kind, subresource: str) -> bool:
        return (
            operation == UPDATE and subresource == self.subresource and kind.plural == _PLURAL and kind.group == _GROUP
        )

    async def validate(self, attr: AdmissionAttributes) -> None:
        assert attr.old is not None
        signer = attr.old["spec"]["signerName"]
        domain = f"{signer.partition('/')[0]}/*"
        for name in (signer, domain):
            asked = Attributes(self.verb, _GROUP, "*", "signers", "", "", name)
            if self._authorizer.allowed(attr.user, asked):
                return
        why = f'user not permitted to {self.verb} requests with signerName "{signer}"'
        raise Forbidden(_PLURAL, _GROUP, attr.name, why)


class CertificateApproval(_SignerPermission):
    """Require the right to approve requests for the signer."""

    subresource = "approval"
    verb = "approve"


class CertificateSigning(_SignerPermission):
    """Require the right to sign for the signer where certificate or failure change."""

    subresource = "status"
    verb = "sign"

    async def validate(self, attr: AdmissionAttributes) -> None:
        assert attr.obj is not None
        assert attr.old is not None
        if _get_outcome(attr.obj) != _get_outcome(attr.old):
            await super().validate(attr)


def _get_outcome(obj: dict[str, object]) -> tuple[object, list[object]]:
    """What a signer says: a certificate, or that it failed."""
    status = obj.get("status") or {}
    assert isinstance(status, dict)
    failed = [one for one in status.get("conditions") or [] if one.get("type") == "Failed"]
    return status.get("certificate"), failed


def _read_organizations(spec: dict[str, str]) -> list[object]:
    """The groups that somebody is to be of."""
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    from podless.apis.certificates.certificatesigningrequests import decode_request

    der = decode_request(spec)
    if der is None:
        return []
    subject = x509.load_der_x509_csr(der).subject
    return [found.value for found in subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]
