"""What `advance` calls, compiled piece by piece, so that two processes share the work.

Each piece is kept as soon as it is compiled, and whoever compiles `advance` afterwards loads it.
"""

from __future__ import annotations

import numpy as np

from estimator.health.layout import ROW
from estimator.health.monitor import judge
from estimator.record import record_of
from estimator.salted.advance import TICK, change_modes, flow
from estimator.salted.memory import new_memory
from estimator.salted.options import SaltedOptions
from estimator.salted.prediction import coast
from estimator.salted.update import before_prediction, correct_all, modes_after_prediction
from robots.mujoco_model import load_mujoco
from robots.robot import load_robot
from robots.stance_dynamics import stance_model_of


def compile_dynamics() -> None:
    """Compile the steps and the touchdowns of the robot, nearly half of all."""
    memory, robot = new_memory()[0], stance_model_of(load_mujoco(load_robot("a1")))
    options = record_of(SaltedOptions())[0]
    flow(memory, robot, np.zeros(4), TICK, options)
    change_modes(memory, robot, np.zeros(4), np.ones(4, np.bool_), options)


def compile_corrections() -> None:
    """Compile the judgement of the sensors, the corrections, and the way through a gap."""
    memory, row, load = new_memory()[0], np.zeros(ROW), np.zeros(4)
    options = record_of(SaltedOptions())[0]
    health = judge(memory.past, row, 0.0)
    jumping, share = before_prediction(memory, row, health, TICK, options)
    modes_after_prediction(memory, row, health, TICK, options, load)
    correct_all(memory, row, health, jumping, share, load, TICK, options)
    coast(memory, TICK, options)
