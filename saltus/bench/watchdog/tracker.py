"""A tracker that asks its robot for motion at 1 kHz, and hangs when it is asked to.

``python -m saltus.bench.watchdog.tracker WATCHDOG PORT GAMEPAD``. SIGUSR1 starts a thread that
keeps Python's lock.
"""

import signal
import sys
from pathlib import Path

from hw_bridge.link import UdpLink
from hw_bridge.options import LinkOptions, OperatorOptions
from hw_bridge.states import Request
from hw_bridge.watchdog.link import WatchdogLink
from runtime.clock import RealTimeClock
from saltus.bench.watchdog.frames import DAMPING, LOCALHOST, MOTION, WIRE
from saltus.common.lock_hog import hog
from saltus.configuration.launch import TICK_S, load_launch
from saltus.launch.cores import serve_ticks, watchdog_priority


def main(arguments: list[str]) -> None:
    """Serve until killed; damp after a stop, as the bridge does."""
    at, port, gamepad = arguments
    config = load_launch("a1-emulated")
    signal.signal(signal.SIGUSR1, hog)
    serve_ticks(config, "tracker")
    robot = LinkOptions(LOCALHOST, int(port), LOCALHOST, 0)
    options = OperatorOptions(gamepad=gamepad, silence_s=10.0)
    link, clock, stopped = UdpLink(robot), RealTimeClock(TICK_S), False
    watchdog = WatchdogLink(Path(at), link, WIRE, options, watchdog_priority(config))
    watchdog.set_frame(DAMPING)
    watchdog.begin(clock.now())
    while True:
        clock.wait_tick()
        link.receive()
        stopped |= watchdog.latched
        link.send(DAMPING if stopped else MOTION)
        watchdog.beat(True)
        asked = watchdog.poll(clock.now(), True)
        stopped |= any(request is Request.STOP for request, _ in asked)


if __name__ == "__main__":
    main(sys.argv[1:])
