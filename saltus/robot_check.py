"""Checks of `saltus robot check`: is a robot complete, plausible, and can it stand?"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import mujoco
import numpy as np
import pinocchio as pin

from robots.conventions import FOOT_NAMES, GRAVITY, JOINT_NAMES
from robots.legs import foot_jacobians_in_base, foot_positions_in_base, inverse_kinematics
from robots.pinocchio_model import foot_frame_ids, load_pinocchio
from robots.robot import Robot, load_robot
from robots.robot_file import RobotError
from saltus.common.criterion import Check, guarded
from sim_bridge.options import SimulationOptions
from sim_bridge.simulated_robot import SimulatedRobot

POSTURES = 200  # drawn at random from the joints' ranges
EQUAL = 1e-9  # largest difference of two kinematics [m, m/rad], and of two masses [kg]
ALIKE = 0.02  # largest difference of a mass or length between left and right, as a share
STANDS_S = 1.0  # for which it stands under its own torques
LOWEST, HIGHEST = 0.4, 0.97  # of the leg's length: the hips above the feet in the stand
MOST_TORQUE = 0.6  # of the limits, that the stand may take
SUNK, TILTED = 0.05, 0.05  # most in the stand's time: of its height, and [rad]


def check_robot(name: str) -> list[Check]:
    """Check a robot of this project, or the one in the folder `name`.

    Where it cannot be loaded, that is the only check.
    """
    try:
        robot = load_robot(name)
    except RobotError as error:
        return [Check("folder", False, True, str(error))]
    motors = ", ".join(f"{limit:g}" for limit in robot.torque_limit[:3])
    about = f"{robot.label}, {robot.mass:.3f} kg, legs of {robot.leg_length:.3f} m, {motors} N m"
    tried: dict[str, Callable[[Robot], tuple[bool, str]]] = {
        "masses": _masses, "left and right": _sides, "ranges": _ranges,
        "kinematics": _kinematics, "other software": _pinocchio, "stand": _stand,
        "torque": _torque, "losses": _losses, "simulation": _simulation,
    }  # fmt: skip
    found = [guarded(what, True, partial(try_it, robot)) for what, try_it in tried.items()]
    return [Check("folder", True, True, about), *found]


def _model(robot: Robot) -> mujoco.MjModel:
    return mujoco.MjSpec.from_string(robot.mjcf).compile()


def _masses(robot: Robot) -> tuple[bool, str]:
    masses = _model(robot).body_mass[1:]
    share = masses[0] / masses.sum()
    least = masses.min()
    ok = bool(least > 1e-3 and 0.2 < share < 0.9)
    return ok, f"trunk {masses[0]:.2f} kg, {share:.0%} of all; lightest link {least:.3f} kg"


def _sides(robot: Robot) -> tuple[bool, str]:
    model, legs = _model(robot), robot.legs
    masses = model.body_mass[2:14].reshape(4, 3)
    lengths = np.column_stack((legs.thigh, legs.thigh * legs.ratio, np.abs(legs.plane)))
    both = np.hstack((masses, lengths))
    difference = np.abs(both[::2] - both[1::2]) / np.maximum(both[::2], 1e-3)
    return bool(difference.max() < ALIKE), f"masses and lengths differ by {difference.max():.1%}"


def _ranges(robot: Robot) -> tuple[bool, str]:
    width = robot.legs.upper - robot.legs.lower
    narrow, wide = int(np.argmin(width)), int(np.argmax(width))
    knees = robot.stand[2::3] + robot.legs.lean
    ok = bool(width[narrow] > 0.2 and (np.abs(knees) > 0.1).all())
    return ok, (
        f"{width[narrow]:.2f} rad ({JOINT_NAMES[narrow]}) to {width[wide]:.2f} rad; "
        f"knees bent by {np.abs(knees).min():.2f} rad in the stand"
    )


def _kinematics(robot: Robot) -> tuple[bool, str]:
    """Feet and their Jacobians against MuJoCo, the inverse against the feet."""
    model = _model(robot)
    data, rng = mujoco.MjData(model), np.random.default_rng(0)
    worst, slope = np.zeros(3), np.empty((3, model.nv))
    for joints in rng.uniform(robot.legs.lower, robot.legs.upper, (POSTURES, 12)):
        data.qpos[:7], data.qpos[7:] = (0, 0, 0, 1, 0, 0, 0), joints
        mujoco.mj_fwdPosition(model, data)
        feet = foot_positions_in_base(robot.legs, joints)
        jacobians = foot_jacobians_in_base(robot.legs, joints)
        for leg, name in enumerate(FOOT_NAMES):
            geom = model.geom(f"{name}_foot").id
            mujoco.mj_jacGeom(model, data, slope, None, geom)
            own = slope[:, 6 + 3 * leg : 9 + 3 * leg]
            worst[0] = max(worst[0], np.abs(feet[leg] - data.geom_xpos[geom]).max())
            worst[1] = max(worst[1], np.abs(jacobians[leg] - own).max())
    for joints in robot.stand + rng.uniform(-0.2, 0.2, (POSTURES, 12)):
        inside = np.clip(joints, robot.legs.lower, robot.legs.upper)
        feet = foot_positions_in_base(robot.legs, inside)
        back = foot_positions_in_base(robot.legs, inverse_kinematics(robot.legs, feet))
        worst[2] = max(worst[2], np.abs(back - feet).max())
    return (
        bool((worst < EQUAL).all()),
        f"off by {worst[0]:.0e} m, Jacobians {worst[1]:.0e} m/rad, inverse {worst[2]:.0e} m",
    )


def _pinocchio(robot: Robot) -> tuple[bool, str]:
    """Mass, and the feet in the stand, as Pinocchio derives them from the same model."""
    model = load_pinocchio(robot)
    data = model.createData()
    q = np.concatenate([np.zeros(6), [1.0], robot.stand])
    pin.framesForwardKinematics(model, data, q)
    feet = np.array([data.oMf[frame].translation for frame in foot_frame_ids(model)])
    away = float(np.abs(feet - foot_positions_in_base(robot.legs, robot.stand)).max())
    mass = abs(pin.computeTotalMass(model) - robot.mass)
    return away < EQUAL and mass < 1e-6, f"Pinocchio: feet {away:.0e} m, mass {mass:.0e} kg off"


def _stand(robot: Robot) -> tuple[bool, str]:
    height = robot.stand_height - robot.legs.foot_radius + robot.legs.hip[0, 2]
    share = height / robot.leg_length
    feet = foot_positions_in_base(robot.legs, robot.stand)
    level = float(np.ptp(feet[:, 2]))
    ok = LOWEST < share < HIGHEST and level < 0.02
    return (
        ok,
        f"base {robot.stand_height:.3f} m high, {share:.0%} of the legs; feet within {level:.3f} m",
    )


def _torque(robot: Robot) -> tuple[bool, str]:
    """Torques that hold the stand still, each leg carrying a quarter of the weight."""
    force = np.array([0.0, 0.0, 0.25 * robot.mass * GRAVITY])
    torque = np.concatenate([J.T @ force for J in foot_jacobians_in_base(robot.legs, robot.stand)])
    share = np.abs(torque) / robot.torque_limit
    most = int(np.argmax(share))
    return bool(share[most] < MOST_TORQUE), (
        f"{JOINT_NAMES[most]} takes {abs(torque[most]):.1f} N m, {share[most]:.0%} of its limit"
    )


def _losses(robot: Robot) -> tuple[bool, str]:
    """Terms of the joints that the model of the planner leaves out."""
    model = _model(robot)
    largest = [float(np.max(each[6:])) for each in (model.dof_damping, model.dof_frictionloss)]
    if not any(largest):
        return True, "no damping or friction of joints"
    damping, friction = largest
    return True, (f"damping up to {damping:g} N m s/rad and friction up to {friction:g} N m, which "
                  "plans leave out")  # fmt: skip


def _simulation(robot: Robot) -> tuple[bool, str]:
    """Hold the stand for a while, in MuJoCo, by the joints' own torques within their limits."""
    simulation = SimulatedRobot(robot, SimulationOptions())
    start = simulation.truth().q[2]
    for _ in range(round(STANDS_S * 1000)):
        simulation.advance()
    truth = simulation.truth()
    sunk = abs(start - truth.q[2]) / start
    tilt = 2.0 * math.asin(min(1.0, float(np.hypot(truth.q[3], truth.q[4]))))
    ok = not simulation.fell and sunk < SUNK and tilt < TILTED and truth.contact.all()
    return bool(ok), (
        f"{STANDS_S:g} s later {truth.q[2]:.3f} m high (before {start:.3f}), tilt {tilt:.3f} rad"
    )
