"""The exception tree: every rejection is one of these, and only http/status.py renders them.

Codes, reasons and texts are kube-apiserver's (k8s.io/apimachinery api/errors), as recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from podless.codec import gotext
from podless.meta import field
from podless.meta.field import FieldError
from podless.runtime.apierror import APIError as APIError
from podless.runtime.apierror import Timeout as Timeout


def describe_object(name: str, group: str, kind: str, **other_details: Any) -> dict[str, Any]:
    """Return Status details. Empty name and group are left out, as on the wire."""
    details = {"name": name, "group": group, "kind": kind}
    return {key: item for key, item in details.items() if item} | other_details


def qualify_resource(resource: str, group: str) -> str:
    """Return a resource or kind with its group: gadgets.example.com, or configmaps in the core group."""
    return f"{resource}.{group}" if group else resource


class BadRequest(APIError):
    """400: the request is malformed."""

    code, reason = 400, "BadRequest"


class Unauthorized(APIError):
    """401: the request has no valid credentials."""

    code, reason = 401, "Unauthorized"

    def __init__(self) -> None:
        super().__init__("Unauthorized")


class Forbidden(APIError):
    """403: the object's owner or state does not allow this."""

    code, reason = 403, "Forbidden"

    def __init__(self, resource: str, group: str, name: str, reason: str, **details: Any) -> None:
        subject = qualify_resource(resource, group) if resource else "forbidden"
        if name and resource:
            subject = f"{subject} {gotext.quote(name)}"
        super().__init__(f"{subject} is forbidden: {reason}", describe_object(name, group, resource, **details))


class NotFound(APIError):
    """404: the object does not exist."""

    code, reason = 404, "NotFound"

    def __init__(self, resource: str, group: str, name: str) -> None:
        super().__init__(
            f"{qualify_resource(resource, group)} {gotext.quote(name)} not found",
            describe_object(name, group, resource),
        )


class NotServed(APIError):
    """404: a built-in group has no such resource."""

    code, reason = 404, "NotFound"

    def __init__(self) -> None:
        super().__init__("the server could not find the requested resource", {})


class Plain(APIError):
    """An error whose answer is plain text."""


class FilterFailed(Plain):
    """500: a filter before the handlers failed."""

    code = 500

    def __init__(self, path: str, text: str) -> None:
        super().__init__(f"Internal Server Error: {gotext.quote(path)}: {text}\n")


class NoBackend(Plain):
    """503: another server has this API, and it is unavailable."""

    code, reason = 503, "ServiceUnavailable"

    def __init__(self) -> None:
        super().__init__("service unavailable\n")


class PageNotFound(Plain):
    """404: no handler has this path."""

    code, reason = 404, "NotFound"

    def __init__(self) -> None:
        super().__init__("404 page not found\n")


class MethodNotAllowed(APIError):
    """405: the resource does not support the verb."""

    code, reason = 405, "MethodNotAllowed"

    def __init__(self, message: str, details: dict[str, Any] | None = None) -> None:
        super().__init__(message, {} if details is None else details)


class NotAcceptable(APIError):
    """406: the server offers no form that the client accepts."""

    code, reason = 406, "NotAcceptable"


class AlreadyExists(APIError):
    """409: the name is in use. generated: the object has a generateName."""

    code, reason = 409, "AlreadyExists"

    def __init__(self, resource: str, group: str, name: str, *, generated: bool = False) -> None:
        text = f"{qualify_resource(resource, group)} {gotext.quote(name)} already exists"
        details = describe_object(name, group, resource)
        if generated:
            text += ", the server was not able to generate a unique name for the object"
            details["retryAfterSeconds"] = 1
        super().__init__(text, details)


class Conflict(APIError):
    """409: the object is not in the state that the client expects."""

    code, reason = 409, "Conflict"

    def __init__(self, resource: str, group: str, name: str, reason: str) -> None:
        text = f"Operation cannot be fulfilled on {qualify_resource(resource, group)} {gotext.quote(name)}: {reason}"
        super().__init__(text, describe_object(name, group, resource))


MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"


class Expired(APIError):
    """410: the requested history is gone. token: continues a list in the present state, "" for none."""

    code, reason = 410, "Expired"

    def __init__(self, message: str, token: str = "") -> None:
        super().__init__(message)
        self.token = token

    def status(self) -> dict[str, Any]:
        """Include a fresh continue token in the metadata."""
        body = super().status()
        return body | {"metadata": {"continue": self.token}} if self.token else body


class TooLarge(APIError):
    """413: the body is over the limit."""

    code, reason = 413, "RequestEntityTooLarge"


class UnsupportedMediaType(APIError):
    """415: the server does not support the media type of the body."""

    code, reason = 415, "UnsupportedMediaType"


class Invalid(APIError):
    """422: fields of the object are invalid."""

    code, reason = 422, "Invalid"

    def __init__(self, kind: str, group: str, name: str, errors: Sequence[FieldError]) -> None:
        self.errors, message, causes = field.summarize_errors(errors)
        text = f"{qualify_resource(kind, group)} {gotext.quote(name)} is invalid: {message}"
        super().__init__(text, describe_object(name, group, kind, causes=causes))


class Unprocessable(APIError):
    """422: the patch cannot be applied to the object."""

    code, reason = 422, "Invalid"


class TooManyRequests(APIError):
    """429: too many requests; retry later."""

    code, reason = 429, "TooManyRequests"


class Internal(APIError):
    """500 with a real server's text, for the few requests that a real server answers so."""

    code, reason = 500, ""


class Unavailable(APIError):
    """503: the store does not accept writes, or the server is stopping."""

    code, reason = 503, "ServiceUnavailable"


class InsufficientStorage(APIError):
    """507: the disk is full."""

    code, reason = 507, "InsufficientStorage"
