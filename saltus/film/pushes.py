"""The pushes of a run as arrows in its film."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from runtime.messages import Push
from saltus.common.console import say
from saltus.common.errors import BadRequest
from saltus.configuration.launch import TICK_S
from saltus.film.frames import Frames
from saltus.film.recorded_motion import RecordedMotion
from saltus.launch.assembly import make_script
from saltus.trace import config_of_run
from sim_bridge.perturbations import BaseForce, MotorBlock, Perturbation

SHOWN_S = 0.6  # of the film: a push that is shorter is shown for so long [s]
METRES_PER_SPEED, METRES_PER_FORCE = 0.3, 0.004  # length of an arrow [m per m/s], [m per N]
LENGTHS = (0.12, 0.6)  # shortest and longest arrow [m]

Array = NDArray[np.float64]


class Arrow(NamedTuple):
    """What a film shows of a push.

    Attributes:
        begin: of the push [s].
        end: of the push [s].
        vector: (3,) in world [m]; zero where a push has no direction.
        label: when and how much.
    """

    begin: float
    end: float
    vector: Array
    label: str


def arrows_of_run(run: Path, motion: RecordedMotion) -> list[Arrow]:
    """The pushes of a run by its script and by hand; a line where its launch file is no use."""
    arrows = [_by_hand(time, push) for time, push in motion.pushes]
    try:
        config = config_of_run(run)
        occurrences = make_script(config).occurrences(round(motion.time[-1] / TICK_S))
    except BadRequest as error:
        say(f"the film shows no scripted pushes: {error}")
        return arrows
    if config.kind.simulated:
        arrows += [_by_script(TICK_S * first, TICK_S * last, event)
                   for first, last, event in occurrences]  # fmt: skip
    return arrows


def draw_arrows(frames: Frames, times: Array, arrows: list[Arrow], speed: float) -> Frames:
    """The frames, of times (n,) [s], with arrows and labels, in a film of that speed."""
    vectors = frames.arrow.copy()
    labels, captions = list(frames.arrow_label), list(frames.caption)
    for arrow in arrows:
        until = max(arrow.end, arrow.begin + SHOWN_S * speed)
        for i in np.flatnonzero((arrow.begin <= times) & (times < until)):
            if arrow.vector.any():
                vectors[i], labels[i] = arrow.vector, arrow.label
            else:
                captions[i] += f"\n{arrow.label}"
    return frames._replace(arrow=vectors, arrow_label=np.array(labels), caption=np.array(captions))


def _by_script(begin: float, end: float, event: Perturbation) -> Arrow:
    if isinstance(event, MotorBlock):
        return Arrow(begin, end, np.zeros(3), f"{begin:.2f} s: motors blocked")
    value, is_force = np.array(event.value), isinstance(event, BaseForce)
    scale, unit = (METRES_PER_FORCE, "N") if is_force else (METRES_PER_SPEED, "m/s")
    return Arrow(begin, end, _vector(value, scale), _label(begin, value, unit))


def _by_hand(time: float, push: Push) -> Arrow:
    unit = "m/s" if push.body == "base" else f"m/s, {push.body}"
    vector = _vector(push.velocity, METRES_PER_SPEED)
    return Arrow(time, time, vector, _label(time, push.velocity, unit))


def _vector(value: Array, scale: float) -> Array:
    size = float(np.linalg.norm(value))
    return value * (np.clip(scale * size, *LENGTHS) / size) if size else value


def _label(begin: float, value: Array, unit: str) -> str:
    return f"{begin:.2f} s: {np.linalg.norm(value):.3g} {unit}"
