"""How an estimator tells the loop around it which sensors it leaves out."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from estimator.interface import Estimator


@runtime_checkable
class ReportsFaults(Protocol):
    """The part of an estimator that judges its sensors; an estimator need not have it."""

    @property
    def faults(self) -> tuple[str, ...]:
        """Sensors left out of the last update, in words (`health.fault_names`); empty if none."""
        ...


def faults_of(estimator: Estimator) -> tuple[str, ...]:
    """Sensors that `estimator` leaves out at present; none if it does not judge them."""
    return estimator.faults if isinstance(estimator, ReportsFaults) else ()
