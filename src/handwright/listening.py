"""Addresses that only this machine can reach, and sockets that listen."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Sequence

from handwright.errors import InvalidValueError

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
_BACKLOG = 128


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host in LOOPBACK_NAMES:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def listening_socket(host: str, ports: Sequence[int], *, remedy: str) -> socket.socket:
    """A socket that listens on the first port that is free; says what is wrong if none is.

    Args:
        host: Address to listen on.
        ports: To try, in this order.
        remedy: What to do if none can be listened on, as a sentence.
    """
    problem = ""
    for number in ports:
        try:
            made = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        except OSError as error:
            problem = str(error)
            break
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind((host, number))
            # Who comes before all is ready waits; and the port is taken from now on.
            made.listen(_BACKLOG)
            return made
        except (OSError, OverflowError) as error:
            made.close()
            problem = str(error)
    where = f"port {ports[0]}" if len(ports) == 1 else f"ports {ports[0]} to {ports[-1]}"
    raise InvalidValueError(f"Cannot listen on {host}, {where} ({problem}). {remedy}")
