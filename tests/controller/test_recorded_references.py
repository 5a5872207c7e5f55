"""Recordings on the planner's knots: impulses are kept, loops go on, ticks are not confused."""

from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose

from controller.references import ReferenceTrajectory, load_reference, save_reference
from robots.planar_pose import PlanarPose
from runtime.messages import encode
from runtime.recording import Recorder
from runtime.topics import GROUND_TRUTH, SENSOR_READING
from tests.a1 import STAND, ground_truth, reading
from tests.refusals import refusal


def recording(rows, period=0.001, inputs=None, **loop):
    """A robot that slides along x at 0.5 m/s in a stand."""
    q, v = np.tile(STAND, (rows, 1)), np.zeros((rows, 18))
    q[:, 0], v[:, 0] = 0.5 * period * np.arange(rows), 0.5
    inputs = np.zeros((rows, 12)) if inputs is None else inputs
    return ReferenceTrajectory("slide", period, q, v, inputs, np.ones((rows, 4)), **loop)


def read_back(reference, tmp_path, period=0.01):
    save_reference(reference, tmp_path / "slide.npz")
    return load_reference(tmp_path / "slide.npz", period)


def test_a_knot_has_the_impulse_of_its_samples(tmp_path):
    """Any torque: the sums agree. A ramp: the mean is its value in the middle of the knot."""
    inputs = np.random.default_rng(1).normal(size=(120, 12))
    inputs[:, 0] = np.arange(120) + 0.5  # each sample holds for a tick: the ramp's value inside it
    again = read_back(recording(120, inputs=inputs), tmp_path)
    assert_allclose(0.01 * again.inputs.sum(0), 0.001 * inputs.sum(0), atol=1e-12)
    assert_allclose(again.inputs[:, 0], 10.0 * np.arange(12) + 5.0, rtol=1e-12)


def test_a_loop_goes_on_at_every_period(tmp_path):
    """A slide of one stride loops into an endless one, on coarser and on finer knots."""
    slide = recording(80, loop=40, loop_shift=np.array([0.02, 0.0, 0.0]))
    for period in (0.01, 0.02, 0.0005):
        again = read_back(slide, tmp_path, period)
        knots = round(1.0 / period)
        window = again.window(0, knots)
        assert_allclose(window.q[:, 0], 0.5 * period * np.arange(knots + 1), atol=1e-9)
    assert "0.007" in refusal(ValueError, read_back, slide, tmp_path, 0.007)


def test_a_recording_from_anywhere_begins_at_the_origin_along_x(tmp_path):
    here = recording(80, loop=40, loop_shift=np.array([0.02, 0.0, 0.0]))
    place, turn = PlanarPose(1000.0, -300.0, 2.5), PlanarPose(yaw=2.5)
    shift = turn.points_to_world(here.loop_shift)
    there = replace(here, q=place.to_world(here.q), loop_shift=shift)
    windows = [read_back(each, tmp_path).window(0, 60).q for each in (here, there)]
    assert_allclose(*windows, atol=1e-9)


def test_a_recorded_torque_acted_in_the_tick_before_its_reading(tmp_path):
    """Reading k tells the torque that acted from tick k - 1 to k, here k N m."""
    with Recorder(tmp_path / "run.mcap") as recorder:
        for tick in range(21):
            now = reading(tick, joint_torque=np.full(12, float(tick)))
            recorder.write(GROUND_TRUTH, encode(ground_truth(tick)), tick * 1_000_000)
            recorder.write(SENSOR_READING, encode(now), tick * 1_000_000)
    inputs = load_reference(tmp_path / "run.mcap", 0.01).inputs
    assert_allclose(inputs[:, 3], [5.5, 15.5, 20.0])
