"""When the tracker gives up plans, and how it moves then."""

import msgspec


class StandDownOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When and how the tracker stops following plans.

    Attributes:
        plan_max_age_s: time since the last new plan after which the plan is stale [s].
        hold_s: how long a stale plan is followed on, within its horizon [s].
        estimate_lost_s: time without a usable estimate after which tracking is given up [s].
        rise_s, pause_s, lie_s: durations of going to the stand, standing, lying down [s].
        return_s: time in which torque and feedback go over to a new plan [s].
        kp, kd: joint PD of standing and lying [N m/rad], [N m s/rad].
        kd_damp: damping after a fall [N m s/rad].
    """

    plan_max_age_s: float = 0.1
    hold_s: float = 0.25
    estimate_lost_s: float = 0.1
    rise_s: float = 0.4
    pause_s: float = 1.0
    lie_s: float = 1.5
    return_s: float = 0.2
    kp: float = 80.0
    kd: float = 3.0
    kd_damp: float = 3.0

    def __post_init__(self) -> None:
        """Raise ValueError for a negative number or a motion that takes no time."""
        for name in self.__struct_fields__:
            value, moves = getattr(self, name), name in ("rise_s", "lie_s", "return_s")
            if not (value > 0.0 if moves else value >= 0.0):
                least = "> 0" if moves else ">= 0"
                raise ValueError(f"stand_down.{name}: expected a number {least}, got {value}")
