"""Tasks of the convergent-hybrid study, and their plans with and without the cost on Phi."""

# ruff: noqa: N806 (the letters are the thesis's)

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from hybrid.examples.bouncing_ball import FALLING, bouncing_ball
from hybrid.examples.hopper import FLIGHT
from hybrid.hilqr import Hilqr, HilqrOptions, Policies, Trajectory
from hybrid.hilqr.cost import Cost, QuadraticCost
from hybrid.hilqr.event_driven import EventDrivenModel
from hybrid.options import SimulationOptions
from hybrid.systems import Array, System
from studies.kong.convergent_hybrid.convergent_cost import ConvergentCost
from studies.kong.convergent_hybrid.ramped_inputs import ramped
from studies.kong.convergent_hybrid.variational_system import augmented, pack_augmented
from studies.kong.systems.driven_hopper import driven_hopper

Kind = Literal["plain", "convergent", "dxr"]
KINDS: tuple[Kind, ...] = ("plain", "convergent", "dxr")
SPREAD = 0.02  # standard deviation of a start in height [m]
SECONDS = 0.2  # a velocity error counts as the height error that it makes in this time [s]
OUTPUT = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, SECONDS, 0.0, 0.0]])  # W, of (z, v, f, df/dt)
STARTS = np.diag([SPREAD, SPREAD / SECONDS])  # V: 0.02 m and 0.1 m/s
COLUMNS = 2  # the force is the plan's own, and starts without error
TERMINAL = 1000.0  # on the squared end error, in height and SECONDS times velocity [1/m^2]
MAX_ITERATIONS = 60
ACCURACY = SimulationOptions(rtol=1e-8, atol=1e-10)


@dataclass(frozen=True)
class Task:
    """Where a system starts, and the height and velocity that it is to reach after a duration."""

    name: str
    bare: System  # states (z, v), one force
    mode: int  # at the start
    start: tuple[float, float]  # z [m], v [m/s]
    goal: tuple[float, float]
    duration: float  # [s]
    steps: int  # N
    effort: float  # weight of the squared force [1/(N^2 s)]
    smoothness: float  # of its squared second derivative [s^3/N^2]
    convergence: float  # w, of |W Phi V|_F^2 over the squared spread of the starts
    tolerance: float  # |dJ| at which a solve has converged

    @property
    def system(self) -> System:
        """States (z, v, f, df/dt): the force and its rate are continuous."""
        return ramped(ramped(self.bare))

    @property
    def timestep(self) -> float:
        """Length of a timestep [s]."""
        return self.duration / self.steps

    @property
    def first(self) -> Array:
        """State (4,) at the start, without force."""
        return np.array([*self.start, 0.0, 0.0])

    def cost(self, terminal: float = TERMINAL) -> QuadraticCost:
        """What all plans pay: the end error, the force, and how sharply it bends."""
        end = terminal * np.diag([1.0, SECONDS**2, 0.0, 0.0])
        force = self.timestep * np.diag([0.0, 0.0, self.effort, 0.0])
        bend = np.array([[self.timestep * self.smoothness]])
        return QuadraticCost(np.array([*self.goal, 0.0, 0.0]), force, bend, end)


BALL = Task(
    "bouncing ball", bouncing_ball(), FALLING, (2.5, 0.0), (0.8, -1.0), 2.2, 100, 0.5, 1e-7, 0.3,
    1e-3,
)  # fmt: skip
HOPPER = Task(
    "hopper", driven_hopper(), FLIGHT, (0.8, 0.0), (0.9, 0.0), 1.35, 135, 0.01, 1e-8, 0.3, 1e-3
)
TASKS = (BALL, HOPPER)


class SolvedTask(NamedTuple):
    """A solved task."""

    task: Task
    kind: Kind
    weight: float  # w
    trajectory: Trajectory  # of ``task.system``: states (N+1, 4), inputs (N, 1)
    status: str
    iterations: int
    seconds: float  # of the solve
    perturbations: Array  # (N+1, 2, 2) W Phi V at each knot: of standard deviations at the start

    @property
    def effort(self) -> float:
        """Integral of the squared force [N^2 s]."""
        return float(self.task.timestep * np.sum(self.trajectory.states[:-1, 2] ** 2))

    @property
    def predicted_trace(self) -> float:
        """Trace of W Phi V V' Phi' W', the linearised covariance at the end (3.37) [m^2]."""
        return float(np.sum(self.perturbations[-1] ** 2))

    @property
    def events(self) -> tuple[str, ...]:
        """Names of the transitions, in order."""
        return tuple(happened.event.transition.name for happened in self.trajectory.aux.events)


def narrow_model(task: Task, terminal: float = TERMINAL) -> EventDrivenModel:
    """The task without the variational equation."""
    return _model(task, task.system, task.cost(terminal))


def wide_model(task: Task, weight: float, *, with_reset_jacobian: bool = False) -> EventDrivenModel:
    """The task with Phi V as states, and the cost on it."""
    cost = ConvergentCost(task.system, task.cost(), COLUMNS, OUTPUT, weight / SPREAD**2)
    system = augmented(task.system, COLUMNS, with_reset_jacobian=with_reset_jacobian)
    return _model(task, system, cost)


def _model(task: Task, system: System, cost: Cost) -> EventDrivenModel:
    return EventDrivenModel(system, task.mode, task.timestep, cost, ACCURACY, event_at="exact")


def plan_plain(task: Task) -> SolvedTask:
    """HiLQR from no force at all."""
    return _solved(task, "plain", 0.0, narrow_model(task), task.first, np.zeros((task.steps, 1)))


def plan_convergent(
    task: Task, seed: SolvedTask, weight: float | None = None, kind: Kind = "convergent"
) -> SolvedTask:
    """HiLQR with the cost on Phi, from the inputs of another plan."""
    w = task.convergence if weight is None else weight
    model = wide_model(task, w, with_reset_jacobian=kind == "dxr")
    return _solved(task, kind, w, model, wide_start(task), seed.trajectory.inputs)


def wide_start(task: Task) -> Array:
    """The start with V beside it."""
    return pack_augmented(task.first, np.concatenate((STARTS, np.zeros((2, COLUMNS)))))


def _solved(
    task: Task, kind: Kind, weight: float, model: EventDrivenModel, x0: Array, inputs: Array
) -> SolvedTask:
    """Raises ValueError where not even the seed can be simulated."""
    began = time.perf_counter()
    options = HilqrOptions(tolerance=task.tolerance, max_iterations=MAX_ITERATIONS)
    solution = Hilqr(model, options).solve(x0, open_loop(inputs, len(x0)))
    seconds = time.perf_counter() - began
    if solution.trajectory is None:
        raise ValueError(f"{task.name}: the seed's rollout fails; choose another start or duration")
    trajectory = Hilqr(narrow_model(task)).start(
        task.first, open_loop(solution.trajectory.inputs, len(task.first))
    )
    assert trajectory is not None  # the wide rollout went through the same
    spread = _perturbations(task, trajectory.inputs)
    status, iterations = solution.status, solution.iterations
    return SolvedTask(task, kind, weight, trajectory, status, iterations, seconds, spread)


def open_loop(inputs: Array, n: int) -> Policies:
    """Inputs (N, m) without feedback, for states of n numbers."""
    states, gains = np.zeros((len(inputs) + 1, n)), np.zeros((*inputs.shape, n))
    return Policies.of(states, inputs, gains)


def _perturbations(task: Task, inputs: Array) -> Array:
    """W Phi V (N+1, 2, 2) along the rollout of inputs, with saltation matrices."""
    x0, model = wide_start(task), wide_model(task, 0.0)
    wide = model.roll_out(x0, open_loop(inputs, len(x0))).select(0)
    columns = wide.states[:, len(task.first) :].reshape(-1, len(task.first), COLUMNS)
    return OUTPUT @ columns
