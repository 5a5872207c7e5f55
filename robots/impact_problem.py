"""The impact of a robot's feet on level ground, as `saltation.impacts` takes it."""

# Compiled modules carry no stubs.
# pyright: reportAttributeAccessIssue=false
# ruff: noqa: N806 (the letters are the paper's)

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from robots.conventions import FOOT_NAMES
from robots.legs import foot_jacobians_in_base
from robots.pinocchio_model import foot_frame_ids, load_pinocchio
from robots.robot import Robot
from robots.rotations import Array, skew
from saltation.impacts.contact_problem import ContactProblem

FRICTION = 0.8  # of foot and floor, as in `scene.xml`
STRAIGHT = 0.01  # of the thigh [m/rad]: a foot that moves less in some direction is stuck
UNIT_QUATERNION = 1e-3  # largest departure of its length from one


def contact_problem(
    robot: Robot,
    q: Array,
    feet: Sequence[str],
    directions: int = 8,
) -> ContactProblem:
    """Return the impact of `feet` on the level ground at q: (30), (34) of Halm and Posa.

    Every foot of `feet` touches with the lowest point of its sphere, whether it has just come down
    or stood before. Velocities are v of `robots.state`: linear and angular of the base in the base,
    then joints; M (18, 18) has the rotors' inertia in it.

    Args:
        q: configuration (19).
        feet: of FR, FL, RR, RL, one or more: the contacts, in this order.
        directions: of friction at each foot, evenly around the normal; even, from 4 on.

    Raises:
        ValueError: `feet` is empty, names a foot twice or one that there is not; q has no 19 finite
            numbers or no unit quaternion; the knee of one of `feet` is straight, so that the leg
            cannot follow the impact.
    """
    q = np.asarray(q, dtype=np.float64)
    name = f"{robot.label} on {', '.join(feet) or 'no foot'}"
    if fault := _fault(robot, q, feet):
        raise ValueError(f"{name}: {fault}")
    model, lowest = load_pinocchio(robot), np.array([0.0, 0.0, -robot.legs.foot_radius])
    data, frames = model.createData(), foot_frame_ids(model)
    M = pin.crba(model, data, q)
    M = np.triu(M) + np.triu(M, 1).T  # Pinocchio may leave the lower triangle as it was
    J = np.empty((len(feet), 3, model.nv))  # of the lowest points: v_centre + w x [0, 0, -r]
    for i, foot in enumerate(feet):
        frame = frames[FOOT_NAMES.index(foot)]
        centre = pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL_WORLD_ALIGNED)
        J[i] = centre[:3] - skew(lowest) @ centre[3:]
    return ContactProblem.spatial(
        M, J[:, 2], J[:, :2], FRICTION, tuple(feet), name, directions
    )  # fmt: skip


def _fault(robot: Robot, q: Array, feet: Sequence[str]) -> str:
    """Say what is wrong with a configuration and its feet; nothing where they make an impact."""
    if not len(feet):
        return f"no foot is in contact; name one or more of {', '.join(FOOT_NAMES)}"
    for foot in feet:
        if foot not in FOOT_NAMES:
            return f"there is no foot {foot!r}; name {', '.join(FOOT_NAMES)}"
    if len(set(feet)) < len(feet):
        return "a foot is named twice; name each foot that touches once"
    if q.shape != (19,) or not np.isfinite(q).all():
        return f"q {q.shape} must be 19 finite numbers: position, quaternion x y z w, joints"
    length = float(np.linalg.norm(q[3:7]))
    if abs(length - 1.0) > UNIT_QUATERNION:
        return f"the base's quaternion has length {length:.4g}; make it one"
    reach = foot_jacobians_in_base(robot.legs, np.ascontiguousarray(q[7:]))
    for foot in feet:
        leg = FOOT_NAMES.index(foot)
        if np.linalg.svd(reach[leg], compute_uv=False)[-1] < STRAIGHT * robot.legs.thigh[leg]:
            hip, thigh, calf = q[7 + 3 * leg : 10 + 3 * leg]
            return (
                f"leg {foot} (hip {hip:.3f}, thigh {thigh:.3f}, calf {calf:.3f} rad) is stretched"
                " or has its foot on the hip's axis, and cannot follow the impact; bend the knee"
            )
    return ""
