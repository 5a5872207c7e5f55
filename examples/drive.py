"""Drives a running launch in a circle, then stops: `saltus launch sim --drive client` first.

The publisher of commands drives the robot; after half a second without one it stands.
"""

import itertools
import sys
import time

from runtime.bus import Bus
from runtime.messages import Command
from runtime.topics import COMMAND
from saltus.common.errors import BadRequest
from saltus.launch.announcement import launch_to_drive

SECONDS, RADIUS, SPEED = 12.0, 0.5, 0.3  # [s], [m], [m/s]

try:
    launch = launch_to_drive()
except BadRequest as error:
    sys.exit(str(error))
with Bus(launch.endpoints) as bus:
    commands = bus.publisher(COMMAND)
    begin = time.monotonic()
    for sequence in itertools.count():  # some 50 a second; each has a greater number
        if (elapsed := time.monotonic() - begin) > SECONDS:
            break
        commands.send(Command(
            sequence=sequence, time=elapsed, forward=SPEED, left=0.0, yaw_rate=SPEED / RADIUS,
            gait="auto",
        ))  # fmt: skip
        time.sleep(0.02)
