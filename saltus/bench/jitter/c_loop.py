"""The loop in C: compiled where there is a compiler, and run for some ticks at a time."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from saltus.common.errors import BadRequest

SOURCE = Path(__file__).with_name("loop.c")
COMPILERS = ("cc", "gcc", "clang")
FIRST_STEPS, CALIBRATION = 20_000, 500  # steps of a tick, ticks


def find_compiler() -> list[str]:
    """The words of a C compiler: those of $CC, else the first one that is there; empty for none."""
    named = shlex.split(os.environ.get("CC", ""))
    if named:
        return named
    return next(([path] for name in COMPILERS if (path := shutil.which(name))), [])


def compile_loop(compiler: list[str], folder: Path) -> Path:
    """Compile `loop.c` into a folder; the program.

    Raises:
        BadRequest: the compiler is not there, or refuses.
    """
    program = folder / "loop"
    words = [*compiler, "-O2", "-o", str(program), str(SOURCE)]
    try:
        done = subprocess.run(words, capture_output=True, text=True)
    except OSError as error:
        raise BadRequest(f"C compiler {compiler[0]}: {error.strerror}") from error
    if done.returncode:
        raise BadRequest(f"{shlex.join(words)} failed: {done.stderr}")
    return program


def run_loop(
    program: Path, ticks: int, period_s: float, locked: bool, steps: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Run the program under this process's own scheduling and affinity.

    Args:
        program: of `compile_loop`.
        ticks: how many.
        period_s: from one to the next [s].
        locked: it locks its memory, as this process has done.
        steps: that it computes in a tick.

    Returns:
        How late it woke up (ticks,) [s], NaN where it was late before it slept; and how long its
        ticks took (ticks,) [s].
    """
    words = [str(program), str(ticks), str(round(1e9 * period_s)), str(int(locked)), str(steps)]
    data = subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout
    late, took = np.frombuffer(data).reshape(ticks, 2).T
    return late, took


def steps_for(program: Path, period_s: float, locked: bool, tick_s: float) -> int:
    """The number of steps with which the program's tick takes `tick_s` [s] in the median."""
    steps = FIRST_STEPS
    bare, took = (
        float(np.median(run_loop(program, CALIBRATION, period_s, locked, each)[1]))
        for each in (0, steps)
    )
    return max(0, round(steps * (tick_s - bare) / (took - bare)))
