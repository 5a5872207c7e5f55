"""Simulators of bouncing balls over 3 s: ours, SciPy's, and hybrid-tools'.

Each takes states (B, 2) of falling balls and returns their ends (B, 2). Flows are integrated
numerically, also where the example has a closed form.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from hybrid.batch import simulate_batch
from hybrid.compiled.system import native_tables
from hybrid.examples.bouncing_ball import FALLING, GRAVITY, RESTITUTION, bouncing_ball
from hybrid.options import SimulationOptions
from hybrid.simulation import simulate_step
from hybrid.systems import Array, System
from saltus.bench.hybrid.restarted_scipy import restarted_scipy
from saltus.common.errors import BadRequest

DURATION = 3.0  # [s]
RELATIVE, ABSOLUTE = 1e-10, 1e-12  # tolerances of all but hybrid-tools
PEER_STEP = 0.01  # of hybrid-tools [s]
OPTIONS = SimulationOptions(rtol=RELATIVE, atol=ABSOLUTE)
FORCE = np.zeros(1)


def falling_balls(count: int, seed: int) -> Array:
    """States (count, 2) of falling balls that bounce three to five times in DURATION."""
    low, high = np.array([1.5, -1.0]), np.array([2.5, 0.0])
    return np.random.default_rng(seed).uniform(low, high, (count, 2))


@cache
def ball() -> System:
    """The bouncing ball without the closed form of its flow."""
    system = bouncing_ball()
    modes = {number: replace(mode, flow_map=None) for number, mode in system.modes.items()}
    return replace(system, modes=modes)


def require_compiled_ball() -> None:
    """Compile the ball.

    Raises:
        BadRequest: it does not compile here.
    """
    if native_tables(ball()).reason:
        raise BadRequest(f"the ball does not compile: {native_tables(ball()).reason}")


def compiled_batch(states: Array) -> Array:
    """``simulate_batch`` on one thread."""
    return simulate_batch(ball(), FALLING, states, DURATION, FORCE, options=OPTIONS).states


def callbacks(states: Array) -> Array:
    """``simulate_step``, ball by ball, with functions called as Python."""
    ends = (simulate_step(ball(), FALLING, x, DURATION, FORCE, 0.0, OPTIONS) for x in states)
    return np.array([end.state for end in ends])


def scipy(states: Array) -> Array:
    """``solve_ivp``, restarted at each bounce."""
    runs = (
        restarted_scipy(_fall, _height, _bounce, x, DURATION, rtol=RELATIVE, atol=ABSOLUTE)
        for x in states
    )
    return np.array([end for _, end in runs])


class HybridTools:
    """The package's simulator in steps of PEER_STEP, without noise."""

    def __init__(self) -> None:
        """Import it.

        Raises:
            ImportError: it is not installed.
        """
        from hybrid_tools import HybridDynamicalSystem, HybridSimulator, ModeNoise
        from hybrid_tools.basic_hybrid_systems import bouncing_ball as peer_ball

        system = peer_ball()
        none = ModeNoise(np.zeros((1, 1)), np.zeros((2, 2)))
        noises = dict.fromkeys(system.dynamics, none)
        self._system = HybridDynamicalSystem(system.dynamics, system.resets, system.guards, noises)
        self._simulator = HybridSimulator

    def __call__(self, states: Array) -> Array:
        """Ends of the balls."""
        return np.array([self._end(x) for x in states])

    def _end(self, x: Array) -> Array:
        parameters = np.array([RESTITUTION, GRAVITY])
        simulator = self._simulator(x, "I", PEER_STEP, parameters, self._system)
        for k in range(round(DURATION / PEER_STEP)):
            simulator.simulate_timestep(k * PEER_STEP, FORCE)
        return simulator.get_state()


def _fall(t: float, x: Array) -> list[float]:
    return [x[1], -GRAVITY]


def _height(t: float, x: Array) -> float:
    return x[0]


def _bounce(x: Array) -> Array:
    return np.array([x[0], -RESTITUTION * x[1]])
