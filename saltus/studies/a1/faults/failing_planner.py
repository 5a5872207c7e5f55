"""A planner process whose plans become NaN after a while, for the study of faults.

Run in place of the planner's module; takes the same arguments as `saltus.launch.processes`.
"""

import sys
from typing import Any

import msgspec
import numpy as np

from runtime.messages import Plan, StateEstimate
from saltus.configuration.launch import LaunchConfig
from saltus.launch import assembly, processes

FAILS_AFTER_S = 4.0  # since the first estimate [s]


class FailingPlanner:
    """A planner's plans, with inputs that are NaN from `FAILS_AFTER_S` on."""

    def __init__(self, planner: Any) -> None:
        """Fail in place of `planner`."""
        self._planner = planner
        self._first: float | None = None

    def __getattr__(self, name: str) -> Any:
        """All but the plans is the planner's own."""
        return getattr(self._planner, name)

    def solve(self, estimate: StateEstimate, *arguments: Any, **named: Any) -> Plan:
        """Plan, and spoil the plan when it is time to."""
        self._first = estimate.time if self._first is None else self._first
        plan = self._planner.solve(estimate, *arguments, **named)
        if estimate.time - self._first < FAILS_AFTER_S:
            return plan
        return msgspec.structs.replace(plan, inputs=np.full_like(plan.inputs, np.nan))


def main() -> int:
    """The planner's process with such a planner."""
    make = assembly.make_planner

    def make_failing(config: LaunchConfig) -> Any:
        return FailingPlanner(make(config))

    assembly.make_planner = make_failing
    return processes.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
