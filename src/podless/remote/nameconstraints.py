"""Checks the names in a chain of certificates by the name constraints of the CAs above them, with Go's texts.

Source: RFC 5280, section 4.2.1.10; crypto/x509 of Go 1.26, which differs: a name constraint of the kinds DNS, email and
URI covers subdomains whether or not it begins with a dot, and directory names are not checked at all. So a critical
constraint of another kind is unhandled: `are_handled`.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from cryptography import x509

from podless.codec import gotext
from podless.meta.addresses import Network

_KINDS = (x509.DNSName, x509.IPAddress, x509.RFC822Name, x509.UniformResourceIdentifier)
_LEAST, _MOST = "!", "~"  # first and last character that Go allows in a domain name


class _Name(NamedTuple):
    """A name to check. told: the name in messages; matches: whether a constraint covers it.

    excluded: the same for an excluding constraint, for which a wildcard stands for each name that it covers.
    """

    sort: str
    kind: type[x509.GeneralName]
    told: str
    matches: Callable[[x509.GeneralName], bool]
    excluded: Callable[[x509.GeneralName], bool]


class _Unreadable(Exception):
    """A name has an invalid form; the text is Go's."""


def are_handled(constraints: x509.NameConstraints) -> bool:
    """Return whether `find_fault` checks all constraints."""
    subtrees = (*(constraints.permitted_subtrees or ()), *(constraints.excluded_subtrees or ()))
    return all(isinstance(one, _KINDS) for one in subtrees)


def find_fault(chain: Sequence[x509.Certificate]) -> str:
    """Return why the names in a chain (leaf first) violate the constraints above them; "" if they do not."""
    limits = [_find(one, x509.NameConstraints) for one in chain]
    for place, certificate in enumerate(chain):
        above = [one for one in limits[place + 1 :] if one is not None]
        given = _find(certificate, x509.SubjectAlternativeName)
        if given is None or not above:
            continue
        try:
            names = [*_names(given)]
        except _Unreadable as error:
            return str(error)
        for limit in above:
            for name in names:
                if fault := _fault(name, limit):
                    return fault
    return ""


def _find(certificate: x509.Certificate, kind: type[x509.ExtensionType]) -> x509.ExtensionType | None:
    return next((one.value for one in certificate.extensions if isinstance(one.value, kind)), None)


def _fault(name: _Name, limits: x509.ExtensionType) -> str:
    assert isinstance(limits, x509.NameConstraints)
    told = f"{name.sort} {gotext.quote(name.told)}"
    permitted = [one for one in limits.permitted_subtrees or () if isinstance(one, name.kind)]
    if permitted and not any(map(name.matches, permitted)):
        return f"{told} is not permitted by any constraint"
    for one in limits.excluded_subtrees or ():
        if isinstance(one, name.kind) and name.excluded(one):
            return f"{told} is excluded by constraint {gotext.quote(str(one.value))}"
    return ""


def _names(given: x509.ExtensionType) -> Iterator[_Name]:
    """Yield the names in the order in which Go checks them. Raises _Unreadable."""
    assert isinstance(given, x509.SubjectAlternativeName)
    for address in given.get_values_for_type(x509.IPAddress):
        inside = _in_network(str(address))
        yield _Name("IP address", x509.IPAddress, str(address), inside, inside)
    for name in given.get_values_for_type(x509.DNSName):
        if not _is_domain(name):
            raise _Unreadable(f"x509: cannot parse dnsName {gotext.quote(name)}")
        yield _Name("DNS name", x509.DNSName, name, _under(name), _covers_one_under(name))
    for uri in given.get_values_for_type(x509.UniformResourceIdentifier):
        under = _under(_host(uri))
        yield _Name("URI", x509.UniformResourceIdentifier, uri, under, under)
    for mailbox in given.get_values_for_type(x509.RFC822Name):
        same = _same_mailbox(mailbox)
        yield _Name("email address", x509.RFC822Name, mailbox, same, same)


def _is_domain(name: str) -> bool:
    labels = name.split(".")
    return not name or (all(labels) and all(_LEAST <= letter <= _MOST for letter in name))


def _under(name: str) -> Callable[[x509.GeneralName], bool]:
    """Return a function that matches a domain constraint: its name or one below; with a leading dot only below."""

    def matches(limit: x509.GeneralName) -> bool:
        domain, own = str(limit.value).lower(), name.lower()
        return not domain or own == domain or own.endswith(domain if domain.startswith(".") else f".{domain}")

    return matches


def _covers_one_under(name: str) -> Callable[[x509.GeneralName], bool]:
    """Return a match like `_under` that also accepts a wildcard which covers the name of a constraint."""
    under = _under(name)

    def matches(limit: x509.GeneralName) -> bool:
        parent, own = str(limit.value).lower().partition(".")[1:], name.lower().partition(".")[1:]
        return under(limit) or (name.startswith("*") and bool(parent[0]) and parent == own)

    return matches


def _in_network(address: str) -> Callable[[x509.GeneralName], bool]:
    parsed = ipaddress.ip_address(address)
    return lambda limit: isinstance(limit.value, Network) and parsed in limit.value


def _host(uri: str) -> str:
    """Return the domain name in a URI. Raises _Unreadable."""
    told = gotext.quote(uri)
    try:
        parts = urlsplit(uri)
        host = parts.hostname or ""
    except ValueError:
        raise _Unreadable(f"x509: internal error: URI SAN {told} failed to parse") from None
    if not host:
        raise _Unreadable(f"URI with empty host ({told}) cannot be matched against constraints")
    if "[" in parts.netloc or _is_address(host):
        raise _Unreadable(f"URI with IP ({told}) cannot be matched against constraints")
    if not _is_domain(host):
        raise _Unreadable(f"x509: internal error: URI SAN {told} failed to parse")
    return host


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _same_mailbox(mailbox: str) -> Callable[[x509.GeneralName], bool]:
    """Return a function that matches a constraint with this mailbox, or its domain. Raises _Unreadable."""
    local, at, domain = mailbox.rpartition("@")
    if not (local and at and domain and _is_domain(domain)) or "@" in local:
        raise _Unreadable(f"cannot parse rfc822Name {gotext.quote(mailbox)}")
    under = _under(domain)

    def matches(limit: x509.GeneralName) -> bool:
        wanted, at, place = str(limit.value).rpartition("@")
        return (wanted, place.lower()) == (local, domain.lower()) if at else under(limit)

    return matches
