"""The robot of most tests, its wire, and a command to stand."""

import numpy as np

from hw_bridge.wire.layout import wire_of
from robots.robot import load_robot
from runtime.messages import MotorCommand

A1 = load_robot("a1")
WIRE = wire_of(A1)


def stand_command(tick: int, now: float, **changes) -> MotorCommand:
    ones = np.ones(12)
    fields = {
        "tick": tick, "time": now, "q": A1.stand.copy(), "dq": 0.0 * ones, "kp": 80.0 * ones,
        "kd": 3.0 * ones, "tau": 0.0 * ones, "plan_id": 0, "status": "ok",
    }  # fmt: skip
    return MotorCommand(**(fields | changes))
