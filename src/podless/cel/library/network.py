"""IP addresses and CIDR ranges, as Go's net/netip parses them (Kubernetes)."""

from __future__ import annotations

import ipaddress
import math

from podless.cel import values
from podless.cel.cost import ONE, PER_CHARACTER, UNIT, CallSite, Cost, Estimate, Range, traversal_cost
from podless.cel.errors import EvaluationError, NoOverload
from podless.cel.functions import Library, declare, parse_type, succeeds
from podless.cel.types import STRING
from podless.codec import gotext
from podless.codec.goaddress import find_address_fault
from podless.runtime.dataclass import dataclass
from podless.runtime.lazy import compile_late

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True, slots=True)
class Ip:
    """An IP address."""

    address: Address


@dataclass(frozen=True, slots=True)
class Cidr:
    """An address and a prefix length."""

    address: Address
    bits: int

    def mask_host_bits(self) -> Cidr:
        """Return the range with all bits after the prefix set to zero."""
        network = ipaddress.ip_network((self.address, self.bits), strict=False)
        return Cidr(network.network_address, self.bits)

    def contains_address(self, address: Address) -> bool:
        """Return whether an address is in the range."""
        return address.version == self.address.version and address in ipaddress.ip_network(
            (self.address, self.bits), strict=False
        )


values.NAMES[Ip] = "net.IP"
values.NAMES[Cidr] = "net.CIDR"
_BITS = compile_late(r"(?:0|[1-9][0-9]*)\Z")


def _parse_address(text: str) -> Address:
    problem = find_address_fault(text)
    quoted = gotext.quote(text)
    if problem:
        raise EvaluationError(f"IP Address {quoted} parse error during conversion from string: {problem}")
    if "%" in text:
        raise EvaluationError(f"IP address {quoted} with zone value is not allowed")
    address = ipaddress.ip_address(text)
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        raise EvaluationError(f"IPv4-mapped IPv6 address {quoted} is not allowed")
    return address


def parse_ip(text: str) -> Ip:
    """Parse an address. Raises EvaluationError."""
    return Ip(_parse_address(text))


def parse_cidr(text: str) -> Cidr:
    """Parse a range. Raises EvaluationError."""
    repeated_prefix = "network address parse error during conversion from string: "
    bare, slash, bits = text.rpartition("/")
    prefix = f"{repeated_prefix}{repeated_prefix}netip.ParsePrefix({gotext.quote(text)}): "
    if not slash:
        raise EvaluationError(f"{prefix}no '/'")
    problem = find_address_fault(bare)
    if problem:
        raise EvaluationError(f"{prefix}{problem}")
    if "%" in bare:
        raise EvaluationError(f"{prefix}IPv6 zones cannot be present in a prefix")
    address = ipaddress.ip_address(bare)
    if not _BITS.match(bits):
        raise EvaluationError(f"{prefix}bad bits after slash: {gotext.quote(bits)}")
    if int(bits) > address.max_prefixlen:
        raise EvaluationError(f"{prefix}prefix length out of range")
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        raise EvaluationError(f"{repeated_prefix}IPv4-mapped IPv6 address {gotext.quote(text)} is not allowed")
    return Cidr(address, int(bits))


def _contains_ip(cidr: Cidr, ip: Ip) -> bool:
    return cidr.contains_address(ip.address)


def _contains_cidr(outer: Cidr, inner: Cidr) -> bool:
    return outer.bits <= inner.bits and outer.contains_address(inner.mask_host_bits().address)


def _contains_ip_text(cidr: Cidr, text: str) -> bool:
    try:
        return _contains_ip(cidr, parse_ip(text))
    except EvaluationError:
        raise NoOverload from None  # as in kube-apiserver, an invalid address is a missing overload


def _contains_cidr_text(cidr: Cidr, text: str) -> bool:
    # unlike an address, an invalid range keeps its own error
    return _contains_cidr(cidr, parse_cidr(text))


def _is_canonical(text: str) -> bool:
    return str(_parse_address(text)) == text


def _is_link_local(ip: Ip) -> bool:
    return ip.address.is_link_local


def _is_global_unicast(ip: Ip) -> bool:
    address = ip.address
    special = address.is_unspecified or address.is_loopback or address.is_multicast or address.is_link_local
    return not special and str(address) != "255.255.255.255"


def _is_local_multicast(ip: Ip) -> bool:
    address = ip.address
    if address.version == 4:
        return address in ipaddress.ip_network("224.0.0.0/24")
    return address.is_multicast and int(address) >> 112 & 0xF == 2


def _count_bytes(value: Ip | Cidr | str) -> int:
    if isinstance(value, str):
        return len(value)
    bits = value.bits if isinstance(value, Cidr) else value.address.max_prefixlen
    return math.ceil(bits / 8)


def _make_containment_cost(extra: bool) -> Cost:
    def estimate_call(site: CallSite) -> Estimate:
        size = Range(4, 16)
        cost = size.add(size).scale(PER_CHARACTER)
        if extra:
            cost = cost.add(size.scale(PER_CHARACTER)).add(ONE)
        if site.get_type(1) == STRING:
            cost = cost.add(site.get_size(1).scale(PER_CHARACTER))
        return cost, None

    def count_cost(cidr: Cidr, argument: Ip | Cidr | str, *_: object) -> int:
        size = _count_bytes(cidr)
        cost = math.ceil(2 * size * PER_CHARACTER) + (math.ceil(size * PER_CHARACTER) + 1 if extra else 0)
        return cost + (math.ceil(len(argument) * PER_CHARACTER) if isinstance(argument, str) else 0)

    return Cost(estimate_call, count_cost)


_TRAVERSAL = traversal_cost()
_CONTAINS_IP, _CONTAINS_CIDR = _make_containment_cost(False), _make_containment_cost(True)
LIBRARY = Library(
    "network",
    (
        declare("ip(string) -> net.IP", "string_to_ip", parse_ip, _TRAVERSAL),
        declare("<net.CIDR>.ip() -> net.IP", "cidr_ip", lambda value: Ip(value.address), UNIT),
        declare("isIP(string) -> bool", "is_ip", succeeds(parse_ip), _TRAVERSAL),
        declare("ip.isCanonical(string) -> bool", "ip_is_canonical", _is_canonical, traversal_cost(2)),
        declare("<net.IP>.family() -> int", "ip_family", lambda value: value.address.version, UNIT),
        declare("<net.IP>.isUnspecified() -> bool", "ip_is_unspecified", lambda ip: ip.address.is_unspecified, UNIT),
        declare("<net.IP>.isLoopback() -> bool", "ip_is_loopback", lambda ip: ip.address.is_loopback, UNIT),
        declare("<net.IP>.isLinkLocalMulticast() -> bool", "ip_is_link_local_multicast", _is_local_multicast, UNIT),
        declare("<net.IP>.isLinkLocalUnicast() -> bool", "ip_is_link_local_unicast", _is_link_local, UNIT),
        declare("<net.IP>.isGlobalUnicast() -> bool", "ip_is_global_unicast", _is_global_unicast, UNIT),
        declare("cidr(string) -> net.CIDR", "string_to_cidr", parse_cidr, _TRAVERSAL),
        declare("isCIDR(string) -> bool", "is_cidr", succeeds(parse_cidr), _TRAVERSAL),
        declare("<net.CIDR>.containsIP(string) -> bool", "cidr_contains_ip_string", _contains_ip_text, _CONTAINS_IP),
        declare("<net.CIDR>.containsIP(net.IP) -> bool", "cidr_contains_ip_ip", _contains_ip, _CONTAINS_IP),
        declare(
            "<net.CIDR>.containsCIDR(string) -> bool", "cidr_contains_cidr_string", _contains_cidr_text, _CONTAINS_CIDR
        ),
        declare("<net.CIDR>.containsCIDR(net.CIDR) -> bool", "cidr_contains_cidr", _contains_cidr, _CONTAINS_CIDR),
        declare("<net.CIDR>.prefixLength() -> int", "cidr_prefix_length", lambda value: value.bits, UNIT),
        declare("<net.CIDR>.masked() -> net.CIDR", "cidr_masked", Cidr.mask_host_bits, UNIT),
        declare("string(net.IP) -> string", "ip_to_string", lambda value: str(value.address)),
        declare("string(net.CIDR) -> string", "cidr_to_string", lambda value: f"{value.address}/{value.bits}"),
    ),
    {name: parse_type(name) for name in ("net.IP", "net.CIDR")},
)
