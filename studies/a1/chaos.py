"""Chaos: processes are killed, stopped, starved; disks filled, clocks changed, sockets flooded.

All that at random instants of a walk of the emulated A1. Each time the robot must end on its feet,
on the ground or damped; one line says why, nothing is left running, and recording and black box
can be read.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from saltus.configuration.options import read_mapping
from saltus.soak.harm import Harm
from studies.a1 import chaos_leap as leap
from studies.a1.harmed import End, Trial, run_trials
from studies.study import Row, StudyOptions, StudyResult, study

CHAOS = read_mapping(Path(__file__).with_suffix(".yaml"))
LEAP_S = 3600.0
RESTS = ("standing", "lying")
TRIALS = 200


def draw_trials(seed: int, count: int) -> list[Trial]:
    """Every kind of harm with every victim in turn, in random order.

    More trials begin with those of fewer.
    """
    draw = np.random.default_rng(seed)
    pairs = [(kind, victim) for kind, victims in CHAOS["victims"].items() for victim in victims]
    trials: list[Trial] = []
    while len(trials) < count:
        trials += [_draw_trial(draw, *pairs[index]) for index in draw.permutation(len(pairs))]
    return trials[:count]


def _draw_trial(draw: np.random.Generator, kind: str, victim: str) -> Trial:
    states = CHAOS["states"]
    state = str(draw.choice(list(states), p=[share for share, _ in states.values()]))
    at, value, words = float(draw.uniform(0.0, states[state][1])), 0.0, f"{kind} {victim}"
    if kind in CHAOS["seconds"]:
        value = float(np.exp(draw.uniform(*np.log(CHAOS["seconds"][kind]))))
        words += f" for {value:.3g} s"
    elif kind == "clock":
        value = float(draw.choice((-LEAP_S, LEAP_S)))
        words += f" by {value:+.0f} s"
    return Trial(
        f"{words}, {at:.2f} s into {state}", [Harm(kind, (victim,), value)], CHAOS["launch"],
        state, at, environment={leap.SECONDS: str(value)}
    )  # fmt: skip


def row_of(trial: Trial, end: End) -> Row:
    """The row of one trial; counts are -1 of what does not read."""
    posture, passive = end.emulator["posture"], end.emulator["passive"]
    bad = [] if posture in RESTS or passive else [f"the robot was {posture}"]
    return {
        "harm": trial.name, "ended": posture + (", damped" if passive else ""), "why": end.why,
        "left": len(end.left), "recorded": end.recorded, "kept": end.kept,
        "wrong": "; ".join(end.wrong + bad), "seconds": end.seconds
    }  # fmt: skip


@study("the emulated A1", "trials", "seed")
def run(options: StudyOptions) -> StudyResult:
    """A row for each launch; the files of those that fail are kept."""
    trials = draw_trials(options.seed, options.count(TRIALS))
    return run_trials(trials, options, lambda k, end: row_of(trials[k], end),
                      "harm, ended, ok, why, wrong, files")  # fmt: skip
