"""Addresses by which other machines in the network reach this one."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from contextlib import suppress
from ipaddress import ip_address

#: Beginnings of names of network interfaces inside this machine, for containers and virtual machines.
_INSIDE = (
    "docker",
    "br-",
    "veth",
    "virbr",
    "vboxnet",
    "vmnet",
    "vethernet",
    "bridge",
    "utun",
    "lxc",
    "podman",
)


#: Addresses to listen on for all addresses of the machine, of version 4 and of both versions.
ANY_OF_FOUR, ANY = "0.0.0.0", "::"


def in_url(host: str) -> str:
    """Return an address or a name as written in URLs and in the header Host.

    >>> in_url("2001:DB8::0:1"), in_url("[::1]"), in_url("Corpora.example.org")
    ('[2001:db8::1]', '[::1]', 'corpora.example.org')
    """
    try:
        address = ip_address(host.strip("[]"))
    except ValueError:
        return host.lower()
    return f"[{address}]" if address.version == 6 else str(address)


def is_loopback(host: str) -> bool:
    """Return whether an address can be reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def addresses_here(versions: Sequence[int] = (4,)) -> Sequence[str]:
    """Return the addresses of this machine of some versions of IP, those of version 4 first.

    Of each version, the first address is the one used for connections to other networks.
    """
    import ifaddr  # needed only here

    addresses = [
        ip_address(each.ip if isinstance(each.ip, str) else each.ip[0])
        for adapter in ifaddr.get_adapters()
        if not adapter.nice_name.lower().startswith(_INSIDE)
        for each in adapter.ips
    ]
    usable = [each for each in addresses if not (each.is_loopback or each.is_link_local)]
    usual = [_usual(version) for version in versions]
    chosen = [str(each) for version in versions for each in usable if each.version == version]
    return sorted(dict.fromkeys(chosen), key=lambda each: (":" in each, each not in usual))


#: By version, an address that is reserved for documentation (RFC 5737, RFC 3849).
_NOWHERE = {4: (socket.AF_INET, "203.0.113.1"), 6: (socket.AF_INET6, "2001:db8::1")}


def _usual(version: int) -> str:
    """Return the address that this machine uses for connections to others; empty if it has no network."""
    family, nowhere = _NOWHERE[version]
    with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as sock:
        # With UDP, nothing is sent: the system only chooses a route to that address.
        sock.connect((nowhere, 9))
        return str(sock.getsockname()[0])
    return ""


def listen(host: str, port: int) -> list[socket.socket]:
    """Open a socket at an address; for all addresses of both versions of IP, one socket per version.

    One socket could take both, but not in every system, and it would have other names for addresses of
    version 4.

    Raises:
        OSError: the address cannot be used.
    """
    host = host.strip("[]")
    opened = [_bound(host, port)]
    if host == ANY:
        with suppress(OSError):  # the port is taken in version 4, or there is no version 4
            opened.append(_bound(ANY_OF_FOUR, opened[0].getsockname()[1]))
    return opened


def _bound(host: str, port: int) -> socket.socket:
    sock = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    try:
        # So that a restart need not wait until the system has forgotten old connections.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if sock.family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        sock.bind((host, port))
    except BaseException:
        sock.close()
        raise
    return sock
