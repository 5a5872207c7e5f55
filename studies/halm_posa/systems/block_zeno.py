"""The rocking block of section 4.3, simulated through its impacts (Halm and Posa).

State [q (3), v (3), Lambda_n,A, Lambda_n,B]: beside the configuration and velocity, the normal
impulses so far [N s], so that s = t + Lambda_n,A + Lambda_n,B by (63). In mode A the block turns
about corner A, held by the force of (61)-(62), until B comes down; the reset is the sticking
impact (66) at B. Neither the pendulum (56) nor the ratio (68) is used here, but to refuse a block
that does not rock.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hybrid.options import SimulationOptions
from hybrid.simulation import Run, simulate
from hybrid.systems import Array, Mode, System, Transition
from studies.halm_posa.systems.block_zeno_closed_form import check_rocks
from studies.halm_posa.systems.rocking_block import (
    RockingBlock,
    arms,
    corners,
    mass_matrix,
    normal_jacobian,
    standing,
    tangential_jacobian,
)

A, B = 0, 1  # corners, and the modes that turn about them
_OPTIONS = SimulationOptions(rtol=1e-11, atol=1e-13, guard_tolerance=1e-13, max_events=10**6
)


class Impact(NamedTuple):
    """One sticking impact, and the half cycle before it."""

    time: float  # t [s]
    s: float  # where it begins [s + N s]
    impulse: float  # Lambda_n, and its length in s [N s]
    corner: int  # A or B, the one that arrives
    rate: float  # angular rate after it [rad/s]
    friction_used: float  # largest |tangential| / normal force, in the half cycle and the impact


class ZenoRun(NamedTuple):
    """A rocking block, up to the last impact that was asked for."""

    impacts: tuple[Impact, ...]
    run: Run
    status: str  # "stopped" where all impacts came; "slides" where friction could not hold a
    # corner, so that this is no solution; else as of ``hybrid.simulation.simulate``
    message: str


def rock(block: RockingBlock, rate: float = 1.0, impacts: int = 40) -> ZenoRun:
    """Turn about A from the ground with an angular rate [rad/s], until the given impact.

    Raises:
        ValueError: the rate is not positive, no impact is asked for, or the block does not rock
            from corner to corner.
    """
    if not (rate > 0.0 and impacts > 0):
        raise ValueError(
            f"rocking block: rate {rate} rad/s and {impacts} impacts; give a positive rate and one"
            " impact or more"
        )
    check_rocks(block, rate)
    left = [impacts]

    def last(_: object) -> bool:
        left[0] -= 1
        return left[0] == 0

    duration = 100.0 * np.sqrt(block.radius / block.gravity)
    start = np.concatenate([standing(block), rate * _turning(block, A), np.zeros(2)])
    run = simulate(zeno_system(block), A, start, duration, options=_OPTIONS, until=last)
    collisions = _impacts(block, run)
    needed = max((impact.friction_used for impact in collisions), default=0.0)
    if needed > block.friction:
        message = (
            f"rocking block: a held corner would slide; mu = {block.friction:g}, and sticking takes"
            f" {needed:.4g}: give it more friction"
        )
        return ZenoRun(collisions, run, "slides", message)
    return ZenoRun(collisions, run, run.status, run.message)


def zeno_system(block: RockingBlock) -> System:
    """Modes A and B, in which that corner is held, and the sticking impact of the other."""
    edges = _landing(block, A, B), _landing(block, B, A)
    return System({A: _held(block, A), B: _held(block, B)}, edges, "rocking block")


def holding_force(block: RockingBlock, x: Array, corner: int) -> Array:
    """Normal and tangential force (2,) [N] that keep a corner at rest, by (61)-(62).

    Args:
        block: the block.
        x: the state (8,), or its q and v (6,).
        corner: A or B.
    """
    arm, rate = arms(block, x[2])[corner], x[5]
    J = contact_jacobian(block, x[2], corner)
    drift = -(rate**2) * arm[::-1]  # dJ/dt v, normal first
    weight = np.array([0.0, -block.gravity, 0.0])
    return _stopping(block, J, J @ weight + drift)


def sticking_impulse(block: RockingBlock, x: Array, corner: int) -> Array:
    """Normal and tangential impulse Lambda (2,) [N s] that stop a corner, by (66)."""
    J = contact_jacobian(block, x[2], corner)
    return _stopping(block, J, J @ x[3:6])


def _stopping(block: RockingBlock, J: Array, motion: Array) -> Array:
    """Force or impulse (2,) at a corner that takes its acceleration or velocity (2,) away."""
    return np.linalg.solve(J @ np.linalg.solve(mass_matrix(block), J.T), -motion).astype(np.float64)


def contact_jacobian(block: RockingBlock, theta: float, corner: int) -> Array:
    """J (2, 3) of one corner, its normal row first."""
    rows = normal_jacobian(block, theta)[corner], tangential_jacobian(block, theta)[corner]
    return np.stack(rows)


def _turning(block: RockingBlock, corner: int) -> Array:
    """Velocity (3,) at which the block, flat, turns about a corner at 1 rad/s, (64)."""
    arm = arms(block, 0.0)[corner]
    return np.array([arm[1], -arm[0], 1.0])


def _held(block: RockingBlock, corner: int) -> Mode:
    inverse = np.linalg.inv(mass_matrix(block))
    weight = np.array([0.0, -block.gravity, 0.0])

    def flow(t: float, x: Array, u: Array) -> Array:
        force = holding_force(block, x, corner)
        acceleration = weight + inverse @ contact_jacobian(block, x[2], corner).T @ force
        impulses = np.zeros(2)
        impulses[corner] = force[0]
        return np.concatenate([x[3:6], acceleration, impulses])

    return Mode("AB"[corner], 8, 0, flow)


def _landing(block: RockingBlock, held: int, other: int) -> Transition:
    inverse = np.linalg.inv(mass_matrix(block))

    def height(t: float, x: Array, u: Array) -> float:
        return float(corners(block, x[:3])[other, 1])

    def stick(t: float, x: Array, u: Array) -> Array:
        impulse = sticking_impulse(block, x, other)
        after = x.copy()
        after[:3] = standing(block)  # both corners are down, but for what integration left
        after[0] = x[0]
        after[3:6] += inverse @ contact_jacobian(block, x[2], other).T @ impulse
        after[6 + other] += impulse[0]
        return after

    return Transition(held, other, height, stick, name="AB"[other], time_invariant=True)


def _impacts(block: RockingBlock, run: Run) -> tuple[Impact, ...]:
    collisions = []
    for event, segment in zip(run.events, run.segments, strict=False):
        before, after = event.state_before, event.state_after
        corner = event.transition.target
        held = [holding_force(block, x, event.transition.source) for x in segment.states]
        pulls = [*held, sticking_impulse(block, before, corner)]
        collisions.append(
            Impact(
                event.time,
                event.time + float(before[6:].sum()),
                float((after - before)[6:].sum()),
                corner,
                float(after[5]),
                max(abs(float(pull[1] / pull[0])) for pull in pulls),
            )
        )
    return tuple(collisions)
