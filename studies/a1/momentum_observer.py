"""Momentum observer: the feet's forces and contacts of the trotting A1 without force sensors.

The residual r of the generalised momentum M v follows the generalised force that nothing explains,
r += K (M dv - dt (tau - h + r)), with h of gravity and velocities (7.2 cites De Luca et al., 2006).
A leg's three rows and its Jacobian give the force on its foot; a foot stands where that pushes up
by more than a threshold. The motors' torques are known, and the state is the true one or that of
the launch's estimator; the ideal sensor has the true force, and the same threshold. A delay is from
the true touchdown to the measured one; false is the share of the time in which contacts differ.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from robots.pinocchio_model import foot_frame_ids, load_pinocchio
from robots.robot import Robot
from saltation.systems import Array
from saltus.configuration.launch import AT_ORIGIN, load_launch
from saltus.launch.lock_step import LockStep
from studies.figures import Panel, draw, over
from studies.study import Criterion, Row, StudyOptions, StudyResult, study

DURATION, SETTLED = 1.5, 0.2  # of the trot, and of its beginning that is left out [s]
PERIOD, LAG = 1e-3, 2e-3  # of the ticks, and of the observer [s]
STANDS = 12.0  # force from which a foot stands [N]
TIMELY = 0.04  # longest delay that is counted as one [s]
FALSE = 0.03  # share of the time, at most
SHOWN = 0.5, 1.1  # times of the figure [s]


class MomentumObserver:
    """Estimates the forces on the feet from states and torques, one tick after another."""

    def __init__(self, robot: Robot) -> None:
        """Load the robot's model."""
        self.model = load_pinocchio(robot)
        self.data, self.frames = self.model.createData(), foot_frame_ids(self.model)
        self.residual, self._v = np.zeros(self.model.nv), np.empty(0)

    def update(self, q: Array, v: Array, torque: Array) -> Array:
        """Forces (4, 3) on the feet in the world [N]; torque (12) acted until now from the last."""
        model, data = self.model, self.data
        M = np.triu(pin.crba(model, data, q))  # noqa: N806
        M += np.triu(M, 1).T  # noqa: N806
        if len(self._v):
            explained = np.append(np.zeros(6), torque) - pin.nonLinearEffects(model, data, q, v)
            change = M @ (v - self._v) - PERIOD * (explained + self.residual)
            self.residual += change / LAG
        self._v = v
        forces = []
        for leg, frame in enumerate(self.frames):
            joints = slice(6 + 3 * leg, 9 + 3 * leg)
            J = pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL_WORLD_ALIGNED)  # noqa: N806
            forces.append(np.linalg.solve(J[:3, joints].T, self.residual[joints]))
        return np.array(forces)


@study("Kong, section 7.2")
def run(options: StudyOptions) -> StudyResult:
    """A row for the observer with the true and with the estimated state."""
    launch = load_launch("trot", (AT_ORIGIN,), duration=DURATION)
    stepper = LockStep(launch)
    ticks = [stepper.step() for _ in options.track(range(round(DURATION / PERIOD)), "the A1 trots")]
    times = np.array([tick.truth.time for tick in ticks])
    contact = np.array([tick.truth.contact for tick in ticks]) > 0.5
    true = np.array([tick.truth.foot_force[:, 2] for tick in ticks])
    upward, rows = {"ideal sensor": true}, list[Row]()
    settled = slice(round(SETTLED / PERIOD), None)
    for name, state in (("true state", "truth"), ("estimate", "estimate")):
        observer = MomentumObserver(launch.robot_model)
        states = [getattr(tick, state) for tick in ticks]
        upward[name] = np.array([
            observer.update(x.q, x.v, tick.truth.torque)[:, 2]
            for x, tick in zip(states, ticks, strict=True)
        ])  # fmt: skip
    for name, force in upward.items():
        stands = force > STANDS
        late = delays(contact[settled], stands[settled])
        rows.append({
            "force": name, "false": np.mean((stands != contact)[settled]), "touchdowns": len(late),
            "missed": np.sum(np.isnan(late)), "median_delay_ms": 1e3 * np.nanmedian(late),
            "force_rms_n": np.sqrt(np.mean((force - true)[settled] ** 2)),
        })  # fmt: skip
    shown = (times >= SHOWN[0]) & (times <= SHOWN[1])
    curves = {name: over(times[shown], force[shown, 0]) for name, force in upward.items()}
    panel = Panel(curves, "time [s]", "upward force on FR [N]", ((), (STANDS,)))
    criteria = [Criterion(f"{row['force']}: false", row["false"], "<=", FALSE) for row in rows]
    return StudyResult(rows, {"momentum-observer": draw(panel, width=7.0)}, criteria=criteria)


def delays(contact: NDArray[np.bool_], stands: NDArray[np.bool_]) -> Array:
    """From each touchdown (K,) to the observer's [s]; NaN where it is not there in time."""
    late, window = [], round(TIMELY / PERIOD)
    for foot in range(4):
        for k in np.flatnonzero(contact[1:, foot] & ~contact[:-1, foot]) + 1:
            seen = np.flatnonzero(stands[k : k + window, foot])
            late.append(PERIOD * seen[0] if len(seen) else np.nan)
    return np.array(late)
