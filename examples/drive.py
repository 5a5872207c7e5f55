"""Drives a running launch in a circle, then stops: `saltus launch sim --drive client` first.

The publisher of commands drives the robot; after half a second without one it stands.
"""

import time

from runtime.bus import Bus
from runtime.messages import Command
from runtime.topics import COMMAND
from saltus.launch.announcement import launch_to_drive

SECONDS, RADIUS, SPEED = 12.0, 0.5, 0.3  # [s], [m], [m/s]

with Bus(launch_to_drive().endpoints) as bus:
    commands = bus.publisher(COMMAND)
    begin = time.monotonic()
    for sequence in range(round(50 * SECONDS)):  # 50 a second; each has a greater number
        commands.send(Command(
            sequence=sequence, time=time.monotonic() - begin, forward=SPEED, left=0.0,
            yaw_rate=SPEED / RADIUS, gait="auto",
        ))  # fmt: skip
        time.sleep(0.02)
