"""Convex MPC's and Instant QP's footholds, forces, swings and path on rough ground."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from pytest import approx

from controller.centroidal.convex_mpc import convex_mpc
from controller.centroidal.instant_qp import instant_qp
from controller.centroidal.path import CommandedPath, DrivenPath
from controller.centroidal.rigid_body import BodyState
from controller.centroidal.stepping import Step, Stepper
from controller.driving.commands import CommandScript, ScriptStep
from controller.driving.footholds import edge_at
from controller.gaits import GAITS
from controller.options import DriveOptions
from controller.planner_options import ConvexMpcOptions, InstantQpOptions, SteppingOptions
from robots.legs import foot_positions_in_base
from robots.rotations import exp3
from robots.terrain import Box, height_at, make_ground, surface_at
from tests.a1 import A1, estimate

TROT = GAITS["trot"]
STEP = make_ground((Box((5.3, 0.0, 0.0), (5.0, 5.0, 0.08)),))  # up at x = 0.3
RAMP = make_ground((Box((0.0, 0.0, 0.0), (5.0, 5.0, 0.1), 0.4, -0.2),))


def foothold(ground, yaw, forward):
    """Of FL, in axes that are turned by `yaw` against the world."""
    base, still = np.array([forward, 0.0, A1.stand_height]), np.zeros(3)
    feet = base + foot_positions_in_base(A1.legs, A1.stand)
    stepper = Stepper(SteppingOptions(), A1, TROT, ground)
    stepper.turn(exp3(np.array([0.0, 0.0, -yaw])))
    body = BodyState(np.eye(3), base, base, still, still, feet)
    return stepper.foothold(1, body, Step(0.1, 0.2, still))


def to_world(place, yaw):
    return exp3(np.array([0.0, 0.0, yaw])) @ place


@pytest.mark.parametrize("yaw", [0.0, 0.3, -1.0])
def test_footholds_are_on_the_ground_and_away_from_edges(yaw):
    moved = 0
    for forward in np.linspace(0.0, 0.4, 15):
        level = to_world(foothold(None, yaw, forward), yaw)
        hold = to_world(foothold(STEP, yaw, forward), yaw)
        above = hold[2] - height_at(STEP, hold[0], hold[1])
        assert above == approx(level[2], abs=1e-12)
        assert edge_at(STEP, hold[0], hold[1]) < 0.01
        moved += not np.allclose(hold[:2], level[:2])
        assert np.linalg.norm(hold[:2] - level[:2]) < 0.09
    assert moved or yaw == -1.0


@pytest.mark.parametrize("make", [convex_mpc, instant_qp])
def test_forces_on_a_slope_stay_in_the_cone_about_its_normal(make):
    """The robot, standing askew on the ramp and pushed, its path turned against the world."""
    options = ConvexMpcOptions() if make is convex_mpc else InstantQpOptions()
    planner = make(options, A1, CommandedPath(options.path, TROT, 0.3), False, RAMP)
    planner.path.heading = yaw = 0.5
    forces = []
    law = planner.law.forces
    planner.law.forces = lambda now: forces.append(law(now)) or forces[-1]
    q = np.array([0.0, 0.0, A1.stand_height, 0.0, 0.0, np.sin(0.3), np.cos(0.3), *A1.stand])
    v = np.zeros(18)
    v[:2] = -0.8, 0.6
    assert planner.solve(estimate(q=q, v=v)).status == "ok"
    normal = to_world(np.array(surface_at(RAMP, 0.0, 0.0)[1:]), -yaw)
    pushed = forces[0].forces.reshape(-1, 3)
    along = pushed @ normal
    across = np.linalg.norm(pushed - np.outer(along, normal), axis=1)
    assert (across <= np.sqrt(2.0) * options.friction * along + 1e-6).all()
    assert across.max() > 0.5 * options.friction * along[across.argmax()]  # friction is used
    assert along.max() > 20.0


def test_the_body_is_asked_to_go_parallel_to_the_slope():
    drive = DriveOptions()
    script = CommandScript((ScriptStep(at=0.0, velocity_x=0.3, gait="trot"),), drive, "trot")
    path = DrivenPath(ConvexMpcOptions(), A1, drive, script, RAMP)
    state = np.zeros(37)
    state[2], state[6], state[7:19] = A1.stand_height, 1.0, A1.stand
    com = np.array([0.0, 0.0, A1.stand_height])
    path.meet(0.0, state, com)
    found = path.states(0.0, com, np.array([0.05, 0.3]))
    slope = np.tan(0.2)
    pitch, roll = -np.arctan(slope * np.cos(0.4)), -np.arcsin(np.sin(0.2) * np.sin(0.4))
    assert_allclose(found[:, :2], np.tile([-roll, pitch], (2, 1)), atol=1e-6)
    climbed = slope * np.cos(0.4) * (found[1, 3] - found[0, 3])
    assert found[1, 5] - found[0, 5] == approx(climbed, abs=1e-3)
    assert found[1, 11] > 0.0
