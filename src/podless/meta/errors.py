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


class BadRequest(APIError, code=400, reason="BadRequest"):
    """400: the request is malformed."""


class Unauthorized(APIError, code=401, reason="Unauthorized"):
    """401: the request has no valid credentials."""

    def __init__(self) -> None:
        super().__init__("Unauthorized")


class Forbidden(APIError, code=403, reason="Forbidden"):
    """403: the object's owner or state does not allow this."""

    def __init__(self, resource: str, group: str, name: str, reason: str, **details: Any) -> None:
        subject = qualify_resource(resource, group) if resource else "forbidden"
        if name and resource:
            subject = f"{subject} {gotext.quote(name)}"
        super().__init__(f"{subject} is forbidden: {reason}", describe_object(name, group, resource, **details))


class NotFound(APIError, code=404, reason="NotFound"):
    """404: the object does not exist."""

    def __init__(self, resource: str, group: str, name: str) -> None:
        super().__init__(
            f"{qualify_resource(resource, group)} {gotext.quote(name)} not found",
            describe_object(name, group, resource),
        )


class NotServed(APIError, code=404, reason="NotFound"):
    """404: a built-in group has no such resource."""

    def __init__(self) -> None:
        super().__init__("the server could not find the requested resource", {})


class Plain(APIError):
    """An error whose answer is plain text."""


class FilterFailed(Plain, code=500):
    """500: a filter before the handlers failed."""

    def __init__(self, path: str, text: str) -> None:
        super().__init__(f"Internal Server Error: {gotext.quote(path)}: {text}\n")


class NoBackend(Plain, code=503, reason="ServiceUnavailable"):
    """503: another server has this API, and it is unavailable."""

    def __init__(self) -> None:
        super().__init__("service unavailable\n")


class PageNotFound(Plain, code=404, reason="NotFound"):
    """404: no handler has this path."""

    def __init__(self) -> None:
        super().__init__("404 page not found\n")


class MethodNotAllowed(APIError, code=405, reason="MethodNotAllowed"):
    """405: the resource does not support the verb."""

    def __init__(self, message: str, details: dict[str, Any] | None = None) -> None:
        super().__init__(message, {} if details is None else details)


class NotAcceptable(APIError, code=406, reason="NotAcceptable"):
    """406: the server offers no form that the client accepts."""


class AlreadyExists(APIError, code=409, reason="AlreadyExists"):
    """409: the name is in use. generated: the object has a generateName."""

    def __init__(self, resource: str, group: str, name: str, *, generated: bool = False) -> None:
        text = f"{qualify_resource(resource, group)} {gotext.quote(name)} already exists"
        details = describe_object(name, group, resource)
        if generated:
            text += ", the server was not able to generate a unique name for the object"
            details["retryAfterSeconds"] = 1
        super().__init__(text, details)


class Conflict(APIError, code=409, reason="Conflict"):
    """409: the object is not in the state that the client expects."""

    def __init__(self, resource: str, group: str, name: str, reason: str) -> None:
        text = f"Operation cannot be fulfilled on {qualify_resource(resource, group)} {gotext.quote(name)}: {reason}"
        super().__init__(text, describe_object(name, group, resource))


MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"


class Expired(APIError, code=410, reason="Expired"):
    """410: the requested history is gone. token: continues a list in the present state, "" for none."""

    def __init__(self, message: str, token: str = "") -> None:
        super().__init__(message)
        self.token = token

    def status(self) -> dict[str, Any]:
        """Include a fresh continue token in the metadata."""
        body = super().status()
        return body | {"metadata": {"continue": self.token}} if self.token else body


class TooLarge(APIError, code=413, reason="RequestEntityTooLarge"):
    """413: the body is over the limit."""


class UnsupportedMediaType(APIError, code=415, reason="UnsupportedMediaType"):
    """415: the server does not support the media type of the body."""


class Invalid(APIError, code=422, reason="Invalid"):
    """422: fields of the object are invalid."""

    def __init__(self, kind: str, group: str, name: str, errors: Sequence[FieldError]) -> None:
        self.errors, message, causes = field.summarize_errors(errors)
        text = f"{qualify_resource(kind, group)} {gotext.quote(name)} is invalid: {message}"
        super().__init__(text, describe_object(name, group, kind, causes=causes))


class Unprocessable(APIError, code=422, reason="Invalid"):
    """422: the patch cannot be applied to the object."""


class TooManyRequests(APIError, code=429, reason="TooManyRequests"):
    """429: too many requests; retry later."""


class Internal(APIError, code=500, reason=""):
    """500 with a real server's text, for the few requests that a real server answers so."""


class Unavailable(APIError, code=503, reason="ServiceUnavailable"):
    """503: the store does not accept writes, or the server is stopping."""


class InsufficientStorage(APIError, code=507, reason="InsufficientStorage"):
    """507: the disk is full."""
