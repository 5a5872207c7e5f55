"""The four feet on the ground: where each touches, its force, and both differentiated.

The point of contact c lies on the ground's normal through the sphere's centre, half the depth
inside the sphere, as in MuJoCo. The normal is taken as it is: that it turns as a foot moves around
an edge is left out. A foot has nine variables: the base's position, the base's
orientation and the leg's three joints, in the local tangent. It has as many velocities.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from robots.kinematic_tree import JointFrames
from robots.rotations import Array
from robots.soft_contact import SoftContact, contact_force, impedance
from robots.terrain import nearest_surface
from robots.vectors import (
    Vector,
    apply,
    apply_transposed,
    cross,
    dot,
    minus,
    plus,
    times,
    triple,
    unit,
)

FEET, LEG = 4, 9


class FootContacts(NamedTuple):
    """Contacts of the feet at one state.

    Attributes:
        frame: (4, 3, 3) rows: the ground's normal and tangents at a foot, in the base.
        centre: (4, 3) of the spheres, in the base [m].
        distance: (4,) of the spheres to the ground [m]; a foot touches where it is negative.
        jacobian: (4, 3, 9) of c along the rows of its `frame`; zero where the foot does not touch.
        force: (4, 3) along them [N]; curvature: (4, 3, 3) K of the contact law [kg].
    """

    frame: Array
    centre: Array
    distance: Array
    jacobian: Array
    force: Array
    curvature: Array


@njit(cache=True)
def column(foot: int, i: int) -> int:
    """Place of variable i (0 to 8) of a foot among the robot's 18."""
    return i if i < 6 else 3 * foot + i


@njit(cache=True)
def foot_contacts(
    contact: SoftContact, frames: JointFrames, R: Array, position: Array, motion: Array
) -> FootContacts:
    """Find the feet that touch, and their forces.

    Args:
        contact: the law; frames: of the joints; R: rotation (3, 3) of the base.
        position: of the base (3,) [m].
        motion: a + b v (18,): J motion is the residual of the contact law without its stiffness.
    """
    feet = FootContacts(
        np.empty((FEET, 3, 3)), np.empty((FEET, 3)), np.empty(FEET), np.zeros((FEET, 3, LEG)),
        np.zeros((FEET, 3)), np.zeros((FEET, 3, 3)),
    )  # fmt: skip
    for foot in range(FEET):
        knee = 3 * foot + 2
        arm = apply(frames.rotations[knee + 1], triple(contact.centre[foot]))
        centre = plus(triple(frames.origins[knee]), arm)
        feet.centre[foot] = centre
        x, y, z = plus(triple(position), apply(R, centre))
        away, nx, ny, nz = nearest_surface(contact.ground, x, y, z)
        feet.distance[foot] = away - contact.radius[foot]
        if feet.distance[foot] < 0.0:
            _set_frame((nx, ny, nz), R, feet.frame[foot])
            _load(contact, frames, foot, motion, feet)
    return feet


@njit(cache=True)
def _set_frame(normal: Vector, R: Array, frame: Array) -> None:
    """Write a normal of the world and its tangents as rows (3, 3), in the base.

    MuJoCo's choice: the first tangent is the part across the normal of y, or of z where the normal
    is near y.
    """
    along = (0.0, 1.0, 0.0) if abs(normal[1]) < 0.5 else (0.0, 0.0, 1.0)
    first = minus(along, times(dot(normal, along), normal))
    first = times(1.0 / np.sqrt(dot(first, first)), first)
    for i, row in enumerate((normal, first, cross(normal, first))):
        frame[i] = apply_transposed(R, row)


@njit(cache=True, inline="always")
def _offset(contact: SoftContact, feet: FootContacts, foot: int) -> Vector:
    """From a sphere's centre to its point of contact, in the base [m]."""
    return times(-(contact.radius[foot] + 0.5 * feet.distance[foot]), triple(feet.frame[foot, 0]))


@njit(cache=True)
def _load(
    contact: SoftContact, frames: JointFrames, foot: int, motion: Array, feet: FootContacts
) -> None:
    """Fill in the Jacobian, the force and the curvature of a foot that touches."""
    c = plus(triple(feet.centre[foot]), _offset(contact, feet, foot))
    J, r = feet.jacobian[foot], np.zeros(3)
    for i in range(LEG):
        J[:, i] = apply(feet.frame[foot], _velocity_of(frames, foot, c, i))
        for k in range(3):
            r[k] += J[k, i] * motion[column(foot, i)]
    imp, _ = impedance(feet.distance[foot], contact.impedance)
    r[0] += contact.stiffness * imp * feet.distance[foot]
    contact_force(contact, foot, imp / (1.0 - imp), r, feet.force[foot], feet.curvature[foot])


@njit(cache=True, inline="always")
def _velocity_of(frames: JointFrames, foot: int, c: Vector, i: int) -> Vector:
    """Velocity of the foot's point c, in the base, at unit speed of variable i."""
    if i < 3:
        return unit(i)
    if i < 6:
        return cross(unit(i - 3), c)
    joint = 3 * foot + i - 6
    return cross(triple(frames.axes[joint]), minus(c, triple(frames.origins[joint])))


@njit(cache=True)
def add_foot(
    contact: SoftContact, frames: JointFrames, foot: int, motion: Array, feet: FootContacts,
    H: Array, rhs: Array,
) -> None:  # fmt: skip
    """Add a foot that touches to H da = rhs [dq; dv; dtau] (18, 18), (18, 48)."""
    J, K, force = feet.jacobian[foot], feet.curvature[foot], feet.force[foot]
    distance = feet.distance[foot]
    imp, imp_slope = impedance(distance, contact.impedance)
    push = contact.stiffness * (imp_slope * distance + imp)  # of the residual, by the distance
    growth = imp_slope / ((1.0 - imp) * imp)  # of D with the distance, in parts
    by_q, load = np.empty((3, LEG)), np.empty((LEG, LEG))
    _move(contact, frames, foot, motion, feet, by_q, load)
    change, KJ = np.empty((3, LEG)), np.empty((3, LEG))  # of the force by q, and by the residual
    for j in range(LEG):
        by_q[0, j] += push * J[0, j]
        grown = times(J[0, j], times(growth, triple(force)))
        KJ[:, j] = apply(K, triple(J[:, j]))
        change[:, j] = minus(grown, apply(K, triple(by_q[:, j])))
    for i in range(LEG):
        row = column(foot, i)
        for j in range(LEG):
            stiff, by_force = 0.0, load[i, j]
            for k in range(3):
                stiff += J[k, i] * KJ[k, j]
                by_force += J[k, i] * change[k, j]
            H[row, column(foot, j)] += stiff
            rhs[row, column(foot, j)] += by_force
            rhs[row, 18 + column(foot, j)] -= contact.damping * stiff


@njit(cache=True)
def _move(
    contact: SoftContact, frames: JointFrames, foot: int, motion: Array, feet: FootContacts,
    by_q: Array, load: Array,
) -> None:  # fmt: skip
    """Write d(J motion)/dq along the contact's frame (3, 9), and d(J' f)/dq (9, 9) at fixed f."""
    offset, centre = _offset(contact, feet, foot), triple(feet.centre[foot])
    c, n, force = plus(centre, offset), triple(feet.frame[foot, 0]), feet.force[foot]
    f, spin = apply_transposed(feet.frame[foot], triple(force)), triple(motion[3:6])
    velocity = plus(triple(motion), cross(spin, c))
    for j in range(3 * foot, 3 * foot + 3):
        z = triple(frames.axes[j])
        spin = plus(spin, times(motion[6 + j], z))
        velocity = plus(velocity, times(motion[6 + j], _velocity_of(frames, foot, c, 6 + j % 3)))
    for k in range(LEG):
        dc, turn, df, axis = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), unit(k % 3)
        moving = 3 * foot + k - 6  # the joint that variable k turns
        if k < 3:
            sink = dot(n, axis)
        elif k < 6:  # the ground turns against the base, and the force with it
            sink = dot(n, cross(axis, centre))
            turn, dc, df = axis, cross(offset, axis), cross(f, axis)
        else:
            axis = triple(frames.axes[moving])
            dc = cross(axis, minus(centre, triple(frames.origins[moving])))
            sink = dot(n, dc)
        dc = plus(dc, times(-0.5 * sink, n))
        du, moment = plus(cross(spin, dc), cross(turn, velocity)), plus(cross(dc, f), cross(c, df))
        for j in range(3 * foot, 3 * foot + 3):
            z, arm = triple(frames.axes[j]), minus(c, triple(frames.origins[j]))
            torque = plus(cross(dc, f), cross(arm, df))
            if 6 <= k and moving < j:
                dz = cross(axis, z)
                hip = minus(triple(frames.origins[j]), triple(frames.origins[moving]))
                shift = cross(axis, hip)  # of joint j
                torque = minus(torque, cross(shift, f))
                bend = minus(cross(dz, arm), cross(z, shift))
                du = plus(du, times(motion[6 + j], bend))
                load[6 + j % 3, k] = dot(dz, cross(arm, f)) + dot(z, torque)
            else:
                load[6 + j % 3, k] = dot(z, torque)
        by_q[:, k], load[:6, k] = apply(feet.frame[foot], du), df + moment
