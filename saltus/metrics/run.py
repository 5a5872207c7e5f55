"""Measures of a motion with flight: the load of the motors, and its time in the air."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from controller.solve_schedule import TICK_S
from robots.conventions import FALLEN_TILT
from robots.planar_pose import PlanarPose
from runtime.checked import Array
from runtime.messages import Command, GroundTruth, RobotStatus, StateEstimate
from saltus.configuration.motions import motion_names
from saltus.metrics.driving import DrivingMetrics

if TYPE_CHECKING:
    from saltus.configuration.launch import LaunchConfig


MOTION_MEASURES = (
    "largest_torque_n_m", "largest_speed_rad_s", "largest_power_w", "highest_m", "air_s",
    "two_legs_s", "heading_rad",
)  # fmt: skip


class MotionMetrics:
    """Takes the true states of a run as they come, in bounded memory."""

    def __init__(self) -> None:
        """Before the first state."""
        self._most = [0.0] * 4  # of torque, speed, power and height
        self._heading = 0.0
        self._start: PlanarPose | None = None
        self._air, self._two_legs = _Longest(), _Longest()

    def add(self, truth: GroundTruth) -> None:
        """Take a state in."""
        speed, torque = np.abs(truth.v[6:]), np.abs(truth.torque)
        now = torque.max(), speed.max(), speed @ torque, truth.q[2]
        self._most = [max(most, float(each)) for most, each in zip(self._most, now, strict=True)]
        self._start = self._start or PlanarPose.of(truth.q)
        self._heading = PlanarPose.of(self._start.to_local(truth.q)).yaw
        front, rear = truth.contact[:2].any(), truth.contact[2:].any()
        self._air.add(truth.tick, not front and not rear)
        self._two_legs.add(truth.tick, not front)

    def summary(self) -> dict[str, float]:
        """The measures by the names that rows have."""
        measures = *self._most, self._air.seconds, self._two_legs.seconds, self._heading
        return dict(zip(MOTION_MEASURES, measures, strict=True))


class _Longest:
    """The longest time for which something was so, without a break; states may be missing."""

    def __init__(self) -> None:
        self._since: int | None = None  # tick
        self._most = 0

    def add(self, tick: int, so: bool) -> None:
        """Take a state in; what is so holds until the next state."""
        if self._since is not None:
            self._most = max(self._most, tick - self._since)
        if not so:
            self._since = None
        elif self._since is None:
            self._since = tick

    @property
    def seconds(self) -> float:
        return round(self._most * TICK_S, 6)


DRIVING_MEASURES = (
    "velocity_rmse_m_s", "yaw_rate_rmse_rad_s", "cost_of_transport", "foot_slip_m", "distance_m",
)  # fmt: skip
_PENDING = 4000  # ticks for which one half of a pair waits for the other
_State = tuple[Array, Array]  # q (19) and v (18)
_States = dict[int, _State]  # by tick


def no_tilt(time: float) -> float:
    """The tilt of a gait's trunk [rad]."""
    return 0.0


@dataclass
class RunMetrics:
    """Takes the messages of a run as they come, in bounded memory.

    Truth and estimate of the same tick are compared; a tick of which one is missing is left out.

    Attributes:
        judging: whether the robot is being judged: one that is not running may lie.
        anywhere: the estimator does not know where the robot begins, so the first pair of positions
            counts as equal.
        by_estimates: the truth is unknown, so the way is that of the estimates.
        driving: of a robot that is driven; its way is the length of its path, and none is to the
            side.
        motion: of a robot whose reference is a motion with flight.
        tilt_allowance: how far the trunk may tilt beside 60 degrees at a time since the first state
            judged [s]: [rad].
    """

    judging: bool = True
    anywhere: bool = False
    by_estimates: bool = False
    driving: DrivingMetrics | None = None
    motion: MotionMetrics | None = None
    tilt_allowance: Callable[[float], float] = no_tilt
    fell: bool = False
    fell_at_s: float | None = None  # since the first state judged
    first_tick: int = 0
    last_tick: int = -1
    distance: float = 0.0  # [m]
    max_lateral_deviation: float = 0.0  # [m]
    pairs: int = 0
    _start: PlanarPose | None = None
    _squares: Array = field(default_factory=lambda: np.zeros(3))
    _moved: Array = field(default_factory=lambda: np.zeros(3))
    _truths: _States = field(default_factory=dict)
    _estimates: _States = field(default_factory=dict)

    def add_truth(self, truth: GroundTruth) -> None:
        """Take one true state in."""
        if self.judging:
            self._begin(truth)
            time = 1e-3 * (truth.tick - self.first_tick)
            # The allowance is looked up only where a gait would have fallen.
            falls = has_fallen(truth) and has_fallen(truth, self.tilt_allowance(time))
            if falls and not self.fell:
                self.fell, self.fell_at_s = True, time
            self._follow(truth)
            if self.motion is not None:
                self.motion.add(truth)
            mine = truth.q, truth.v
            estimate = _matched(truth.tick, mine, self._truths, self._estimates)
            if estimate is not None:
                self._add_errors(*mine, *estimate)

    def add_estimate(self, estimate: StateEstimate) -> None:
        """Take one estimate in."""
        if self.judging and self.by_estimates:
            self._begin(estimate)
            self._follow(estimate)
        elif self.judging:
            mine = estimate.q, estimate.v
            truth = _matched(estimate.tick, mine, self._estimates, self._truths)
            if truth is not None:
                self._add_errors(*truth, *mine)

    def add_command(self, command: Command) -> None:
        """Take in the driver's command."""
        if self.driving is not None:
            self.driving.goals.offer(command)

    def add_status(self, status: RobotStatus) -> None:
        """Take in what a robot's bridge lets it do."""
        self.judging = status.state == "running"
        if self.driving is not None:
            self.driving.goals.note(status)

    def estimator(self) -> dict[str, float]:
        """Root mean square errors of position [m], velocity [m/s] and tilt [rad]."""
        rms = np.sqrt(self._squares / max(self.pairs, 1))
        names = ("position_rmse_m", "velocity_rmse_m_s", "tilt_rmse_rad")
        return {name: float(value) for name, value in zip(names, rms, strict=True)}

    def summary(self) -> dict[str, Any]:
        """The part of the run's summary that truth and estimates tell."""
        parts = [part.summary() for part in (self.driving, self.motion) if part is not None]
        return {
            "fell": self.fell,
            "fell_at_s": self.fell_at_s,
            "simulated_s": round(max(self.last_tick - self.first_tick, 0) * 1e-3, 6),
            "distance_m": self.distance,
            "max_lateral_deviation_m": self.max_lateral_deviation,
        } | dict(item for part in parts for item in part.items())

    def _begin(self, state: GroundTruth | StateEstimate) -> None:
        """Note the first state judged."""
        if self._start is None:
            self._start, self.first_tick = PlanarPose.of(state.q), state.tick

    def _follow(self, state: GroundTruth | StateEstimate) -> None:
        """Measure the way of the base along the heading that it began with, and to the side."""
        self.last_tick = state.tick
        if self.driving is not None:
            if not self.fell:
                self.driving.add(state)
                self.distance = self.driving.distance
            return
        if self._start is not None:
            (x, y, yaw), (dx, dy) = self._start, state.q[:2].tolist()
            dx, dy, c, s = dx - x, dy - y, math.cos(yaw), math.sin(yaw)
            self.distance = c * dx + s * dy
            self.max_lateral_deviation = max(self.max_lateral_deviation, abs(c * dy - s * dx))

    def _add_errors(self, q: Array, v: Array, q_hat: Array, v_hat: Array) -> None:
        """Compare the true state and the estimate of one tick."""
        if self.anywhere and self.pairs == 0:
            self._moved = q_hat[:3] - q[:3]
        q = q.copy()
        q[:3] += self._moved
        self._squares += squared_errors(q, v, q_hat, v_hat)
        self.pairs += 1


def _matched(tick: int, state: _State, waiting: _States, others: _States) -> _State | None:
    """The other half of a pair; the state waits where there is none yet."""
    other = others.pop(tick, None)
    if other is None:
        waiting[tick] = state
        if len(waiting) > _PENDING:
            del waiting[next(iter(waiting))]
    return other


def run_metrics(
    config: LaunchConfig, tilt_allowance: Callable[[float], float] = no_tilt
) -> RunMetrics:
    """Metrics of a launch; an A1 is judged only while it runs."""
    simulated = config.kind.simulated
    return RunMetrics(
        judging=simulated, anywhere=not simulated, by_estimates=config.kind.real,
        driving=DrivingMetrics(config) if config.is_driven else None,
        motion=MotionMetrics() if simulated and config.reference in motion_names() else None,
        tilt_allowance=tilt_allowance,
        _moved=-np.array([*config.simulation.start.pose[:2], 0.0]),  # estimates begin at 0, 0
    )  # fmt: skip


def has_fallen(truth: GroundTruth, allowance: float = 0.0) -> bool:
    """True when the trunk touches the ground or tilts past 60 degrees and more (or is NaN)."""
    x, y = truth.q[3], truth.q[4]
    limit = math.cos(min(math.pi, FALLEN_TILT + allowance))
    return bool(truth.trunk_contact or not 1.0 - 2.0 * (x * x + y * y) >= limit)


def squared_errors(q: Array, v: Array, q_hat: Array, v_hat: Array) -> Array:
    """Squared errors of base position [m^2], velocity in base [m^2/s^2] and tilt [rad^2], (3,).

    Tilt is the angle between the two ideas of which way is up, seen from the base: heading, which
    nothing on the robot measures, does not count.
    """
    a, b = _up(q), _up(q_hat)  # numpy takes ten times as long for three numbers
    cross = [a[i - 2] * b[i - 1] - a[i - 1] * b[i - 2] for i in range(3)]
    tilt = math.atan2(math.sqrt(_square(cross)), a[0] * b[0] + a[1] * b[1] + a[2] * b[2])
    position, velocity = (q_hat[:3] - q[:3]).tolist(), (v_hat[:3] - v[:3]).tolist()
    return np.array((_square(position), _square(velocity), tilt * tilt))


def _up(q: Array) -> tuple[float, float, float]:
    """The direction of gravity, upwards, in the base."""
    x, y, z, w = q[3:7].tolist()
    return 2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)


def _square(vector: Sequence[float]) -> float:
    return vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2]
