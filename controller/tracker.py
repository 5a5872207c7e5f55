"""The hybrid LQR tracker (thesis 6.4.4, Fig. 6.3): the newest plan, fed back at 1 kHz.

States, which are the `status` of each command:

    waiting     no plan yet: joint PD holds the pose, and the torque, measured first
    ok          u = u_k + K_k (x (-) x_nom(t)) of a fresh plan
    hold        the same with a plan gone stale, or the last safe command while the estimate is bad
    stand_down  no plan or no estimate for too long: stand, then lie down
    damp        after a fall, or with nothing measured: damping only; a fall lasts until `reset`

From waiting and from standing a fresh plan takes over smoothly: torque and feedback go linearly to
the plan's in `return_s`. Once lying down has begun it is finished: planners start from a stand.
"""

import math
from collections import Counter
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from controller import motor_targets, plan_function
from controller.motor_targets import MotorAim, to_motor_target
from controller.options import TrackerOptions
from controller.plan_function import PolicyOutput, slot_size
from controller.plan_intake import PlanIntake
from controller.safety import PASS, GateVerdict, Joints, Reason, SafetyGate
from controller.stand_down import Standby, damping_aim
from controller.track_kernel import (
    POSITION_LIMITED,
    READ_DQ,
    READ_Q,
    TIME,
    TORQUE_LIMITED,
    UNUSUAL,
    contradiction,
    excess,
    is_plausible,
    is_unit,
    tilt,
    track,
)
from robots.legs import ground_below
from robots.motor_law import motor_torque
from robots.robot import Robot
from runtime.messages import MotorCommand, Plan, SensorReading, StateEstimate
from runtime.rows import layout_of, row_of

Array = NDArray[np.float64]
_COMMAND: Final = layout_of(MotorCommand)
_TICK, _PLAN, _TILT = (_COMMAND.spans[name].start for name in ("tick", "plan_id", "tilt"))
State = Literal["ok", "hold", "stand_down", "damp", "waiting"]


class Tracker:
    """Turns estimates and plans into motor commands, one per tick; never raises, always safe."""

    def __init__(self, options: TrackerOptions, robot: Robot) -> None:
        """Compile what is compiled (seconds, once per machine), then wait for a plan."""
        self.options, self.robot = options, robot
        motor_targets.warm_up()
        plan_function.warm_up()
        self.reset()
        gate = self.gate
        self._ranges = np.stack((*gate.joint_range, *gate.limits))
        self._bounds = np.array([
            gate.tilt_max, gate.height_min, options.kp_max, options.kd_max, *gate.estimate_bounds,
        ])  # fmt: skip
        self._warm_up()

    def reset(self) -> None:
        """Forget everything, a fall too: for an operator who has put the robot on its feet."""
        self.gate = SafetyGate(self.options.safety, self.robot)
        self.plans = PlanIntake(self.gate)
        self.commands: Counter[str] = Counter()
        self._standby = Standby(self.options.stand_down, self.robot)
        self._fallen: GateVerdict = PASS
        self._bad_since: float | None = None  # since when a plan could not be tracked [s]
        self._joints: Joints | None = None  # measured last
        self._torque = np.zeros(12)  # expected of the last command [N m]
        self._safe: MotorCommand | None = None
        self._now, self._tick = 0.0, 0

    def _warm_up(self) -> None:
        """Compile what the first plan must not wait for."""
        gate, still, joints = self.gate, np.zeros(37), np.zeros(12)
        slot = np.concatenate(([0.0, 1.0, 1.0], np.zeros(slot_size(1) - 3)))
        is_plausible(joints, joints, *self._ranges[:2])
        bounds, fastest = gate.estimate_bounds, gate.limits.speed
        contradiction(still[19:], joints, joints, still[:3], 0.0, bounds, fastest)
        excess(slot, 0.0, gate.plan_bounds)
        is_unit(still[:4])
        tilt(still[:4])
        estimate = np.zeros(layout_of(StateEstimate).width)
        reading = np.zeros(layout_of(SensorReading).width)
        track(slot, slot, estimate, reading, reading, 0.0, self._ranges, self._bounds,
              np.zeros(_COMMAND.width), joints)  # fmt: skip
        ground_below(self.robot.legs, still[:19], still[:4])
        # pyrefly: ignore[missing-attribute]
        track.disable_compile()  # a control loop has no time to wait for a compiler

    @property
    def due(self) -> float:
        """When the last command takes effect [s]."""
        return self._now + self.options.command_delay

    @property
    def plan_age(self) -> float | None:
        """Time from the start of the plan that is followed to `due` [s], None before the first."""
        plan = self.plans.current
        return None if plan is None else self.due - plan.time

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
        source = reading or estimate
        self._tick = source.tick if source is not None else self._tick + 1
        if reading is not None:
            self.gate.remember(reading)
        if plan is not None:
            self.offer(plan, now, estimate)
        self.plans.begin(self.due)
        if self._is_well(estimate, now) and estimate is not None and reading is not None:
            command = self._track(estimate, reading)
            if command is not None:
                return command
        joints = self.gate.measured(estimate, reading)
        if joints is not None and self._joints is None and reading is not None:
            self._torque = self.gate.measured_torque(reading)  # of whatever holds it up until now
        self._joints = joints or self._joints
        verdict = self.gate.judge_estimate(estimate, reading, now)
        usable = estimate if verdict.ok else None
        tracking = self.gate.state in ("ok", "hold")
        fall = self.gate.judge_fall(usable, reading, tracking, now)
        self._fallen = fall if self._fallen.ok else self._fallen
        state, reason = self._decide(verdict, now)
        if state not in ("ok", "hold"):
            return self._rest(state, reason)
        return self._follow(state, reason, usable)

    def damp(self, now: float) -> MotorCommand:
        """Return a damping command, for the end of a run."""
        self._now = now if math.isfinite(now) else self._now
        return self._rest("damp", Reason.STOPPED)

    def _is_well(self, estimate: StateEstimate | None, now: float) -> bool:
        """Whether nothing but numbers stands in the way of following the plan."""
        o, plan = self.options, self.plans.current
        return (
            self.gate.is_calm and self._fallen.ok and self._bad_since is None
            and self._standby.is_over and self._joints is not None
            and estimate is not None and estimate.status == "ok"
            and now - estimate.time <= o.safety.estimate_max_age_s
            and plan is not None and now < plan.end
            and self.plans.silence(now) <= o.stand_down.plan_max_age_s
        )  # fmt: skip

    def _track(self, estimate: StateEstimate, reading: SensorReading) -> MotorCommand | None:
        """The command that tracks the plan; None where a number says that there is more to do."""
        source, plan = self.gate.source_of(estimate, reading), self.plans.current
        assert plan is not None  # see `_is_well`
        row, torque, read = np.zeros(_COMMAND.width), np.empty(12), row_of(reading)
        self._bounds[0], self._bounds[1] = self.gate.tilt_max, self.gate.height_min
        bits = track(
            *self.plans.flat, row_of(estimate), read, row_of(source), self.due,
            self._ranges, self._bounds, row, torque,
        )  # fmt: skip
        if bits & UNUSUAL:
            return None
        self._joints = Joints(read[READ_Q], read[READ_DQ], float(read[TIME]))
        if bits:
            self.gate.count_limits(bool(bits & TORQUE_LIMITED), bool(bits & POSITION_LIMITED))
        self._torque = torque
        self.commands["ok"] += 1
        row[_TICK], row[TIME], row[_PLAN], row[_TILT] = (
            self._tick, self._now, plan.id, self.gate.tilt
        )
        self._safe = _COMMAND.view(row)
        return self._safe

    def _measured(self) -> tuple[Array, Array]:
        """Joints as measured last; before the first measurement nothing depends on them."""
        if self._joints is None:
            return self.robot.stand.copy(), np.zeros(12)
        return self._joints.q, self._joints.dq

    def _decide(self, estimate: GateVerdict, now: float) -> tuple[State, Reason]:
        """The state of this tick and why."""
        o, plan = self.options.stand_down, self.plans.current
        if not self._fallen.ok:
            return "damp", self._fallen.reason
        if self._joints is None:
            return "damp", Reason.NOT_MEASURED
        if plan is None:
            return "waiting", self.plans.refusal or Reason.NO_PLAN
        stale = self.plans.silence(now) - o.plan_max_age_s
        if now >= plan.end:
            return "stand_down", Reason.PLAN_ENDED
        if stale > (0.0 if self._standby.standing else o.hold_s):
            return "stand_down", self.plans.refusal or Reason.PLAN_STALE
        if not self._standby.may_return(now):
            return "stand_down", Reason.LYING_DOWN
        if self._standby.standing and not estimate.ok:
            return "stand_down", estimate.reason
        if self._bad_since is not None and now - self._bad_since > o.estimate_lost_s:
            return "stand_down", estimate.reason if not estimate.ok else Reason.COMMAND_NOT_FINITE
        if not estimate.ok:
            return "hold", estimate.reason
        if stale > 0.0:
            return "hold", self.plans.refusal or Reason.PLAN_STALE
        return "ok", Reason.OK

    def _rest(self, state: State, reason: Reason) -> MotorCommand:
        """The command of a state in which no plan is followed."""
        measured = self._measured()
        if state == "waiting":
            aim = self._standby.wait(*measured, self._torque)
        elif state == "stand_down":
            self._bad_since = None
            aim = self._standby.stand_down(*measured, self._torque, self._now)
        else:
            aim = damping_aim(*measured, self.options.stand_down.kd_damp)
        return self._send(state, reason, aim)

    def _follow(self, state: State, reason: Reason, estimate: StateEstimate | None) -> MotorCommand:
        """The command that tracks the plan, or while that cannot be done the last safe one."""
        if estimate is not None:
            policy = self._policy(estimate)
            if policy.finite:
                self._bad_since = None
                aim = MotorAim(policy.torque, policy.q, policy.dq, policy.kp, policy.kd)
                aim = self._standby.take_over(aim, *self._measured(), self._now)
                return self._send(state, reason, aim, (policy.joints, policy.joint_speeds))
            reason = Reason.COMMAND_NOT_FINITE
            self.gate.counts[reason.value] += 1
        if self._standby.standing:
            return self._rest("stand_down", reason)
        self._bad_since = self._now if self._bad_since is None else self._bad_since
        return self._repeat(reason)

    def _policy(self, estimate: StateEstimate) -> PolicyOutput:
        """u = u_k + K_k (x (-) x_nom) when the command takes effect, joint PD split off.

        Estimate and joints are moved from their own time to then as planned.
        """
        assert self._joints is not None  # else there is no plan to follow: see `_decide`
        o, q, v = self.options, np.array(estimate.q), np.array(estimate.v)
        return PolicyOutput(*plan_function.evaluate(
            *self.plans.flat, q, v, estimate.time, *self._joints, self.due, o.kp_max, o.kd_max
        ))  # fmt: skip

    def _repeat(self, reason: Reason) -> MotorCommand:
        """The last safe command: what its motor law gives now, within the limits again."""
        last = self._safe
        if last is None:
            return self._rest("damp", reason)
        torque = motor_torque(last.q, last.dq, last.kp, last.kd, last.tau, *self._measured())
        return self._send("hold", reason, MotorAim(torque, last.q, last.dq, last.kp, last.kd))

    def _send(
        self, state: State, reason: Reason, aim: MotorAim,
        joints: tuple[Array, Array] | None = None,
    ) -> MotorCommand:  # fmt: skip
        """The message that gives a finite `aim` within limits, at `joints` or as measured."""
        target = to_motor_target(aim, *(joints or self._measured()), self.gate.limits)
        self.gate.count_limits(target.torque_limited, target.position_limited)
        self.gate.enter(state, reason)
        self._torque = target.torque
        return self._command(state, reason, target.q, target.dq, aim.kp, aim.kd, target.tau)

    def _command(
        self, state: State, reason: Reason, q: Array, dq: Array, kp: Array, kd: Array, tau: Array
    ) -> MotorCommand:
        """The message, counted."""
        self.commands[state] += 1
        plan = self.plans.current
        self._safe = MotorCommand(
            tick=self._tick, time=self._now, q=q, dq=dq, kp=kp, kd=kd, tau=tau,
            plan_id=-1 if plan is None else plan.id, status=state,
            tilt=self.gate.tilt if state in ("ok", "hold") else 0.0,
            reason="" if state == "ok" else reason.value,
        )  # fmt: skip
        return self._safe
