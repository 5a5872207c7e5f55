"""Chaos: processes are killed, stopped, starved; disks filled, clocks changed, sockets flooded.

All that at random instants of a walk of the emulated A1. Each time the robot must end on its feet,
on the ground or damped; one line says why, nothing is left running, and recording and black box
can be read.
"""

import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from studies.a1.chaos.draw import draw_harms
from studies.a1.chaos.trial import in_words, run_trial
from studies.study import Criterion, StudyOptions, StudyResult, study

TRIALS = 200
SHOWN = ("harm", "ended", "ok", "why")


@study("the emulated A1", "trials", "seed")
def run(options: StudyOptions) -> StudyResult:
    """A row for each launch; the files of those that fail are kept."""
    harms = draw_harms(options.seed, options.count(TRIALS))
    folder = Path(tempfile.mkdtemp(prefix="saltus-chaos-"))
    rows = []
    for number, harm in enumerate(options.track(harms, in_words)):
        rows.append(run_trial(harm, folder / str(number)))
        if rows[-1].ok:
            shutil.rmtree(folder / str(number), ignore_errors=True)
    with suppress(OSError):  # it is not empty
        folder.rmdir()
    failed = [row for row in rows if not row.ok]
    passed = len(rows) - len(failed)
    notes = [f"{row.harm}: {row.wrong}" for row in failed]
    if folder.exists():
        notes.append(f"files of the trials that failed: {folder}")
    return StudyResult(
        rows, columns=SHOWN, notes=notes,
        criteria=[Criterion("trials that ended as required", passed, ">=", len(rows))],
    )  # fmt: skip
