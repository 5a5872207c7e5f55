"""The picture that every recorded run leaves in its folder."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from saltus.console import say

PICTURE = "film_strip.png"
AROUND_EVENT = (-0.1, 0.1, 0.3, 0.7, 2.0)  # panels before and after the first perturbation [s]
PATIENCE_S = 120.0
NOTHING_TO_DRAW = 2  # exit status of the drawing: nothing recorded, or no room for the picture
GRAPHICS_HINT = "; off-screen drawing needs EGL: see `saltus doctor`"


def leave_picture(folder: Path, duration: float, events: Sequence[float]) -> None:
    """Draw a film strip of a recorded run into its folder; without graphics, say why not.

    Args:
        folder: of the run.
        duration: length of the run [s].
        events: times of perturbations [s]; the first one is shown.
    """
    command = [sys.executable, "-m", "saltus.rendering", str(folder), str(folder / PICTURE)]
    times = [f"{time:.2f}" for time in panel_times(duration, events)]
    try:
        # In a process of its own: a graphics driver that crashes must not take the summary along.
        done = subprocess.run(
            command + times, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        say(f"no picture ({error})")
        return
    if done.returncode != 0:
        failure = (done.stderr.strip().splitlines() or ["?"])[-1]
        hint = "" if done.returncode == NOTHING_TO_DRAW else GRAPHICS_HINT
        say(f"no picture ({failure}){hint}")


def panel_times(duration: float, events: Sequence[float]) -> list[float]:
    """Five instants [s]: around the first event, or spread over the run."""
    if events:
        return [min(max(events[0] + offset, 0.0), duration) for offset in AROUND_EVENT]
    return [duration * share for share in (0.1, 0.3, 0.5, 0.7, 0.9)]
