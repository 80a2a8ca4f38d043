"""Who may ask for which certificates, approve them and sign them.

Source: the CertificateApproval, CertificateSigning and CertificateSubjectRestriction plugins of kube-apiserver.
"""

from __future__ import annotations

from podless.admission.attributes import CREATE, UPDATE, AdmissionAttributes
from podless.admission.plugin import Step
from podless.auth.attributes import Attributes
from podless.auth.authorizer import Authorizer
from podless.auth.user import MASTERS
from podless.kinds.kind import Kind
from podless.meta.errors import Forbidden

_GROUP, _PLURAL = "certificates.k8s.io", "certificatesigningrequests"
_CLIENT = "kubernetes.io/kube-apiserver-client"
_MASTERS = f"use of {_CLIENT} signer with {MASTERS} group is not allowed"


class Requests(Step):
    """Who asks for a certificate is who asks, and no member of the group that may do everything."""

    builtin = True

    def mutates(self, operation: str, kind: Kind, subresource: str, namespace: str) -> bool:
        """New requests."""
        return operation == CREATE and kind.plural == _PLURAL and kind.group == _GROUP

    async def mutate(self, attr: AdmissionAttributes) -> None:
        """Note who asks."""
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

    def validates(self, operation: str, kind: Kind, subresource: str) -> bool:
        """New requests."""
        return operation == CREATE and kind.plural == _PLURAL and kind.group == _GROUP

    async def validate(self, attr: AdmissionAttributes) -> None:
        """Raises Forbidden."""
        assert attr.obj is not None
        if attr.obj["spec"]["signerName"] == _CLIENT and MASTERS in _organizations(attr.obj["spec"]):
            raise Forbidden(_PLURAL, _GROUP, attr.name, _MASTERS)


class Decisions(Step):
    """Who approves, or signs, must have the right to do so in the name of the signer."""

    builtin = True

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    def validates(self, operation: str, kind: Kind, subresource: str) -> bool:
        """What is written to the endpoints of approval and status."""
        if operation != UPDATE or subresource not in ("approval", "status"):
            return False
        return kind.plural == _PLURAL and kind.group == _GROUP

    async def validate(self, attr: AdmissionAttributes) -> None:
        """Raises Forbidden."""
        assert attr.obj is not None
        assert attr.old is not None
        if attr.subresource == "status" and _signed(attr.obj) == _signed(attr.old):
            return
        verb = "approve" if attr.subresource == "approval" else "sign"
        signer = attr.old["spec"]["signerName"]
        domain = f"{signer.partition('/')[0]}/*"
        for name in (signer, domain):
            asked = Attributes(verb, _GROUP, "*", "signers", "", "", name)
            if self._authorizer.allowed(attr.user, asked):
                return
        why = f'user not permitted to {verb} requests with signerName "{signer}"'
        raise Forbidden(_PLURAL, _GROUP, attr.name, why)


def _signed(obj: dict[str, object]) -> tuple[object, list[object]]:
    """What a signer says: a certificate, or that it failed."""
    status = obj.get("status") or {}
    assert isinstance(status, dict)
    failed = [one for one in status.get("conditions") or [] if one.get("type") == "Failed"]
    return status.get("certificate"), failed


def _organizations(spec: dict[str, str]) -> list[object]:
    """The groups that somebody is to be of."""
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    from podless.apis.certificates.certificatesigningrequests import request

    der = request(spec)
    if der is None:
        return []
    subject = x509.load_der_x509_csr(der).subject
    return [found.value for found in subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]
