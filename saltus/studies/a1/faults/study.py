"""Faults of the emulated A1, over UDP and in real time, and how each launch ends.

Every row is a launch of its own: the robot stands up, walks, something goes wrong, and it must end
on its feet or damped, within its limits, with the cause in one line and a recording that reads.
"""

import tempfile
from pathlib import Path

from saltus.studies.a1.faults.cases import FAULTS
from saltus.studies.a1.faults.runs import run_fault
from saltus.studies.engine import Criterion, StudyOptions, StudyResult, study, track

SHOWN = ("fault", "ended", "ok", "cause", "stop_ticks", "torque_max")


@study("a1-faults", "the emulated A1", ("trials",))
def run(options: StudyOptions) -> StudyResult:
    """A row for each launch; ``trials`` launches of each fault."""
    faults = [fault for fault in FAULTS for _ in range(options.count(1))]
    with tempfile.TemporaryDirectory(prefix="saltus-faults-") as folder:
        rows = [
            run_fault(fault, Path(folder) / str(number))
            for number, fault in enumerate(track(faults, options.progress, lambda f: f.name))
        ]
    passed = sum(row.ok for row in rows)
    criteria = [Criterion("launches that ended as required", passed, ">=", len(rows))]
    return StudyResult(rows, columns=SHOWN, criteria=criteria)
