"""Which tests `make check` takes, and when it stops; and what `make test` notes of a phase."""

import json
import sys
from pathlib import Path

from tests import check, phases

A, B, C, D, PAGE = (Path(name) for name in ("robots/a.py", "b.py", "c.py", "d.py", "docs/p.md"))


def test_the_distance_is_the_number_of_imports_to_the_nearest_change():
    importers = {A: [B], B: [C, A], C: [D], PAGE: [D]}
    assert check.find_distances([A], importers) == {A: 0, B: 1, C: 2, D: 3}
    assert check.find_distances([PAGE, B], importers) == {PAGE: 0, B: 0, D: 1, C: 1, A: 1}
    assert check.find_distances([D], importers) == {D: 0}


def test_files_that_import_or_name_a_file_are_known():
    cache, page = Path("saltus/common/compiled_code.py"), Path("docs/design.md")
    here, test = Path("tests/check.py"), Path("tests/test_check.py")
    importers = check.find_importers([here, test], [cache, page])
    assert here in importers[cache] and test not in importers[cache]
    assert importers[here] == {test} and importers[page] == {test}
    assert test in check.python_files() and check.is_test(test) and not check.is_test(here)


def test_the_nearest_tests_are_taken_in_turn_while_they_fit():
    near, far, long, odd = (Path(f"tests/test_{name}.py") for name in ("n", "f", "l", "o"))
    tests = {far: 3, long: 1, near: 1, odd: 2}
    durations = {near: 20.0, long: 2.0 * check.BUDGET_S, far: 10.0}
    assert check.choose(tests, durations, 2) == [[near], [odd, far]]
    assert check.choose(tests, durations, 1) == [[near, odd, far]]
    assert check.choose(tests | {long: 0}, durations, 1) == [[long]]
    assert check.choose({}, {}, 2) == [[], []]


def test_a_phase_has_its_times_and_fails_as_its_command_does(tmp_path):
    file = tmp_path / "new" / "phases.json"
    assert phases.run("install", [sys.executable, "-c", "pass"], file) == 0
    assert phases.run("tests", [sys.executable, "-c", "exit(3)"], file) == 3
    noted = json.loads(file.read_text())
    assert set(noted) == {"commit", "date", "cores", "phases"} and noted["cores"] > 0
    assert set(noted["phases"]["tests"]) == {"wall_s", "processor_s"}
    names = [line.split()[0] for line in phases.table(file).splitlines()]
    assert names == ["phase", "install", "tests", "all"]
    phases.run("install", [sys.executable, "-c", "pass"], file)
    assert set(json.loads(file.read_text())["phases"]) == {"install"}
