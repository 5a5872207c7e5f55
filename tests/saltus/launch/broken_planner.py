"""A planner process that goes wrong from its 31st solve on: ``FAULT`` says how.

Run in place of `saltus.launch.processes`, with the same arguments; the other processes are as they
are.
"""

import os
import sys
import time

import numpy as np
from msgspec.structs import replace

from saltus.launch import assembly, processes

GOOD_SOLVES = 30


class BrokenPlanner:
    """A planner's plans, until it breaks."""

    def __init__(self, planner):
        self._planner, self._solves = planner, 0

    def __getattr__(self, name):
        return getattr(self._planner, name)

    def plan_from(self, *arguments, **named):
        plan = self._planner.plan_from(*arguments, **named)
        self._solves += 1
        if self._solves > GOOD_SOLVES:
            return globals()[os.environ["FAULT"]](plan)
        return plan


def fails(plan):
    """At first it raises; later its plans have wrong shapes."""
    if plan.tick < 500:
        raise ArithmeticError("no such plan")
    return replace(plan, gains=np.zeros((3, 12)))


def hangs(_plan):
    while True:
        time.sleep(1.0)


if __name__ == "__main__":
    make = assembly.make_planner
    assembly.make_planner = lambda config: BrokenPlanner(make(config))  # type: ignore[assignment]
    status = processes.main(sys.argv[1:])
    sys.stderr.flush()
    os._exit(status)
