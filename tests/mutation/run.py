"""Do tests notice mistakes? ``python -m tests.mutation.run --count 300``, or ``make mutants``.

A copy of the tree takes one mutant at a time and runs the tests that import its file, the nearest
first, until one fails. What was tried is kept in ``.mutants/`` and not tried again, unless its file
or one of its tests has changed.
"""

import argparse
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

from saltus.common.compiled_code import kernel_folder
from tests.mutation.mutants import Mutant, sample
from tests.mutation.parts import PARTS, ROOT, tests_of

WORK = ROOT / ".mutants"
TREE, KERNELS, RESULTS = WORK / "tree", WORK / "kernels", WORK / "results.jsonl"
LIMIT_S = 900.0  # of one mutant: its compilation may take minutes
PYTEST = ("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", "not slow and not quiet")


def main() -> None:
    """Try the mutants of the sample that have not been tried yet, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=300, help="mutants of all parts together")
    mutants, results = sample(parser.parse_args().count), _read()
    _copy_tree()
    _check_unmutated([mutant for mutant in mutants if _key(mutant) not in results])
    for number, mutant in enumerate(mutants):
        if _key(mutant) not in results:
            results[_key(mutant)] = _try(mutant)
            with RESULTS.open("a") as file:
                file.write(json.dumps([_key(mutant), mutant.name, results[_key(mutant)]]) + "\n")
        print(f"{number + 1}/{len(mutants)} {results[_key(mutant)]:9} {mutant.name}", flush=True)
    _print_table([(mutant, results[_key(mutant)]) for mutant in mutants])


def _read() -> dict[str, str]:
    lines = RESULTS.read_text().splitlines() if RESULTS.exists() else []
    return {key: result for key, _, result in map(json.loads, lines)}


def _key(mutant: Mutant) -> str:
    """A digest of the mutant, its file and the tests that are to notice it."""
    digest = hashlib.sha256(mutant.name.encode() + (ROOT / mutant.file).read_bytes())
    for name in _tests(mutant):
        digest.update((ROOT / name).read_bytes())
    return digest.hexdigest()[:16]


def _copy_tree() -> None:
    shutil.rmtree(TREE, ignore_errors=True)
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, text=True,
        capture_output=True, check=True,
    )  # fmt: skip
    for name in filter(lambda name: (ROOT / name).is_file(), listed.stdout.splitlines()):
        (TREE / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, TREE / name)


def _check_unmutated(mutants: list[Mutant]) -> None:
    """Stop where tests fail without a mutant: they would seem to catch every one."""
    tests = {name for mutant in mutants for name in _tests(mutant)}
    if tests and (status := _run(sorted(tests), kernel_folder())):
        sys.exit(f"tests fail on the code as it is (pytest's status {status}): see `make test`")


def _tests(mutant: Mutant) -> list[str]:
    return tests_of(Path(mutant.file), PARTS[mutant.part])


def _try(mutant: Mutant) -> str:
    """Either "caught", "survived", "timeout" (which counts as caught) or "untested"."""
    if not (tests := _tests(mutant)):
        return "untested"
    # Compiled code that mutants leave behind must not push out that of the code as it is.
    shutil.rmtree(KERNELS, ignore_errors=True)
    shutil.copytree(kernel_folder(), KERNELS, copy_function=os.link)
    (TREE / mutant.file).write_text(mutant.code())
    try:
        return "caught" if _run(tests, KERNELS, LIMIT_S) else "survived"
    except subprocess.TimeoutExpired:
        return "timeout"
    finally:
        shutil.copy2(ROOT / mutant.file, TREE / mutant.file)


def _run(tests: list[str], kernels: Path, limit: float | None = None) -> int:
    """Exit status of pytest on the copy of the tree, with compiled code in a folder."""
    environment = os.environ | {"PYTHONPATH": str(TREE), "NUMBA_CACHE_DIR": str(kernels)}
    with subprocess.Popen(
        [sys.executable, *PYTEST, *tests], cwd=TREE, env=environment, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True,
    ) as process:  # fmt: skip
        try:
            return process.wait(limit)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def _print_table(results: list[tuple[Mutant, str]]) -> None:
    counts = defaultdict[str, Counter[str]](Counter)
    for mutant, result in results:
        counts[mutant.part][result] += 1
        counts["all"][result] += 1
    print(f"\n{'part':12}{'mutants':>9}{'caught':>9}{'timeout':>9}{'survived':>10}{'share':>8}")
    for part, count in sorted(counts.items(), key=lambda each: each[0] == "all"):
        total, missed = count.total(), count["survived"] + count["untested"]
        print(f"{part:12}{total:9}{count['caught']:9}{count['timeout']:9}{missed:10}"
              f"{1.0 - missed / total:8.0%}")  # fmt: skip
    for mutant, result in results:
        if result in ("survived", "untested"):
            print(f"{result}: {mutant.name}")


if __name__ == "__main__":
    main()
