"""Addresses at which a server answers: tcp://HOST:PORT or ipc://FILE."""

import re

LOOPBACK = ("127.0.0.1", "::1")

_TCP = re.compile(r"tcp://(?P<host>\[[0-9a-fA-F:.]+\]|[^\s:\[\]]+):(?P<port>\d{1,5})")
_LAST_PORT = 65535


def is_local(address: str) -> bool:
    """Whether only processes of this machine can reach an address."""
    found = _TCP.fullmatch(address)
    host = found["host"].strip("[]") if found else ""
    return address.startswith("ipc://") or host in (*LOOPBACK, "localhost")


def check_address(address: str, has_key: bool, needed: str) -> None:
    """Raise ValueError for what is no address, and for one beyond this machine without a key.

    `needed` says which key.
    """
    found = _TCP.fullmatch(address)
    good_tcp = found is not None and int(found["port"]) <= _LAST_PORT
    if not good_tcp and not (address.startswith("ipc://") and len(address) > len("ipc://")):
        raise ValueError(f"address is {address!r}; give tcp://HOST:PORT or ipc://FILE")
    if not has_key and not is_local(address):
        raise ValueError(f"{address} goes beyond this machine: give {needed}, or use 127.0.0.1")
