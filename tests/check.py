"""Check work in progress in a minute: ``python -m tests.check``, or ``make check``.

Static checks run beside tests of what changed: the test files that reach it by the fewest imports,
as many as their known durations allow. The exit status is 0 if nothing failed.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from collections import Counter, defaultdict, deque
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from saltus.common.compiled_code import FOLLOWED, ROOT, imported

OURS = (*FOLLOWED, "saltus")
BUDGET_S = 35.0  # of known durations, for each process of tests
LOADING_S = 0.3  # of a test file, which durations leave out
UNKNOWN_S = 1.0  # of a test file without a known duration
LIMIT_S = 52.0  # then tests are stopped: what changed may have to be compiled
PATIENCE_S = 4.0  # with tests that are stopped
NO_TESTS = 5  # pytest's exit status

PYTEST = ("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", "not slow and not quiet")
PYREFLY = ("pyrefly", "check", "--summary=none", "--min-severity=error")


class Result(NamedTuple):
    """The end of one command."""

    status: int
    output: str


def main():
    """Check, print what was found and what was left out, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", help="commit since which files changed")
    parser.add_argument("--durations", type=Path, help="of the last tests, as JUnit's XML")
    arguments, deadline = parser.parse_args(), time.monotonic() + LIMIT_S
    changed = changed_files(arguments.base or default_base())
    importers = find_importers(python_files(), changed)
    tests = {file: n for file, n in find_distances(changed, importers).items() if is_test(file)}
    cores = len(os.sched_getaffinity(0))
    shares = choose(tests, read_durations(arguments.durations), cores)
    left = Counter(min(tests[file], 2) for file in set(tests).difference(*shares))
    count = sum(map(len, shares))
    print(f"{len(changed)} files changed; tests in {count} files near them", flush=True)
    with ThreadPoolExecutor(cores + 1) as pool:
        found = [pool.submit(run, [sys.executable, *PYTEST, *map(str, share)], deadline)
                 for share in shares if share]  # fmt: skip
        found += [pool.submit(lint, changed, importers, deadline)]
        statuses = []
        for result in (each.result() for each in found):
            print(result.output.strip() or "static checks passed", flush=True)
            statuses.append(result.status if result.status != NO_TESTS else 0)
    for distance, words in ((0, "changed"), (1, "import it directly"), (2, "import it indirectly")):
        if left[distance]:
            print(f"{left[distance]} more test files {words}: make test")
    return max(statuses)


def default_base():
    """Where this branch left the remote's main; the last commit where there is no remote."""
    found = _git("merge-base", "origin/main", "HEAD")
    return found[0] if found else "HEAD"


def changed_files(base):
    """Files that differ from a commit, new ones included, relative to the root."""
    names = _git("diff", "--name-only", base) + _git("ls-files", "-o", "--exclude-standard")
    return sorted({Path(name) for name in names if (ROOT / name).is_file()})


def python_files():
    """All sources, relative to the root."""
    names = _git("ls-files", "-co", "--exclude-standard", "--", *(f"{name}/*.py" for name in OURS))
    return [Path(name) for name in names if (ROOT / name).is_file()]


def _git(*arguments):
    """Lines of git's answer; none where it has no answer."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, text=True, capture_output=True)
    return done.stdout.splitlines() if done.returncode == 0 else []


def find_importers(files, changed):
    """The files that import a file; those that name it, for a changed one that is not Python."""
    others = {path.name: path for path in changed if path.suffix != ".py"}
    names = re.compile("|".join(map(re.escape, others)) or "(?!)")
    importers = defaultdict[Path, set[Path]](set)
    for file in files:
        for path in imported(ROOT / file, OURS):
            importers[path.relative_to(ROOT)].add(file)
        for name in names.findall((ROOT / file).read_text()) if others else ():
            importers[others[name]].add(file)
    return importers


def find_distances(changed, importers):
    """How many imports lead to the nearest changed file, from each file that reaches one."""
    distances = dict.fromkeys(changed, 0)
    queue = deque(distances)
    while queue:
        path = queue.popleft()
        for file in importers.get(path, ()):
            if file not in distances:
                distances[file] = distances[path] + 1
                queue.append(file)
    return distances


def is_test(file):
    """Whether pytest finds tests in it."""
    return file.parts[0] == "tests" and file.name.startswith("test_") and file.suffix == ".py"


def read_durations(report):
    """Seconds of each test file; none where there is no report."""
    durations = defaultdict[Path, float](float)
    if report and report.is_file():
        for case in ElementTree.parse(report).iter("testcase"):
            durations[Path(case.get("file", ""))] += float(case.get("time", 0.0))
    return durations


def choose(tests, durations, processes):
    """Test files for each process, the nearest first; changed ones even beyond the budget."""
    seconds = {file: LOADING_S + durations.get(file, UNKNOWN_S) for file in tests}
    shares, loads = [list[Path]() for _ in range(processes)], [0.0] * processes
    for file in sorted(tests, key=lambda file: (tests[file], seconds[file], file)):
        least = loads.index(min(loads))
        if tests[file] == 0 or loads[least] + seconds[file] <= BUDGET_S:
            shares[least].append(file)
            loads[least] += seconds[file]
    return shares


def lint(changed, importers, deadline):
    """Static checks: of all, but types in what changed and what imports it directly."""
    near = {file for path in changed for file in (path, *importers.get(path, ()))}
    typed = sorted(str(path) for path in near if path.suffix == ".py" and path.parts[0] != "tests")
    programs = Path(sys.executable).parent
    commands = [("ruff", "check", "--quiet", "."), ("lint-imports",)]
    if typed:
        commands.append((*PYREFLY, "--python-interpreter-path", sys.executable, *typed))
    found = [run([str(programs / name), *rest], deadline) for name, *rest in commands]
    failed = [result for result in found if result.status]
    outputs = "\n".join(result.output for result in failed)
    return Result(max((result.status for result in failed), default=0), outputs)


def run(command, deadline):
    """Run a command until a deadline; it has not failed if it is stopped."""
    left_s = max(0.1, deadline - time.monotonic())
    done = subprocess.run(
        ["timeout", "--signal=INT", f"--kill-after={PATIENCE_S}", str(left_s), *command], cwd=ROOT,
        text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    if done.returncode not in (124, -9):
        return Result(abs(done.returncode), done.stdout)
    last = done.stdout.strip().rpartition("\n")[2]
    return Result(0, f"{last}; stopped after {LIMIT_S:g} s: make test for the rest")


if __name__ == "__main__":
    sys.exit(main())
