"""``saltus bench terrain``: how long a rollout takes on rough ground, against the flat floor.

The same trot on each ground, once the robot is on it: candidates of the planner's horizon, the
grounds in turns. They run on one thread, so that its processor time can be taken: other load on the
machine does not count. Rows give the number of feet that carry a load: where feet are in the air
there is less to compute.
"""

from __future__ import annotations

from time import thread_time
from typing import Any, NamedTuple

import numpy as np

from controller.driving.commands import CommandScript, ScriptStep
from controller.driving.reference import DrivenReference
from controller.motor_targets import joint_gain
from controller.options import DriveOptions
from controller.planner_options import PlannerOptions
from controller.rigid_derivatives import CONTACT_FORCE
from hybrid.hilqr import Policies
from robots.robot import load_robot
from robots.state import Array
from robots.terrain import Ground
from saltus.bench.contest import MS, Contest, Contestant
from saltus.bench.result import BenchResult
from saltus.common.console import say
from saltus.common.criterion import Criterion
from sim_bridge.ground import ground_of
from sim_bridge.rollouts.threaded import ThreadedRollout
from sim_bridge.terrain_options import Boxes, Slope, Stairs, Terrain, Waves

BUDGET_S = 20.0  # of all samples [s]
FEWEST, MOST = 5, 1000  # rounds
CANDIDATES = 8
TORQUE = 1.0  # standard deviation of the candidates' step of the torques [N m]
SPEED, DISTANCE = 0.3, 1.0  # of the trot [m/s], and where the rollouts begin [m]
STIFFNESS, DAMPING = 60.0, 2.0  # of the joints' feedback [N m/rad], [N m s/rad]
BOUND = 1.3
FLAT, BOXES = "flat", "boxes of 6 cm"

# From x = 0.4 m on, as in config/terrain.yaml.
GROUNDS: dict[str, Terrain] = {
    FLAT: "flat",
    BOXES: (Boxes(heights=(0.0, 0.06), at=(0.4, 0.0)),),
    "slope of 10 degrees": (Slope(angle=np.radians(10.0), length=20.0, at=(0.4, 0.0)),),
    "stairs of 5 cm": (Stairs(rise=0.05, run=0.3, count=4, at=(0.4, 0.0)),),
    "waves of 6 cm": (Waves(at=(0.4, 0.0)),),
}


class Trot(NamedTuple):
    """Rollouts of a trot on one ground."""

    rollout: ThreadedRollout
    x0: Array  # (37,)
    policies: Policies

    def loaded_feet(self) -> float:
        """Feet that carry a load, on average over candidates and knots."""
        batch = self.rollout.roll_out(self.x0, self.policies)
        return float((batch.normal_forces > CONTACT_FORCE).sum(axis=2).mean())

    def roll_out(self, k: int) -> None:
        """A round of the contest."""
        self.rollout.roll_out(self.x0, self.policies)


def run(budget_s: float = BUDGET_S) -> BenchResult:
    """Measure for about `budget_s` [s]; the ratio is that of boxes of 6 cm to the flat floor."""
    say("preparing (compiles on the first run)")
    trots = {name: make_trot(ground_of(terrain)) for name, terrain in GROUNDS.items()}
    contestants = [Contestant(name, trot.roll_out) for name, trot in trots.items()]
    contest = Contest(contestants, thread_time)
    times = contest.measure_within(budget_s, FEWEST, MOST)
    rows: list[dict[str, Any]] = [
        {
            "ground": name, "candidates": CANDIDATES, "knots": trot.policies.inputs.shape[1],
            "loaded_feet": trot.loaded_feet(),
            **times.quantiles(name, MS, ms_p50=50.0, ms_p99=99.0),
            "ratio_to_flat": times.ratio(name, FLAT),
        }
        for name, trot in trots.items()
    ]  # fmt: skip
    ratio = times.ratio(BOXES, FLAT)
    what = f"time of a rollout on {BOXES} over one on the flat floor"
    return BenchResult(rows, ratio, criteria=[Criterion(what, ratio, "<=", BOUND)])


def make_trot(ground: Ground, distance: float = DISTANCE, seed: int = 0) -> Trot:
    """Candidates that follow the reference from `distance` [m] on, with random torques on top."""
    options, drive = PlannerOptions(), DriveOptions()
    script = CommandScript((ScriptStep(at=0.0, velocity_x=SPEED, gait="trot"),), drive, "trot")
    reference = DrivenReference(drive, load_robot("a1"), options.period, script, ground)
    knot = 0
    window = reference.window(knot, options.knots)
    while window.q[0, 0] < distance:
        knot += 1
        window = reference.window(knot, options.knots)
    rng = np.random.default_rng(seed)
    gains = np.tile(joint_gain(STIFFNESS, DAMPING), (options.knots, 1, 1))
    policies = Policies.of(
        np.hstack([window.q, window.v]), window.inputs, gains,
        TORQUE * rng.normal(size=window.inputs.shape), np.linspace(0.0, 1.0, CANDIDATES).tolist(),
    )  # fmt: skip
    rollout = ThreadedRollout(
        load_robot("a1"), options.knots, options.period, options.search.substeps, 1, ground
    )
    return Trot(rollout, np.concatenate([window.q[0], window.v[0]]), policies)
