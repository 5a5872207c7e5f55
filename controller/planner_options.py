"""Options of the planners: weights, limits, HiLQR, MPPI, Convex MPC and Instant QP."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Final, Literal, Self

import msgspec
import numpy as np

from runtime.options import Options, Range, positive
from runtime.realtime import quota
from saltation.options import LineSearch

if TYPE_CHECKING:
    from robots.rotations import Array

Triple = tuple[float, float, float]
TouchdownOrder = Literal["index", "average", "selected"]
LEAST_KNOTS: Final = 25  # and how many more the next effort has
MORE_KNOTS: Final = 5
MOST_ITERATIONS: Final = 100
MOST_SUBSTEPS: Final = 100
MOST_SAMPLES: Final = 10_000
Iterations = Annotated[int, Range("-", 1, MOST_ITERATIONS)]
Substeps = Annotated[int, Range("-", 1, MOST_SUBSTEPS)]
Dampings = Annotated[tuple[float, ...], Range("1/(N m)^2", 0.0, 1e6)]
AngleWeights = Annotated[Triple, Range("1/rad^2", 0.0, 1e6)]
PlaceWeights = Annotated[Triple, Range("1/m^2", 0.0, 1e6)]
RateWeight = Annotated[float, Range("s^2/rad^2", 0.0, 1e6)]
TorqueWeight = Annotated[float, positive("1/(N m)^2", 1e6)]
Factor = Annotated[float, Range("-", 0.0, 1e6)]
Threads = Annotated[int, Range("-", 1, 256)]
SearchThreads = Annotated[int, Range("-", 0, 256)]
Knots = Annotated[int, Range("-", 2, 500)]
Period = Annotated[float, Range("s", 0.001, 0.1)]
Stiffness = Annotated[float, Range("N m/rad", 0.0, 1000.0)]
JointDamping = Annotated[float, Range("N m s/rad", 0.0, 100.0)]
Force = Annotated[float, Range("N", 0.0, 10_000.0)]
ForceWeight = Annotated[float, Range("1/N^2", 0.0, 1e6)]
Rates = Annotated[Triple, Range("1/s", 0.0, 1e6)]
Corner = Annotated[tuple[float, float, float], Range("m", -100.0, 100.0)]
Clearance = Annotated[float, Range("m", 0.0, 0.5)]
PlanKnots = Annotated[int, Range("-", 2, 1000)]


class CostOptions(Options, frozen=True):
    """Weights of the tracking cost; the state's per component of the tangent x (-) x_ref.

    Attributes:
        base_position: weight of the trunk's position, along the reference's axes.
        base_orientation: weights of roll, pitch, yaw.
        joints: weights of hip, thigh, calf of each leg.
        base_velocity: weight of the trunk's linear velocity.
        base_angular_velocity: weight of the trunk's angular velocity.
        joint_velocity: weight of all joints' velocities.
        terminal_scale: factor of all state weights at the horizon's end.
        input_loaded: R_min of (6.3), weight of the torques of a leg that bears all of the load.
        input_unloaded: R_max of (6.3), weight of those of a leg that bears none.
    """

    base_position: PlaceWeights = (40.0, 40.0, 150.0)
    base_orientation: AngleWeights = (80.0, 80.0, 60.0)
    joints: AngleWeights = (6.0, 3.0, 2.0)
    base_velocity: Annotated[float, Range("s^2/m^2", 0.0, 1e6)] = 6.0
    base_angular_velocity: RateWeight = 0.5
    joint_velocity: RateWeight = 0.03
    terminal_scale: Factor = 4.0
    input_loaded: TorqueWeight = 1e-3
    input_unloaded: TorqueWeight = 5e-3

    def check(self) -> None:
        """Raise ValueError where the cost would not be convex, or an input cost nothing."""
        if self.input_loaded > self.input_unloaded:
            raise ValueError(
                f"input_loaded is {self.input_loaded:g}; give input_unloaded, "
                f"{self.input_unloaded:g}, or less"
            )

    def state_weights(self) -> Array:
        """Diagonal of Q, (36,)."""
        return np.concatenate(
            [
                self.base_position,
                self.base_orientation,
                np.tile(self.joints, 4),
                np.full(3, self.base_velocity),
                np.full(3, self.base_angular_velocity),
                np.full(12, self.joint_velocity),
            ]
        )


class KeepOut(Options, frozen=True):
    """A box in the world, parallel to its axes, that the body keeps out of.

    Attributes:
        low: corner of the least x, y and z.
        high: the opposite corner.
    """

    low: Corner
    high: Corner

    def check(self) -> None:
        """Raise ValueError for a number out of its range, or corners the other way round."""
        if not all(low < high for low, high in zip(self.low, self.high, strict=True)):
            raise ValueError("high must be above low along each axis")


class LimitOptions(Options, frozen=True):
    """Limits of a plan.

    Attributes:
        penalty: weight of a violation squared, in a planner; 0 leaves the limits out.
        range_margin: distance from the ends of the joints' ranges.
        stop_stiffness: slope by which the largest torque outwards falls on the way there; as margin
            and damping, that of `hardware.safety`.
        stop_damping: how much less that torque is by the joint's speed outwards.
        torque: largest torque of a motor; null: the robot's own.
        speed: speed at which a motor has no torque left; null: the robot's own.
        corner_speed: speed up to which it has all of its torque; null: the robot's own.
        power: largest power of all motors, the sum of |torque times speed|; at 1000 W the vendor's
            library switches an A1 off.
        trunk_clearance: least height of the trunk's corners above the ground.
        knee_clearance: least height of the knees.
        keep_out: boxes that the body keeps out of.
    """

    penalty: Annotated[float, Range("-", 0.0, 1e9)] = 0.0
    range_margin: Annotated[float, Range("rad", 0.0, 0.5)] = 0.05
    stop_stiffness: Annotated[float, positive("N m/rad", 1000.0)] = 120.0
    stop_damping: Annotated[float, Range("N m s/rad", 0.0, 10.0)] = 4.0
    torque: Annotated[float, positive("N m", 1000.0)] | None = None
    speed: Annotated[float, positive("rad/s", 1000.0)] | None = None
    corner_speed: Annotated[float, Range("rad/s", 0.0, 1000.0)] | None = None
    power: Annotated[float, positive("W", 1e6)] = 1000.0
    trunk_clearance: Clearance = 0.03
    knee_clearance: Clearance = 0.03
    keep_out: tuple[KeepOut, ...] = ()


class Search(Options, frozen=True):
    """Effort of the search for a better trajectory.

    Attributes:
        iterations: most HiLQR iterations of a solve.
        enough: an iteration that reduces the cost by a smaller share is the last, and steps that
            would bring less with 0.3 of what they promise are not tried.
        poor: factor of the last plan's cost from which it has become poor, as after a push, and the
            reference's policy is a seed too; 0: in every solve.
        recovery: most iterations where the last plan has become poor.
        restarts: more dampings to start with where it has; the cheapest result counts.
        step_sizes: step sizes of the line search.
        line_search: "exhaustive": all step sizes at once; "two_stage": the first two, then all
            others; "backtracking": one after the other. The last two end where a step reduces the
            cost by 0.3 of what it promised. A device or a server always gets all.
        substeps: physics steps within a knot.
        threads: threads of the physics and of its derivatives (rigid ones take one), and candidates
            that are rolled out at once; 0: half of the cores, at most one for each step size.
    """

    iterations: Iterations = 2
    enough: Annotated[float, Range("-", 0.0, 1.0)] = 0.003
    poor: Factor = 2.0
    recovery: Iterations = 20
    restarts: Dampings = (0.002, 0.2)
    step_sizes: Annotated[tuple[float, ...], Range("-", 0.0, 1.0, above=True)] = (
        1.0, 0.5, 0.2, 0.05,
    )  # fmt: skip
    line_search: LineSearch = "backtracking"
    substeps: Substeps = 2
    threads: SearchThreads = 2

    def check(self) -> None:
        """Raise ValueError for what no planner can run on."""
        if not 1 <= len(self.step_sizes) <= 100:
            raise ValueError(f"step_sizes has {len(self.step_sizes)} values; give 1 to 100")


class RealtimeSearch(Search, frozen=True):
    """Effort of the search when the robot does not wait for it (6.4.4).

    Attributes:
        time_limit: a solve that has lasted longer when its line search begins tries fewer
            candidates.
    """

    iterations: Iterations = 1
    enough: Annotated[float, Range("-", 0.0, 1.0)] = 0.0
    recovery: Iterations = 1
    restarts: Dampings = ()
    substeps: Substeps = 1
    threads: SearchThreads = 0
    time_limit: Annotated[float, Range("s", 0.0, 10.0, above=True)] = 0.018

    def without_limit(self) -> Search:
        """The same search, which takes the time that it takes."""
        return Search(**{name: getattr(self, name) for name in Search.__struct_fields__})


class SolverOptions(Options, frozen=True):
    """Problem of a solve, in either mode (6.4.4).

    Attributes:
        knots: length of the horizon.
        period: time between knots.
        tolerance: a solve ends when the expected change of cost falls below it.
        damping: regularisation of the input Hessian that a solve begins with.
        derivatives: what the backward pass differentiates: "rollout", the rollouts' own steps,
            analytically; "differences", the same by finite differences; "rigid", feet that stick,
            with a transition where one lands, as in the thesis.
        variant: with rigid derivatives: "xi", saltation matrices; "dxr", the Jacobian of the reset.
        touchdown_order: with rigid derivatives, the order of feet that land within one knot:
            "index", of the legs; "average", the mean over all; "selected", as they reach the
            ground.
        cost: weights of the tracking cost.
        limits: that plans keep, by an augmented Lagrangian.
        replan: false leaves the robot to the tracker, along the reference.
        feedback: false leaves the gains out: each input is held over its knot (6.4.4).
    """

    knots: Knots = 50
    period: Period = 0.01
    tolerance: Factor = 1e-3
    damping: Annotated[float, Range("1/(N m)^2", 0.0, 1e6)] = 0.02
    derivatives: Literal["rigid", "rollout", "differences"] = "rollout"
    variant: Literal["xi", "dxr"] = "xi"
    touchdown_order: TouchdownOrder = "index"
    cost: CostOptions = CostOptions()
    limits: LimitOptions = LimitOptions()
    replan: bool = True
    feedback: bool = True


class PlannerOptions(SolverOptions, frozen=True):
    """Options of every planner.

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
        cores = min(len(os.sched_getaffinity(0)), max(1, int(min(quota(), 1e3))))
        half = (cores + 1) // 2
        threads = search.threads or min(half, len(search.step_sizes))
        search = msgspec.structs.replace(search, threads=threads)
        shared = {name: getattr(self, name) for name in SolverOptions.__struct_fields__}
        return PlannerOptions(**shared, search=search)

    def with_threads(self, threads: int) -> Self:
        """With at most so many threads in lock step; the numbers stay the same."""
        own = self.paused.threads or threads
        paused = msgspec.structs.replace(self.paused, threads=min(own, threads))
        return msgspec.structs.replace(self, paused=paused)

    def with_effort(self, effort: int) -> Self:
        """The search of real time in lock step, at one of its efforts, from 1 on.

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

    knots: Knots = 35
    derivatives: Literal["rigid", "rollout", "differences"] = "differences"


class MppiOptions(Options, frozen=True):
    """The section `mppi` of a launch file.

    Attributes:
        knots: length of the horizon.
        period: time between knots.
        samples: rollouts of an iteration.
        iterations: iterations of a solve.
        spline: time between the points of a sample's spline, through which it is cubic.
        noise: standard deviations of a point's joint targets: hip, thigh, calf of each leg.
        temperature: temperature of the weights, in standard deviations of the samples' costs.
        kp: stiffness from joint targets to torques, also of the plan's feedback.
        kd: damping of the plan's feedback.
        seed: seed of the random numbers.
        substeps: physics steps within a knot.
        threads: number of threads of the physics.
        time_limit: a solve in real time that has lasted longer begins no other iteration.
        cost: weights of the tracking cost.
        replan: false leaves the robot to the tracker, along the reference.
    """

    knots: Knots = 25
    period: Period = 0.01
    samples: Annotated[int, Range("-", 1, MOST_SAMPLES)] = 50
    iterations: Annotated[int, Range("-", 1, 100)] = 1
    spline: Annotated[float, positive("s", 10.0)] = 0.2
    noise: Annotated[Triple, Range("rad", 0.0, 3.0)] = (0.1, 0.15, 0.13)
    temperature: Annotated[float, positive("-", 1e6)] = 0.012
    kp: Stiffness = 30.0
    kd: JointDamping = 1.0
    seed: Annotated[int, Range("-", 0, 2**32 - 1)] = 0
    substeps: Annotated[int, Range("-", 1, 100)] = 1
    threads: Threads = 2
    time_limit: Annotated[float, Range("s", 0.0, 10.0, above=True)] = 0.018
    cost: CostOptions = CostOptions()
    replan: bool = True

    def with_threads(self, threads: int) -> Self:
        """With at most so many threads; the numbers stay the same."""
        return msgspec.structs.replace(self, threads=min(self.threads, threads))

    def with_effort(self, effort: int) -> Self:
        """With so many samples, in one iteration."""
        return msgspec.structs.replace(self, samples=min(effort, MOST_SAMPLES), iterations=1)


class SteppingOptions(Options, frozen=True):
    """Footholds, and the paths of swings.

    Attributes:
        capture: share of the capture point's offset sqrt(h / g) (v - v_des) in a step.
        reach: how far a foothold may lie from its neutral place, forward and sideways.
        inward: how far it may lie towards the other leg.
        press: depth below the ground that a landing foot aims at.
        early: share of the swing after which a foot that feels the ground stands.
        kp: joint stiffness of a swinging leg.
        kd: joint damping of a swinging leg.
        stance_kp: joint stiffness of a standing leg.
        stance_kd: joint damping of a standing leg.
    """

    capture: Annotated[float, Range("-", 0.0, 10.0)] = 1.0
    reach: Annotated[tuple[float, float], Range("m", 0.0, 10.0)] = (0.25, 0.27)
    inward: Annotated[float, Range("m", 0.0, 10.0)] = 0.12
    press: Annotated[float, Range("m", 0.0, 0.1)] = 0.005
    early: Annotated[float, positive("-", 1.0)] = 0.5
    kp: Stiffness = 60.0
    kd: JointDamping = 1.0
    stance_kp: Stiffness = 10.0
    stance_kd: JointDamping = 0.5


class PathOptions(Options, frozen=True):
    """Return of the body to the commanded path.

    Attributes:
        return_rate: velocity asked for per distance from the path.
        return_speed: most of that velocity.
    """

    return_rate: Annotated[float, Range("1/s", 0.0, 100.0)] = 1.0
    return_speed: Annotated[float, Range("m/s", 0.0, 5.0)] = 0.1


class CentroidalOptions(Options, frozen=True):
    """Options of both planners.

    Attributes:
        period: time between the knots of a plan, and in lock step between plans.
        knots: length of a plan.
        friction: coefficient that is assumed of the ground.
        force_max: largest force on a standing foot, normal to the ground.
        force_min: least force on a standing foot, normal to the ground.
        time_limit: a QP that takes longer is abandoned, 0: never; none in lock step.
        stepping: how feet step.
        path: how the body returns to its path.
    """

    period: Annotated[float, Range("s", 0.001, 1.0)] = 0.01
    knots: PlanKnots = 20
    friction: Annotated[float, positive("-", 10.0)] = 0.7
    force_max: Annotated[float, positive("N", 10_000.0)] = 200.0
    force_min: Force = 5.0
    time_limit: Annotated[float, Range("s", 0.0, 10.0)] = 0.01
    stepping: SteppingOptions = SteppingOptions()
    path: PathOptions = PathOptions()

    def check(self) -> None:
        """Raise ValueError for what no planner can run on."""
        if self.force_min >= self.force_max:
            raise ValueError(
                f"force_min is {self.force_min:g}; give less than force_max, {self.force_max:g} N"
            )

    @property
    def horizon(self) -> float:
        """Length of a plan [s]."""
        return self.knots * self.period


class ForceMpcWeights(Options, frozen=True):
    """Weights of Convex MPC, along the axes of the world.

    Attributes:
        orientation: weights of roll, pitch, yaw.
        position: weights of the body's position.
        angular_velocity: weights of the body's angular velocity.
        velocity: weights of the body's linear velocity.
        force: weight of the distance from evenly shared forces.
    """

    orientation: AngleWeights = (5.0, 5.0, 10.0)
    position: PlaceWeights = (20.0, 20.0, 50.0)
    angular_velocity: Annotated[Triple, Range("s^2/rad^2", 0.0, 1e6)] = (0.3, 0.3, 0.3)
    velocity: Annotated[Triple, Range("s^2/m^2", 0.0, 1e6)] = (1.0, 1.0, 0.5)
    force: Annotated[float, positive("1/N^2", 1e6)] = 1e-5

    def state_weights(self) -> tuple[float, ...]:
        """Diagonal of Q, (12,)."""
        return (*self.orientation, *self.position, *self.angular_velocity, *self.velocity)


class ConvexMpcOptions(CentroidalOptions, frozen=True):
    """Convex MPC (Di Carlo et al. 2018).

    Attributes:
        steps: number of steps of the horizon.
        step: time of one step of the horizon.
        weights: of the states and forces.
    """

    steps: Annotated[int, Range("-", 1, 1000)] = 10
    step: Annotated[float, positive("s", 1.0)] = 0.036
    weights: ForceMpcWeights = ForceMpcWeights()

    @property
    def horizon(self) -> float:
        """Length of a plan [s]: of its forces or its knots."""
        return max(self.steps * self.step, self.knots * self.period)


class BodyFeedback(Options, frozen=True):
    """The acceleration that Instant QP asks of the body, as a PD law.

    Attributes:
        orientation_kp: angular acceleration per error of roll, pitch, yaw.
        orientation_kd: angular acceleration per error of the angular velocity.
        height_kp: acceleration per error of the height.
        velocity_kd: acceleration per error of the velocity.
    """

    orientation_kp: Annotated[Triple, Range("1/s^2", 0.0, 1e6)] = (400.0, 400.0, 100.0)
    orientation_kd: Rates = (40.0, 40.0, 20.0)
    height_kp: Annotated[float, Range("1/s^2", 0.0, 1e6)] = 100.0
    velocity_kd: Rates = (8.0, 8.0, 20.0)


class ForceQpWeights(Options, frozen=True):
    """Weights of Instant QP, along the axes of the world.

    Attributes:
        wrench: S, weights of force and torque on the body.
        force: alpha, weight of the forces; this or `change` is above 0.
        change: beta, weight of the distance from the last forces.
    """

    wrench: Annotated[
        tuple[float, float, float, float, float, float], Range("1/N^2, 1/(N m)^2", 0.0, 1e6)
    ] = (1.0, 1.0, 1.0, 20.0, 20.0, 20.0)
    force: ForceWeight = 1e-3
    change: ForceWeight = 1e-3

    def check(self) -> None:
        """Raise ValueError where the problem would not be strictly convex."""
        if self.force + self.change <= 0.0:
            raise ValueError("force is 0, and so is change; give one of them a number above 0")


class InstantQpOptions(CentroidalOptions, frozen=True):
    """Instant QP: the forces of one instant, on the feet that are measured to stand.

    Attributes:
        search: force that pushes down a foot that should stand and does not feel the ground.
        feedback: the acceleration that is asked for.
        weights: of the wrench and the forces.
    """

    # The forces of one instant say little about a later one.
    knots: PlanKnots = 10
    force_min: Force = 20.0
    search: Force = 25.0
    stepping: SteppingOptions = SteppingOptions(
        reach=(0.25, 0.18), inward=0.08, early=0.7, kp=150.0, stance_kp=0.0, stance_kd=0.2
    )
    path: PathOptions = PathOptions(return_speed=0.3)
    feedback: BodyFeedback = BodyFeedback()
    weights: ForceQpWeights = ForceQpWeights(wrench=(1.0, 1.0, 10.0, 20.0, 20.0, 20.0))
