"""Options of the HiLQR MPC planner."""

from __future__ import annotations

from typing import Annotated, Final, Literal, Self

import msgspec

from controller.cost_options import CostOptions
from controller.limit_options import LimitOptions
from hybrid.options import LineSearch
from runtime.options import Options, Range

TouchdownOrder = Literal["index", "average", "selected"]
LEAST_KNOTS: Final = 25  # and how many more the next effort has
MORE_KNOTS: Final = 5
MOST_ITERATIONS: Final = 100
MOST_SUBSTEPS: Final = 100


class Search(Options, frozen=True):
    """How hard the planner looks for a better trajectory.

    Attributes:
        iterations: most HiLQR iterations of a solve.
        step_sizes: those that the line search tries.
        line_search: "exhaustive" tries all step sizes at once; "two_stage" the first two, then all
            others at once; "backtracking" one after the other. The last two end where a step
            reduces the cost by 0.3 of what it promised.
        substeps: physics steps within a knot.
        threads: number of threads of the physics and of its derivatives; rigid derivatives take
            one.
    """

    iterations: Annotated[int, Range("-", 1, MOST_ITERATIONS)] = 2
    step_sizes: Annotated[tuple[float, ...], Range("-", 0.0, 1.0, above=True)] = (
        1.0, 0.7, 0.49, 0.343, 0.24, 0.118, 0.058, 0.014,
    )  # fmt: skip
    line_search: LineSearch = "two_stage"
    substeps: Annotated[int, Range("-", 1, MOST_SUBSTEPS)] = 2
    threads: Annotated[int, Range("-", 1, 256)] = 2

    def __post_init__(self) -> None:
        """Raise ValueError for what no planner can run on."""
        Options.__post_init__(self)
        if not 1 <= len(self.step_sizes) <= 100:
            raise ValueError(f"step_sizes has {len(self.step_sizes)} values; give 1 to 100")


class RealtimeSearch(Search, frozen=True):
    """How hard the planner looks when the robot does not wait for it (6.4.4).

    Attributes:
        time_limit: a solve that has lasted longer when its line search begins tries fewer
            candidates, and is published all the same.
    """

    iterations: Annotated[int, Range("-", 1, MOST_ITERATIONS)] = 1
    step_sizes: Annotated[tuple[float, ...], Range("-", 0.0, 1.0, above=True)] = (
        1.0, 0.5, 0.2, 0.05,
    )  # fmt: skip
    line_search: LineSearch = "backtracking"
    substeps: Annotated[int, Range("-", 1, MOST_SUBSTEPS)] = 1
    threads: Annotated[int, Range("-", 1, 256)] = 1
    time_limit: Annotated[float, Range("s", 0.0, 10.0, above=True)] = 0.018

    def without_limit(self) -> Search:
        """The same search, which takes the time that it takes."""
        return Search(**{name: getattr(self, name) for name in Search.__struct_fields__})


class SolverOptions(Options, frozen=True):
    """What a solve is about, in either mode (6.4.4).

    Attributes:
        knots: length of the horizon.
        period: time between knots.
        tolerance: a solve ends when the expected change of cost falls below it.
        damping: regularisation of the input Hessian that a solve begins with.
        derivatives: what the backward pass differentiates. "rollout": of the rollouts' own steps,
            analytic; "differences": the same by finite differences; "rigid": of rigid feet that
            stick, with a transition where one lands, as in the thesis.
        variant: with rigid derivatives, "xi" carries the value function with saltation matrices,
            "dxr" with the Jacobian of the reset alone.
        touchdown_order: with rigid derivatives, the order of feet that land within one knot:
            "index", that of the legs; "average", the mean over all orders; "selected", that in
            which they reach the ground.
        cost: weights of the tracking cost.
        limits: that plans keep, by an augmented Lagrangian.
        replan: false leaves the robot to the tracker, along the reference with its own gains.
    """

    knots: Annotated[int, Range("-", 2, 500)] = 50
    period: Annotated[float, Range("s", 0.001, 0.1)] = 0.01
    tolerance: Annotated[float, Range("-", 0.0, 1e6)] = 1e-3
    damping: Annotated[float, Range("1/(N m)^2", 0.0, 1e6)] = 0.02
    derivatives: Literal["rigid", "rollout", "differences"] = "rollout"
    variant: Literal["xi", "dxr"] = "xi"
    touchdown_order: TouchdownOrder = "index"
    cost: CostOptions = CostOptions()
    limits: LimitOptions = LimitOptions()
    replan: bool = True


class PlannerOptions(SolverOptions, frozen=True):
    """What a planner is made with.

    Attributes:
        search: that of its mode.
    """

    search: Search = Search()


class HilqrSection(SolverOptions, frozen=True):
    """The section `hilqr` of a launch file.

    Attributes:
        paused: the search in lock step.
        realtime: the search in real time.
    """

    paused: Search = Search()
    realtime: RealtimeSearch = RealtimeSearch()

    @property
    def time_limit(self) -> float:
        """After how long a solve in real time tries fewer candidates [s]."""
        return self.realtime.time_limit

    def in_mode(self, mode: Literal["paused", "realtime"]) -> PlannerOptions:
        """The options of a planner in this mode."""
        search = self.realtime.without_limit() if mode == "realtime" else self.paused
        shared = {name: getattr(self, name) for name in SolverOptions.__struct_fields__}
        return PlannerOptions(**shared, search=search)

    def with_threads(self, threads: int) -> Self:
        """With at most so many threads in lock step; the numbers stay the same."""
        paused = msgspec.structs.replace(self.paused, threads=min(self.paused.threads, threads))
        return msgspec.structs.replace(self, paused=paused)

    def with_effort(self, effort: int) -> Self:
        """In lock step the search of real time at one of its efforts, from 1 on.

        The least has `LEAST_KNOTS` knots and one iteration. Each of the next has `MORE_KNOTS` more,
        up to the section's own number; then one more substep, up to those of lock step; then one
        more iteration, up to those of lock step; and then one more substep again. Iterations on
        coarse physics do harm, and how many are made differs from walk to walk
        (docs/experiments.md).
        """
        search, steps = self.realtime.without_limit(), effort - 1
        for_knots = min(steps, -(-max(0, self.knots - LEAST_KNOTS) // MORE_KNOTS))
        steps -= for_knots
        for_substeps = min(steps, max(0, self.paused.substeps - search.substeps))
        for_iterations = min(steps - for_substeps, self.paused.iterations - 1)
        search = msgspec.structs.replace(
            search,
            substeps=min(search.substeps + steps - for_iterations, MOST_SUBSTEPS),
            iterations=1 + for_iterations,
        )
        knots = min(self.knots, LEAST_KNOTS + MORE_KNOTS * for_knots)
        return msgspec.structs.replace(self, knots=knots, paused=search)


class IlqrFdSection(HilqrSection, frozen=True):
    """The section `ilqr_fd`: HiLQR's solver with the settings of mujoco_mpc for legged robots.

    These are a horizon of 0.35 s in steps of 10 ms, and derivatives by finite differences
    (arXiv 2503.04613).
    """

    knots: Annotated[int, Range("-", 2, 500)] = 35
    derivatives: Literal["rigid", "rollout", "differences"] = "differences"
