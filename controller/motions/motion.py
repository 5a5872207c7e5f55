"""A motion as data: phases, one after another, each with the pose in which it ends."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from controller.cost_options import CostOptions
from controller.limit_options import LimitOptions
from runtime.options import Options, Range, positive

Feet = Literal["all", "front", "rear", "none"]
Leg = Annotated[tuple[float, float, float], Range("rad", -4.2, 4.2)]

STANDING: dict[Feet, tuple[float, float, float, float]] = {
    "all": (1.0, 1.0, 1.0, 1.0), "front": (1.0, 1.0, 0.0, 0.0), "rear": (0.0, 0.0, 1.0, 1.0),
    "none": (0.0, 0.0, 0.0, 0.0),
}  # fmt: skip
"""Which feet are on the ground, in their order."""


class Pose(Options, frozen=True):
    """Where the robot shall be at the end of a phase, about.

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
    hilqr: dict[str, Any] = {}

    def __post_init__(self) -> None:
        """Raise ValueError for a motion without phases, or one that ends in the air."""
        Options.__post_init__(self)
        if not self.phases:
            raise ValueError("phases: give one or more")
        if self.phases[-1].feet == "none":
            raise ValueError(f"phases: {self.phases[-1].name!r} ends in the air; add a landing")

    @property
    def duration(self) -> float:
        """Of all phases [s]."""
        return sum(phase.duration for phase in self.phases)
