"""A short trot of the simulated A1 with its sensors' noise, recorded once a test run."""

import functools
import logging

import numpy as np

from saltus.configuration.launch import AT_ORIGIN, load_launch
from saltus.launch.lock_step import LockStep
from tests.estimator.fault_scenarios import Stream, sensor_row

SECONDS = 2.0
SETTINGS = ["planner=convex_mpc", "estimator=leg_odometry", "perturbations=[]", AT_ORIGIN]


@functools.cache
def recorded_trot(noise):
    """What the sensors said, and the truth, at 1 kHz; `noise` is the factor on their errors."""
    logging.getLogger("controller").addHandler(logging.NullHandler())
    settings = [*SETTINGS, f"simulation.sensors.noise={noise}"]
    run = LockStep(load_launch("trot", settings, duration=SECONDS))
    times, rows, truths = [], [], []
    for _ in range(run.config.ticks):
        reading = run.simulation.reading()
        truth = run.step().truth
        times.append(reading.time)
        rows.append(sensor_row(reading))
        truths.append(np.concatenate((truth.q, truth.v)))
    return Stream(np.array(times), np.array(rows), np.array(truths))
