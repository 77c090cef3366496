"""Free TCP ports on the loopback.

They are drawn from below the range that kernels take for outgoing connections, so a port that was free a moment
ago is not taken by somebody's client before its server has bound it; two stacks starting at once draw at random.
"""

import secrets
import socket

FIRST, LAST = 15000, 29999  # Linux hands out 32768 and up, macOS and Windows 49152 and up
ATTEMPTS = 200
_DRAW = secrets.SystemRandom()  # not the module's generator: who seeds that would make two stacks draw the same ports


class NoFreePort(Exception):
    """Not one port of many could be bound."""


def is_free(port: int, host: str = "127.0.0.1") -> bool:
    """Whether a server could listen there now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
        return True


def free_ports(count: int) -> list[int]:
    """`count` different ports that were free a moment ago. Raises NoFreePort when the machine has none left."""
    found: list[int] = []
    for port in _DRAW.sample(range(FIRST, LAST), ATTEMPTS + count):
        if is_free(port):
            found.append(port)
        if len(found) == count:
            return found
    raise NoFreePort(f"{ATTEMPTS} ports from {FIRST} to {LAST} are all taken")
