"""All kernels of simulations or filters, compiled at once."""

from __future__ import annotations

import numpy as np

from saltation.compiled.first_use import Part, compiling
from saltation.filters.model import FilterModel, Measurement, ProcessNoise
from saltation.filters.salted import SaltedKalmanFilter
from saltation.integration import flow_state
from saltation.simulation import simulate
from saltation.systems import Array, Mode, System, Transition


def compile_kernels(part: Part = "simulation", modes: int = 1, transitions: int = 1) -> None:
    """Compile the kernels of ``simulate`` and its derivatives, or of ``SaltedKalmanFilter``.

    This takes half a minute, once on a computer, for systems with up to four modes and
    transitions, eight, sixteen and so on. Without it that is done in the background, once kernels
    have run as Python for a second.
    """

    def idle(t: float, x: Array, u: Array) -> Array:
        return np.zeros(1)

    mode, one = Mode("idle", 1, 0, idle), np.eye(1)
    edge = Transition(0, 0, lambda t, x, u: 1.0, lambda t, x, u: x)
    system = System(dict.fromkeys(range(modes), mode), (edge,) * transitions)
    with compiling():
        if part == "simulation":
            simulate(system, 0, [0.0], 1.0).derivatives  # noqa: B018 (a property that computes)
            flow_state(mode, 0.0, np.zeros(1), np.zeros(0), 1.0)
            return
        numbers = range(modes)
        model = FilterModel(
            system, dict.fromkeys(numbers, ProcessNoise(one)),
            dict.fromkeys(numbers, Measurement(lambda t, x, u: x, one)),
        )  # fmt: skip
        believer = SaltedKalmanFilter(model, 0, np.zeros(1), one)
        believer.predict(np.zeros(0), 1.0)
        believer.correct(np.zeros(0), np.zeros(1))
        believer.force(edge, np.zeros(0))
