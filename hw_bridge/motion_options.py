"""How the robot stands up, sits down and is damped."""

from typing import Annotated

from runtime.options import Options, positive


class MotionOptions(Options, frozen=True):
    """The bridge's own motions.

    Attributes:
        joint_speed: fastest joint while standing up and sitting down.
        recover_speed: fastest joint on the way from a walk's pose to the stand.
        load_s: time in which the legs take the robot's weight, or give it to the ground.
        kp: joint stiffness of the motions. The vendor's examples and users of the A1 stand up with
            80 to 100 (yxyang/fast_and_efficient: kp 100, kd 1 to 2).
        kd: joint damping of the motions.
        slow_lag: how far the joint that lags most may be behind before the motion slows down.
        stop_lag: lag of that joint at which the motion waits; kp * stop_lag bounds how hard it
            pushes.
        damping_kd: damping of joints in the state damping; the stand sinks at about 1 rad/s under
            5.
        damping_s: how long the first damping lasts, and for how long all joints must be still
            without interruption before the last one ends.
        damping_timeout_s: the last damping ends after this even if a joint still moves.
        tolerance: how near to the stand every joint must be for ready.
        still_speed: fastest joint of a robot that counts as still.
        lean_max: largest tilt of the trunk from which it may stand up; of 25 random poses in
            simulation all 18 up to 0.57 rad rose, of 6 beyond 0.62 rad two.
        settle_s: how long it must be near and still.
        stand_up_timeout_s: how long standing up may take.
        level_tilt: largest tilt of a trunk that counts as level.
        level_rate: largest angular velocity of a trunk that counts as level.
        level_s: how long the trunk must be level before a walk may end, and again before the legs
            may fold.
        end_timeout_s: how long a walk may go on until then, once the robot is told to sit down.
        level_timeout_s: how long sitting down may take until the trunk is level; after this the
            legs fold all the same, as on a slope steeper than level_tilt.
        sit_down_timeout_s: how long sitting down may take as a whole.
    """

    joint_speed: Annotated[float, positive("rad/s", 21.0)] = 1.0
    recover_speed: Annotated[float, positive("rad/s", 21.0)] = 3.0
    load_s: Annotated[float, positive("s", 60.0)] = 0.5
    kp: Annotated[float, positive("N m/rad", 1000.0)] = 100.0
    kd: Annotated[float, positive("N m s/rad", 100.0)] = 3.0
    slow_lag: Annotated[float, positive("rad", 3.0)] = 0.08
    stop_lag: Annotated[float, positive("rad", 3.0)] = 0.16
    damping_kd: Annotated[float, positive("N m s/rad", 100.0)] = 5.0
    damping_s: Annotated[float, positive("s", 3600.0)] = 1.0
    damping_timeout_s: Annotated[float, positive("s", 3600.0)] = 5.0
    tolerance: Annotated[float, positive("rad", 3.0)] = 0.1
    still_speed: Annotated[float, positive("rad/s", 21.0)] = 0.3
    lean_max: Annotated[float, positive("rad", 3.0)] = 0.55
    settle_s: Annotated[float, positive("s", 60.0)] = 0.3
    stand_up_timeout_s: Annotated[float, positive("s", 3600.0)] = 20.0
    level_tilt: Annotated[float, positive("rad", 3.0)] = 0.15
    level_rate: Annotated[float, positive("rad/s", 50.0)] = 0.5
    level_s: Annotated[float, positive("s", 60.0)] = 0.2
    end_timeout_s: Annotated[float, positive("s", 60.0)] = 1.5
    level_timeout_s: Annotated[float, positive("s", 60.0)] = 2.5
    sit_down_timeout_s: Annotated[float, positive("s", 3600.0)] = 12.0

    def __post_init__(self) -> None:
        """Raise ValueError, naming the option and what it takes."""
        Options.__post_init__(self)
        if self.stop_lag <= self.slow_lag:
            raise ValueError(
                f"stop_lag is {self.stop_lag:g}; give more than slow_lag, {self.slow_lag:g} rad"
            )
        if self.damping_timeout_s <= self.damping_s:
            raise ValueError(
                f"damping_timeout_s is {self.damping_timeout_s:g}; give more than damping_s, "
                f"{self.damping_s:g} s"
            )
