"""A Go2 played by the vendor's own SDK and DDS: ``python vendor_robot.py SECONDS [MODE]``.

Prints how many commands came and the last one's first torque; "gone" never, if it was ended. With a
MODE its motion switcher answers.
"""

import json
import sys
import time

import unitree_interface  # type: ignore[import-not-found]


def main(seconds):
    """Answer for some seconds."""
    kind = unitree_interface.UnitreeInterface
    robot = kind.create_go2("lo", unitree_interface.MessageType.GO2)
    robot.enable_motion_switcher_responder()
    state, end, torques = robot.read_low_state(), time.monotonic() + seconds, set()
    while time.monotonic() < end:
        robot.publish_low_state(state)
        command = robot.read_incoming_command()
        torques.add(round(float(command.tau_ff[11]), 3))
        time.sleep(0.002)
    print(json.dumps({"torques": sorted(torques)}), flush=True)


if __name__ == "__main__":
    main(float(sys.argv[1]))
