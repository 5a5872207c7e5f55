"""The pushes of a run as arrows in its film."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from saltus.assembly import make_script
from saltus.configuration import TICK_S
from saltus.console import say
from saltus.errors import BadRequest
from saltus.film.frames import Frames
from saltus.trace import config_of_run
from sim_bridge.perturbations import BaseForce, BaseVelocity, MotorBlock, Perturbation

SHOWN_S = 0.6  # of the film: a push that is shorter is shown for so long [s]
METRES_PER_SPEED, METRES_PER_FORCE = 0.3, 0.004  # length of an arrow [m per m/s], [m per N]
LENGTHS = (0.12, 0.6)  # shortest and longest arrow [m]

Push = tuple[float, float, Perturbation]  # from, until [s], what

Array = NDArray[np.float64]


def pushes_of_run(run: Path, end: float) -> list[Push]:
    """What disturbed a run before ``end`` [s]; a line and none where its launch file is no use."""
    try:
        config = config_of_run(run)
        script = make_script(config)
    except BadRequest as error:
        say(f"the film shows no pushes: {error}")
        return []
    if config.robot != "simulated":
        return []
    occurrences = script.occurrences(round(end / TICK_S))
    return [(TICK_S * first, TICK_S * last, event) for first, last, event in occurrences]


def draw_pushes(frames: Frames, times: Array, pushes: list[Push], speed: float) -> Frames:
    """The frames, of times (n,) [s], with arrows and labels, in a film of that speed."""
    arrows = frames.arrow.copy()
    labels, captions = list(frames.arrow_label), list(frames.caption)
    for begin, end, event in pushes:
        shown = (begin <= times) & (times < max(end, begin + SHOWN_S * speed))
        for i in np.flatnonzero(shown):
            if isinstance(event, MotorBlock):
                captions[i] += f"\n{begin:.2f} s: motors blocked"
            else:
                arrows[i], labels[i] = _arrow(event, begin)
    return frames._replace(arrow=arrows, arrow_label=np.array(labels), caption=np.array(captions))


def _arrow(event: BaseVelocity | BaseForce, begin: float) -> tuple[Array, str]:
    """The arrow (3) [m] and its label."""
    value = np.array(event.value)
    size = float(np.linalg.norm(value))
    is_force = isinstance(event, BaseForce)
    length = np.clip(size * (METRES_PER_FORCE if is_force else METRES_PER_SPEED), *LENGTHS)
    label = f"{begin:.2f} s: {size:.3g} {'N' if is_force else 'm/s'}"
    return value * (length / size) if size else value, label
