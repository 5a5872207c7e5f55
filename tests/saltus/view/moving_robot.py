"""A recorded run whose states are known: the robot glides forward, and is pushed by hand once."""

import math

import numpy as np

from runtime.messages import (
    Push,
    StateCovariance,
    encode,
)
from runtime.recording import Recorder
from runtime.topics import GROUND_TRUTH, MOTOR_COMMAND, PLAN, PUSH, STATE_COVARIANCE, STATE_ESTIMATE
from saltus.configuration.launch import AT_ORIGIN, load_launch, write_config
from tests import a1
from tests.a1 import A1, ground_truth, stand_command

SPEED = 0.5  # [m/s]
PUSH_AT_S = 1.0
LIFT_S, LAND_S = 0.5, 0.7  # FR is in the air
ERROR = np.array([0.1, 0.0, 0.0])  # of the estimated velocity [m/s]
SIGMA = 0.05  # which the filter says is the deviation of each component [m/s]


def truth(tick):
    time = 1e-3 * tick
    contact = np.ones(4)
    contact[0] = not LIFT_S <= time < LAND_S
    q = np.concatenate([[SPEED * time, 0.0, A1.stand_height, 0.0, 0.0, 0.0, 1.0], A1.stand])
    q[8] += 0.4 * math.sin(4.0 * time)
    v = np.zeros(18)
    v[0] = SPEED
    force = np.outer(contact, (0.0, 0.0, 40.0))
    return ground_truth(tick, q=q, v=v, foot_force=force, contact=contact)


def estimate(tick):
    known = truth(tick)
    v = known.v.copy()
    v[:3] += ERROR
    return a1.estimate(tick, q=known.q, v=v, contact=known.contact)


def plan(tick):
    states = np.array([truth(tick + 10 * k).q for k in range(21)])
    return a1.plan(tick, id=tick // 10 + 1, states_q=states)


def command(tick, status):
    return stand_command(tick, 1e-3 * tick, plan_id=1, status=status)


def messages(ticks):
    """What is recorded: topic, message and tick."""
    rows = []
    for tick in range(ticks):
        rows += [(GROUND_TRUTH, truth(tick), tick), (STATE_ESTIMATE, estimate(tick), tick)]
        if tick % 10 == 0:
            rows.append((PLAN, plan(tick), tick))
        if tick % 20 == 0:
            covariance = StateCovariance(tick=tick, time=1e-3 * tick, velocity=SIGMA**2 * np.eye(3))
            rows.append((STATE_COVARIANCE, covariance, tick))
        if tick == round(1e3 * PUSH_AT_S):
            push = Push(sequence=1, time=77.0, body="base", velocity=np.array([0.0, 1.0, 0.0]))
            rows.append((PUSH, push, tick))
        rows.append((MOTOR_COMMAND, command(tick, "hold" if tick >= 1500 else "ok"), tick))
    return rows


def make_run(folder, ticks=2001, *assignments):
    """A run folder with the recording of so many ticks."""
    folder.mkdir(parents=True, exist_ok=True)
    write_config(load_launch("sim", [AT_ORIGIN, *assignments]), folder / "launch.yaml")
    with Recorder(folder / "run.mcap") as recorder:
        for topic, message, tick in messages(ticks):
            recorder.write(topic, encode(message), tick * 1_000_000)
    return folder
