"""Where this machine is found by others in its network."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from contextlib import suppress
from ipaddress import ip_address

#: Beginnings of names of networks that are inside of this machine: those of containers and virtual machines.
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


def is_loopback(host: str) -> bool:
    """Say whether an address is reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def addresses_here() -> Sequence[str]:
    """Return the addresses (IPv4) of this machine, that of the way to elsewhere first."""
    import ifaddr  # where it is needed: all else of a server does without

    found = [
        str(each.ip)
        for adapter in ifaddr.get_adapters()
        if not adapter.nice_name.lower().startswith(_INSIDE)
        for each in adapter.ips
        if each.is_IPv4
    ]
    usable = (each for each in found if not (ip_address(each).is_loopback or ip_address(each).is_link_local))
    usual = _usual()
    return sorted(dict.fromkeys(usable), key=lambda each: each != usual)


def _usual() -> str:
    """Return the address from which this machine speaks with others; nothing if it is in no network."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        # Nothing is sent: it only has the system choose a way to that address, which is nobody's (RFC 5737).
        sock.connect(("203.0.113.1", 9))
        return str(sock.getsockname()[0])
    return ""
