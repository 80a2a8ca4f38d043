"""CertificateSigningRequest: a request for a certificate."""

from __future__ import annotations

from podless.kinds.builtin.typed import DescribedStrategy
from podless.kinds.types.certificates import CERTIFICATE_SIGNING_REQUEST


class CertificateSigningRequestStrategy(DescribedStrategy):
    """A request for a certificate."""


STRUCT = CERTIFICATE_SIGNING_REQUEST
STRATEGY = CertificateSigningRequestStrategy(STRUCT)
