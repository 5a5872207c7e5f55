"""Options of the planner MPPI, tuned on the pushes of `table-6.1` (docs/planners.md)."""

from __future__ import annotations

from typing import Annotated, Final, Self

import msgspec

from controller.cost_options import CostOptions, Triple
from runtime.options import Options, Range, positive

MOST_SAMPLES: Final = 10_000


class MppiOptions(Options, frozen=True):
    """The section `mppi` of a launch file.

    Attributes:
        knots: length of the horizon.
        period: time between knots.
        samples: rollouts of an iteration.
        iterations: of a solve.
        spline: time between the points of a sample's spline, through which it is cubic.
        noise: standard deviations of a point's joint targets: hip, thigh, calf of each leg.
        temperature: of the weights, in standard deviations of the samples' costs.
        kp: stiffness from joint targets to torques, also of the plan's feedback.
        kd: damping of the plan's feedback.
        seed: of the random numbers.
        substeps: physics steps within a knot.
        threads: number of threads of the physics.
        time_limit: a solve in real time that has lasted longer begins no other iteration.
        cost: weights of the tracking cost.
        replan: false leaves the robot to the tracker, along the reference with its own gains.
    """

    knots: Annotated[int, Range("-", 2, 500)] = 25
    period: Annotated[float, Range("s", 0.001, 0.1)] = 0.01
    samples: Annotated[int, Range("-", 1, MOST_SAMPLES)] = 50
    iterations: Annotated[int, Range("-", 1, 100)] = 1
    spline: Annotated[float, positive("s", 10.0)] = 0.2
    noise: Annotated[Triple, Range("rad", 0.0, 3.0)] = (0.1, 0.15, 0.13)
    temperature: Annotated[float, positive("-", 1e6)] = 0.012
    kp: Annotated[float, Range("N m/rad", 0.0, 1000.0)] = 30.0
    kd: Annotated[float, Range("N m s/rad", 0.0, 100.0)] = 1.0
    seed: Annotated[int, Range("-", 0, 2**32 - 1)] = 0
    substeps: Annotated[int, Range("-", 1, 100)] = 1
    threads: Annotated[int, Range("-", 1, 256)] = 2
    time_limit: Annotated[float, Range("s", 0.0, 10.0, above=True)] = 0.018
    cost: CostOptions = CostOptions()
    replan: bool = True

    def with_threads(self, threads: int) -> Self:
        """With at most so many threads; the numbers stay the same."""
        return msgspec.structs.replace(self, threads=min(self.threads, threads))

    def with_effort(self, effort: int) -> Self:
        """With so many samples, in one iteration."""
        return msgspec.structs.replace(self, samples=min(effort, MOST_SAMPLES), iterations=1)
