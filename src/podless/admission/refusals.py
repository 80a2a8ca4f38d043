"""Errors of rejected writes, in kube-apiserver's words."""

from __future__ import annotations

from typing import Any

from podless.admission.attributes import AdmissionAttributes
from podless.meta.errors import APIError, Forbidden

CODES = {"Forbidden": 403, "Unauthorized": 401, "RequestEntityTooLarge": 413, "Invalid": 422}


def forbid_write(attr: AdmissionAttributes, reason: str, **details: Any) -> Forbidden:
    """Return a 403 about the object of a write."""
    return Forbidden(attr.kind.plural, attr.kind.group, name_of(attr), reason, **details)


def internal_error(reason: str) -> APIError:
    """Return a 500, for failures that the client did not cause."""
    return APIError(f"Internal error occurred: {reason}", {"causes": [{"message": reason}]})


def name_of(attr: AdmissionAttributes) -> str:
    """Return the object's name for an error text: its name, generateName, or "Unknown"."""
    if attr.name:
        return attr.name
    metadata = (attr.obj or {}).get("metadata") or {}
    return metadata.get("name") or metadata.get("generateName") or "Unknown"


class HookStatusError(APIError):
    """An error with the Status that a webhook or hook returned. status: the Status."""

    def __init__(self, status: dict[str, Any], message: str) -> None:
        super().__init__(message)
        self._status = status
        self.code = status["code"]
        self.reason = status.get("reason") or ""

    def status(self) -> dict[str, Any]:
        head = {"kind": "Status", "apiVersion": "v1", "metadata": self._status.get("metadata") or {}}
        body = {"status": "Failure", "message": self.message}
        if self.reason:
            body["reason"] = self.reason
        if self._status.get("details") is not None:
            body["details"] = self._status["details"]
        return head | body | {"code": self.code}
