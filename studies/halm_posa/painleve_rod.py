"""Painleve's rod: an impact without collision, by the impact law and in closed form.

A rod slides on one end, which it pushes ahead of itself. Where a normal force would press that end
into the ground (p < 0) and nothing lifts it, no finite force holds it: Painleve's paradox, from a
friction of 4/3 on. The inclusion then has one solution, an impact that starts at a closing speed
of zero. Sampling needs contacts that close, so they do at 1 um/s. In Routh's closed form sliding
ends first, while the end closes; then it sticks until it closes no more. Where p > 0 the jump
vanishes with the closing speed. The paper refers to others for this system, and prints no numbers.
"""

# Halm and Posa, section 4.2. Coordinates [x, y, theta] of the centre; the rod leans to the right.

from __future__ import annotations

import numpy as np

from saltation.impacts.contact_problem import ContactProblem
from saltation.impacts.sampling import SamplingOptions, sample_impacts, sample_paths
from saltation.systems import Array
from studies.figures import Panel, Styled, dots, draw
from studies.study import Criterion, Row, StudyOptions, StudyResult, study

MASS, HALF, FRICTION = 1.0, 1.0, 2.0  # [kg], [m], mu; ours
SLIDING = np.array([-1.0, 0.0, 0.0])  # without rotation, the end ahead of it to the left [m/s]
CLOSING = SLIDING - np.array([0.0, 1e-6, 0.0])
ANGLES = np.radians(np.arange(20.0, 86.0, 5.0))  # of the rod with the ground
STEP, SAMPLES, SHOWN = 0.02, 64, np.radians(60.0)  # h [N s]; the angle of the path in the figure
NO_COLLISION = 1e-3  # jump over |v|_M below which nothing happens


def rod(angle: float) -> ContactProblem:
    """The end on the ground as a contact."""
    s, c = HALF * np.sin(angle), HALF * np.cos(angle)
    inertia = np.diag([MASS, MASS, MASS * HALF**2 / 3.0])
    J_n, J_t = np.array([[0.0, 1.0, -c]]), np.array([[1.0, 0.0, s]])  # noqa: N806
    return ContactProblem.planar(inertia, J_n, J_t, FRICTION, ("end",), "Painleve's rod")


def push(angle: float) -> float:
    """p: normal acceleration of the end by a unit normal force and the friction with it [1/kg]."""
    problem = rod(angle)
    return float(problem.J_n[0] @ np.linalg.solve(problem.M, _slip_force(problem)))


def _slip_force(problem: ContactProblem) -> Array:
    """Generalised force (3,) of a unit normal force on an end that slides to the left."""
    return problem.J_n[0] + FRICTION * problem.J_D[0]


def routh(angle: float) -> Array:
    """Velocity (3,) after the impact at a closing speed of zero, by Routh's method."""
    problem, v = rod(angle), SLIDING
    if push(angle) >= 0.0:
        return v
    n, t = problem.J_n[0], problem.J_D[0]
    slide = np.linalg.solve(problem.M, _slip_force(problem))
    v = v - (t @ v) / (t @ slide) * slide  # sliding has ended
    normal, tangential = np.linalg.solve(problem.M, np.stack((n, t), axis=1)).T
    stick = normal - (t @ normal) / (t @ tangential) * tangential
    return v - (n @ v) / (n @ stick) * stick


@study("Halm and Posa, section 4.2", "seed")
def run(options: StudyOptions) -> StudyResult:
    """A row an angle; jumps are in the kinetic metric, over |v|_M."""
    rows, settings = list[Row](), SamplingOptions(SAMPLES, STEP, seed=options.seed)
    for angle in options.track(ANGLES, "angles"):
        problem, v = rod(angle), CLOSING
        found, size = sample_impacts(problem, v, settings), problem.kinetic_norm(v)
        jumps = [problem.kinetic_norm(each - v) / size for each in found.outcomes]
        off = [problem.kinetic_norm(each - routh(angle)) / size for each in found.outcomes]
        rows.append({
            "angle_deg": np.degrees(angle), "p": push(angle), "outcomes": len(found.outcomes),
            "jump": np.mean(jumps), "routh_jump": problem.kinetic_norm(routh(angle) - v) / size,
            "largest_difference": np.max(off),
        })  # fmt: skip
    paradox = [row for row in rows if row["p"] < 0.0]
    criteria = [
        Criterion("largest difference from Routh", max(row["largest_difference"] for row in rows),
                  "<=", NO_COLLISION),
        Criterion("smallest jump under the paradox", min(row["jump"] for row in paradox), ">=",
                  100.0 * NO_COLLISION),
    ]  # fmt: skip
    fine = np.radians(np.linspace(20.0, 85.0, 400))
    bounds = np.degrees(fine[1:][np.diff(np.sign([push(angle) for angle in fine])) != 0.0])
    jumps = {
        "sampled": dots([[row["angle_deg"], row["jump"]] for row in rows], markersize=10),
        "Routh": [[row["angle_deg"], row["routh_jump"]] for row in rows],
    }  # fmt: skip
    problem = rod(SHOWN)
    plane = np.stack((problem.J_D[0], problem.J_n[0]), axis=1)
    paths = sample_paths(problem, CLOSING, SamplingOptions(20, STEP))
    ways = {"_sampled": Styled([path @ plane for path in paths], {"color": "0.6"}),
            "before": dots((CLOSING @ plane)[None], markersize=12),
            "after": dots((routh(SHOWN) @ plane)[None], markersize=12)}  # fmt: skip
    figure = draw(
        Panel(jumps, "angle of the rod [deg]", "jump over $|v|_M$", (tuple(bounds), ())),
        Panel(ways, "tangential velocity [m/s]", "normal velocity [m/s]"),
    )
    return StudyResult(rows, {"painleve-rod": figure}, criteria=criteria)
