"""Options of the planners that reckon with one rigid body: Convex MPC and Instant QP."""

from __future__ import annotations

from typing import Annotated

from runtime.options import Options, Range, positive

Triple = tuple[float, float, float]


class SteppingOptions(Options, frozen=True):
    """Where feet step, and how they get there.

    Attributes:
        capture: share of the capture point's offset sqrt(h / g) (v - v_des) that a step takes.
        reach: how far a foothold may lie from its neutral place, forward and sideways.
        inward: how far a foothold may lie on the other leg's side of its neutral place.
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
    kp: Annotated[float, Range("N m/rad", 0.0, 1000.0)] = 60.0
    kd: Annotated[float, Range("N m s/rad", 0.0, 100.0)] = 1.0
    stance_kp: Annotated[float, Range("N m/rad", 0.0, 1000.0)] = 10.0
    stance_kd: Annotated[float, Range("N m s/rad", 0.0, 100.0)] = 0.5


class PathOptions(Options, frozen=True):
    """How the body returns to the commanded path.

    Attributes:
        return_rate: velocity asked for per distance from the path.
        return_speed: most of that velocity.
    """

    return_rate: Annotated[float, Range("1/s", 0.0, 100.0)] = 1.0
    return_speed: Annotated[float, Range("m/s", 0.0, 5.0)] = 0.1


class CentroidalOptions(Options, frozen=True):
    """What both planners share.

    Attributes:
        period: time between the knots of a plan; in lock step a plan is asked for once a knot.
        knots: length of a plan.
        friction: coefficient that is assumed of the ground.
        force_max: largest force on a standing foot, normal to the ground.
        force_min: least force on a standing foot, normal to the ground.
        time_limit: a QP that takes longer is abandoned, 0 for never; lock step has none.
        stepping: how feet step.
        path: how the body returns to its path.
    """

    period: Annotated[float, Range("s", 0.001, 1.0)] = 0.01
    knots: Annotated[int, Range("-", 2, 1000)] = 20
    friction: Annotated[float, positive("-", 10.0)] = 0.7
    force_max: Annotated[float, positive("N", 10_000.0)] = 200.0
    force_min: Annotated[float, Range("N", 0.0, 10_000.0)] = 5.0
    time_limit: Annotated[float, Range("s", 0.0, 10.0)] = 0.01
    stepping: SteppingOptions = SteppingOptions()
    path: PathOptions = PathOptions()

    def __post_init__(self) -> None:
        """Raise ValueError for what no planner can run on."""
        Options.__post_init__(self)
        if self.force_min >= self.force_max:
            raise ValueError(
                f"force_min is {self.force_min:g}; give less than force_max, {self.force_max:g} N"
            )

    @property
    def horizon(self) -> float:
        """How far ahead a plan looks [s]."""
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

    orientation: Annotated[Triple, Range("1/rad^2", 0.0, 1e6)] = (5.0, 5.0, 10.0)
    position: Annotated[Triple, Range("1/m^2", 0.0, 1e6)] = (20.0, 20.0, 50.0)
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
        """How far ahead a plan looks [s]: as far as its forces or its knots."""
        return max(self.steps * self.step, self.knots * self.period)


class BodyFeedback(Options, frozen=True):
    """The acceleration that Instant QP asks of the body, as a PD law.

    Attributes:
        orientation_kp: angular acceleration per error of roll, pitch, yaw.
        orientation_kd: angular acceleration per error of the angular velocity.
        height_kp: acceleration per error of the height.
        velocity_kd: acceleration per error of the velocity; the way back to the path is a velocity
            already.
    """

    orientation_kp: Annotated[Triple, Range("1/s^2", 0.0, 1e6)] = (400.0, 400.0, 100.0)
    orientation_kd: Annotated[Triple, Range("1/s", 0.0, 1e6)] = (40.0, 40.0, 20.0)
    height_kp: Annotated[float, Range("1/s^2", 0.0, 1e6)] = 100.0
    velocity_kd: Annotated[Triple, Range("1/s", 0.0, 1e6)] = (8.0, 8.0, 20.0)


class ForceQpWeights(Options, frozen=True):
    """Weights of Instant QP, along the axes of the world.

    Attributes:
        wrench: S, of the force and of the torque on the body.
        force: alpha, of the forces; this or `change` is above 0.
        change: beta, of the distance from the last forces.
    """

    wrench: Annotated[
        tuple[float, float, float, float, float, float], Range("1/N^2, 1/(N m)^2", 0.0, 1e6)
    ] = (1.0, 1.0, 1.0, 20.0, 20.0, 20.0)
    force: Annotated[float, Range("1/N^2", 0.0, 1e6)] = 1e-3
    change: Annotated[float, Range("1/N^2", 0.0, 1e6)] = 1e-3

    def __post_init__(self) -> None:
        """Raise ValueError where the problem would not be strictly convex."""
        Options.__post_init__(self)
        if self.force + self.change <= 0.0:
            raise ValueError("force is 0, and so is change; give one of them a number above 0")


class InstantQpOptions(CentroidalOptions, frozen=True):
    """Instant QP: the forces of one instant, on the feet that are measured to stand.

    Attributes:
        search: force with which a foot that should stand and does not feel the ground is pushed
            down.
        feedback: the acceleration that is asked for.
        weights: of the wrench and the forces.
    """

    # The forces of one instant say little about a later one.
    knots: Annotated[int, Range("-", 2, 1000)] = 10
    force_min: Annotated[float, Range("N", 0.0, 10_000.0)] = 20.0
    search: Annotated[float, Range("N", 0.0, 10_000.0)] = 25.0
    stepping: SteppingOptions = SteppingOptions(
        reach=(0.25, 0.18), inward=0.08, early=0.7, kp=150.0, stance_kp=0.0, stance_kd=0.2
    )
    path: PathOptions = PathOptions(return_speed=0.3)
    feedback: BodyFeedback = BodyFeedback()
    weights: ForceQpWeights = ForceQpWeights(wrench=(1.0, 1.0, 10.0, 20.0, 20.0, 20.0))
