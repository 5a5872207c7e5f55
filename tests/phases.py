"""Times a phase of `make test`: ``python tests/phases.py NAME COMMAND...``; bare, prints them all.

The first phase installs packages, so this needs none.
"""

import json
import os
import resource
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILE = ROOT / ".kernels" / "test-phases.json"
FIRST = "install"  # begins the file anew


def run(name, command, file=FILE):
    """Run a command and note its wall and processor time [s]; its exit status."""
    begin = time.monotonic()
    status = subprocess.run(command).returncode
    wall, used = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    noted = _new() if name == FIRST or not file.exists() else json.loads(file.read_text())
    processor = used.ru_utime + used.ru_stime
    noted["phases"][name] = {"wall_s": round(wall, 1), "processor_s": round(processor, 1)}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(noted, indent=1) + "\n")
    return status if status >= 0 else 128 - status


def table(file=FILE):
    """The phases, a line each, and their sum."""
    phases = json.loads(file.read_text())["phases"]
    rows = [(name.replace("_", " "), *phase.values()) for name, phase in phases.items()]
    rows.append(("all", sum(wall for _, wall, _ in rows), sum(used for *_, used in rows)))
    lines = [f"{name:20}{wall:9.0f} s{processor:11.0f} s" for name, wall, processor in rows]
    return "\n".join([f"{'phase':20}{'wall':>11}{'processor':>13}", *lines])


def _new():
    """What is noted of the whole: commit (and whether files differ from it), date, cores."""
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--exclude=*", "--abbrev=40"],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    ).stdout.strip()  # fmt: skip
    date, cores = datetime.now(UTC).isoformat(timespec="seconds"), len(os.sched_getaffinity(0))
    return {"commit": commit, "date": date, "cores": cores, "phases": {}}


if __name__ == "__main__":
    sys.exit(run(sys.argv[1], sys.argv[2:]) if sys.argv[1:] else print(table()))
