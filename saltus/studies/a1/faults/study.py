"""The table of faults: the whole stack over UDP to the emulated A1, in real time, and one fault.

Every row is a launch of its own: the robot stands up, walks, something goes wrong, and it must end
on its feet or damped, within its limits, with the cause in one line and a recording that reads.
"""

import tempfile
from pathlib import Path

from saltus.studies.a1.faults.cases import FAULTS
from saltus.studies.a1.faults.runs import run_fault
from saltus.studies.engine import Criterion, StudyOptions, StudyResult

SHOWN = ("fault", "ended", "ok", "cause", "stop_ticks", "torque_max")


def run(options: StudyOptions) -> StudyResult:
    """Rows ``fault, ended, cause, ok, ...``; `--trials` repeats each fault so many times."""
    trials = options.trials or 1
    rows = []
    with tempfile.TemporaryDirectory(prefix="saltus-faults-") as folder:
        total = trials * len(FAULTS)
        for done in range(total):
            fault = FAULTS[done // trials]
            options.progress(done, total, fault.name)
            rows.append(run_fault(fault, Path(folder) / str(done)))
    held = sum(row["ok"] for row in rows)
    notes = [f"{held} of {len(rows)} ended as they should"]
    criteria = [Criterion("launches that ended as they should", held, ">=", len(rows))]
    return StudyResult(rows, notes=notes, shown=SHOWN, criteria=criteria)
