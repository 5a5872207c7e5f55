"""The rocking block landing on corners that give way (Halm and Posa, section 5.4.1).

Integrated by scipy's Radau, from the touch of the first corner until neither closes any more. The
source ends a collision when no corner in contact closes; a corner that is still above the ground is
on its way to the second half of the collision, so here no corner may, in contact or not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import solve_ivp

from hybrid.systems import Array
from studies.halm_posa.systems.compliant_contact import CompliantContact, flow, jacobian
from studies.halm_posa.systems.rocking_block import (
    RockingBlock,
    arms,
    mass_matrix,
    normal_jacobian,
    standing,
)

_ENERGY = 1.0 + 1e-6  # a collision that ends with more than it had is an error of integration


class CompliantImpact(NamedTuple):
    """A collision that took its time."""

    v_plus: Array  # (3,) where it ended
    q_plus: Array  # (3,)
    impulses: Array  # (2,) Lambda_n of A and B [N s]
    before_second: float  # share of the first corner's impulse that came before the second touched
    time: float  # [s]
    status: str  # "separated", "not_ended", or "failed: " and scipy's message


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
            lambda _, y, on=touching: flow(block, contact, on, y),
            (t, contact.duration), y, "Radau",
            events=[_separation(block, contact), _crossing(block, 0, touching[0]),
                    _crossing(block, 1, touching[1])],
            jac=lambda _, y, on=touching: jacobian(block, contact, on, y),
            rtol=contact.relative, atol=contact.absolute,
        )  # fmt: skip
        y, t = run.y[:, -1], float(run.t[-1])
        status = _status(run)
        crossed = np.array([len(times) > 0 for times in run.t_events[1:]])
        touching = touching ^ crossed
        if math.isnan(share) and crossed[1 - first]:
            share = float(y[6 + first])
    started = _energy(block, arrival(block, theta))
    if status == "separated" and _energy(block, y) > _ENERGY * started:
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
