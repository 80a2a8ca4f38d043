"""IP addresses and CIDR ranges, as fields of older built-in kinds accept them.

Source: k8s.io/apimachinery's util/validation (ip.go), with what StrictIPCIDRValidation adds.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

from podless.codec.gotext import quote
from podless.runtime.release import has

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_MAX = 64  # maximum characters of an address or range
_NO_ADDRESS = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
_FUTURE = "will be considered invalid in a future Kubernetes release: use"
_NO_RANGE = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"


def parse_address(text: str) -> Address | None:
    """Return an address, even with leading zeros in its numbers; None for an invalid one."""
    if len(text) > _MAX or "%" in text:
        return None
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        pass
    head, colon, dotted = text.rpartition(":")
    plain = ".".join(number.lstrip("0") or number[:1] for number in dotted.split("."))
    try:
        return ipaddress.ip_address(f"{head}{colon}{plain}") if "." in dotted else None
    except ValueError:
        return None


def parse_range(text: str) -> Network | None:
    """Return a range of addresses, masked to its prefix; None for an invalid one."""
    address, slash, length = text.partition("/")
    parsed = parse_address(address)
    bits = length.lstrip("0") or "0"
    if parsed is None or not slash or not (length.isascii() and length.isdigit()) or len(bits) > 3:
        return None
    if int(bits) > parsed.max_prefixlen:
        return None
    return ipaddress.ip_network(f"{parsed}/{bits}", strict=False)


def find_range_family(text: str) -> int:
    """Return the family of a range: 4, 6, or 0 for an invalid one."""
    parsed = parse_range(text)
    return parsed.version if parsed is not None else 0


def find_address_faults(text: str, *, strict: bool = False) -> list[str]:
    """Return the faults of an address. strict: regardless of the feature gate."""
    address = parse_address(text)
    if address is None:
        return [_NO_ADDRESS]
    if not strict and not has("StrictIPCIDRValidation"):
        return []
    if not _is_strict(text):
        return ["must not have leading 0s"]
    return ["must not be an IPv4-mapped IPv6 address"] if _is_mapped(address) else []


def find_range_faults(text: str, *, strict: bool = False) -> list[str]:
    """Return the faults of a range of addresses. strict: regardless of the feature gate."""
    network = parse_range(text)
    if network is None:
        return [_NO_RANGE]
    if not strict and not has("StrictIPCIDRValidation"):
        return []
    address, _, length = text.partition("/")
    if not _is_strict(address) or (length[0] == "0" and length != "0"):
        return ["must not have leading 0s in IP or prefix length"]
    if _is_mapped(ipaddress.ip_address(address)):
        return ["must not have an IPv4-mapped IPv6 address"]
    if ipaddress.ip_address(address) != network.network_address:
        return ["must not have bits set beyond the prefix length"]
    return []


def list_address_warnings(path: str, text: str) -> list[str]:
    """Return warnings about an address that is accepted. path: of the field."""
    address = parse_address(text)
    if address is None or not has("AddressWarnings"):
        return []
    if not _is_strict(text) or _is_mapped(address):
        return [f"{path}: non-standard IP address {quote(text)} {_FUTURE} {quote(str(_unmap_ipv4(address)))}"]
    if address.version == 6 and str(address) != text:
        return [f"{path}: IPv6 address {quote(text)} should be in RFC 5952 canonical format ({quote(str(address))})"]
    return []


def list_service_address_warnings(path: str, text: str) -> list[str]:
    """Return warnings about an address of a Service, which older releases have in other words."""
    if has("AddressWarnings"):
        return list_address_warnings(path, text)
    if not _is_strict(text):
        problem = "IPv4 field has octet with leading zero" if parse_address(text) is not None else "unable to parse IP"
        accepted = "IP address was accepted, but will be invalid in a future Kubernetes release"
        return [f"{path}: {accepted}: ParseAddr({quote(text)}): {problem}"]
    form = str(parse_address(text))
    if ":" in text and form != text:
        problem = "which may cause controller apply-loops"
        return [f"{path}: IPv6 address {quote(text)} is not in RFC 5952 canonical format ({quote(form)}), {problem}"]
    return []


def find_canonical_faults(text: str) -> list[str]:
    """Return the faults of an address that must be in canonical form, as newer fields require."""
    form = str(parse_address(text))
    faults = [] if text == form else [f"must be in canonical form ({quote(form)})"]
    return find_address_faults(text, strict=True) or faults


def find_canonical_range_faults(text: str) -> list[str]:
    """Return the faults of a range that must be in canonical form."""
    form = str(parse_range(text))
    return find_range_faults(text, strict=True) or (
        [] if text == form else [f"must be in canonical form ({quote(form)})"]
    )


def find_interface_faults(text: str) -> list[str]:
    """Return the faults of an interface's address, which has its network's prefix length."""
    network = parse_range(text)
    if network is None:
        return ["must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"]
    address, bits = parse_address(text.partition("/")[0]), network.prefixlen
    mapped = getattr(address, "ipv4_mapped", None)
    if mapped is not None:
        address, bits = mapped, bits - 96 if bits > 32 else bits
    form = f"{address}/{bits}"
    return [] if text == form else [f'must be in canonical form ("{form}")']


def list_range_warnings(path: str, text: str) -> list[str]:
    """Return warnings about a range that is accepted. path: of the field."""
    network, address = parse_range(text), parse_address(text.partition("/")[0])
    if network is None or address is None or not has("AddressWarnings"):
        return []
    result = []
    if address != network.network_address:
        host = f"{_unmap_ipv4(address)}/{address.max_prefixlen}"
        either = f"(should be {quote(str(network))} or {quote(host)}?)"
        result.append(f"{path}: CIDR value {quote(text)} is ambiguous in this context {either}")
    bits = text.rpartition("/")[2]
    if not _is_strict(text.partition("/")[0]) or (bits[0] == "0" and bits != "0") or _is_mapped(address):
        result.append(f"{path}: non-standard CIDR value {quote(text)} {_FUTURE} {quote(str(network))}")
    if not result and address.version == 6 and str(network) != text:
        form = quote(str(network))
        result.append(f"{path}: IPv6 CIDR value {quote(text)} should be in RFC 5952 canonical format ({form})")
    return result


def is_dual_stack(texts: list[str]) -> bool:
    """Return whether there are addresses, or ranges, of both families."""
    return len({":" in text for text in texts}) == 2


def find_dual_stack_fault(texts: Sequence[str]) -> str:
    """Return the error of Kubernetes' check for both families, or "": one of the addresses is invalid."""
    for index, text in enumerate(texts):
        if parse_address(text) is None:
            return f"failed to check for dual stack with error:invalid IP[{index}]: {text}"
    return ""


def _is_strict(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _unmap_ipv4(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 address contains, or the address itself."""
    return getattr(address, "ipv4_mapped", None) or address


def _is_mapped(address: Address) -> bool:
    return address.version == 6 and address.ipv4_mapped is not None
