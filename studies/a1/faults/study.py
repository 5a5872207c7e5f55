"""Faults of the emulated robot, over its wire and in real time, and how each launch ends.

Every row is a launch of its own: the robot stands up, walks, something goes wrong, and it must end
on its feet or damped, within its limits, with the cause in one line and a recording that reads.
"""

import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from studies.a1.faults.cases import FAULTS
from studies.a1.faults.runs import run_fault
from studies.study import Criterion, StudyOptions, StudyResult, study

SHOWN = ("fault", "ended", "ok", "cause", "stop_ticks", "torque_max")


@study("the emulated robot", "trials", "set")
def run(options: StudyOptions) -> StudyResult:
    """A row for each launch, ``trials`` of each fault; the files of those that fail are kept."""
    faults = [fault for fault in FAULTS for _ in range(options.count(1))]
    folder = Path(tempfile.mkdtemp(prefix="saltus-faults-"))
    rows = []
    for number, fault in enumerate(options.track(faults, lambda f: f.name)):
        rows.append(run_fault(fault, folder / str(number), options.settings))
        if rows[-1].ok:
            shutil.rmtree(folder / str(number), ignore_errors=True)
    with suppress(OSError):  # it is not empty
        folder.rmdir()
    passed = sum(row.ok for row in rows)
    criteria = [Criterion("launches that ended as required", passed, ">=", len(rows))]
    notes = [f"{row.fault}: meanwhile the host kept the cores back for {row.stolen_ms:.0f} ms"
             for row in rows if not row.ok]  # fmt: skip
    if folder.exists():
        notes.append(f"files of the launches that failed: {folder}")
    return StudyResult(rows, columns=SHOWN, criteria=criteria, notes=notes)
