"""Checks the names in a chain of certificates by the name constraints of the CAs above them, with Go's texts.

Source: RFC 5280, section 4.2.1.10; crypto/x509 of Go 1.26. Go differs from the RFC: a name constraint of the kinds DNS,
email and URI covers subdomains whether or not it begins with a dot, and Go does not check directory names at all. So a
critical constraint of another kind is unhandled: `are_handled`.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeVar
from urllib.parse import urlsplit

from cryptography import x509

from podless.codec import gotext
from podless.meta.addresses import Network

_KINDS = (x509.DNSName, x509.IPAddress, x509.RFC822Name, x509.UniformResourceIdentifier)
T = TypeVar("T", bound=x509.ExtensionType)
_MIN, _MAX = "!", "~"  # first and last character that Go allows in a domain name


class _ConstrainedName(NamedTuple):
    """A name to check. text: the name in messages; matches: whether a constraint covers it.

    excluded: the same for an excluding constraint, for which a wildcard stands for each name that it covers.
    """

    type_name: str
    kind: type[x509.GeneralName]
    text: str
    matches: Callable[[x509.GeneralName], bool]
    excluded: Callable[[x509.GeneralName], bool]


class _MalformedName(Exception):
    """A name has an invalid form; the text is Go's."""


def are_handled(constraints: x509.NameConstraints) -> bool:
    """Return whether `find_fault` checks all constraints."""
    subtrees = (*(constraints.permitted_subtrees or ()), *(constraints.excluded_subtrees or ()))
    return all(isinstance(subtree, _KINDS) for subtree in subtrees)


def find_fault(chain: Sequence[x509.Certificate]) -> str:
    """Return why the names in a chain (leaf first) violate the constraints above them; "" if they do not."""
    limits = [find_extension(item, x509.NameConstraints) for item in chain]
    for index, certificate in enumerate(chain):
        limits_above = [limit for limit in limits[index + 1 :] if limit is not None]
        extension = find_extension(certificate, x509.SubjectAlternativeName)
        if extension is None or not limits_above:
            continue
        try:
            names = [*_list_names(extension)]
        except _MalformedName as error:
            return str(error)
        for limit in limits_above:
            for name in names:
                if fault := _find_violation(name, limit):
                    return fault
    return ""


def find_extension(certificate: x509.Certificate, kind: type[T]) -> T | None:
    """Return the value of an extension, None if the certificate lacks it."""
    return next((extension.value for extension in certificate.extensions if isinstance(extension.value, kind)), None)


def _find_violation(name: _ConstrainedName, limits: x509.NameConstraints) -> str:
    subject = f"{name.type_name} {gotext.quote(name.text)}"
    permitted = [subtree for subtree in limits.permitted_subtrees or () if isinstance(subtree, name.kind)]
    if permitted and not any(map(name.matches, permitted)):
        return f"{subject} is not permitted by any constraint"
    for subtree in limits.excluded_subtrees or ():
        if isinstance(subtree, name.kind) and name.excluded(subtree):
            return f"{subject} is excluded by constraint {gotext.quote(str(subtree.value))}"
    return ""


def _list_names(extension: x509.SubjectAlternativeName) -> Iterator[_ConstrainedName]:
    """Yield the names in the order in which Go checks them. Raises _MalformedName."""
    for address in extension.get_values_for_type(x509.IPAddress):
        inside = _in_network(str(address))
        yield _ConstrainedName("IP address", x509.IPAddress, str(address), inside, inside)
    for name in extension.get_values_for_type(x509.DNSName):
        if not _is_domain(name):
            raise _MalformedName(f"x509: cannot parse dnsName {gotext.quote(name)}")
        yield _ConstrainedName("DNS name", x509.DNSName, name, _matches_domain(name), _covers_one_under(name))
    for uri in extension.get_values_for_type(x509.UniformResourceIdentifier):
        is_under = _matches_domain(_uri_host(uri))
        yield _ConstrainedName("URI", x509.UniformResourceIdentifier, uri, is_under, is_under)
    for mailbox in extension.get_values_for_type(x509.RFC822Name):
        is_same = _same_mailbox(mailbox)
        yield _ConstrainedName("email address", x509.RFC822Name, mailbox, is_same, is_same)


def _is_domain(name: str) -> bool:
    labels = name.split(".")
    return not name or (all(labels) and all(_MIN <= letter <= _MAX for letter in name))


def _matches_domain(name: str) -> Callable[[x509.GeneralName], bool]:
    """Return a function that matches a domain constraint: its name or one below; with a leading dot only below."""

    def is_match(limit: x509.GeneralName) -> bool:
        domain, host = str(limit.value).lower(), name.lower()
        return not domain or host == domain or host.endswith(domain if domain.startswith(".") else f".{domain}")

    return is_match


def _covers_one_under(name: str) -> Callable[[x509.GeneralName], bool]:
    """Return a match like `_matches_domain` that also accepts a wildcard which covers the name of a constraint."""
    is_under = _matches_domain(name)

    def is_match(limit: x509.GeneralName) -> bool:
        parent, host = str(limit.value).lower().partition(".")[1:], name.lower().partition(".")[1:]
        return is_under(limit) or (name.startswith("*") and bool(parent[0]) and parent == host)

    return is_match


def _in_network(address: str) -> Callable[[x509.GeneralName], bool]:
    parsed = ipaddress.ip_address(address)
    return lambda limit: isinstance(limit.value, Network) and parsed in limit.value


def _uri_host(uri: str) -> str:
    """Return the domain name in a URI. Raises _MalformedName."""
    quoted = gotext.quote(uri)
    try:
        split_uri = urlsplit(uri)
        host = split_uri.hostname or ""
    except ValueError:
        raise _MalformedName(f"x509: internal error: URI SAN {quoted} failed to parse") from None
    if not host:
        raise _MalformedName(f"URI with empty host ({quoted}) cannot be matched against constraints")
    if "[" in split_uri.netloc or _is_address(host):
        raise _MalformedName(f"URI with IP ({quoted}) cannot be matched against constraints")
    if not _is_domain(host):
        raise _MalformedName(f"x509: internal error: URI SAN {quoted} failed to parse")
    return host


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _same_mailbox(mailbox: str) -> Callable[[x509.GeneralName], bool]:
    """Return a function that matches a constraint with this mailbox, or its domain. Raises _MalformedName."""
    local, at, domain = mailbox.rpartition("@")
    if not (local and at and domain and _is_domain(domain)) or "@" in local:
        raise _MalformedName(f"cannot parse rfc822Name {gotext.quote(mailbox)}")
    is_under = _matches_domain(domain)

    def is_match(limit: x509.GeneralName) -> bool:
        local_part, at, domain_part = str(limit.value).rpartition("@")
        return (local_part, domain_part.lower()) == (local, domain.lower()) if at else is_under(limit)

    return is_match
