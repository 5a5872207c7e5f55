"""Closed-form saltation matrices of rigid bodies against the definition.

Each closed form is compared, at random states of each transition, with the definition (3.2) by
found derivatives, and with finite differences of the simulated flow through the event. The error
is the largest difference of two matrices over the largest entry of the reference, and its maximum
over all states and bodies; none where a neighbour did not go through the event.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from hybrid.rigid_body.body import RigidBody
from hybrid.rigid_body.hybrid_system import (
    APPROACHING,
    SEPARATING,
    SLIDING_BACKWARD,
    SLIDING_FORWARD,
    STICKING,
    rigid_body_system,
    transition_between,
)
from hybrid.saltations import saltation
from hybrid.systems import Array
from studies.figures import COLOURS, figure
from studies.kong.saltations.closed_forms import closed_form
from studies.kong.saltations.finite_differences import (
    finite_difference_saltation,
    relative_error,
)
from studies.kong.saltations.guard_states import contact_states
from studies.kong.systems.slope_ball import slope_ball_body
from studies.kong.systems.three_link_arm import HANGING, three_link_arm
from studies.study import Criterion, StudyOptions, StudyResult, study

SLIDING = (SLIDING_FORWARD, SLIDING_BACKWARD)
_BALL_AT = np.zeros(2)
TRIALS = 100  # states per transition and body
REQUIRED = 1e-5  # relative, of every saltation matrix
_SMALLEST = 1e-17  # that the figure shows, in place of zero
SHOWN = ("transition", "max_error_definition", "max_error_finite_difference", "states")
class Place(NamedTuple):
    """A body, and the positions (m,) around which its random states lie."""

    name: str
    body: RigidBody
    around: Array


class Case(NamedTuple):
    """One row: edges (source, target) of one kind, and the bodies that have them."""

    transition: str
    edges: tuple[tuple[int, int], ...]
    places: tuple[Place, ...]


def cases() -> tuple[Case, ...]:
    """Every transition of 3.6 in the thesis's order, stick-slip with two pairs of coefficients.

    Where its contact sticks the ball is at rest, and where it slides its normal force is constant:
    liftoff and stick-slip are not transverse there (3.11) and are checked with the arm alone.
    """
    into_sliding = tuple((APPROACHING, mode) for mode in SLIDING)
    return (
        Case("apex", ((SEPARATING, APPROACHING),), (_arm(), _ball())),
        Case("liftoff_from_sticking", ((STICKING, SEPARATING),), (_arm(),)),
        Case("liftoff_from_sliding", tuple((m, SEPARATING) for m in SLIDING), (_arm(),)),
        Case("plastic_impact_into_sliding", into_sliding, (_arm(0.0), _ball(0.0))),
        Case("plastic_impact_into_sliding_with_friction", into_sliding, (_arm(), _ball())),
        Case("plastic_impact_into_sticking", ((APPROACHING, STICKING),), (_arm(), _ball())),
        Case(
            "elastic_impact",
            ((APPROACHING, SEPARATING),),
            (_arm(restitution=0.6), _ball(restitution=0.6)),
        ),
        Case("stick_slip_equal_friction", tuple((STICKING, m) for m in SLIDING), (_arm(0.4, 1.0),)),
        Case("stick_slip", tuple((STICKING, m) for m in SLIDING), (_arm(),)),
        Case("slip_stick", tuple((m, STICKING) for m in SLIDING), (_arm(), _ball())),
    )


def _arm(mu_s: float = 0.6, ratio: float = 2.0 / 3.0, restitution: float = 0.0) -> Place:
    mu_k = ratio * mu_s
    body = three_link_arm(mu_s, mu_k, impact_friction=mu_k, restitution=restitution)
    return Place("three_link_arm", body, HANGING)


def _ball(mu_s: float = 0.6, restitution: float = 0.0) -> Place:
    mu_k = 2.0 / 3.0 * mu_s
    body = slope_ball_body(mu_s=mu_s, mu_k=mu_k, impact_friction=mu_k, restitution=restitution)
    return Place("slope_ball", body, _BALL_AT)


@study("Kong, section 3.6", "trials", "seed")
def run(options: StudyOptions) -> StudyResult:
    """A row for each transition."""
    trials, rng = options.count(TRIALS), np.random.default_rng(options.seed)
    tracked = options.track(cases(), lambda case: case.transition)
    rows = [_row(case, trials, rng) for case in tracked]
    criteria = [
        Criterion(f"{row['transition']}: {key}", row[key], "<=", REQUIRED)
        for row in rows for key in ("max_error_definition", "max_error_finite_difference")
    ]  # fmt: skip
    return StudyResult(
        rows, {"saltation-rigid-body": _figure(rows)}, columns=SHOWN, criteria=criteria
    )


def _row(case: Case, trials: int, rng: np.random.Generator) -> dict[str, Any]:
    """Errors at ``trials`` states of each body, shared out among its edges."""
    errors = []
    for _, body, around in case.places:
        system = rigid_body_system(body)
        for i, edge in enumerate(case.edges):
            transition = transition_between(system, *edge)
            count = (trials + i) // len(case.edges)
            for t, x, u in contact_states(body, system, transition, rng, count, around):
                form = closed_form(body, transition, x, u)
                defined = saltation(system, transition, t, x, u).matrix
                measured = finite_difference_saltation(system, transition, t, x, u)
                errors.append((relative_error(form, defined), relative_error(form, measured)))
    return {
        "transition": case.transition,
        "max_error_definition": _largest([error[0] for error in errors]),
        "max_error_finite_difference": _largest([error[1] for error in errors]),
        "states": len(errors),
        "bodies": [place.name for place in case.places],
    }


def _largest(errors: Sequence[float]) -> float | None:
    """Largest error, None where there is none or one is not a number."""
    value = float(np.max(errors)) if errors else np.nan
    return value if np.isfinite(value) else None


def _figure(rows: Sequence[dict[str, Any]]) -> Figure:
    made, axes = figure(height=4.2)
    at = np.arange(len(rows))
    for key, label, colour, shift in (
        ("max_error_definition", "against the definition (3.2)", COLOURS["xi"], -0.2),
        ("max_error_finite_difference", "against differences of the flow", COLOURS["initial"], 0.2),
    ):
        values = [max(row[key] or _SMALLEST, _SMALLEST) for row in rows]
        axes.barh(at + shift, values, 0.38, left=0.0, color=colour, label=label)
    axes.axvline(REQUIRED, color=COLOURS["dxr"], linestyle="--", linewidth=1.0, label="required")
    axes.set(xscale="log", xlim=(_SMALLEST, 1e-3), xlabel="largest relative error of the matrix")
    axes.set_yticks(at, [row["transition"].replace("_", " ") for row in rows])
    axes.invert_yaxis()
    made.legend(loc="outside lower center", ncols=3, fontsize=8, frameon=False)
    return made
