"""The bridge's state as a message."""

import numpy as np

from hw_bridge.intake import Intake
from hw_bridge.state_machine import StateMachine
from hw_bridge.take_in import DQ, TEMPERATURE, TORQUE
from runtime.messages import RobotStatus

BELIEVED = ("accepted", "overtaken")  # of the intake's counts


def robot_status(machine: StateMachine, intake: Intake, now: float, tick: int) -> RobotStatus:
    """What the bridge publishes at `now` [s], its `tick`-th; zeros before the first good frame."""
    last = intake.last
    believed = sum(intake.counts[name] for name in BELIEVED)
    temperature, power = np.zeros(12), 0.0
    if last is not None:
        temperature = last.numbers[TEMPERATURE]
        power = float(np.abs(last.numbers[TORQUE] * last.numbers[DQ]).sum())
    return RobotStatus(
        tick=tick, time=now, state=machine.state.value, cause=machine.cause,
        temperature=temperature, power=power,
        state_age=float("inf") if last is None else now - last.time,
        frames=believed, refused=sum(intake.counts.values()) - believed,
        is_ending=machine.is_ending,
    )  # fmt: skip
