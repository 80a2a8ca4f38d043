"""What a Fact says of one struct, and how the components of the groups' structs are called."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

ADMISSION = "io.k8s.api.admissionregistration.v1."
AUTHENTICATION = "io.k8s.api.authentication.v1."
AUTHORIZATION = "io.k8s.api.authorization.v1."
COORDINATION = "io.k8s.api.coordination.v1."
CORE = "io.k8s.api.core.v1."
EVENTS = "io.k8s.api.events.v1."
EXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."
EXTENSIONS_BETA = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1beta1."
LEGACY = "io.k8s.api.extensions.v1beta1."
RBAC = "io.k8s.api.rbac.v1."
REGISTRATION = "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1."


@dataclass(frozen=True)
class Fact:
    """Of one struct: its text, the names of required fields (None: not known), the texts of fields, what else
    they say."""

    text: str
    required: tuple[str, ...] | None = ()
    fields: dict[str, str] = field(default_factory=dict)
    more: dict[str, dict[str, Any]] = field(default_factory=dict)
