"""The author of a request's writes, for the history."""

from __future__ import annotations

from uuid import UUID

from podless.fields.managers import manager_name
from podless.http.message import HTTPRequest
from podless.runtime.bounded import bounded_cache
from podless.store.contract import Author
from podless.verbs.call import Call

_NAME = 512  # characters of names of users, and of impersonating users, that are kept
_AGENT = 256  # characters of a User-Agent that are kept
_MANAGER = 128  # maximum characters of a field manager
_APPLY = "application/apply-patch"


def make_author(request: HTTPRequest, call: Call, verb: str) -> Author:
    """Return the author of a request's writes. An apply has the verb "apply"."""
    given = call.query.get("fieldManager") if call.query else None
    if verb == "patch" and call.content_type.startswith(_APPLY):
        verb = "apply"
    author = _authors(
        (
            call.user.name[:_NAME],
            request.sender[:_NAME],
            verb,
            call.subresource,
            manager_name(given[0] if given else "", call.agent)[:_MANAGER],
            call.agent[:_AGENT],
        )
    )
    return author if request.audit is None else author._replace(audit=UUID(request.audit.id).bytes)


@bounded_cache(1024)
def _authors(told: tuple[str, str, str, str, str, str]) -> Author:
    """Return an Author, the same one for equal texts: few authors make many writes."""
    return Author(*told)
