"""The author of a write, as the change log keeps it: the user, the verb, the field manager and the client."""

from __future__ import annotations

from podless.fields.managers import find_manager_name
from podless.fields.patches import APPLY_MEDIA
from podless.history.change import read_audit_id
from podless.http.message import HTTPRequest
from podless.runtime.bounded import bounded_cache
from podless.store.contract import Author
from podless.verbs.call import Call

_NAME = 512  # characters of names of users, and of impersonating users, that are kept
_AGENT = 256  # characters of a User-Agent that are kept
_MANAGER = 128  # maximum characters of a field manager


def make_author(request: HTTPRequest, call: Call) -> Author:
    """Return the author of a request's writes. An apply has the verb "apply"."""
    managers = call.query.get("fieldManager") if call.query else None
    is_apply = call.verb == "patch" and call.content_type.startswith(APPLY_MEDIA)
    author = _make_author(
        (
            call.user.name[:_NAME],
            request.sender[:_NAME],
            "apply" if is_apply else call.verb,
            call.subresource,
            managers[0][:_MANAGER] if managers else "",
            call.agent[:_AGENT],
        )
    )
    return author if request.audit is None else author._replace(audit=read_audit_id(request.audit.id))


@bounded_cache(1024)
def _make_author(texts: tuple[str, str, str, str, str, str]) -> Author:
    """Return an Author, the same one for equal texts: few authors make many writes.

    texts: its fields, with the fieldManager parameter in place of the manager.
    """
    user, sender, verb, subresource, manager, agent = texts
    return Author(user, sender, verb, subresource, find_manager_name(manager, agent)[:_MANAGER], agent)
