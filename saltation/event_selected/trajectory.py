"""Trajectories of event-selected systems: the state at any time, and the crossings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from saltation.compiled.runge_kutta import dense_states
from saltation.systems import Array

Status = Literal["ok", "not_finite", "too_stiff", "zeno", "not_event_selected"]


class Crossing(NamedTuple):
    """One guard crossed, by projection."""

    time: float  # of the guard, where the projection ends [s]
    guard: int
    state_before: Array  # (n,) where the projection starts, in N^epsilon
    state_after: Array  # (n,) on the guard, to first order


@dataclass(frozen=True)
class EssRun:
    """A trajectory in pieces, each an integration step or a projection."""

    times: Array  # (K + 1,) [s]; a projection from the guard itself takes no time
    states: Array  # (K + 1, n)
    curves: Array  # (K, DEGREE, n) of the pieces, as in ``machine.Log``
    crossings: tuple[Crossing, ...]
    status: Status
    message: str = ""

    @property
    def ok(self) -> bool:
        """Whether the end of the duration was reached."""
        return self.status == "ok"

    @property
    def final_time(self) -> float:
        """Time at the end [s]."""
        return float(self.times[-1])

    @property
    def final_state(self) -> Array:
        """State (n,) at the end."""
        return self.states[-1]

    def at(self, t: float | Array) -> Array:
        """State (n,) at a time [s], or states (T, n) at times (T,).

        Of seventh order within integration steps, straight within projections.

        Raises:
            ValueError: the trajectory does not reach that time.
        """
        time = np.asarray(t, float)
        if not ((time >= self.times[0]) & (time <= self.times[-1])).all():
            raise ValueError(
                f"t = {t} s lies outside the trajectory, which goes from {self.times[0]} s to"
                f" {self.times[-1]} s (status {self.status!r}): ask within it"
            )
        if len(self.curves) == 0:
            return np.broadcast_to(self.states[0], (*time.shape, self.states.shape[1])).copy()
        i = np.clip(np.searchsorted(self.times, time, side="right") - 1, 0, len(self.curves) - 1)
        length = self.times[i + 1] - self.times[i]
        part = np.where(length > 0.0, time - self.times[i], 1.0) / np.where(length > 0, length, 1.0)
        return dense_states(self.states[i], self.curves[i], part[..., None])
