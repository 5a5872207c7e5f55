"""Derivatives of the discrete step along a whole trajectory and of the touchdowns in it."""

# Compiled modules carry no stubs.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from robots.leg_tree import leg_tree
from robots.rotations import Array
from robots.step_kernel import linearise_steps
from robots.touchdown_kernel import saltate_landings

CHUNK = 10  # knots that a thread takes at a time


class StepsAndLandings(NamedTuple):
    """Derivatives along N knots with E touchdowns."""

    A: Array  # (N, 36, 36)
    B: Array  # (N, 36, 12)
    knot: NDArray[np.int64]  # (E,) in whose interval the foot lands
    foot: NDArray[np.int64]  # (E,)
    saltation: Array  # (E, 36, 36) Xi, (3.2)
    reset_jacobian: Array  # (E, 36, 36) D_x R, (3.76)


class TrajectoryDerivatives:
    """What `ContactDynamics.step_derivatives` and `touchdown` give, to rounding, in one call.

    Compiled for a robot of four legs with three joints each, and spread over threads: the compiled
    code knows no Python lock.
    """

    def __init__(self, model: pin.Model, foot_frames: Sequence[int], threads: int = 1) -> None:
        """`threads` work together, the caller's among them.

        Raises:
            ValueError: the model is no such robot.
        """
        self._tree = leg_tree(model, foot_frames)
        self._helpers = threads - 1
        self._pool = ThreadPoolExecutor(self._helpers) if self._helpers > 0 else None

    def compute(
        self, states: Array, inputs: Array, contacts: Array, dt: float, minimum_speed: float
    ) -> StepsAndLandings:
        """Differentiate a trajectory; a foot that stands and did not stand before has landed.

        Args:
            states: x = [q, v] (N+1, 37).
            inputs: joint torques (N, 12) [N m].
            contacts: (N, 4), 1 where a foot stands during a knot.
            dt: [s].
            minimum_speed: a foot that lands more slowly gets Xi = D_x R [m/s].
        """
        N = len(inputs)
        knot, foot = np.nonzero(contacts[1:] > contacts[:-1])
        E = len(knot)
        out = StepsAndLandings(
            np.empty((N, 36, 36)), np.empty((N, 36, 12)), knot, foot,
            np.empty((E, 36, 36)), np.empty((E, 36, 36)),
        )  # fmt: skip
        arguments = (self._tree, states, inputs, contacts, dt)
        queue = deque((first, min(first + CHUNK, N)) for first in range(0, N, CHUNK))

        def work() -> None:
            while True:
                try:
                    first, last = queue.popleft()
                except IndexError:
                    return
                linearise_steps(*arguments, first, last, out.A, out.B)

        helping = [self._pool.submit(work) for _ in range(self._helpers)] if self._pool else []
        if E:
            saltate_landings(
                *arguments, minimum_speed, knot, foot, out.saltation, out.reset_jacobian
            )
        work()
        for helper in helping:
            helper.result()
        return out
