"""A planner as its process makes it, on a robot that is pushed, hops, and loses its estimate."""

import sys

import numpy as np
from msgspec.structs import replace

from saltus.common.compiled_code import signature_counts
from saltus.configuration.launch import load_launch
from saltus.launch import assembly, planners, warmup
from tests import a1
from tests.saltus.launch.warm_processes.trial import on_wire, tell

TICK = 1e-3
LEAD_S = 0.013


def live(config, ticks):
    """Estimates of a robot that moves as the reference does, but hops and sways."""
    reference, estimates = planners.make_reference(config), []
    for tick in ticks:
        window = reference.window(round(tick * TICK / reference.period), 0)
        q, v = window.q[0].copy(), window.v[0].copy()
        q[2] += 0.02 + 0.02 * np.sin(0.011 * tick)
        v[1:4] += 0.5 * np.sin(0.013 * tick)
        estimates.append(on_wire(a1.estimate(tick, q=q, v=v)))
    return estimates


def main():
    name, *settings = sys.argv[1:]
    config = load_launch(name, settings, mode="realtime")
    core = assembly.make_planner(config)
    warmup.warm_planner(config)
    estimates = live(replace(config, planner="hilqr"), range(0, 900, 18))
    before, seen = signature_counts(), set[str]()

    def solve(estimate, lead=LEAD_S, late=False):
        plans = []
        plan = core.solve(estimate, lead, lambda: late, plans.append)
        seen.update(each.status for each in (*plans, on_wire(plan)))
        seen.update({"a foot lands"} if (np.diff(plan.contacts, axis=0) > 0.0).any() else {})

    solve(estimates[0], 0.0)
    for number, estimate in enumerate(estimates[1:], start=1):
        solve(estimate, late=number % 7 == 0)
        if number % 10 == 0:
            solve(replace(estimate, q=np.full(19, np.nan)))
    far = estimates[-1]
    solve(replace(far, time=far.time + 5.0))  # the last plan has long ended
    solve(replace(far, v=np.full(18, 1e3)))
    core.statistics()
    tell(before, seen)


if __name__ == "__main__":
    main()
