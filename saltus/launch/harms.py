"""What studies and soaks do to a launch on the emulated robot from outside."""

import os
import signal
import socket
import time
from collections.abc import Sequence

from saltus.launch.supervisor import Supervisor

LOOPBACK = "127.0.0.1"


def free_port() -> int:
    """A UDP port of loopback that is free now."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind((LOOPBACK, 0))
        return probe.getsockname()[1]


def pause_processes(supervisor: Supervisor, names: Sequence[str], seconds: float) -> None:
    """Stop processes for some seconds, during which this call waits; for good with 0."""
    for name in names:
        supervisor.child(name).signal(signal.SIGSTOP)
    if not seconds:
        return
    try:
        time.sleep(seconds)
    finally:
        for name in names:
            supervisor.child(name).signal(signal.SIGCONT)


def send_as_stranger(port: int, count: int) -> None:
    """Send `count` each of whole frames, cut ones, empty ones and noise to a bridge.

    Args:
        port: of the bridge, on loopback.
        count: frames of each kind.
    """
    from hw_bridge.wire.layout import WIRES
    from hw_bridge.wire.low_state import encode_low_state, zero_low_state

    states = [encode_low_state(wire, zero_low_state(wire)) for wire in WIRES.values()]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        for frame in (*states, states[0][:-1], b"", os.urandom(len(states[0]))) * count:
            stranger.sendto(frame, (LOOPBACK, port))
