"""Orders of convergence of the simulator, through events and between steps.

An order is the slope of the logarithm of the error over that of fixed steps of 0.5 to 0.084 s, of a
driven pendulum that strikes a wall. The integrator is of order 8. Dense output is of order 7: it
adds an error of h to the eighth within a step, so no order is lost between steps.
"""

from __future__ import annotations

import numpy as np

from saltation.integration import integrate
from saltation.options import SimulationOptions
from saltation.simulation import simulate, simulate_step
from saltation.systems import Array, Mode, System, Transition
from studies.figures import convergence, draw
from studies.study import Criterion, StudyOptions, StudyResult, study

STEP_ORDER, DENSE_ORDER = 7.0, 6.5  # least orders measured of what is of order 8, and of order 7
EXACT = SimulationOptions(rtol=1e-14, atol=1e-15)
START = np.array([1.0, 0.2])
DURATION = 2.0  # [s]
SIZES: Array = 0.5 * 0.8 ** np.arange(9, dtype=np.float64)  # steps h [s]
NEAR = 0.02  # times this close to the event [s] are left out: either state may be meant


def driven(t: float, y: Array) -> Array:
    """Vector field (2,) of the pendulum: smooth, nonlinear, and a function of time."""
    return np.array([y[1], -4.0 * np.sin(y[0]) - 0.2 * y[1] + np.cos(3.0 * t)])


def striking(speed: float = 0.0) -> System:
    """The pendulum strikes a wall, which may move, and swings on with another field."""
    swing = Mode("swing", 2, 0, lambda t, x, u: driven(t, x))
    after = Mode("after", 2, 0, lambda t, x, u: driven(t, x) + np.array([0.0, x[0] ** 2]))
    wall = Transition(
        1, 2, lambda t, x, u: x[0] + 0.2 + speed * np.sin(5.0 * t),
        lambda t, x, u: np.array([x[0], -0.7 * x[1] + speed * np.cos(5.0 * t)])
    )  # fmt: skip
    return System({1: swing, 2: after}, (wall,), "pendulum and wall")


def fixed(h: float) -> SimulationOptions:
    """Options by which every step is h [s], but the one that an event cuts and the last."""
    return SimulationOptions(rtol=0.0, atol=1e12, max_step=h)


def event_errors(speed: float = 0.0) -> tuple[Array, Array]:
    """Errors of the state after DURATION with an impact on the way, and of its time [s]."""
    system = striking(speed)
    exact, *found = (simulate_step(system, 1, START, DURATION, np.zeros(0), options=options)
                     for options in (EXACT, *map(fixed, SIZES)))  # fmt: skip
    states = [np.max(np.abs(step.state - exact.state)) for step in found]
    times = [abs(step.events[0].time - exact.events[0].time) for step in found]
    return np.array(states), np.array(times)


def dense_output_errors() -> Array:
    """Errors of states between the steps, at times before and after an impact."""
    system, no_input, errors = striking(), np.zeros(0), []
    hit = simulate_step(system, 1, START, DURATION, no_input, options=EXACT).events[0].time
    times = [t for t in np.linspace(0.01, DURATION - 0.01, 40) if abs(t - hit) > NEAR]
    truth = [simulate_step(system, 1, START, t, no_input, options=EXACT).state for t in times]
    for h in SIZES:
        found = simulate(system, 1, START, DURATION, options=fixed(h))
        errors.append(max(np.max(np.abs(found.at(t)[1] - x))
                          for t, x in zip(times, truth, strict=True)))  # fmt: skip
    return np.array(errors)


@study("the simulator at its finest tolerance")
def run(options: StudyOptions) -> StudyResult:
    """A row for each order."""
    exact, *found = (integrate(driven, 0.0, START, DURATION, options)
                     for options in (EXACT, *map(fixed, SIZES)))  # fmt: skip
    state, time = event_errors()
    measured = {
        "integrator": np.max(np.abs(np.array(found) - exact), axis=1),
        "through_event": state,
        "through_moving_event": event_errors(speed=0.1)[0],
        "event_time": time,
        "dense_output": dense_output_errors(),
    }
    rows, criteria = [], []
    for case, errors in measured.items():
        order = np.polyfit(np.log(SIZES), np.log(errors), 1)[0]
        least = DENSE_ORDER if case == "dense_output" else STEP_ORDER
        criteria.append(Criterion(f"{case}: order", order, ">=", least))
        rows.append({"case": case, "order": order})
    panel = convergence(SIZES, measured, 8, 0.05 * time[0], "step [s]", "largest error")
    return StudyResult(rows, {"event-accuracy": draw(panel)}, criteria=criteria)
