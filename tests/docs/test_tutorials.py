"""The tutorials show the code of examples/, and it works."""

import json

import pytest

from saltus.configuration.launch import load_launch
from saltus.launch.lock_step import LockStep
from saltus.launch.plugins import load
from studies.study import StudyOptions
from tests.docs.doc_code import blocks
from tests.saltus.programs import ROOT

EXAMPLES = ROOT / "examples"


@pytest.mark.parametrize("name", ["planner", "gait", "estimator", "study"])
def test_the_page_shows_the_example(name):
    page = (ROOT / "docs" / "tutorials" / f"{name}.md").read_text()
    shown = load(f"{ROOT}/docs/hooks.py:on_page_markdown")(page)
    assert f"```python\n{(EXAMPLES / f'my_{name}.py').read_text()}```" in shown


def test_the_planner_has_at_most_40_lines_of_code():
    text = (EXAMPLES / "my_planner.py").read_text()
    code = text.split('"""', 2)[2]
    lines = [line.strip() for line in code.splitlines()]
    assert sum(bool(line) and not line.startswith(("#", '"""')) for line in lines) <= 40


def test_the_notebook_of_the_page_in_python_runs_and_the_robot_survives(capsys):
    notebook = json.loads((EXAMPLES / "first_hour.ipynb").read_text())
    cells = ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]
    shown = blocks(ROOT / "docs" / "tutorials" / "python.md", "python")
    assert {code.strip() for code in shown} <= set(cells)
    names = {}
    for code in cells:
        exec(code, names)
    aside, fell = capsys.readouterr().out.splitlines()[0].split(" m aside, fell: ")
    assert 0.05 < float(aside) < 0.3 and fell == "False" and len(names["forces"]) == 3000
    run = names["run"]
    assert run.simulation.data.model.nq == 19 and len(run.solve_ms) == 300


@pytest.mark.parametrize(
    "assignments",
    [
        [f"planner={EXAMPLES}/my_planner.py:Player"],
        [f"planner={EXAMPLES}/my_gait.py:crawl",
         f"estimator={EXAMPLES}/my_estimator.py:FeetAndImu"],
    ],
)  # fmt: skip
def test_the_a1_walks_with_the_examples(assignments):
    metrics = LockStep(load_launch("sim", assignments, duration=1.5)).run()
    assert not metrics.fell and metrics.distance > 0.1


def test_the_study_meets_its_criterion():
    result = load(f"{EXAMPLES}/my_study.py:run")(StudyOptions(trials=500))
    assert len(result.rows) == 7 and all(criterion.met for criterion in result.criteria)
