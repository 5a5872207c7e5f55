"""Ways to simulate bouncing balls to the end of 3 s: ours, scipy's, and hybrid-tools'.

Each takes states (B, 2) of falling balls and gives their ends (B, 2). Flows are integrated
numerically, also where the example has a closed form.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from hybrid.batch import simulate_batch
from hybrid.compiled.system import native_tables
from hybrid.examples.bouncing_ball import FALLING, GRAVITY, RESTITUTION, bouncing_ball
from hybrid.options import SimulationOptions
from hybrid.simulation import simulate_step
from hybrid.systems import Array, System
from saltus.common.errors import BadRequest

DURATION = 3.0  # [s]
RELATIVE, ABSOLUTE = 1e-10, 1e-12  # tolerances of all but hybrid-tools
PEER_STEP = 0.01  # of hybrid-tools [s]
OPTIONS = SimulationOptions(rtol=RELATIVE, atol=ABSOLUTE)
FORCE = np.zeros(1)
Way = Callable[[Array], Array]


def falling_balls(count: int, seed: int) -> Array:
    """States (count, 2) of falling balls that bounce three to five times in DURATION."""
    low, high = np.array([1.5, -1.0]), np.array([2.5, 0.0])
    return np.random.default_rng(seed).uniform(low, high, (count, 2))


def ball() -> System:
    """The bouncing ball without the closed form of its flow."""
    system = bouncing_ball()
    modes = {number: replace(mode, flow_map=None) for number, mode in system.modes.items()}
    return replace(system, modes=modes)


def compiled_batch() -> Way:
    """``simulate_batch`` on one thread.

    Raises:
        BadRequest: the ball does not compile here.
    """
    system = ball()
    if native_tables(system).reason:
        raise BadRequest(f"the ball does not compile: {native_tables(system).reason}")
    return lambda states: (
        simulate_batch(system, FALLING, states, DURATION, FORCE, options=OPTIONS).states
    )


def callbacks() -> Way:
    """``simulate_step``, ball by ball, with functions called as Python."""
    system = ball()

    def way(states: Array) -> Array:
        ends = (simulate_step(system, FALLING, x, DURATION, FORCE, 0.0, OPTIONS) for x in states)
        return np.array([end.state for end in ends])

    return way


def scipy_restarted() -> Way:
    """``solve_ivp``, stopped by a terminal event at each bounce and started again after it."""

    def height(t: float, x: Array) -> float:
        return x[0]

    height.terminal, height.direction = True, -1.0  # type: ignore[attr-defined]

    def flow(t: float, x: Array) -> list[float]:
        return [x[1], -GRAVITY]

    def end(x: Array) -> Array:
        t = 0.0
        while True:
            span = (t, DURATION)
            run: Any = solve_ivp(flow, span, x, rtol=RELATIVE, atol=ABSOLUTE, events=height)
            t, x = run.t[-1], run.y[:, -1]
            if run.status != 1:
                return x
            x = np.array([x[0], -RESTITUTION * x[1]])

    return lambda states: np.array([end(x) for x in states])


def hybrid_tools() -> Way | None:
    """The package's simulator in steps of PEER_STEP without noise; None where it is missing."""
    try:
        from hybrid_tools import HybridDynamicalSystem, HybridSimulator, ModeNoise
        from hybrid_tools.basic_hybrid_systems import bouncing_ball as peer_ball
    except ImportError:
        return None
    system, parameters = peer_ball(), np.array([RESTITUTION, GRAVITY])
    none = ModeNoise(np.zeros((1, 1)), np.zeros((2, 2)))
    noises = dict.fromkeys(system.dynamics, none)
    quiet = HybridDynamicalSystem(system.dynamics, system.resets, system.guards, noises)

    def end(x: Array) -> Array:
        simulator = HybridSimulator(x, "I", PEER_STEP, parameters, quiet)
        for k in range(round(DURATION / PEER_STEP)):
            simulator.simulate_timestep(k * PEER_STEP, FORCE)
        return simulator.get_state()

    return lambda states: np.array([end(x) for x in states])
