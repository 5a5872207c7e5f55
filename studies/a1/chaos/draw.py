"""What happens in each trial, drawn from a seed."""

from typing import Final, NamedTuple

import numpy as np

STACK: Final = ("tracker", "planner", "estimator", "watchdog", "black_box", "launcher")
# The watchdog reads no wall clock. The emulator stands for the robot, which comes to no harm.
VICTIMS: Final[dict[str, tuple[str, ...]]] = {
    "kill": STACK,
    "stop": STACK,  # for ever
    "pause": STACK,
    "starve": STACK,
    "fill": STACK,
    "clock": tuple(name for name in STACK if name != "watchdog"),
    "flood": ("tracker", "emulator"),
}
LENGTH_S: Final = {"pause": (0.005, 0.5), "starve": (0.2, 2.0), "flood": (0.5, 2.0)}
LEAP_S: Final = 3600.0
# Share of the trials by the robot's state, and the latest instant after it has begun [s].
STATES: Final = {"stand_up": (0.1, 1.0), "running": (0.8, 3.5), "sit_down": (0.1, 0.8)}


class Harm(NamedTuple):
    """What happens in one trial.

    Attributes:
        kind: of `VICTIMS`.
        victim: the process.
        state: of the robot, in which it happens.
        at_s: since that state began.
        value: how long it lasts, or how far the clock leaps [s]; 0 where neither applies.
    """

    kind: str
    victim: str
    state: str
    at_s: float
    value: float


def draw_harms(seed: int, count: int) -> list[Harm]:
    """Harms of `count` trials: every kind with every victim in turn, in random order.

    More trials begin with those of fewer.
    """
    draw = np.random.default_rng(seed)
    pairs = [(kind, victim) for kind, victims in VICTIMS.items() for victim in victims]
    harms: list[Harm] = []
    while len(harms) < count:
        harms += [_draw_harm(draw, *pairs[index]) for index in draw.permutation(len(pairs))]
    return harms[:count]


def _draw_harm(draw: np.random.Generator, kind: str, victim: str) -> Harm:
    state = str(draw.choice(list(STATES), p=[share for share, _ in STATES.values()]))
    at_s = float(draw.uniform(0.0, STATES[state][1]))
    value = 0.0
    if kind in LENGTH_S:
        shortest, longest = LENGTH_S[kind]
        value = float(np.exp(draw.uniform(np.log(shortest), np.log(longest))))
    elif kind == "clock":
        value = float(draw.choice((-LEAP_S, LEAP_S)))
    return Harm(kind, victim, state, at_s, value)
