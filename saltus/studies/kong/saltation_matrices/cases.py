"""Transitions of rigid bodies at which closed-form saltation matrices are checked (3.6)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

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
from hybrid.systems import Array, System, Transition
from saltus.studies.kong.saltation_matrices.contact_states import contact_states
from saltus.studies.kong.saltation_matrices.guard_states import GuardState
from saltus.studies.kong.systems.slope_ball import slope_ball_body
from saltus.studies.kong.systems.three_link_arm import HANGING, three_link_arm

SLIDING = (SLIDING_FORWARD, SLIDING_BACKWARD)
_BALL_AT = np.zeros(2)


@dataclass(frozen=True)
class Place:
    """A body, and the positions (m,) around which its random states lie."""

    name: str
    body: RigidBody
    around: Array


@dataclass(frozen=True)
class Case:
    """One row: edges (source, target) of one kind, and the bodies that have them."""

    transition: str
    edges: tuple[tuple[int, int], ...]
    places: tuple[Place, ...]


class Sample:
    """States on one edge of one body."""

    def __init__(self, place: Place, edge: tuple[int, int], count: int, rng: np.random.Generator):
        """Draw ``count`` states, or fewer where draws run out."""
        self.body = place.body
        self.system: System = rigid_body_system(place.body)
        self.transition: Transition = transition_between(self.system, *edge)
        self.states: list[GuardState] = contact_states(
            self.body, self.system, self.transition, rng, count, place.around
        )


def samples(case: Case, trials: int, rng: np.random.Generator) -> Iterator[Sample]:
    """``trials`` states for each body of a case, shared out among its edges."""
    for place in case.places:
        for i, edge in enumerate(case.edges):
            count = (trials + i) // len(case.edges)
            if count:
                yield Sample(place, edge, count, rng)


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
