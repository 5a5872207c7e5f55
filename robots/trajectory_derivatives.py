"""Derivatives of the discrete step along a whole trajectory, on several threads."""

# Compiled modules carry no stubs.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pinocchio as pin

from robots.leg_tree import leg_tree
from robots.rotations import Array
from robots.step_kernel import linearise_steps

CHUNK = 10  # knots that a thread takes at a time


class TrajectoryDerivatives:
    """What `ContactDynamics.step_derivatives` gives at every knot, to rounding, in one call.

    Compiled for a robot of four legs with three joints each; the compiled code knows no Python
    lock, so the caller may do something else meanwhile.
    """

    def __init__(self, model: pin.Model, foot_frames: Sequence[int], threads: int = 1) -> None:
        """`threads` work together, the caller's among them.

        Raises:
            ValueError: the model is no such robot.
        """
        self.tree = leg_tree(model, foot_frames)
        self.helpers = threads - 1
        self.pool = ThreadPoolExecutor(self.helpers) if self.helpers > 0 else None

    def start(self, states: Array, inputs: Array, contacts: Array, dt: float) -> PendingDerivatives:
        """Begin on the other threads; `finish()` of what comes back waits and helps.

        Args:
            states: x = [q, v] (N or more, 37).
            inputs: joint torques (N, 12) [N m].
            contacts: (N, 4), above 0.5 where a foot stands.
            dt: [s].
        """
        return PendingDerivatives(self, states, inputs, contacts, dt)


class PendingDerivatives:
    """One trajectory's derivatives in the making."""

    def __init__(
        self, owner: TrajectoryDerivatives, states: Array, inputs: Array, contacts: Array, dt: float
    ) -> None:
        knots = len(inputs)
        self._arguments = (owner.tree, states, inputs, contacts, dt)
        self.A, self.B = np.empty((knots, 36, 36)), np.empty((knots, 36, 12))
        self._queue = deque(range(0, knots, CHUNK))
        pool = owner.pool
        self._helping = [pool.submit(self._work) for _ in range(owner.helpers)] if pool else []

    def finish(self) -> tuple[Array, Array]:
        """A (N, 36, 36) and B (N, 36, 12), when all is done."""
        self._work()
        for helper in self._helping:
            helper.result()
        return self.A, self.B

    def _work(self) -> None:
        """Take chunks until none is left."""
        while True:
            try:
                first = self._queue.popleft()
            except IndexError:
                return
            last = min(first + CHUNK, len(self.A))
            linearise_steps(*self._arguments, first, last, self.A, self.B)
