"""How the robot stands up, sits down and is damped."""

import math

import msgspec


class MotionOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The bridge's own motions.

    Attributes:
        joint_speed: fastest joint while standing up and sitting down [rad/s].
        recover_speed: fastest joint on the way from a walk's pose to the stand [rad/s].
        load_s: time in which the legs take the robot's weight, or give it to the ground [s].
        kp, kd: joint PD of the motions [N m/rad], [N m s/rad]. The vendor's examples and users of
            the A1 stand up with kp 80 to 100 (yxyang/fast_and_efficient: kp 100, kd 1 to 2).
        slow_lag, stop_lag: how far the joint that lags most may be behind before the motion slows
            down, and where it waits [rad]; kp * stop_lag bounds how hard it pushes.
        damping_kd: of the state damping [N m s/rad]; the stand sinks at about 1 rad/s under 5.
        damping_s: how long the first and the last damping last at least [s].
        damping_timeout_s: the last damping ends after this even if a joint still moves [s].
        tolerance: how near to the stand every joint must be for ready [rad].
        still_speed: fastest joint of a robot that counts as still [rad/s].
        lean_max: of a robot that is asked to stand up, tilt of its trunk [rad]; of 25 random poses
            in simulation all 18 up to 0.57 rad rose, of 6 beyond 0.62 rad two.
        settle_s: how long it must be near and still [s].
        stand_up_timeout_s, sit_down_timeout_s: how long a motion may take [s].
    """

    joint_speed: float = 1.0
    recover_speed: float = 3.0
    load_s: float = 0.5
    kp: float = 100.0
    kd: float = 3.0
    slow_lag: float = 0.08
    stop_lag: float = 0.16
    damping_kd: float = 5.0
    damping_s: float = 1.0
    damping_timeout_s: float = 4.0
    tolerance: float = 0.1
    still_speed: float = 0.3
    lean_max: float = 0.55
    settle_s: float = 0.3
    stand_up_timeout_s: float = 20.0
    sit_down_timeout_s: float = 12.0

    def __post_init__(self) -> None:
        """Raise ValueError, naming the option and what it takes."""
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0.0):
                raise ValueError(f"motion.{name}: expected a finite number > 0, got {value}")
        if self.stop_lag <= self.slow_lag:
            raise ValueError(
                f"motion.stop_lag: expected a number > slow_lag ({self.slow_lag} rad), "
                f"got {self.stop_lag}"
            )
