"""What is asked for, as far as it matters for whether it is allowed."""

from __future__ import annotations

from typing import NamedTuple


class Attributes(NamedTuple):
    """One question: may somebody do this.

    verb: of the API (get, list, deletecollection ...), or an HTTP method in lower case where path is given.
    path: of what is no resource, "" for resources, of which group, version, resource ... tell.
    namespace and name are "" for all of them.
    """

    verb: str
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""
