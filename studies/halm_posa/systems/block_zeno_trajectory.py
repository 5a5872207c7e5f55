"""The rocking block as a solution of the inclusion (53): every quantity over s (Halm and Posa).

While a corner is held, t(s) is the inverse of (63); in an impact time and configuration stand
still and the velocity goes straight to its end (67). After the last impact that was
simulated the block is put to rest, and s runs on at 1 + m g.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hybrid.systems import Array
from studies.halm_posa.systems.block_zeno import A, B, ZenoRun, holding_force
from studies.halm_posa.systems.rocking_block import RockingBlock


class ZenoTrajectory(NamedTuple):
    """Samples of x(s), K of them; rates are those that end at the sample's place, by s."""

    s: Array  # (K,) [s + N s]
    t: Array  # (K,) [s]
    theta: Array  # (K,) [rad]
    rate: Array  # (K,) theta' [rad/s]
    time_rate: Array  # (K,) dt/ds, 1 / (1 + lambda_n) of (52), zero in an impact
    impulse_rates: Array  # (K, 2) d Lambda_n / ds of A and B


def trajectory(
    block: RockingBlock, run: ZenoRun, samples: int = 60, rest: float = 0.5
) -> ZenoTrajectory:
    """Sample a run, with as many samples in each half cycle and in each impact.

    Args:
        block: the block of the run.
        run: what ``rock`` gave.
        samples: in a half cycle, and as many in an impact; two or more.
        rest: how long the block stands after the last impact [s].
    """
    parts = []
    for segment, event in zip(run.run.segments, run.run.events, strict=False):
        times = np.linspace(segment.start, segment.end, samples)
        states = np.stack([*(run.run.at(t)[1] for t in times[:-1]), event.state_before])
        force = [holding_force(block, x, segment.mode)[0] for x in states]
        parts += [_held(times, states, np.array(force), segment.mode)]
        parts += [_impact(event.time, event.state_before, event.state_after, samples)]
    s, t = parts[-1].s[-1], parts[-1].t[-1]
    parts.append(_rest(s, t, rest, block.mass * block.gravity))
    return ZenoTrajectory(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _held(times: Array, states: Array, force: Array, corner: int) -> ZenoTrajectory:
    slow = 1.0 / (1.0 + force)
    pushes = np.zeros((len(times), 2))
    pushes[:, corner] = force * slow
    s = times + states[:, 6:].sum(axis=1)
    return ZenoTrajectory(s, times, states[:, 2], states[:, 5], slow, pushes)


def _impact(time: float, before: Array, after: Array, samples: int) -> ZenoTrajectory:
    """(67), between the states (8,) on both sides of an impact."""
    done = np.linspace(0.0, 1.0, samples)
    states = before + done[:, None] * (after - before)
    pushes = np.zeros((samples, 2))
    pushes[:, A if after[6] > before[6] else B] = 1.0
    s = time + states[:, 6:].sum(axis=1)
    still = np.full(samples, time)
    return ZenoTrajectory(s, still, states[:, 2], states[:, 5], np.zeros(samples), pushes)


def _rest(s: float, t: float, duration: float, weight: float) -> ZenoTrajectory:
    passed = np.linspace(0.0, duration, 2)
    pushes = np.full((2, 2), 0.5 * weight / (1.0 + weight))
    flat = np.zeros(2)
    slow = np.full(2, 1.0 / (1.0 + weight))
    return ZenoTrajectory(s + (1.0 + weight) * passed, t + passed, flat, flat, slow, pushes)
