"""The hybrid LQR tracker (thesis 6.4.4, Fig. 6.3): the newest plan, fed back at 1 kHz.

States, which are the `status` of each command:

    waiting     no plan yet: joint PD holds the pose, and the torque, measured first
    ok          u = u_k + K_k (x (-) x_nom(t)) of a fresh plan
    hold        the same with a plan gone stale, or the last safe command while the estimate is bad
    stand_down  no plan or no estimate for too long: stand, then lie down
    damp        after a fall, or with nothing measured: damping only; a fall lasts until `reset`

From waiting and from standing a fresh plan takes over smoothly: torque and feedback go linearly to
the plan's in `RETURN_S`. Once lying down has begun it is finished: planners start from a stand.
"""

import math
from collections import Counter
from typing import Final, Literal

import numpy as np

from controller.motor_targets import POSITION_LIMITED, TORQUE_LIMITED, write_command
from controller.options import TrackerOptions
from controller.plan_function import is_sound
from controller.plan_intake import PlanIntake
from controller.safety import ESTIMATE_REASONS, Reason, SafetyGate
from controller.stand_down import Standby, joint_pd
from controller.track_kernel import (
    ALLOWED,
    FOLLOWED,
    FOLLOWS,
    HAS_ESTIMATE,
    HAS_PLAN,
    HAS_READING,
    JOINTS,
    MEASURED,
    MEASURED_MARGIN,
    MISREAD,
    PAST,
    SPEEDS,
    TICK,
    TILTED,
    TIME,
    TOO_LOW,
    VERDICT,
    TrackBounds,
    excess,
    tilt,
    track,
)
from robots.legs import ground_below
from robots.motor_law import motor_torque
from robots.record import record
from robots.robot import Robot
from robots.rotations import Array
from runtime.checked import layout
from runtime.messages import MotorCommand, Plan, SensorReading, StateEstimate
from runtime.rows import layout_of, numbers_of

_COMMAND: Final = layout_of(MotorCommand)
_PLAN, _TILT, _STATUS = (_COMMAND.spans[name].start for name in ("plan_id", "tilt", "status"))
_REASON: Final = _COMMAND.spans["reason"]
_LIMITED: Final = TORQUE_LIMITED | POSITION_LIMITED
_NO_ESTIMATE, _NO_READING = (
    np.zeros(layout_of(kind).width) for kind in (StateEstimate, SensorReading)
)
ESTIMATE_LOST_S = 0.1  # without a usable estimate after which tracking is given up [s]
State = Literal["ok", "hold", "stand_down", "damp", "waiting"]
_STATES: Final = dict(layout(MotorCommand).words)["status"]


class Tracker:
    """Turns estimates and plans into motor commands, one per tick; never raises, always safe."""

    def __init__(self, options: TrackerOptions, robot: Robot) -> None:
        """Compile what is compiled (seconds, once per machine), then wait for a plan."""
        self.options, self.robot = options, robot
        o, legs, self._aim = options.safety, robot.legs, np.zeros((8, 12))
        self.reset()
        self._bounds = record(TrackBounds(
            np.stack((legs.lower - MEASURED_MARGIN, legs.upper + MEASURED_MARGIN)),
            self.gate.limits, o.estimate_max_age_s, o.tilt_max, options.kp_max, options.kd_max,
        )._asdict())  # fmt: skip
        self._warm_up()

    def reset(self) -> None:
        """Forget everything, a fall too: for an operator who has put the robot on its feet."""
        self.gate = SafetyGate(self.options.safety, self.robot)
        self.plans = PlanIntake(self.gate)
        self.commands: Counter[str] = Counter()
        self._standby = Standby(self.options.stand_down, self.robot)
        self._fallen = Reason.OK
        self._bad_since: float | None = None  # since when a plan could not be tracked [s]
        self._measured = self._is_calm = False
        self._past = np.full((PAST, len(_NO_READING)), np.nan)
        self._torque = np.zeros(12)  # expected of the last command [N m]
        self._safe: MotorCommand | None = None
        self._now, self._tick = 0.0, 0

    def _warm_up(self) -> None:
        """Compile what the first plan must not wait for."""
        gate, still = self.gate, np.zeros(19)
        slot = self.plans.flat[0].copy()
        is_sound(slot, np.zeros((1, 4)))
        excess(slot, 0.0, gate.legs, gate.torque_limit)
        zero = np.zeros(12)
        write_command(np.zeros((5, 12)), zero, zero, gate.limits, np.zeros(_COMMAND.width), zero)
        tilt(still[:4])
        track(*self.plans.flat, _NO_ESTIMATE, _NO_READING, 0, 0.0, 0.0, self._bounds,
              gate.memory.copy(), self._past, self._aim, np.zeros(_COMMAND.width))  # fmt: skip
        ground_below(self.robot.legs, still, still[:4])
        # pyrefly: ignore[missing-attribute]
        track.disable_compile()  # a control loop has no time to wait for a compiler

    def offer(self, plan: Plan, now: float, estimate: StateEstimate | None = None) -> bool:
        """Take a plan that arrives at `now` [s] if it is newer and safe; whether it was.

        The first one may not lead away from the `estimate`.
        """
        q = None if estimate is None else estimate.q
        accepted = self.plans.offer(plan, now, self.options.stand_down.plan_max_age_s, q)
        if accepted:
            self.gate.follow_plan(plan)
        return accepted

    def command(
        self,
        estimate: StateEstimate | None,
        plan: Plan | None,
        now: float,
        reading: SensorReading | None = None,
    ) -> MotorCommand:
        """Return the motor command of this tick.

        Args:
            estimate: the newest estimate; the same one may be passed again.
            plan: the newest plan; repeated, older and unsafe ones are ignored.
            now: time [s] on the clock that stamps readings.
            reading: the newest reading, if there is one. Its joints are what the motors see now, so
                the split law is exact against them and safe motions need no estimate; its tick
                becomes the command's. Without it the estimate's joints and tick are used.
        """
        self._now = now = now if math.isfinite(now) else self._now
        flags, estimated, read, plans = 0, _NO_ESTIMATE, _NO_READING, self.plans
        if estimate is not None:
            flags, estimated = HAS_ESTIMATE, estimate.row
        if reading is not None:
            flags, read = flags | HAS_READING, reading.row
        source = read if reading is not None else estimated
        self._tick = int(source[TICK]) if flags else self._tick + 1
        if plan is not None:
            self.offer(plan, now, estimate)
        due = now + self.options.command_delay
        if plans.waiting:
            plans.begin(due)
        if (current := plans.current) is not None:
            flags |= HAS_PLAN
        if self.gate.state in ("ok", "hold"):
            flags |= FOLLOWS
        row, memory = np.zeros(_COMMAND.width), self.gate.memory
        bits = track(
            *plans.flat, estimated, read, flags, now, due, self._bounds, memory, self._past,
            self._aim, row,
        )  # fmt: skip
        if not (
            bits & ~_LIMITED == MEASURED | FOLLOWED and self._is_calm and current is not None
            and now < current.end
            and now - plans.accepted_at <= self.options.stand_down.plan_max_age_s
        ):  # fmt: skip
            return self._decide(bits, reading)
        if bits & _LIMITED:
            self._count_limits(bits)
        self._torque[:] = self._aim[7]
        self.commands["ok"] += 1
        row[TICK], row[_PLAN], row[_TILT] = self._tick, current.id, memory[ALLOWED]
        self._safe = _COMMAND.view(row)
        return self._safe

    def damp(self, now: float) -> MotorCommand:
        """Return a damping command, for the end of a run."""
        self._now = now if math.isfinite(now) else self._now
        return self._rest("damp", Reason.STOPPED)

    def remember(self, reading: SensorReading) -> None:
        """Keep a reading that is not the newest for the estimate that is made from it."""
        row = reading.row
        self._past[int(row[TICK]) % PAST] = row

    def _measured_joints(self) -> tuple[Array, Array]:
        """Joints as measured last; before the first measurement nothing depends on them."""
        if not self._measured:
            return self.robot.stand.copy(), np.zeros(12)
        memory = self.gate.memory
        return memory[JOINTS].copy(), memory[SPEEDS].copy()

    def _measured_torque(self, reading: SensorReading) -> Array:
        """The measured torques (12) [N m] within the limit, zeros if there is none."""
        torque, most = reading.joint_torque, self.gate.limits[2]
        return np.clip(torque, -most, most) if np.isfinite(torque).all() else np.zeros(12)

    def _decide(self, bits: int, reading: SensorReading | None) -> MotorCommand:
        """The command of a tick in which there is more to do than to follow a plan."""
        gate = self.gate
        if bits & MISREAD:
            gate.count(Reason.READING_NOT_PLAUSIBLE)
        if bits & MEASURED and not self._measured:
            self._measured = True
            if reading is not None:
                self._torque = self._measured_torque(reading)  # of what holds it up until now
        estimate = gate.count(ESTIMATE_REASONS[bits & VERDICT])
        if bits & (TILTED | TOO_LOW):
            fall = gate.count(Reason.TILTED if bits & TILTED else Reason.TOO_LOW)
            self._fallen = fall if self._fallen is Reason.OK else self._fallen
        state, reason = self._state(estimate)
        if state in ("ok", "hold"):
            command = self._follow(state, reason, estimate, bits)
        else:
            command = self._rest(state, reason)
        self._is_calm = command.status == "ok" and self._bad_since is None and self._standby.is_over
        return command

    def _state(self, estimate: Reason) -> tuple[State, Reason]:
        """The state of this tick and why, with an estimate that is OK or not."""
        o, plan, now = self.options.stand_down, self.plans.current, self._now
        is_good = estimate is Reason.OK
        if self._fallen is not Reason.OK:
            return "damp", self._fallen
        if not self._measured:
            return "damp", Reason.NOT_MEASURED
        if plan is None:
            return "waiting", self.plans.refusal or Reason.NO_PLAN
        stale = now - self.plans.accepted_at - o.plan_max_age_s
        if now >= plan.end:
            return "stand_down", Reason.PLAN_ENDED
        if stale > (0.0 if self._standby.standing else o.hold_s):
            return "stand_down", self.plans.refusal or Reason.PLAN_STALE
        if not self._standby.may_return(now):
            return "stand_down", Reason.LYING_DOWN
        if self._standby.standing and not is_good:
            return "stand_down", estimate
        if self._bad_since is not None and now - self._bad_since > ESTIMATE_LOST_S:
            return "stand_down", Reason.COMMAND_NOT_FINITE if is_good else estimate
        if not is_good:
            return "hold", estimate
        if stale > 0.0:
            return "hold", self.plans.refusal or Reason.PLAN_STALE
        return "ok", Reason.OK

    def _rest(self, state: State, reason: Reason) -> MotorCommand:
        """The command of a state in which no plan is followed."""
        measured = self._measured_joints()
        if state == "waiting":
            aim = self._standby.wait(*measured, self._torque)
        elif state == "stand_down":
            self._bad_since = None
            aim = self._standby.stand_down(*measured, self._torque, self._now)
        else:
            aim = joint_pd(measured[0], np.zeros(12), *measured)
        return self._send(state, reason, aim)

    def _follow(self, state: State, reason: Reason, estimate: Reason, bits: int) -> MotorCommand:
        """The command that tracks the plan, or while that cannot be done the last safe one."""
        if bits & FOLLOWED:
            self._bad_since = None
            aim = self._aim.copy()
            wanted = self._standby.take_over(aim[:5], *self._measured_joints(), self._now)
            return self._send(state, reason, wanted, (aim[5], aim[6]))
        if estimate is Reason.OK:
            reason = self.gate.count(Reason.COMMAND_NOT_FINITE)
        if self._standby.standing:
            return self._rest("stand_down", reason)
        self._bad_since = self._now if self._bad_since is None else self._bad_since
        return self._repeat(reason)

    def _repeat(self, reason: Reason) -> MotorCommand:
        """The last safe command: what its motor law gives now, within the limits again."""
        last = self._safe
        if last is None:
            return self._rest("damp", reason)
        torque = motor_torque(last.q, last.dq, last.kp, last.kd, last.tau, *self._measured_joints())
        return self._send("hold", reason, np.stack((torque, last.q, last.dq, last.kp, last.kd)))

    def _send(
        self, state: State, reason: Reason, aim: Array, joints: tuple[Array, Array] | None = None
    ) -> MotorCommand:
        """The command that gives a finite `aim` (5, 12) within limits, at `joints` or as measured.

        See `write_command`.
        """
        gate, row, torque = self.gate, np.zeros(_COMMAND.width), np.empty(12)
        q, dq = joints or self._measured_joints()
        self._count_limits(write_command(aim, q, dq, gate.limits, row, torque))
        gate.enter(state, reason)
        self._torque, current = torque, self.plans.current
        self.commands[state] += 1
        row[TICK], row[TIME], row[_STATUS] = self._tick, self._now, _STATES.index(state)
        row[_PLAN] = -1 if current is None else current.id
        if state in ("ok", "hold"):
            row[_TILT] = gate.memory[ALLOWED]
        if state != "ok":
            row[_REASON] = numbers_of(reason.value)
        self._safe = _COMMAND.view(row)
        return self._safe

    def _count_limits(self, bits: int) -> None:
        """Count a command of which limits have changed a torque, or the target of a position."""
        if bits & TORQUE_LIMITED:
            self.gate.count(Reason.TORQUE_LIMITED)
        if bits & POSITION_LIMITED:
            self.gate.count(Reason.POSITION_LIMITED)
