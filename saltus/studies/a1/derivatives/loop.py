"""Whether the 1 kHz loop can take the gains: growth of small errors under them, with a delay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hybrid.systems import Array
from saltus.studies.a1.derivatives.problems import Problem, Progress, spread
from sim_bridge.rollouts.derivatives import RolloutDerivatives

TICK = 0.001  # [s]
DELAYS = (1, 10)  # from estimate to torque [ticks]; 10 ms is the slowest command of our suites
PROBLEMS, KNOTS = 12, (0, 5, 10, 20)  # of which the loop is looked at


def loop_growth(A: Array, B: Array, K: Array, delay: int) -> float:
    """Fastest growth [1/s] of x_t+1 = A x_t + B K x_t-delay, one tick a step.

    A (n, n) and B (n, m) of one tick, gains K (m, n); the delay is one tick or more.
    """
    n, m = B.shape
    loop = np.zeros((n + m * delay, n + m * delay))
    loop[:n, :n], loop[:n, n : n + m] = A, B
    loop[n:-m, n + m :] = np.eye(m * (delay - 1))
    loop[-m:, :n] = K
    return float(np.log(np.abs(np.linalg.eigvals(loop)).max()) / TICK)


def measure_loops(
    problems: Sequence[Problem], gains: Mapping[str, Array], progress: Progress
) -> dict[tuple[str, int], Array]:
    """Growth rates [1/s] by kind and delay, over some knots of some problems.

    The state of each knot is held still: its contacts and its gains stay as they are.

    Args:
        problems: whose seeds give the states.
        gains: (P, N, 12, 36) of each kind.
        progress: is told how far it is.
    """
    tick = RolloutDerivatives(TICK, 1, 1)
    growth: dict[tuple[str, int], list[float]] = {(k, d): [] for k in gains for d in DELAYS}
    chosen = spread(range(len(problems)), PROBLEMS)
    for done, p in enumerate(chosen):
        progress(done, len(chosen), "loops")
        linear = tick.linearise(problems[p].seed)
        for (kind, delay), rates in growth.items():
            K = gains[kind][p]
            rates += [loop_growth(linear.A[k], linear.B[k], K[k], delay) for k in KNOTS]
    return {key: np.array(rates) for key, rates in growth.items()}
