"""Options of the tracker, its safety and its stand-down, of driving, and motions as data."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from controller.planner_options import CostOptions, Iterations, LimitOptions
from robots.conventions import FALLEN_TILT
from runtime.options import Options, Range, positive

Source = Literal["none", "keyboard", "remote", "client"]
Feet = Literal["all", "front", "rear", "none"]
Leg = Annotated[tuple[float, float, float], Range("rad", -4.2, 4.2)]
Moment = Annotated[float, Range("s", 0.0, 1000.0)]
Speed = Annotated[float, Range("m/s", 0.0, 5.0)]
STANDING: dict[Feet, tuple[float, float, float, float]] = {
    "all": (1.0, 1.0, 1.0, 1.0), "front": (1.0, 1.0, 0.0, 0.0), "rear": (0.0, 0.0, 1.0, 1.0),
    "none": (0.0, 0.0, 0.0, 0.0),
}  # fmt: skip
"""Which feet are on the ground, in their order."""
FEASIBLE = ("converged", "settled")  # statuses of a plan that keeps the limits


class SafetyGateOptions(Options, frozen=True):
    """Bounds of the plans that the gate lets through.

    Attributes:
        torque_limit: largest torque of a motor; null: the robot's own.
        position_margin: how far a position target may lie outside the joint range.
        tilt_max: angle of the trunk's z axis to the vertical that is a fall.
        estimate_max_age_s: age from which an estimate is not acted upon any more.
        first_plan_distance: how far the first plan may lead the trunk over the ground.
        first_plan_turn: how far it may turn the trunk about the vertical.
    """

    torque_limit: Annotated[float, Range("N m", 0.0, 100.0)] | None = None
    position_margin: Annotated[float, Range("rad", 0.0, 10.0)] = 0.05
    tilt_max: Annotated[float, Range("rad", 0.0, math.pi)] = FALLEN_TILT
    estimate_max_age_s: Annotated[float, Range("s", 0.0, 10.0)] = 0.02
    first_plan_distance: Annotated[float, positive("m", 100.0)] = 1.0
    first_plan_turn: Annotated[float, positive("rad", math.pi)] = 0.7


class StandDownOptions(Options, frozen=True):
    """Times and poses of the tracker without a plan.

    Attributes:
        plan_max_age_s: time since the last new plan after which the plan is stale.
        hold_s: how long a stale plan is followed on, within its horizon.
        kp: joint stiffness of standing and lying.
        kd: joint damping of standing and lying.
    """

    plan_max_age_s: Moment = 0.1
    hold_s: Moment = 0.25
    kp: Annotated[float, Range("N m/rad", 0.0, 1000.0)] = 80.0
    kd: Annotated[float, Range("N m s/rad", 0.0, 100.0)] = 3.0


class TrackerOptions(Options, frozen=True):
    """Options of the tracker.

    Attributes:
        kp_max: most of the plan's joint stiffness that runs in the motors; the rest is fed forward
            (`controller/motor_targets.py` has what is stable).
        kd_max: most of its joint damping in the motors.
        command_delay: time from a command to its effect in the motors, if known: the policy is
            evaluated for then.
        safety: what the gate lets through.
        stand_down: what happens without fresh plans.
    """

    kp_max: Annotated[float, Range("N m/rad", 0.0, 500.0)] = 100.0
    kd_max: Annotated[float, Range("N m s/rad", 0.0, 20.0)] = 5.0
    command_delay: Annotated[float, Range("s", 0.0, 0.05)] = 0.0
    safety: SafetyGateOptions = SafetyGateOptions()
    stand_down: StandDownOptions = StandDownOptions()


class GaitLimits(Options, frozen=True):
    """Speeds and accelerations of a gait.

    Attributes:
        forward: greatest speed forward and back.
        left: greatest speed to either side.
        yaw_rate: greatest rate of turn, either way.
        acceleration: greatest change of the speed, forward and sideways.
        yaw_acceleration: greatest change of the rate of turn.
    """

    forward: Speed
    left: Speed
    yaw_rate: Annotated[float, Range("rad/s", 0.0, 10.0)]
    acceleration: Annotated[float, Range("m/s^2", 0.0, 100.0)] = 2.0
    yaw_acceleration: Annotated[float, Range("rad/s^2", 0.0, 100.0)] = 4.0


class DriveOptions(Options, frozen=True):
    """Options of driving.

    Attributes:
        source: who drives: none (the launch's own command), keyboard or remote of a robot, or
            client: `saltus drive`, or any program that publishes the topic of commands.
        walk: how fast a walk may go; what exceeds that is clipped.
        trot: how fast a trot may go.
        bound: how fast a bound may go.
        height: least and most of the trunk's height.
        height_rate: greatest change of that height.
        silence: time without a command after which the robot stands.
        goal_distance: largest distance of the reference from the robot over the ground; null: any.
        goal_heading: largest difference of their headings; null: any.
    """

    source: Source = "none"
    walk: GaitLimits = GaitLimits(forward=0.5, left=0.25, yaw_rate=0.8)
    trot: GaitLimits = GaitLimits(forward=2.2, left=0.5, yaw_rate=1.6)
    bound: GaitLimits = GaitLimits(forward=0.5, left=0.2, yaw_rate=0.6)
    height: Annotated[tuple[float, float], Range("m", 0.0, 1.0)] = (0.2, 0.32)
    height_rate: Annotated[float, Range("m/s", 0.0, 10.0)] = 0.1
    silence: Annotated[float, Range("s", 0.0, 1e6)] = 0.5
    goal_distance: Annotated[float, Range("m", 0.0, 100.0)] | None = 0.25
    goal_heading: Annotated[float, Range("rad", 0.0, 10.0)] | None = 0.5

    def check(self) -> None:
        """Raise ValueError for a number that is out of range or out of order."""
        if not self.height[0] <= self.height[1]:
            raise ValueError(f"height is {list(self.height)}; give the least first, then the most")

    def limits(self, gait: str) -> GaitLimits:
        """Speeds of a gait; a stand has none, and slows down as a trot does."""
        if gait == "stand":
            return GaitLimits(
                0.0, 0.0, 0.0, self.trot.acceleration, self.trot.yaw_acceleration
            )  # fmt: skip
        return getattr(self, gait)


class Pose(Options, frozen=True):
    """A pose of the robot near the end of a phase.

    Attributes:
        position: of the base in the world, which the motion begins above the origin; as it stands
            there where it is left out.
        turn: roll, pitch and yaw of the base, each counted on through whole turns; a positive pitch
            lowers the nose.
        front: hip, thigh and calf of both front legs; a positive hip spreads them. As they stand
            where it is left out.
        rear: of both rear legs.
    """

    position: Annotated[tuple[float, float, float], Range("m", -10.0, 10.0)] | None = None
    turn: Annotated[tuple[float, float, float], Range("rad", -20.0, 20.0)] = (0.0, 0.0, 0.0)
    front: Leg | None = None
    rear: Leg | None = None


class Phase(Options, frozen=True):
    """A part of a motion.

    Attributes:
        name: for messages.
        duration: of the phase.
        feet: that stand on the ground: all, front, rear, or none in flight, where the base falls
            freely and turns evenly.
        end: the pose in which it ends.
    """

    name: str
    duration: Annotated[float, positive("s", 60.0)]
    feet: Feet = "all"
    end: Pose = Pose()


class Motion(Options, frozen=True):
    """Phases that begin in a stand, and how HiLQR makes a plan of them.

    Attributes:
        phases: one after another.
        cost: weights of the distance from the key poses.
        limits: that the plan keeps.
        iterations: most iterations of HiLQR between two updates of the limits' multipliers.
        tolerance: by which a plan may exceed a limit: a share of it, of clearances metres.
        hilqr: options of the planner that tracks it, as a launch file has them; the launch's own
            win.
    """

    phases: tuple[Phase, ...]
    cost: CostOptions = CostOptions(
        base_position=(10.0, 10.0, 10.0), base_orientation=(40.0, 40.0, 40.0),
        joints=(2.0, 0.3, 0.3), base_velocity=1.0, base_angular_velocity=0.3,
        joint_velocity=2e-3, terminal_scale=20.0, input_loaded=5e-4, input_unloaded=1e-3,
    )  # fmt: skip
    limits: LimitOptions = LimitOptions()
    iterations: Iterations = 20
    tolerance: Annotated[float, Range("-", 1e-4, 0.1)] = 0.01
    hilqr: dict[str, Any] = {}

    def check(self) -> None:
        """Raise ValueError for a motion without phases, or one that ends in the air."""
        if not self.phases:
            raise ValueError("phases: give one or more")
        if self.phases[-1].feet == "none":
            raise ValueError(f"phases: {self.phases[-1].name!r} ends in the air; add a landing")

    @property
    def duration(self) -> float:
        """Sum of all phases [s]."""
        return sum(phase.duration for phase in self.phases)
