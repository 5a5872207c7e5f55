"""The thesis's derivatives: rigid feet that stick, and a saltation matrix where one lands.

Feet that land within one knot (6.4.3): the knot's end is taken as the instant of all its
touchdowns, a point where several guards meet. The flow has no single derivative there: each order
of the feet gives a product of saltation matrices, which is a piece of its Bouligand derivative
(Burden et al. 2016). Sticking feet reach the same velocity in every order, and so the product of
D_x R is the same for all: the pieces differ in what the time between two touchdowns does.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial
from typing import NamedTuple

import numpy as np

from controller.planner_options import TouchdownOrder
from robots.contact_dynamics import ContactDynamics
from robots.legs import Legs, foot_jacobians_in_base, foot_positions_in_base
from robots.pinocchio_model import foot_frame_ids, load_pinocchio
from robots.robot import Robot
from robots.rotations import Array, rotation_from_quaternion
from robots.stance_touchdown import Touchdown
from robots.state import integrate
from robots.terrain import Ground, make_ground, nearest_surface
from robots.touchdown import impact, touchdown
from saltation.hilqr import Drift, Jump, Linearisation, Trajectory

# A foot that lands more slowly than this gets D_x R only: on 10 ms knots its landing time is not
# known well enough for the term of (3.2) that divides by the speed [m/s].
APPROACH_SPEED = 0.05
LEVEL = make_ground()
CONTACT_FORCE = 1.0  # a foot that carries more is in contact [N]


class Landing(NamedTuple):
    """A knot in which feet land, and what holds on both sides of it."""

    knot: int
    before: Array  # x = [q, v] (37) at its beginning
    after: Array  # (37) at its end
    inputs: Array  # torques (12) [N m]
    inputs_after: Array  # of the next knot
    contacts: Array  # (4) 1 for feet that stand from its beginning
    feet: tuple[int, ...]  # that land, in increasing order
    legs: Legs  # of the robot
    ground: Ground = LEVEL  # on which


def touchdown_jumps(
    dynamics: ContactDynamics, landing: Landing, period: float, order: TouchdownOrder
) -> list[Jump]:
    """The transitions of one knot of `period` [s], in order of time.

    "index" takes the feet in increasing order of their index, as the thesis does; "selected" in
    `arrival_order`; "average" is one transition, the mean over all orders. The last foot takes the
    next knot's torque for its F+: an optimal input jumps at an event, and the event sits on the
    border between the two knots.
    """
    q, v = landing.before[:19], landing.before[19:]
    _, v = dynamics.step(q, v, landing.inputs, landing.contacts, period)
    if order == "average" and len(landing.feet) > 1:
        return [_mean(dynamics, landing, v)]
    feet = arrival_order(dynamics, landing) if order == "selected" else landing.feet
    transitions, down = [], ()
    for foot in feet:
        hit = _touchdown(dynamics, landing, v, down, foot)
        transitions.append(Jump(landing.knot, hit.saltation, hit.reset_jacobian))
        v, down = hit.v_plus, (*down, foot)
    return transitions


def warm_up(robot: Robot, dynamics: ContactDynamics, period: float, order: TouchdownOrder) -> None:
    """Let three feet land: a robot's first landing must not wait for a compiler."""
    x, torque = np.zeros(37), np.zeros(12)
    x[2], x[6], x[7:19], x[21] = robot.stand_height, 1.0, robot.stand, -1.0
    standing = np.array([0.0, 1.0, 0.0, 0.0])
    landing = Landing(0, x, x, torque, torque, standing, (0, 2, 3), robot.legs)
    touchdown_jumps(dynamics, landing, period, order)


def arrival_order(dynamics: ContactDynamics, landing: Landing) -> tuple[int, ...]:
    """The feet in the order in which they cross the ground from the knot's beginning.

    To first order, as an event-selected integrator projects: the next foot is the one of least
    dt = -h / (Dh F), its distance from the ground over its speed towards it; the state moves by
    F dt and has that foot's impact. Feet that do not come down are last, equal ones in order of
    their index.
    """
    q, v = landing.before[:19], landing.before[19:]
    contacts, order, left = landing.contacts.copy(), [], list(landing.feet)
    while len(left) > 1:
        times = _arrival_times(landing, q, v)
        foot = min(left, key=lambda i: times[i])
        order.append(foot)
        left.remove(foot)
        if len(left) < 2 or not np.isfinite(times[foot]):
            break
        a, _ = dynamics.acceleration(q, v, landing.inputs, contacts)
        q, v = integrate(q, v, times[foot] * np.concatenate((v, a)))
        contacts[foot] = 1.0
        v = impact(dynamics, q, v, contacts).v_plus
    return (*order, *left)


def _arrival_times(landing: Landing, q: Array, v: Array) -> Array:
    """Time to each foot's landing at its present velocity (4) [s]; inf where there is none."""
    legs, rotation = landing.legs, rotation_from_quaternion(q[3:7])
    feet, jacobians = foot_positions_in_base(legs, q[7:]), foot_jacobians_in_base(legs, q[7:])
    swinging = np.einsum("lij,lj->li", jacobians, v[6:].reshape(4, 3))
    moving = v[:3] + np.cross(v[3:6], feet) + swinging
    x, y, z = (moving @ row for row in rotation)
    distance, nx, ny, nz = np.array([_surface(landing, q, foot) for foot in range(4)]).T
    height, fall = distance - legs.foot_radius, -(nx * x + ny * y + nz * z)
    return np.where(fall > 0.0, height / np.where(fall > 0.0, fall, 1.0), np.inf)


def _surface(landing: Landing, q: Array, foot: int) -> tuple[float, float, float, float]:
    """Distance of a foot's centre from the ground [m], and the unit normal there."""
    rotation = rotation_from_quaternion(q[3:7])
    feet = foot_positions_in_base(landing.legs, q[7:])
    x, y, z = (q[i] + (feet @ rotation[i])[foot] for i in range(3))
    return nearest_surface(landing.ground, x, y, z)


def _mean(dynamics: ContactDynamics, landing: Landing, v: Array) -> Jump:
    """The mean of the products of Xi over all orders, as one transition.

    Sums over orders grow from those of the sets of feet (bits of a mask) that one foot fewer is
    down in: k 2^(k-1) touchdowns, not k k!.
    """
    feet, size = landing.feet, 36
    full = (1 << len(feet)) - 1
    totals, resets, velocities = {0: np.eye(size)}, {0: np.eye(size)}, {0: v}
    for mask in range(1, full + 1):
        totals[mask] = np.zeros((size, size))
        for i in [i for i in range(len(feet)) if mask >> i & 1]:
            fewer = mask & ~(1 << i)
            down = [foot for j, foot in enumerate(feet) if fewer >> j & 1]
            hit = _touchdown(dynamics, landing, velocities[fewer], down, feet[i])
            totals[mask] += hit.saltation @ totals[fewer]
            # Whichever foot comes last: the feet of a set stop at one velocity.
            resets[mask], velocities[mask] = hit.reset_jacobian @ resets[fewer], hit.v_plus
    return Jump(landing.knot, totals[full] / factorial(len(feet)), resets[full])


def _touchdown(
    dynamics: ContactDynamics, landing: Landing, v: Array, down: Sequence[int], foot: int
) -> Touchdown:
    """Let `foot` touch down at the knot's end, where those of `down` have just done so."""
    contacts = landing.contacts.copy()
    contacts[list(down)] = 1.0
    last = len(down) + 1 == len(landing.feet)
    after = landing.inputs_after if last else landing.inputs
    q = landing.after[:19]
    normal = np.array(_surface(landing, q, foot)[1:])
    return touchdown(dynamics, q, v, landing.inputs, contacts, foot, APPROACH_SPEED, after, normal)


class RigidDerivatives:
    """Constrained dynamics (3.59) between knots, saltation matrices (3.2) at landings (6.4.3).

    A trajectory's `aux` must hold its feet's normal forces (N, 4) [N].
    """

    def __init__(
        self, robot: Robot, period: float, touchdown_order: TouchdownOrder = "index",
        ground: Ground | None = None,
    ) -> None:  # fmt: skip
        """Compile what is compiled.

        Args:
            robot: whose derivatives they are.
            period: time between knots [s].
            touchdown_order: of feet that land within one.
            ground: on which they land: it has the guards' normals. None is the floor z = 0.
        """
        model = load_pinocchio(robot)
        self.dynamics = ContactDynamics(model, foot_frame_ids(model))
        warm_up(robot, self.dynamics, period, touchdown_order)
        self._period, self._ground = period, ground or make_ground()
        self._legs = robot.legs
        self._order: TouchdownOrder = touchdown_order

    def move_ground(self, ground: Ground) -> None:
        """Land on `ground` from now on."""
        self._ground = ground

    def linearise(self, trajectory: Trajectory) -> Linearisation:
        """A (N, 36, 36), B (N, 36, 12), and the touchdowns between the knots; the joints drift."""
        states, inputs = trajectory.states, trajectory.inputs
        contacts = (trajectory.aux > CONTACT_FORCE).astype(np.float64)
        landings = contacts[1:] > contacts[:-1]
        A, B = np.empty((len(inputs), 36, 36)), np.empty((len(inputs), 36, 12))
        for k, (x, tau) in enumerate(zip(states[:-1], inputs, strict=True)):
            self.dynamics.step_derivatives_into(
                x[:19], x[19:], tau, contacts[k], self._period, A[k], B[k]
            )
        transitions: list[Jump] = []
        for k in np.flatnonzero(landings.any(axis=1)):
            landing = Landing(int(k), states[k], states[k + 1], inputs[k], inputs[k + 1],
                              contacts[k], tuple(np.flatnonzero(landings[k]).tolist()),
                              self._legs, self._ground)  # fmt: skip
            transitions += touchdown_jumps(self.dynamics, landing, self._period, self._order)
        return Linearisation(A, B, transitions, Drift(6, 18, 18, self._period))
