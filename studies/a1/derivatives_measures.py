"""Problems of the planner, and what derivatives do on them: errors, predictions, gains, times."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import NamedTuple, TypeVar

import msgspec
import mujoco
import numpy as np
from numpy.typing import NDArray

from controller.hilqr_planner import HilqrPlanner, solver_options
from controller.planner_options import PlannerOptions
from controller.references.trajectory import ReferenceWindow
from controller.rigid_derivatives import RigidDerivatives
from controller.robot_model import Derivatives, RobotModel
from hybrid.hilqr import Hilqr, Linearisation, Policies, Trajectory, compose
from hybrid.hilqr.riccati import Variant
from hybrid.systems import Array
from robots.conventions import FOOT_NAMES
from robots.robot import load_robot
from robots.state import difference_batch, integrate, mujoco_from_pinocchio
from robots.terrain import Ground
from saltus.common.errors import BadRequest
from saltus.common.files import data_folder
from saltus.launch import planners
from saltus.launch.lock_step import LockStep, Tick
from saltus.sweep.sweep import prepare
from saltus.sweep.trials import Trial, make_trials
from sim_bridge.rollouts.derivatives import DifferenceDerivatives, RolloutDerivatives
from sim_bridge.rollouts.planning_model import planning_model
from sim_bridge.rollouts.threaded import ThreadedRollout
from sim_bridge.suites import read_suite
from studies.study import StudyOptions

FLIGHT, STICKING, SLIDING, LIMIT, APPROACH, TOUCHDOWN, LIFT_OFF = SITUATIONS = (
    "flight", "sticking", "sliding", "joint limit", "approach", "touchdown", "lift-off",
)  # fmt: skip
A1, PLANNER, THREADS = load_robot("a1"), PlannerOptions(), 2
STEP = PLANNER.period, PLANNER.search.substeps  # of a knot [s], and in how many
EDGES = 4  # of the pyramid of friction of a foot
SUITE = "robustness"
GROUPS = {"walk": "sideways 2.5 m/s", "trot": "trot 1.5 m/s"}  # of the suite, by gait
STRIDE = 5  # between pushes of a group: those in turn differ in foot, side and time
AFTER_PUSH_S = 0.8  # how long solves are taken [s]
EVERY = 8  # solves, of which one is taken

T = TypeVar("T")


def situations(states: Array, inputs: Array) -> NDArray[np.str_]:
    """What the feet do in each knot (N,), of `SITUATIONS`.

    - touchdown: a foot touches in a substep and did not in the one before;
    - lift-off: the reverse;
    - approach: the next knot is a touchdown; rigid derivatives have their jump here;
    - joint limit: a joint is beyond one, whatever the feet do;
    - sliding: a foot that touches has unloaded edges of its pyramid of friction;
    - sticking: all edges of all feet that touch are loaded;
    - flight: no foot touches.

    A knot of several is the first of this list. Before its first substep comes the last one of the
    knot before; the first knot has none before.

    Args:
        states: x (N+1, 37); inputs: torques (N, 12) [N m].
    """
    model = planning_model(A1, PLANNER.period / PLANNER.search.substeps)
    data, feet = mujoco.MjData(model), [model.geom(f"{name}_foot").id for name in FOOT_NAMES]
    before: list[list[int]] = []  # of the last substep
    names = []
    for x, torque in zip(states[:-1], inputs, strict=True):
        data.qpos[:], data.qvel[:] = mujoco_from_pinocchio(x[:19], x[19:])
        data.ctrl[:] = torque
        edges, limited = [], False
        for _ in range(PLANNER.search.substeps):
            mujoco.mj_step(model, data)
            edges.append(loaded_edges(data, feet))
            limited |= bool((data.efc_type == mujoco.mjtConstraint.mjCNSTR_LIMIT_JOINT).any())
        names.append(_situation(np.array(before + edges), np.array(edges), limited))
        before = edges[-1:]
    for k, after in enumerate(names[1:]):
        if after == TOUCHDOWN and names[k] not in (TOUCHDOWN, LIFT_OFF):
            names[k] = APPROACH
    return np.array(names)


def loaded_edges(data: mujoco.MjData, feet: Sequence[int]) -> list[int]:
    """Edges of each foot's pyramid that carry force, 0 to 4; -1 for a foot that does not touch."""
    edges = [-1] * len(feet)
    for contact in range(data.ncon):
        first = data.contact.efc_address[contact]
        force = data.efc_force[first : first + EDGES]
        edges[feet.index(int(data.contact.geom[contact, 1]))] = int(np.count_nonzero(force > 0.0))
    return edges


def _situation(with_before: NDArray[np.int64], edges: NDArray[np.int64], limited: bool) -> str:
    """Of loaded edges (substeps, 4) of a knot, and of the same after the substep before."""
    change = np.diff((with_before >= 0).astype(int), axis=0)
    if (change > 0).any():
        return TOUCHDOWN
    if (change < 0).any():
        return LIFT_OFF
    if limited:
        return LIMIT
    if ((edges >= 0) & (edges < EDGES)).any():
        return SLIDING
    return STICKING if (edges == EDGES).any() else FLIGHT


class Problem(NamedTuple):
    """A solve of the planner: where it starts, the trajectory that it improves, and its goal."""

    gait: str
    x0: Array  # (37,)
    seed: Trajectory
    window: ReferenceWindow


class TrajectoryRecorder:
    """Derivatives that keep the trajectories which they were asked for."""

    def __init__(self, derivatives: Derivatives) -> None:
        """`derivatives` do the work."""
        self._derivatives = derivatives
        self.trajectories: list[Trajectory] = []

    def linearise(self, trajectory: Trajectory) -> Linearisation:
        """A (N, 36, 36), B (N, 36, 12) and transitions."""
        self.trajectories.append(trajectory)
        return self._derivatives.linearise(trajectory)

    def move_ground(self, ground: Ground) -> None:
        """Move that of the derivatives."""
        self._derivatives.move_ground(ground)


def pushes(count: int) -> dict[str, list[Trial]]:
    """So many pushes of each gait.

    Raises:
        BadRequest: the suite has not so many.
    """
    suite = read_suite(data_folder("config") / f"{SUITE}.yaml")
    trials = make_trials(suite, "hilqr", "paused", SUITE)
    chosen = {}
    for gait, name in GROUPS.items():
        group = [trial for trial in trials if trial.group == name]
        if count > len(group):
            raise BadRequest(
                f"--trials {count}: {SUITE} has {len(group)} pushes of the {gait}; give"
                f" {len(group)} or fewer"
            )
        chosen[gait] = [group[STRIDE * k % len(group)] for k in range(count)]
    return chosen


def record(count: int, options: StudyOptions) -> list[Problem]:
    """Some solves after each of `count` pushes of each gait.

    Raises:
        BadRequest: the suite has not so many pushes.
    """
    trials = [(gait, trial) for gait, members in pushes(count).items() for trial in members]
    options.progress(0, len(trials), "compiling")
    prepare(trial for _, trial in trials)
    problems: list[Problem] = []
    for gait, trial in options.track(trials, lambda each: f"pushes, {each[0]}"):
        problems += record_push(gait, trial)
    return problems


def record_push(
    gait: str, trial: Trial, every: int = EVERY, after_push_s: float = AFTER_PUSH_S
) -> Sequence[Problem]:
    """One in `every` solves of a push, from the push on, as long as `after_push_s` says."""
    push_s: float = trial.labels["at"]
    config = msgspec.structs.replace(trial.config, duration=push_s + after_push_s)
    options, run = planners.planning(config), LockStep(config)
    recorder = TrajectoryRecorder(planners.make_derivatives(options, config.robot_model))
    planner = HilqrPlanner(
        options,
        A1,
        planners.make_reference(config),
        planners.make_rollout(config),
        recorder,
    )
    run.planner = planner
    logging.getLogger("controller").addHandler(logging.NullHandler())  # nobody asks for its log
    times: list[float] = []
    problems: list[Problem] = []

    def keep(tick: Tick) -> None:
        if tick.plan is None:
            return
        times.append(tick.plan.time)
        if recorder.trajectories and times[-1] > push_s:
            # The first plan starts at the reference's first knot.
            start = round((times[-1] - times[0]) / options.period)
            window = planner.reference.window(start, options.knots)
            seed = recorder.trajectories[0]  # of the first iteration
            problems.append(Problem(gait, seed.states[0].copy(), seed, window))
        recorder.trajectories.clear()

    run.run(keep)
    return problems[::every]


def spread(items: Sequence[T], count: int) -> list[T]:
    """At most `count` items, evenly among all."""
    index = np.linspace(0, len(items) - 1, min(count, len(items))).round().astype(int)
    return [items[i] for i in index]


STEPS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)  # of the differences, in SI units
SOLVER_ITERATIONS = 20  # at tolerance 0, where all are done; more change only the last digits
AGREEMENT = 1e-4  # of differences with two steps, relative
BETWEEN, ONE_SIDED = "between steps", "one-sided"
ANALYTIC = "rollout_dxr"  # of the step itself, whose derivatives differences are, too
KINDS = {
    "rigid_xi": "rigid Xi", "rigid_dxr": "rigid DxR", "rollout_dxr": "rollout DxR",
    "rollout_xi": "rollout Xi", "differences": "finite diff.",
}  # fmt: skip


class Kind(NamedTuple):
    """One kind of derivatives, as the planner uses it, and its key in the table."""

    key: str
    derivatives: Derivatives
    variant: Variant = "xi"

    def linearise(self, trajectory: Trajectory) -> tuple[Array, Array]:
        """A (N, 36, 36) and B (N, 36, 12) of whole knots, touchdowns included."""
        return compose(self.derivatives.linearise(trajectory), self.variant)


class KnotErrors(NamedTuple):
    """Errors of K knots; the last axis is of A and of B.

    Attributes:
        situation: (K,) of `SITUATIONS`.
        errors: (K, 2) by kind and step of the centred differences that are the reference. Also
            of these against those of a tenth of the step (`BETWEEN`), and of the planner's own
            differences with that step against analytic derivatives (`ONE_SIDED`).
        step: at which truncation and rounding are balanced.
    """

    situation: NDArray[np.str_]
    errors: dict[tuple[str, float], Array]
    step: float

    @property
    def away(self) -> NDArray[np.bool_]:
        """Whether no difference straddles a change of the active set (K,)."""
        return self.errors[BETWEEN, self.step].max(axis=1) < AGREEMENT


def all_kinds() -> list[Kind]:
    """All kinds, each on one thread."""
    rigid = RigidDerivatives(A1, PLANNER.period, touchdown_order=PLANNER.touchdown_order)
    return [Kind("rigid_xi", rigid), Kind("rigid_dxr", rigid, "dxr"), *rollout_kinds(1)]


def rollout_kinds(threads: int) -> list[Kind]:
    """Those of the simulator's step."""
    return [
        Kind("rollout_dxr", RolloutDerivatives(A1, *STEP, threads, saltation=False)),
        Kind("rollout_xi", RolloutDerivatives(A1, *STEP, threads, saltation=True)),
        Kind("differences", DifferenceDerivatives(A1, *STEP, threads)),
    ]


def measure_errors(
    problems: Sequence[Problem], kinds: Sequence[Kind], options: StudyOptions
) -> KnotErrors:
    """Errors along the problems' seeds."""
    tracked = options.track(problems, lambda _: "errors of A and B")
    parts = [_measure(problem.seed, kinds) for problem in tracked]
    errors = {key: np.concatenate([part[1][key] for part in parts]) for key in parts[0][1]}
    return KnotErrors(np.concatenate([part[0] for part in parts]), errors, balanced_step(errors))


def balanced_step(errors: dict[tuple[str, float], Array]) -> float:
    """The step whose differences are closest to those of a tenth of it, in 99 % of the knots.

    Truncation grows with the step, and rounding as it shrinks.
    """
    steps = [step for name, step in errors if name == BETWEEN]
    return min(steps, key=lambda step: float(np.percentile(errors[BETWEEN, step].max(axis=1), 99)))


def _measure(
    trajectory: Trajectory, kinds: Sequence[Kind]
) -> tuple[NDArray[np.str_], dict[tuple[str, float], Array]]:
    """Situations and errors along one trajectory, as in `KnotErrors`."""
    matrices_by_kind = {kind.key: kind.linearise(trajectory) for kind in kinds}
    errors, smaller = {}, None
    for step in reversed(STEPS):
        reference = compose(reference_derivatives(step).linearise(trajectory))
        for key, matrices in matrices_by_kind.items():
            errors[key, step] = relative(matrices, reference)
        if smaller is not None:
            errors[BETWEEN, step] = relative(smaller, reference)
        planners = DifferenceDerivatives(A1, *STEP, THREADS, difference=step)
        one_sided = compose(planners.linearise(trajectory))
        errors[ONE_SIDED, step] = relative(one_sided, matrices_by_kind[ANALYTIC])
        smaller = reference
    return situations(trajectory.states, trajectory.inputs), errors


def reference_derivatives(step: float) -> DifferenceDerivatives:
    """Centred differences of steps whose contacts are solved as far as numbers go."""
    derivatives = DifferenceDerivatives(A1, *STEP, THREADS, difference=step, centred=True)
    derivatives.model.opt.tolerance = 0.0
    derivatives.model.opt.iterations = SOLVER_ITERATIONS
    return derivatives


def relative(matrices_by_kind: tuple[Array, Array], reference: tuple[Array, Array]) -> Array:
    """Norm of the error over the norm of the reference (N, 2), Frobenius's, of A and of B."""
    return np.stack([
        np.linalg.norm(one - other, axis=(1, 2)) / np.linalg.norm(other, axis=(1, 2))
        for one, other in zip(matrices_by_kind, reference, strict=True)
    ], axis=1)  # fmt: skip


HORIZONS = (1, 5, 10, 25)  # of predictions [knots]
SIZES = (0.01, 0.1, 1.0, 3.0)  # of perturbations, in parts of `SCALE`
STARTS = 8  # knots of a trajectory from which it is predicted
# Standard deviations of position, angles and velocities: such as an estimate is off by.
SCALE = np.repeat([0.003, 0.01, 0.1], [3, 15, 18])  # [m], [rad], [m/s and rad/s]


class Prediction(NamedTuple):
    """S perturbed motions.

    Attributes:
        size: (S,) of the perturbation, in parts of `SCALE`.
        touchdown: (S, len(HORIZONS)) whether the nominal motion has a touchdown within it.
        errors: (S, len(HORIZONS)) by kind: length of predicted minus true deviation over the
            length of the true one, numbers of the state in parts of `SCALE`.
    """

    size: Array
    touchdown: NDArray[np.bool_]
    errors: dict[str, Array]


def predict(
    problems: Sequence[Problem], gains: Array, kinds: Sequence[Kind], options: StudyOptions
) -> Prediction:
    """Predict along the problems' seeds.

    Args:
        problems: P of them; gains: (P, N, 12, 36) of the feedback, the same for all kinds.
        kinds: which predict.
        options: with the seed of the random perturbations.
    """
    rng, last = np.random.default_rng(options.seed), max(HORIZONS)
    backend = ThreadedRollout(A1, last, *STEP, 1)
    sizes, touchdowns, errors = [], [], {kind.key: [] for kind in kinds}
    pairs = zip(problems, gains, strict=True)
    for problem, K in options.track(pairs, lambda _: "predictions"):
        nominal = problem.seed
        lands = situations(nominal.states, nominal.inputs) == TOUCHDOWN
        loops = {}
        for kind in kinds:
            A, B = kind.linearise(nominal)
            loops[kind.key] = A + B @ K
        for start in rng.integers(0, len(K) - last + 1, STARTS):
            direction = SCALE * rng.normal(size=36)
            for size in SIZES:
                dx = size * direction
                true = deviations(backend, nominal, K, int(start), dx)
                if true is None:
                    continue
                sizes.append(size)
                touchdowns.append([bool(lands[start : start + n].any()) for n in HORIZONS])
                for key, loop in loops.items():
                    errors[key].append(_errors(loop[start : start + last], dx, true))
    relative_errors = {key: np.array(each) for key, each in errors.items()}
    return Prediction(np.array(sizes), np.array(touchdowns), relative_errors)


def deviations(
    backend: ThreadedRollout, nominal: Trajectory, gains: Array, start: int, dx: Array
) -> Array | None:
    """What becomes of a perturbation dx (36,) at the knot `start` of a nominal motion.

    Returns:
        Deviations (`max(HORIZONS)` + 1, 36); None where the rollout diverged.
    """
    knots = slice(start, start + max(HORIZONS))
    states = nominal.states[start : knots.stop + 1]
    x0 = np.concatenate(integrate(states[0, :19], states[0, 19:], dx))
    rolled = backend.roll_out(x0, Policies.of(states, nominal.inputs[knots], gains[knots]))
    if not rolled.finite[0]:
        return None
    x = rolled.states[0]
    return difference_batch(states[:, :19], states[:, 19:], x[:, :19], x[:, 19:])


def _errors(loop: Array, dx: Array, true: Array) -> list[float]:
    """Relative errors at `HORIZONS` of the prediction by closed-loop matrices (N, 36, 36)."""
    errors = []
    for k, matrix in enumerate(loop, start=1):
        dx = matrix @ dx
        if k in HORIZONS:
            error = np.linalg.norm((dx - true[k]) / SCALE)
            errors.append(float(error / np.linalg.norm(true[k] / SCALE)))
    return errors


ITERATIONS = 2  # of a solve
REPEATS = 3  # of what is timed
TICK = 0.001  # [s]
DELAYS = (1, 10)  # from estimate to torque [ticks]; 10 ms is the slowest command of our suites
PROBLEMS, KNOTS = 12, (0, 5, 10, 20)  # of which the loop is looked at


class Descent(NamedTuple):
    """The first iterations of P problems with one kind.

    Attributes:
        costs: (P, `ITERATIONS`) after each iteration, in parts of the seed's.
        rejected: (P, `ITERATIONS`) 1 where no step size was accepted.
        ratios: of actual to expected change (5.19), of the first iterations that were accepted.
        step_sizes: of the same.
        gains: (P, N, 12, 36) of the first backward passes, about the seeds.
    """

    costs: Array
    rejected: Array
    ratios: Array
    step_sizes: Array
    gains: Array


class Times(NamedTuple):
    """Medians over `count` trajectories, by kind.

    Attributes:
        knot_us: of a knot on one thread [us]; horizon_ms: of a horizon on `THREADS` [ms].
    """

    count: int
    knot_us: dict[str, float]
    horizon_ms: dict[str, float]


def descend(problems: Sequence[Problem], kind: Kind, options: StudyOptions) -> Descent:
    """Iterate on each problem; the reference's own policy is no candidate."""
    backend = ThreadedRollout(A1, PLANNER.knots, *STEP, THREADS)
    model = RobotModel(A1, backend, kind.derivatives, PLANNER.cost)
    solver = Hilqr(model, replace(solver_options(PLANNER), variant=kind.variant))
    costs, rejected, accepted, gains = [], [], [], []
    for problem in options.track(problems, lambda _: f"iterations, {kind.key}"):
        model.track(problem.window)
        solver.regularisation.reset()
        trajectory, steps = problem.seed, []
        for _ in range(ITERATIONS):
            steps.append(solver.iterate(problem.x0, trajectory))
            trajectory = steps[-1].trajectory
        first = steps[0]
        assert first.backward is not None  # Hessians of this cost are definite
        costs.append([step.trajectory.cost / problem.seed.cost for step in steps])
        rejected.append([float(step.status == "rejected") for step in steps])
        gains.append(first.backward.gains)
        if first.status == "improved":
            accepted.append((first.ratio, first.step_size))
    ratios, step_sizes = np.reshape(accepted, (-1, 2)).T
    return Descent(np.array(costs), np.array(rejected), ratios, step_sizes, np.array(gains))


def joint_gains(gains: Array) -> tuple[Array, Array]:
    """Sizes of gains (..., 12, 36) of each joint by its own angle and by its own velocity.

    [N m/rad] and [N m s/rad], flat.
    """
    joints = np.arange(12)
    own = np.abs(gains[..., joints, 6 + joints]), np.abs(gains[..., joints, 24 + joints])
    return own[0].ravel(), own[1].ravel()


def measure_times(
    problems: Sequence[Problem], kinds: Sequence[Kind], options: StudyOptions
) -> Times:
    """Time kind after kind on each trajectory, so that what disturbs one disturbs all."""
    shared = rollout_kinds(THREADS)[::2]
    knot_us: dict[str, list[float]] = {kind.key: [] for kind in kinds}
    horizon_ms: dict[str, list[float]] = {kind.key: [] for kind in shared}
    for problem in options.track(problems, lambda _: "time"):
        for kind in kinds:
            seconds = _seconds(kind, problem)
            knot_us[kind.key].append(1e6 * seconds / len(problem.seed.inputs))
        for kind in shared:
            horizon_ms[kind.key].append(1e3 * _seconds(kind, problem))
    return Times(len(problems), _medians(knot_us), _medians(horizon_ms))


def _seconds(kind: Kind, problem: Problem) -> float:
    """The best of `REPEATS`: what else runs only adds."""
    seconds = []
    for _ in range(REPEATS):
        begin = perf_counter()
        kind.linearise(problem.seed)
        seconds.append(perf_counter() - begin)
    return min(seconds)


def _medians(values: dict[str, list[float]]) -> dict[str, float]:
    return {key: float(np.median(each)) for key, each in values.items()}


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
    problems: Sequence[Problem], gains: Mapping[str, Array], options: StudyOptions
) -> dict[tuple[str, int], Array]:
    """Growth rates [1/s] by kind and delay, over some knots of some problems.

    The state of each knot is held still: its contacts and its gains stay as they are.

    Args:
        problems: whose seeds give the states.
        gains: (P, N, 12, 36) of each kind.
        options: of the study.
    """
    tick = RolloutDerivatives(A1, TICK, 1, 1)
    growth: dict[tuple[str, int], list[float]] = {(k, d): [] for k in gains for d in DELAYS}
    chosen = spread(range(len(problems)), PROBLEMS)
    for p in options.track(chosen, lambda _: "loops"):
        linear = tick.linearise(problems[p].seed)
        for (kind, delay), rates in growth.items():
            K = gains[kind][p]
            rates += [loop_growth(linear.A[k], linear.B[k], K[k], delay) for k in KNOTS]
    return {key: np.array(rates) for key, rates in growth.items()}
