"""One step with soft contacts: its derivative is that of MuJoCo's step, also over touchdowns."""

import mujoco
import numpy as np
import pytest
import yaml
from scipy.optimize import brentq

from robots.conventions import FOOT_NAMES
from robots.kinematic_tree import tree_of
from robots.mujoco_model import load_mujoco
from robots.rotations import rotation_from_quaternion
from robots.soft_contact import soft_contact_of
from robots.soft_step import differentiate_step
from robots.state import difference, mujoco_from_pinocchio, pinocchio_from_mujoco
from tests.a1 import A1
from tests.differences import error, moved, slopes

# Errors of central differences: eps^2 from the third derivative (1e-5 to 1e-7 of the slope at
# 1e-5), and MuJoCo's rounding over eps (1e-8 to 2e-7 at 1e-7).
EPS = 1e-6
SIGMOIDS = yaml.safe_load("""  # d_0, d_width, width, midpoint, power
as it is: [0.9, 0.95, 0.001, 0.5, 2]
straight: [0.8, 0.96, 0.003, 0.5, 1]
early: [0.7, 0.95, 0.004, 0.3, 3]
""")


class Physics:
    """MuJoCo's step, solved to the last digit, and ours beside it."""

    def __init__(self, dt, sigmoid="as it is"):
        self.model = load_mujoco(A1, dt)
        self.model.geom_conaffinity[self.model.geom_group == 3] = 0  # feet alone
        self.model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
        self.model.geom_solimp[:] = self.model.jnt_solimp[:] = SIGMOIDS[sigmoid]
        # With no tolerance the solver stops where its cost falls no further; a cold start, so that
        # the step is a function of its state alone.
        self.model.opt.tolerance, self.model.opt.iterations = 0.0, 200
        self.model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_WARMSTART)
        self.data = mujoco.MjData(self.model)
        self.tree, self.law = tree_of(self.model), soft_contact_of(A1, self.model)
        self.dt = dt

    def step(self, x, tau):
        """State after a step from x (37,), and its acceleration (18,) as `soft_step` takes it."""
        data = self.data
        data.qpos[:], data.qvel[:] = mujoco_from_pinocchio(x[:19], x[19:])
        data.ctrl[:] = tau
        mujoco.mj_step(self.model, data)
        a = data.qacc.copy()
        a[:3] = rotation_from_quaternion(x[3:7]).T @ a[:3]
        return np.concatenate(pinocchio_from_mujoco(data.qpos.copy(), data.qvel.copy())), a

    def derivative(self, x, tau, saltation=False):
        """A, B of the step from x, and the state after it."""
        after, a = self.step(x, tau)
        A, B = np.full((36, 36), np.nan), np.full((36, 12), np.nan)
        R = rotation_from_quaternion(x[3:7])
        differentiate_step(self.tree, self.law, R, x, a, self.dt, saltation, A, B)
        return A, B, after

    def differences(self, x, tau):
        """A, B by central differences."""
        middle, _ = self.step(x, tau)

        def end(d):
            return minus(middle, self.step(moved(x, d[:36]), tau + d[36:])[0])

        slope = slopes(end, np.zeros(48), EPS)
        return slope[:, :36], slope[:, 36:]

    def heights(self, x):
        """Of the feet's spheres above the ground (4,) [m]."""
        data = self.data
        data.qpos[:], data.qvel[:] = mujoco_from_pinocchio(x[:19], x[19:])
        mujoco.mj_kinematics(self.model, data)
        return (
            np.array([data.geom(f"{name}_foot").xpos[2] for name in FOOT_NAMES])
            - A1.legs.foot_radius
        )


def minus(reference, x):
    return difference(reference[:19], reference[19:], x[:19], x[19:])


STAND = np.concatenate([[0, 0, A1.stand_height - 0.003, 0, 0, 0, 1], A1.stand, np.zeros(18)])


def disturbed(seed, height=0.0, sideways=0.0, beyond=0.0):
    """A stand with its feet 3 mm in the ground, disturbed; torques that do not hold it."""
    rng = np.random.default_rng(seed)
    scale = np.repeat([5e-4, 5e-3, 5e-3, 0.2, 0.2, 0.5], [3, 3, 12, 3, 3, 12])
    x = moved(STAND, scale * rng.normal(size=36))
    x[2] += height
    x[19:21] += sideways
    if beyond:
        x[7 + 3] = A1.legs.upper[3] + beyond
    return x, 4.0 * rng.normal(size=12)


SITUATIONS = yaml.safe_load("""
flight: {height: 0.1}
feet on the ground: {}
feet half a millimetre in the ground: {height: 0.0025}  # where impedance changes
feet that slide: {sideways: 0.7}
a joint just beyond its limit: {beyond: 0.0004}
a joint beyond its limit: {beyond: 0.002}
a joint beyond its limit in flight: {height: 0.1, beyond: 0.004}
""")


@pytest.mark.parametrize("dt", [0.005, 0.01])
@pytest.mark.parametrize("sigmoid", SIGMOIDS)
@pytest.mark.parametrize("situation", SITUATIONS)
def test_derivative_is_that_of_mujocos_step(situation, sigmoid, dt):
    physics = Physics(dt, sigmoid)
    for seed in range(3):
        x, tau = disturbed(seed, **SITUATIONS[situation])
        touches = (physics.heights(x) < 0.0).any()
        assert touches == ("flight" not in situation)
        A, B, _ = physics.derivative(x, tau)
        A_differences, B_differences = physics.differences(x, tau)
        assert error(A, A_differences) < 2e-6
        assert error(B, B_differences) < 2e-6


def falling(physics, speed):
    """RR alone comes down and just touches the ground (37,); the other feet are in the air."""
    x = moved(STAND, 0.1 * np.eye(36)[3] - 0.15 * np.eye(36)[4])
    x[2] -= physics.heights(x).min()
    x[19:22] = rotation_from_quaternion(x[3:7]).T @ [0.0, 0.0, -speed]
    return x


def stepping(physics, speed):
    """RR comes down and just touches the ground (37,); the other feet stand."""
    x = STAND.copy()
    x[7 + THIGH - 6] += 0.1
    x[7 + CALF - 6] += brentq(
        lambda bend: physics.heights(moved(x, bend * np.eye(36)[CALF]))[RR], -0.5, 0.0
    )
    x[19 + CALF] = -speed / lift(physics, x, np.eye(36)[CALF])
    return x


RR, THIGH, CALF = 2, 13, 14  # the foot that lands; velocities of its leg
LANDINGS = {"falling": falling, "stepping": stepping}


def direction(name, x):
    """Of a change of x that moves RR up or down (36,)."""
    dx = np.zeros(36)
    if name == "base":
        dx[:3] = rotation_from_quaternion(x[3:7])[2]
    else:
        dx[{"roll": 3, "calf": CALF}[name]] = 1.0
    return dx


def lift(physics, x, dx):
    """Rate at which RR rises along dx."""
    return slopes(lambda s: physics.heights(moved(x, s * dx))[RR], 0.0)


@pytest.mark.parametrize("dt", [0.001, 0.01])
@pytest.mark.parametrize(
    "motion, way", [("falling", "base"), ("falling", "roll"), ("stepping", "calf")]
)
def test_with_saltation_the_mean_derivative_of_a_landing_step_is_its_mean_slope(motion, way, dt):
    """Mean over where in the step the foot meets the ground, that is over one step's travel.

    The step's mean slope over that range, which begins just above the ground, is the change of its
    end over the change of its beginning. The derivatives of single steps miss the jump of the force
    where the foot begins to touch: 73 to 97 % of the slope. The force grows with its depth, and the
    jump is taken where the foot is, not at the surface: 1 to 15 % of the slope.
    """
    physics, speed = Physics(dt), 0.5
    x, tau = LANDINGS[motion](physics, speed), np.zeros(12)
    dx = direction(way, x)
    travel = dt * speed / lift(physics, x, dx)
    phases = [moved(x, -(i + 0.5) / 40 * travel * dx) for i in range(40)]
    slopes = [[physics.derivative(p, tau, on)[0] @ dx for p in phases] for on in (False, True)]
    middle = physics.step(x, tau)[0]
    above, below = (physics.step(moved(x, s * dx), tau)[0] for s in (1e-6 * travel, -travel))
    expected = (minus(middle, above) - minus(middle, below)) / travel
    without, with_matrix = (error(np.mean(part, axis=0), expected) for part in slopes)
    assert without > 0.5
    assert with_matrix < 0.2


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("entry", [2, 4, 9, 20, 30])
def test_a_state_that_is_no_number_gives_derivatives_that_are_none(bad, entry):
    physics = Physics(0.005)
    x = STAND.copy()
    x[entry] = bad
    A, B = np.zeros((36, 36)), np.zeros((36, 12))
    R = rotation_from_quaternion(x[3:7])
    a = np.full(18, np.nan)  # as MuJoCo's
    differentiate_step(physics.tree, physics.law, R, x, a, 0.005, True, A, B)
    assert not np.isfinite(A).all()
