"""Closed-form saltation matrices of rigid bodies against the definition.

Each closed form is compared, at random states of each transition, with the definition (3.2) by
found derivatives, and with finite differences of the simulated flow through the event. The error
is the largest difference of two matrices over the largest entry of the reference, and its maximum
over all states and bodies; none where a neighbour did not go through the event.
"""

from __future__ import annotations

import numpy as np

from saltation.rigid_body.body import RigidBody
from saltation.rigid_body.hybrid_system import (
    APPROACHING,
    SEPARATING,
    SLIDING_BACKWARD,
    SLIDING_FORWARD,
    STICKING,
    rigid_body_system,
    transition_between,
)
from saltation.saltations import saltation
from saltation.systems import Array
from studies.kong.closed_forms import closed_form
from studies.kong.saltations import contact_states, finite_difference_saltation, relative_error
from studies.kong.systems.slope_ball import slope_ball_body
from studies.kong.systems.three_link_arm import HANGING, three_link_arm
from studies.study import Criterion, Row, StudyOptions, StudyResult, study

SLIDING = (SLIDING_FORWARD, SLIDING_BACKWARD)
TRIALS = 100  # states per transition and body
REQUIRED = 1e-5  # relative, of every saltation matrix
ERRORS = "max_error_definition", "max_error_finite_difference"


Place = tuple[str, RigidBody, Array]  # a body, and positions (m,) around which its states lie


def _bodies(
    which: slice = slice(2), mu_s: float = 0.6, ratio: float = 2.0 / 3.0, restitution: float = 0.0
) -> list[Place]:
    """Arm and ball, or one of them, with sliding friction in this ratio to that of sticking."""
    mu = {"mu_s": mu_s, "mu_k": ratio * mu_s, "impact_friction": ratio * mu_s}
    return [
        ("three_link_arm", three_link_arm(**mu, restitution=restitution), HANGING),
        ("slope_ball", slope_ball_body(**mu, restitution=restitution), np.zeros(2))
    ][which]  # fmt: skip


ARM = slice(1)
INTO_SLIDING = [(APPROACHING, mode) for mode in SLIDING]
SLIPS = [(STICKING, mode) for mode in SLIDING]
# Every transition of 3.6 in the thesis's order, stick-slip with two pairs of coefficients: edges
# (source, target), and the bodies that have them. Where its contact sticks the ball is at rest, and
# where it slides its normal force is constant: liftoff and stick-slip are not transverse there
# (3.11) and are checked with the arm alone.
CASES: dict[str, tuple[list[tuple[int, int]], list[Place]]] = {
    "apex": ([(SEPARATING, APPROACHING)], _bodies()),
    "liftoff_from_sticking": ([(STICKING, SEPARATING)], _bodies(ARM)),
    "liftoff_from_sliding": ([(mode, SEPARATING) for mode in SLIDING], _bodies(ARM)),
    "plastic_impact_into_sliding": (INTO_SLIDING, _bodies(mu_s=0.0)),
    "plastic_impact_into_sliding_with_friction": (INTO_SLIDING, _bodies()),
    "plastic_impact_into_sticking": ([(APPROACHING, STICKING)], _bodies()),
    "elastic_impact": ([(APPROACHING, SEPARATING)], _bodies(restitution=0.6)),
    "stick_slip_equal_friction": (SLIPS, _bodies(ARM, 0.4, 1.0)),
    "stick_slip": (SLIPS, _bodies(ARM)),
    "slip_stick": ([(mode, STICKING) for mode in SLIDING], _bodies())
}  # fmt: skip


@study("Kong, section 3.6", "trials", "seed")
def run(options: StudyOptions) -> StudyResult:
    """A row for each transition."""
    trials, rng = options.count(TRIALS), np.random.default_rng(options.seed)
    rows = [row_of(name, trials, rng) for name in options.track(CASES)]
    criteria = [Criterion(f"{row['transition']}: {key}", row[key], "<=", REQUIRED)
                for row in rows for key in ERRORS]  # fmt: skip
    columns = ", ".join(("transition", *ERRORS, "states"))
    return StudyResult(rows, columns=columns, criteria=criteria)


def row_of(name: str, trials: int, rng: np.random.Generator) -> Row:
    """Errors at ``trials`` states of each body, shared out among its edges."""
    edges, places = CASES[name]
    errors = []
    for _, body, around in places:
        system = rigid_body_system(body)
        for i, edge in enumerate(edges):
            transition = transition_between(system, *edge)
            count = (trials + i) // len(edges)
            for t, x, u in contact_states(body, system, transition, rng, count, around):
                form = closed_form(body, transition, x, u)
                defined = saltation(system, transition, t, x, u).matrix
                measured = finite_difference_saltation(system, transition, t, x, u)
                errors.append((relative_error(form, defined), relative_error(form, measured)))
    largest = np.max(errors, axis=0) if errors else (np.nan, np.nan)
    return {
        "transition": name,
        **dict(zip(ERRORS, largest, strict=True)),
        "states": len(errors),
        "bodies": [each for each, *_ in places]
    }  # fmt: skip
