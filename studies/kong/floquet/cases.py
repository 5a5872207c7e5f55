"""The systems whose limit cycles the study of Floquet multipliers looks at."""

from __future__ import annotations

import math
from typing import NamedTuple

from hybrid.examples import hopper
from hybrid.options import SimulationOptions
from hybrid.return_map import EventSection, PhaseSection, Section
from hybrid.systems import System
from studies.kong.systems import rimless_wheel, vibrating_table

_OFF = (3e-3, -0.02)  # of a closed form, so that Newton's method has something to do


class Case(NamedTuple):
    """A system, where its cycle is cut and searched, and how its phase plane is drawn."""

    name: str
    system: System
    mode: int
    guess: tuple[float, float]
    section: Section
    options: SimulationOptions
    title: str = ""  # of its panel; none: it is not drawn
    nudges: tuple[tuple[float, float], ...] = ()  # of trajectories beside the cycle
    labels: tuple[str, str] = ("", "")


def _wheel(name: str, slope: float, half_angle: float, **drawn) -> Case:
    system = rimless_wheel.rimless_wheel(half_angle, slope)
    guess = (slope - half_angle, 1.5)
    section = EventSection("forward")
    return Case(name, system, rimless_wheel.ROLLING, guess, section, SimulationOptions(), **drawn)


def _hopper(name: str, damping: float, push: float, **drawn) -> Case:
    system = hopper.hopper(damping=damping, push=push)
    section = EventSection("liftoff")
    return Case(name, system, hopper.FLIGHT, (0.8, 0.0), section, SimulationOptions(), **drawn)


def _table(name: str, amplitude: float, stable: bool = True, **drawn) -> Case:
    bounce = vibrating_table.periodic_bounce(amplitude, stable_phase=stable)
    start, x = vibrating_table.in_flight(bounce, 0.25)
    options = SimulationOptions(max_step=bounce.period / 16.0)
    return Case(
        name,
        vibrating_table.vibrating_table(amplitude),
        vibrating_table.RISING,
        (x[0] + _OFF[0], x[1] + _OFF[1]),
        PhaseSection(start, bounce.period),
        options,
        **drawn,
    )


CASES = (
    _wheel(
        "rimless_wheel",
        rimless_wheel.SLOPE,
        rimless_wheel.HALF_ANGLE,
        title="Rimless wheel",
        nudges=((0.0, -0.1), (0.0, 0.6)),
        labels=("stance angle [rad]", "rate [rad/s]"),
    ),
    _wheel("rimless_wheel_twelve_spokes", 0.05, math.pi / 12.0),
    _hopper(
        "hopper",
        hopper.DAMPING,
        hopper.PUSH,
        title="Hopper",
        nudges=((0.0, -1.0), (0.0, 1.2)),
        labels=("height [m]", "velocity [m/s]"),
    ),
    _hopper("hopper_strong_push", 6.0, 30.0),
    _table(
        "vibrating_table",
        vibrating_table.AMPLITUDE,
        title="Ball on a vibrating table",
        nudges=((0.03, 0.0), (-0.02, -0.2)),
        labels=("height [m]", "velocity [m/s]"),
    ),
    _table("vibrating_table_saddle", vibrating_table.AMPLITUDE, stable=False),
)
