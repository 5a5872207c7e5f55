"""A tracker that serves a Go2 on loopback until it is stopped; takes PATH and DOMAIN."""

import sys
import time
from pathlib import Path

from hw_bridge.dds.link import DdsLink
from hw_bridge.options import LinkOptions, OperatorOptions
from hw_bridge.watchdog.link import WatchdogLink
from hw_bridge.wire.layout import WIRES
from hw_bridge.wire.low_command import LowCommandEncoder, damping, no_torque


def main(path, domain):
    """Send commands without torque, and beat."""
    wire, here = WIRES["unitree-go2"], "127.0.0.1"
    link = DdsLink(LinkOptions(robot_address=here, local_address=here, domain=domain))
    encoder = LowCommandEncoder(wire)
    watchdog = WatchdogLink(path, link, wire, OperatorOptions(keyboard=False), None)
    watchdog.set_frame(encoder.encode(damping(5.0)))
    watchdog.begin(time.monotonic())
    frame = encoder.encode(no_torque())
    print("serves", flush=True)
    while True:
        link.send(frame)
        watchdog.beat(True)
        time.sleep(0.001)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
