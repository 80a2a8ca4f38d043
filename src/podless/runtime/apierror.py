"""The root of the exceptions in meta/errors.py, and Timeout, the only one that the lowest modules raise themselves."""

from __future__ import annotations

from typing import Any


class APIError(Exception):
    """A request is rejected.

    code: the HTTP status. reason: the Status reason, "" if a real server gives none. message: for users. details: the
    Status details in the field order of the wire, or None to leave them out. headers: of the answer.
    """

    code = 500
    reason = "InternalError"
    headers: tuple[tuple[str, str], ...] = ()

    def __init_subclass__(cls, code: int = 0, reason: str | None = None) -> None:
        """Set the HTTP status and the Status reason of a class of errors, if it names them."""
        cls.code = code or cls.code
        cls.reason = cls.reason if reason is None else reason

    def __init__(self, message: str, details: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.details = details

    def status(self) -> dict[str, Any]:
        """Return the Status object that answers the request."""
        body: dict[str, Any] = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
        }
        if self.reason:
            body["reason"] = self.reason
        if self.details is not None:
            body["details"] = self.details
        body["code"] = self.code
        return body


class Timeout(APIError, code=504, reason="Timeout"):
    """504: the request took too long, or the state that it asks for has not been reached."""
