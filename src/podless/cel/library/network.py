"""IP addresses and CIDR ranges, as Go's net/netip parses them (Kubernetes)."""

from __future__ import annotations

import ipaddress
import math

from podless.cel import values
from podless.cel.decls import Library, declare_function, declare_global, declare_method, member, overload
from podless.cel.errors import EvaluationError, NoOverload
from podless.cel.sizes import ONE, PER_CHARACTER, CallSite, Cost, Estimate, Range, traversal_cost, unit_cost
from podless.cel.types import BOOL, INT, STRING, opaque_type
from podless.codec import gotext
from podless.codec.goaddress import find_address_fault
from podless.runtime.dataclass import dataclass
from podless.runtime.lazy import compile_late

IP_TYPE, CIDR_TYPE = opaque_type("net.IP"), opaque_type("net.CIDR")
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


def _is_ip(text: str) -> bool:
    try:
        parse_ip(text)
    except EvaluationError:
        return False
    return True


def _is_cidr(text: str) -> bool:
    try:
        parse_cidr(text)
    except EvaluationError:
        return False
    return True


def _parse_argument(text: str, reader: type) -> Ip | Cidr:
    """Parse a string argument. As in kube-apiserver, an invalid one is a missing overload."""
    try:
        return parse_ip(text) if reader is Ip else parse_cidr(text)
    except EvaluationError:
        raise NoOverload from None


def _contains_ip(cidr: Cidr, ip: Ip) -> bool:
    return cidr.contains_address(ip.address)


def _contains_cidr(outer: Cidr, inner: Cidr) -> bool:
    return outer.bits <= inner.bits and outer.contains_address(inner.mask_host_bits().address)


def _contains_ip_text(cidr: Cidr, text: str) -> bool:
    address = _parse_argument(text, Ip)
    assert isinstance(address, Ip)
    return _contains_ip(cidr, address)


def _contains_cidr_text(cidr: Cidr, text: str) -> bool:
    # unlike an address, an invalid range keeps its own error
    return _contains_cidr(cidr, parse_cidr(text))


def _is_global_unicast(address: Address) -> bool:
    special = address.is_unspecified or address.is_loopback or address.is_multicast or address.is_link_local
    return not special and str(address) != "255.255.255.255"


def _local_multicast(address: Address) -> bool:
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


_TRAVERSAL, _UNIT = traversal_cost(), unit_cost()
LIBRARY = Library(
    "network",
    (
        declare_function(
            "ip",
            overload("string_to_ip", (STRING,), IP_TYPE, parse_ip, _TRAVERSAL),
            member("cidr_ip", (CIDR_TYPE,), IP_TYPE, lambda value: Ip(value.address), _UNIT),
        ),
        declare_global("isIP", "is_ip", (STRING,), BOOL, _is_ip, _TRAVERSAL),
        declare_function(
            "ip.isCanonical",
            overload("ip_is_canonical", (STRING,), BOOL, lambda text: str(_parse_address(text)) == text),
            cost=traversal_cost(2),
        ),
        declare_method("family", "ip_family", (IP_TYPE,), INT, lambda value: value.address.version, _UNIT),
        declare_method(
            "isUnspecified", "ip_is_unspecified", (IP_TYPE,), BOOL, lambda value: value.address.is_unspecified, _UNIT
        ),
        declare_method(
            "isLoopback", "ip_is_loopback", (IP_TYPE,), BOOL, lambda value: value.address.is_loopback, _UNIT
        ),
        declare_function(
            "isLinkLocalMulticast",
            member("ip_is_link_local_multicast", (IP_TYPE,), BOOL, lambda value: _local_multicast(value.address)),
            cost=_UNIT,
        ),
        declare_function(
            "isLinkLocalUnicast",
            member("ip_is_link_local_unicast", (IP_TYPE,), BOOL, lambda value: value.address.is_link_local),
            cost=_UNIT,
        ),
        declare_function(
            "isGlobalUnicast",
            member("ip_is_global_unicast", (IP_TYPE,), BOOL, lambda value: _is_global_unicast(value.address)),
            cost=_UNIT,
        ),
        declare_global("cidr", "string_to_cidr", (STRING,), CIDR_TYPE, parse_cidr, _TRAVERSAL),
        declare_global("isCIDR", "is_cidr", (STRING,), BOOL, _is_cidr, _TRAVERSAL),
        declare_function(
            "containsIP",
            member("cidr_contains_ip_string", (CIDR_TYPE, STRING), BOOL, _contains_ip_text),
            member("cidr_contains_ip_ip", (CIDR_TYPE, IP_TYPE), BOOL, _contains_ip),
            cost=_make_containment_cost(False),
        ),
        declare_function(
            "containsCIDR",
            member("cidr_contains_cidr_string", (CIDR_TYPE, STRING), BOOL, _contains_cidr_text),
            member("cidr_contains_cidr", (CIDR_TYPE, CIDR_TYPE), BOOL, _contains_cidr),
            cost=_make_containment_cost(True),
        ),
        declare_method("prefixLength", "cidr_prefix_length", (CIDR_TYPE,), INT, lambda value: value.bits, _UNIT),
        declare_method("masked", "cidr_masked", (CIDR_TYPE,), CIDR_TYPE, Cidr.mask_host_bits, _UNIT),
        declare_function(
            "string",
            overload("ip_to_string", (IP_TYPE,), STRING, lambda value: str(value.address)),
            overload("cidr_to_string", (CIDR_TYPE,), STRING, lambda value: f"{value.address}/{value.bits}"),
        ),
    ),
    {"net.IP": IP_TYPE, "net.CIDR": CIDR_TYPE},
)
