"""Which network addresses a skill may reach: those of the public internet, however they are written."""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final

Address = IPv4Address | IPv6Address

_NOT_PUBLIC: Final = tuple(
    map(
        ip_network,
        (
            "168.63.129.16/32",  # where Azure's machines ask for their secrets
            "192.0.0.0/24",  # protocol assignments, Oracle's metadata service among them
            "192.88.99.0/24",  # relays of 6to4
            "2001::/23",  # Teredo and other protocol assignments
            "2001:db8::/32",
            "3fff::/20",
        ),
    )
)
"""Not all Pythons that we run on count these as they should."""

_UNICAST: Final = ip_network("2000::/3")
_NAT64: Final = ip_network("64:ff9b::/96")


def read_address(text: str) -> Address:
    """An address as a resolver gives it, without the zone behind a `%`.

    Raises:
        ValueError: it is none.
    """
    return ip_address(text.partition("%")[0])


def why_not_public(address: Address) -> str | None:
    """Why an address is not of the public internet, as the end of a sentence, or None where it is."""
    inner = _unwrap(address)
    if inner.is_loopback:
        return "which is this machine itself"
    if inner.is_link_local:
        return "which is link-local, where clouds keep the secrets of their machines"
    if inner.is_private:
        return "which is in a private network"
    if isinstance(inner, IPv6Address) and inner not in _UNICAST:
        return "which is not of the public internet"
    if not inner.is_global or inner.is_multicast or any(inner in network for network in _NOT_PUBLIC):
        return "which is not of the public internet"
    return None


def _unwrap(address: Address) -> Address:
    """The IPv4 address that an IPv6 one is a form of, or that its packets end up at."""
    if isinstance(address, IPv6Address):
        if address in _NAT64:
            return IPv4Address(int(address) & 0xFFFF_FFFF)
        return address.ipv4_mapped or address.sixtofour or address
    return address
