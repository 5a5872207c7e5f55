"""The rocking block on corners of stiff rubber (Halm and Posa, section 5.4.1).

Kelvin-Voigt normal forces (88) and friction smoothed near zero slip (89)-(90), integrated by
scipy's Radau, whose Jacobian is exact here: friction changes from -mu to mu within 1e-10 m/s, far
less than a difference quotient spans. State y = [q (3), v (3), Lambda_n,A, Lambda_n,B].

(88) prints the damping as 2 zeta sqrt(k / m), which is no force; it is 2 zeta sqrt(k m), the same
at m = 1 kg. The printed delta is no velocity either; its value is 1e-9 m/s. The source ends a
collision when no corner in contact closes faster than delta. Here no corner may, in contact or
not: a corner that is still above the ground is on its way to the second half of the collision.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import solve_ivp

from hybrid.examples.impacts.rocking_block import (
    RockingBlock,
    arms,
    mass_matrix,
    normal_jacobian,
    standing,
)
from hybrid.systems import Array


_ENERGY = 1.0 + 1e-6  # a collision that ends with more than it had is an error of integration


@dataclass(frozen=True)
class CompliantContact:
    """Corners that give way; the defaults are those of 5.4.1."""

    stiffness: tuple[float, float] = (1e6, 1e6)  # k_A, k_B [N/m]
    damping_ratio: float = 5.0  # zeta
    slip: float = 1e-10  # epsilon of (90) [m/s]
    separated: float = 1e-9  # delta: what closes more slowly has ended its collision [m/s]
    relative: float = 1e-9  # tolerance of the integration; from 1e-7 on it may step over sticking
    absolute: float = 1e-12
    duration: float = 0.1  # after which a collision has not ended [s]


class CompliantImpact(NamedTuple):
    """A collision that took its time."""

    v_plus: Array  # (3,) where it ended
    q_plus: Array  # (3,)
    impulses: Array  # (2,) Lambda_n of A and B [N s]
    before_second: float  # share of the first corner's impulse that came before the second touched
    time: float  # [s]
    status: str  # "separated", "not_ended", or "failed: " and scipy's message


def stiffness_for(ratio: float, softest: float = 1e6) -> tuple[float, float]:
    """k_A and k_B [N/m] of a ratio k_A / k_B, the softer of them as given."""
    return softest * max(ratio, 1.0), softest * max(1.0 / ratio, 1.0)


def arrival(block: RockingBlock, theta: float) -> Array:
    """State (6,) in which the first corner touches, the block at an angle theta [rad].

    The energy is that of ``velocity(block)`` when standing flat: what the centre is raised is
    taken from its speed.

    Raises:
        ValueError: the speed is too small to raise the block.
    """
    q = standing(block)
    q[1], q[2] = -float(arms(block, theta)[:, 1].min()), theta
    squared = block.speed**2 - 2.0 * block.gravity * (q[1] - 0.5 * block.height)
    if not squared > 0.0:
        raise ValueError(
            f"rocking block: at {theta:.3g} rad it would have to be raised by more than"
            f" {block.speed} m/s reach; give a smaller angle or more speed"
        )
    return np.concatenate([q, [0.0, -math.sqrt(squared), 0.0]])


def collide(block: RockingBlock, contact: CompliantContact, theta: float = 0.0) -> CompliantImpact:
    """Let the block land at an angle [rad], until neither corner closes any more.

    Integration stops and starts anew where a corner touches or leaves, as the force jumps there.
    """
    y, t, status = np.concatenate([arrival(block, theta), np.zeros(2)]), 0.0, "moving"
    touching = _heights(block, y) <= 1e-14
    first, share = int(np.argmax(touching)), math.nan if touching.sum() == 1 else 0.0
    while status == "moving":
        run = solve_ivp(
            lambda _, y, on=touching: _flow(block, contact, on, y),
            (t, contact.duration), y, "Radau",
            events=[_separation(block, contact), _crossing(block, 0, touching[0]),
                    _crossing(block, 1, touching[1])],
            jac=lambda _, y, on=touching: _jacobian(block, contact, on, y),
            rtol=contact.relative, atol=contact.absolute,
        )  # fmt: skip
        y, t = run.y[:, -1], float(run.t[-1])
        status = _status(run)
        crossed = np.array([len(times) > 0 for times in run.t_events[1:]])
        touching = touching ^ crossed
        if math.isnan(share) and crossed[1 - first]:
            share = float(y[6 + first])
    if status == "separated" and _energy(block, y) > _ENERGY * _energy(
        block, arrival(block, theta)
    ):
        status = "failed: the energy grew; give a smaller relative tolerance"
    return CompliantImpact(y[3:6], y[:3], y[6:], share / float(y[6 + first]), t, status)


def _energy(block: RockingBlock, y: Array) -> float:
    """Of motion and of weight [J], over standing flat."""
    raised = block.mass * block.gravity * (y[1] - 0.5 * block.height)
    return float(0.5 * y[3:6] @ mass_matrix(block) @ y[3:6] + raised)


def _status(run: Any) -> str:
    if run.status == 1:
        return "separated" if len(run.t_events[0]) else "moving"
    return "not_ended" if run.status == 0 else f"failed: {run.message}"


def _heights(block: RockingBlock, y: Array) -> Array:
    """phi (2,) of A and B [m]."""
    return y[1] + arms(block, y[2])[:, 1]


def _separation(block: RockingBlock, contact: CompliantContact) -> Callable[[float, Array], float]:
    """Event: the slower corner stops closing."""

    def closing(t: float, y: Array) -> float:
        return float((normal_jacobian(block, y[2]) @ y[3:6]).min()) + contact.separated

    return _terminal(closing, 1.0)


def _crossing(block: RockingBlock, corner: int, touching: bool) -> Callable[[float, Array], float]:
    """Event: a corner that is touching leaves, or one that is not touches."""
    return _terminal(lambda t, y: float(_heights(block, y)[corner]), 1.0 if touching else -1.0)


def _terminal(event: Callable[[float, Array], float], direction: float) -> Any:
    """Mark an event as scipy wants it: it ends the integration, crossed in one direction."""
    marked: Any = event
    marked.terminal, marked.direction = True, direction
    return marked


class _Force(NamedTuple):
    """Force of one corner and its derivatives."""

    n: float  # lambda_n (88) [N]
    t: float  # lambda_t (89) [N]
    n_y: Array  # (6,) by [q, v]
    t_y: Array  # (6,)


def _force(
    block: RockingBlock, contact: CompliantContact, corner: int, arm: Array, y: Array
) -> _Force:
    """(88)-(90) of a corner at an arm (2,) [m] from the centre, which is in contact."""
    (rx, ry), (vx, vy, rate) = arm, y[3:6]
    k = contact.stiffness[corner]
    c = 2.0 * contact.damping_ratio * math.sqrt(k * block.mass)
    n = -k * (y[1] + ry) - c * (vy + rx * rate)
    if n <= 0.0:
        return _Force(0.0, 0.0, np.zeros(6), np.zeros(6))
    n_y = np.array([0.0, -k, -k * rx + c * ry * rate, 0.0, -c, -c * rx])
    slip = vx - ry * rate
    sticks = abs(slip) < contact.slip
    unit = slip / max(abs(slip), contact.slip)
    t_y = -block.friction * unit * n_y
    if sticks:
        slip_y = np.array([0.0, 0.0, -rx * rate, 1.0, 0.0, -ry])
        t_y = t_y - block.friction * n / contact.slip * slip_y
    return _Force(n, -block.friction * n * unit, n_y, t_y)


def _flow(block: RockingBlock, contact: CompliantContact, touching: Array, y: Array) -> Array:
    """(10) with the forces of the corners that touch (8,)."""
    out = np.zeros(8)
    out[:3], out[4] = y[3:6], -block.gravity
    for i, arm in enumerate(arms(block, y[2])):
        if touching[i]:
            force = _force(block, contact, i, arm, y)
            out[3] += force.t / block.mass
            out[4] += force.n / block.mass
            out[5] += (arm[0] * force.n - arm[1] * force.t) / block.inertia
            out[6 + i] = force.n
    return out


def _jacobian(block: RockingBlock, contact: CompliantContact, touching: Array, y: Array) -> Array:
    """Derivative of ``_flow`` by y (8, 8)."""
    out = np.zeros((8, 8))
    out[:3, 3:6] = np.eye(3)
    for i, arm in enumerate(arms(block, y[2])):
        if touching[i]:
            force = _force(block, contact, i, arm, y)
            out[3, :6] += force.t_y / block.mass
            out[4, :6] += force.n_y / block.mass
            turn = arm[0] * force.n_y - arm[1] * force.t_y
            turn[2] -= arm[1] * force.n + arm[0] * force.t  # the arm turns with theta
            out[5, :6] += turn / block.inertia
            out[6 + i, :6] = force.n_y
    return out
