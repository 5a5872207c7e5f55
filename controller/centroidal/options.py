"""Options of the planners that reckon with one rigid body: Convex MPC and Instant QP."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Triple = tuple[float, float, float]


def _check(options: msgspec.Struct, names: tuple[str, ...], positive: bool = False) -> None:
    """Raise ValueError for a number, or one of several, that is negative or not finite."""
    for name in names:
        value = getattr(options, name)
        for number in value if isinstance(value, tuple) else (value,):
            if not 0.0 <= number < float("inf") or (positive and number == 0.0):
                least = "above 0" if positive else ">= 0"
                raise ValueError(f"{name} is {value}; give finite numbers {least}")


class SteppingOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where feet step, and how they get there.

    Attributes:
        capture: share of the capture point's offset sqrt(h / g) (v - v_des) that a step takes [-].
        reach: how far a foothold may lie from its neutral place, forward and sideways [m].
        inward: how far a foothold may lie on the other leg's side of its neutral place [m].
        press: depth below the ground that a landing foot aims at [m].
        early: share of the swing after which a foot that feels the ground stands [-].
        kp, kd: joint feedback of a swinging leg [N m/rad], [N m s/rad].
        stance_kp, stance_kd: of a standing leg.
    """

    capture: float = 1.0
    reach: tuple[float, float] = (0.25, 0.27)
    inward: float = 0.12
    press: float = 0.005
    early: float = 0.5
    kp: float = 60.0
    kd: float = 1.0
    stance_kp: float = 10.0
    stance_kd: float = 0.5

    def __post_init__(self) -> None:
        """Raise ValueError for a number that is out of range."""
        _check(self, ("capture", "reach", "inward", "press", "kp", "kd", "stance_kp", "stance_kd"))
        if not 0.0 < self.early <= 1.0:
            raise ValueError(f"early is {self.early}; give a share of the swing in (0, 1]")


class PathOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the body returns to the commanded path.

    Attributes:
        return_rate: velocity asked for per distance from the path [1/s].
        return_speed: most of that velocity [m/s].
    """

    return_rate: float = 1.0
    return_speed: float = 0.1

    def __post_init__(self) -> None:
        """Raise ValueError for a number that leads the body away from the path."""
        _check(self, ("return_rate", "return_speed"))


class CentroidalOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What both planners share.

    Attributes:
        period: time between the knots of a plan [s]; in lock step a plan is asked for once a knot.
        knots: length of a plan; friction: assumed of the ground [-].
        force_max, force_min: on a standing foot, normal to the ground [N].
        time_limit: a QP that takes longer is abandoned, 0 for never [s]; lock step has none.
        stepping: feet; path: the body's way back.
    """

    period: float = 0.01
    knots: int = 20
    friction: float = 0.7
    force_max: float = 200.0
    force_min: float = 5.0
    time_limit: float = 0.01
    stepping: SteppingOptions = SteppingOptions()
    path: PathOptions = PathOptions()

    def __post_init__(self) -> None:
        """Raise ValueError for what no planner can run on."""
        _check(self, ("period", "friction", "force_max"), positive=True)
        _check(self, ("force_min", "time_limit"))
        if not self.force_min < self.force_max:
            raise ValueError(f"force_min is {self.force_min}; give 0 or more, below force_max")
        if self.period < 1e-3:
            raise ValueError(f"period is {self.period}; give a tick of the robot, 0.001, or more")
        if self.knots < 2:
            raise ValueError(f"knots is {self.knots}; give 2 or more")

    @property
    def horizon(self) -> float:
        """How far ahead a plan looks [s]."""
        return self.knots * self.period


class ForceMpcWeights(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Weights of Convex MPC, along the axes of the world.

    Attributes:
        orientation: roll, pitch, yaw [1/rad^2]; position: [1/m^2].
        angular_velocity: [s^2/rad^2]; velocity: [s^2/m^2].
        force: of the distance from evenly shared forces [1/N^2]; above 0.
    """

    orientation: tuple[float, float, float] = (5.0, 5.0, 10.0)
    position: tuple[float, float, float] = (20.0, 20.0, 50.0)
    angular_velocity: tuple[float, float, float] = (0.3, 0.3, 0.3)
    velocity: tuple[float, float, float] = (1.0, 1.0, 0.5)
    force: float = 1e-5

    def __post_init__(self) -> None:
        """Raise ValueError where the problem would not be strictly convex."""
        state = self.state_weights()
        if not (np.isfinite(state).all() and state.min() >= 0.0):
            raise ValueError("weights of the state must be finite and not negative")
        if not 0.0 < self.force < np.inf:
            raise ValueError(f"force is {self.force:g}; give a number above 0")

    def state_weights(self) -> Array:
        """Diagonal of Q, (12,)."""
        return np.concatenate(
            (self.orientation, self.position, self.angular_velocity, self.velocity)
        )


class ConvexMpcOptions(CentroidalOptions, frozen=True, forbid_unknown_fields=True):
    """Convex MPC (Di Carlo et al. 2018).

    Attributes:
        steps: of the horizon; step: time of one [s].
        weights: of the states and forces.
    """

    steps: int = 10
    step: float = 0.036
    weights: ForceMpcWeights = ForceMpcWeights()

    def __post_init__(self) -> None:
        """Raise ValueError for what no planner can run on."""
        CentroidalOptions.__post_init__(self)
        _check(self, ("step",), positive=True)
        if self.steps < 1:
            raise ValueError(f"steps is {self.steps}; give 1 or more")

    @property
    def horizon(self) -> float:
        """How far ahead a plan looks [s]: as far as its forces or its knots."""
        return max(self.steps * self.step, self.knots * self.period)


class BodyFeedback(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The acceleration that Instant QP asks of the body, as a PD law.

    Attributes:
        orientation_kp, orientation_kd: [1/s^2], [1/s].
        height_kp: [1/s^2]; velocity_kd: the way back to the path is a velocity already [1/s].
    """

    orientation_kp: Triple = (400.0, 400.0, 100.0)
    orientation_kd: Triple = (40.0, 40.0, 20.0)
    height_kp: float = 100.0
    velocity_kd: Triple = (8.0, 8.0, 20.0)

    def __post_init__(self) -> None:
        """Raise ValueError for a number that is negative or not finite."""
        _check(self, ("orientation_kp", "orientation_kd", "height_kp", "velocity_kd"))


class ForceQpWeights(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Weights of Instant QP, along the axes of the world.

    Attributes:
        wrench: S, of force [1/N^2] and of torque [1/(N m)^2].
        force: alpha [1/N^2]; change: beta, of the distance from the last forces [1/N^2]; one of
            them above 0.
    """

    wrench: tuple[float, float, float, float, float, float] = (1.0, 1.0, 1.0, 20.0, 20.0, 20.0)
    force: float = 1e-3
    change: float = 1e-3

    def __post_init__(self) -> None:
        """Raise ValueError where the problem would not be strictly convex."""
        weights = (*self.wrench, self.force, self.change)
        if not (np.isfinite(weights).all() and min(weights) >= 0.0):
            raise ValueError("weights must be finite and not negative")
        if self.force + self.change <= 0.0:
            raise ValueError("force and change are 0; give one of them a number above 0")


class InstantQpOptions(CentroidalOptions, frozen=True, forbid_unknown_fields=True):
    """Instant QP: the forces of one instant, on the feet that are measured to stand.

    Attributes:
        feedback: the acceleration asked for; weights: of the wrench and the forces.
        search: force with which a foot that should stand and does not feel the ground is pushed
            down [N].
    """

    knots: int = 10  # forces of one instant say little about a later one
    force_min: float = 20.0
    search: float = 25.0
    stepping: SteppingOptions = SteppingOptions(
        reach=(0.25, 0.18), inward=0.08, early=0.7, kp=150.0, stance_kp=0.0, stance_kd=0.2
    )
    path: PathOptions = PathOptions(return_speed=0.3)
    feedback: BodyFeedback = BodyFeedback()
    weights: ForceQpWeights = ForceQpWeights(wrench=(1.0, 1.0, 10.0, 20.0, 20.0, 20.0))

    def __post_init__(self) -> None:
        """Raise ValueError for what no planner can run on."""
        CentroidalOptions.__post_init__(self)
        _check(self, ("search",))
