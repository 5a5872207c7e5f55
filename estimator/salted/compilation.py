"""What `advance` calls, compiled piece by piece, so that two processes share the work.

Each piece is kept as soon as it is compiled, and whoever compiles `advance` afterwards loads it.
"""

from __future__ import annotations

import numpy as np

from estimator.health.layout import ROW
from estimator.health.monitor import judge
from estimator.record import record_of, robot_record
from estimator.salted.advance import TICK, change_modes, flow
from estimator.salted.memory import new_memory
from estimator.salted.options import SaltedOptions
from estimator.salted.prediction import coast
from estimator.salted.update import before_prediction, correct_all, modes_after_prediction
from robots.mujoco_model import load_mujoco
from robots.robot import Robot
from robots.stance_dynamics import stance_model_of


def compile_dynamics(robot: Robot) -> None:
    """Compile the steps and the touchdowns of the robot, nearly half of all."""
    record, model = robot_record(robot), stance_model_of(load_mujoco(robot))
    memory, legs, options = new_memory(record)[0], record[0].legs, record_of(SaltedOptions())[0]
    flow(memory, model, np.zeros(4), TICK, options)
    change_modes(memory, legs, model, np.zeros(4), np.ones(4, np.bool_), options)


def compile_corrections(robot: Robot) -> None:
    """Compile the judgement of the sensors, the corrections, and the way through a gap."""
    record, row, load = robot_record(robot), np.zeros(ROW), np.zeros(4)
    memory, legs, options = new_memory(record)[0], record[0].legs, record_of(SaltedOptions())[0]
    health = judge(memory.past, record[0], row, 0.0)
    jumping, share = before_prediction(memory, legs, row, health, TICK, options)
    modes_after_prediction(memory, legs, row, health, TICK, options, load)
    correct_all(memory, legs, row, health, jumping, share, load, TICK, options)
    coast(memory, TICK, options)
