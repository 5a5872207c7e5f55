"""The estimators of a launch: a new one is an entry of `ESTIMATORS` and a section here."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from estimator.options import InvariantOptions, LegOdometryOptions, SaltedOptions
from saltus.configuration.planners import PlannerChoice


class EstimatorEntry(NamedTuple):
    """An estimator.

    Attributes:
        factory: ``MODULE:CLASS``, made with the section of its name, the robot, and the ground and
            its heading.
        compilation: module whose ``compile_corrections`` and ``compile_dynamics`` share its long
            compilation between two processes; empty where it compiles as it runs.
    """

    factory: str
    compilation: str = ""


ESTIMATORS = {
    "salted": EstimatorEntry(
        "estimator.salted.estimator:SaltedEstimator", "estimator.salted.estimator"
    ),
    "leg_odometry": EstimatorEntry("estimator.leg_odometry:LegOdometryFilter"),
    "invariant": EstimatorEntry("estimator.invariant.filter:InvariantFilter"),
}


class EstimatorChoice(PlannerChoice, frozen=True):
    """Which filter estimates, and the options of each; msgspec lets a struct have one base only.

    Attributes:
        estimator: which filter estimates; its options have a section of its name. One of your own
            is MODULE:NAME or FILE.py:NAME.
        salted: the salted Kalman filter.
        leg_odometry: the leg-odometry filter.
        invariant: the invariant filter.
    """

    estimator: str = "salted"
    salted: SaltedOptions = msgspec.field(default_factory=SaltedOptions)
    leg_odometry: LegOdometryOptions = msgspec.field(default_factory=LegOdometryOptions)
    invariant: InvariantOptions = msgspec.field(default_factory=InvariantOptions)

    @property
    def estimator_entry(self) -> EstimatorEntry:
        """The estimator that runs."""
        return ESTIMATORS.get(self.estimator) or EstimatorEntry(self.estimator)
