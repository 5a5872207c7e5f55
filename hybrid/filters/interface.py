"""What every hybrid filter answers, so that a study or a bench can hold any of them."""

from __future__ import annotations

from typing import Literal, NamedTuple, Protocol

from hybrid.systems import Array

Status = Literal["ok", "not_transverse", "simulation_failed", "not_finite", "rejected"]


class Belief(NamedTuple):
    """What a filter believes: a mode, and a Gaussian of the state in it.

    Status is "ok"; "not_transverse" where an event was grazed and D_x R stood in for Xi;
    "simulation_failed" where the mean could not be followed to the end of the step;
    "not_finite" where a measurement or the result was not finite (the belief is then the last
    sound one, predicted without it where possible); "rejected" where no mode explains the
    measurement.
    """

    time: float  # [s]
    mode: int
    mean: Array  # (n,) of that mode
    Sigma: Array  # (k, k) of its tangent vectors, symmetric
    transitions: int  # events in the last step, of prediction and correction together
    status: Status


class HybridFilter(Protocol):
    """A filter that is led through time step by step. `step` never raises on what it is fed."""

    @property
    def belief(self) -> Belief:
        """What is believed now."""
        ...

    def step(self, u: Array, y: Array | None, duration: float) -> Belief:
        """Predict over a duration [s] with the input u (m,) held, then correct with y (p,).

        Without a measurement (None) the step predicts only.
        """
        ...
