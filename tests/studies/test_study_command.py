"""``saltus study``: one JSON object or a table, pictures whole or not at all, clear refusals."""

import json
from pathlib import Path

import pytest

from saltus.cli.main import run
from studies import runner
from studies import study as studies
from studies.figures import COLOURS, figure
from studies.study import STUDIES, Criterion, Study, StudyResult, find
from tests.saltus.programs import python

ROWS = [
    {"method": "xi", "cost": 12.34567, "converged": True, "multipliers": [[0.5, 0.25], [1.0, 0.0]]},
    {"method": "[dxr]", "cost": float("nan"), "converged": False, "multipliers": []},
]


class Tiny:
    """A study that records its options; its ``result`` may be replaced."""

    def __init__(self, result):
        self.result, self.options = result, None

    def run(self, options):
        self.options = options
        options.progress(1, 2, "halfway")
        options.progress(2, 2, "done")
        return self.result


@pytest.fixture
def tiny(monkeypatch, tmp_path):
    """What ``saltus study tiny`` runs."""
    drawing, axes = figure()
    axes.plot([0.0, 1.0], [0.0, 1.0], color=COLOURS["xi"])
    made = Tiny(StudyResult(ROWS, {"line": drawing}))
    entry = Study(lambda options: made.run(options), "nobody", ("trials", "seed", "full"))
    monkeypatch.setattr(
        studies, "find", lambda place: ("tiny", entry) if place == "tiny" else find(place)
    )
    monkeypatch.chdir(tmp_path)
    return made


def test_shown_keys_may_have_headings(tiny, capsys, printed):
    rows = [{"method_name": "one", "long_key": 1.23456, "hidden": 2.5}]
    tiny.result = StudyResult(rows, columns="method_name=method, long_key=log E_a")
    assert run(["study", "tiny"]) == 0
    out = capsys.readouterr().out
    assert "log E_a" in out and "1.235 " in out and "long" not in out and "2.5" not in out
    assert printed("study", "tiny")["rows"] == rows


def test_json_is_one_object_on_standard_output(tiny, capsys, tmp_path):
    assert run(["study", "tiny", "--json"]) == 0
    captured = capsys.readouterr()
    assert captured.out.count("\n") == 1
    answer = json.loads(captured.out, parse_constant=lambda word: pytest.fail(word))
    assert set(answer) == {"study", "rows", "seconds", "criteria"} and answer["study"] == "tiny"
    assert answer["rows"][0] == ROWS[0] and answer["rows"][1]["cost"] is None
    assert answer["seconds"] >= 0.0
    assert "line.png" in captured.err
    assert [path.name for path in (tmp_path / "runs/studies/tiny").iterdir()] == ["line.png"]


def test_table_has_four_digits_and_fits_eighty_columns(tiny, capsys):
    assert run(["study", "tiny"]) == 0
    out = capsys.readouterr().out
    assert "12.35" in out and "12.346" not in out and "0.5+0.25i 1" in out
    assert "yes" in out and "nan" in out and "[dxr]" in out
    assert max(len(line.rstrip()) for line in out.splitlines()) <= 80


def test_a_printed_number_and_the_difference_stand_behind_ours(tiny, capsys, printed, monkeypatch):
    cases = [{"of": {"method": "xi"}, "cost": 12.0}]
    monkeypatch.setitem(runner.PRINTED, "tiny", cases)
    first, second = printed("study", "tiny")["rows"]
    assert list(first)[:4] == ["method", "cost", "printed_cost", "cost_off"]
    assert (first["printed_cost"], first["cost_off"]) == (12.0, pytest.approx(0.34567))
    assert second["printed_cost"] is None and second["cost_off"] is None
    assert run(["study", "tiny"]) == 0
    assert "off" in capsys.readouterr().out


def test_options_reach_the_study(tiny, capsys, tmp_path):
    folder = tmp_path / "a" / "b"
    arguments = ["--trials", "7", "--seed", "3", "--full", "--output", str(folder)]
    assert run(["study", "tiny", *arguments]) == 0
    options = tiny.options
    assert (options.trials, options.seed, options.full) == (7, 3, True)
    assert (folder / "line.png").read_bytes().startswith(b"\x89PNG")


def test_without_a_name_the_studies_are_listed(tiny, capsys, printed):
    assert run(["study"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(STUDIES)
    for line, (name, entry) in zip(lines, STUDIES.items(), strict=True):
        assert line.startswith(name) and line.endswith(entry.description)
    assert set(printed("study")["studies"]) == set(STUDIES)


@pytest.mark.parametrize("value, op, bound, met", [
    (2.0, ">=", 2.0, True), (2.0, ">", 2.0, False), (2.0, "<=", 2.0, True),
    (None, "<", 1.0, False), (float("nan"), "<", 1.0, False),
])  # fmt: skip
def test_a_criterion_that_is_not_met_is_a_failure(tiny, capsys, printed, value, op, bound, met):
    criteria = [Criterion("sure", 1.0, ">", 0.0), Criterion("order", value, op, bound)]
    tiny.result = StudyResult(ROWS, criteria=criteria)
    first, second = printed("study", "tiny", status=0 if met else 1)["criteria"]
    assert first == {"what": "sure", "value": 1.0, "op": ">", "bound": 0.0, "met": True}
    assert second["met"] is met
    assert run(["study", "tiny"]) == (0 if met else 1)
    out = capsys.readouterr().out
    verdicts = out[out.index("order ") :].splitlines()[0]
    assert verdicts.split()[-1] == ("met" if met else "MET") and ("NOT MET" in out) != met


def test_options_without_effect_are_refused(refused):
    values = {"trials": ["--trials", "3"], "seed": ["--seed", "0"], "full": ["--full"]}
    for name in STUDIES:
        for option in values.keys() - set(accepted := find(name)[1].options):
            line = refused("study", name, *values[option])
            assert f"--{option} has no effect on study {name}" in line
            assert all(f"--{each}" in line for each in accepted)
    for name in ("table-5.1", "floquet", "ess-order", "zeno-block"):  # nothing in them is random
        assert not {"trials", "seed"} & set(find(name)[1].options)


def test_help_and_the_list_load_no_study(tmp_path):
    code = (
        "import sys; from saltus.cli.main import run; run(['study', '--help']); run(['study']);"
        "print([m for m in sys.modules if m.startswith(('matplotlib', 'numba', 'studies.'))])"
    )
    assert python("-c", code).stdout.splitlines()[-1] == "['studies.study']"


def test_bad_requests(tiny, refused):
    line = refused("study", "table-9")
    assert all(name in line for name in STUDIES)
    for option, value in (("--trials", "0"), ("--seed", "-1"), ("--outputs", "x")):
        assert option[:8] in refused("study", "tiny", option, value)


def test_output_that_is_a_file_is_refused_before_the_study_runs(tiny, refused, tmp_path):
    (tmp_path / "taken").touch()
    for output in ("taken", "taken/below"):
        assert "--output" in refused("study", "tiny", "--output", output)
    assert tiny.options is None


OWN = '"""Two and three."""\nfrom studies.study import StudyResult, study\n' + "".join(
    f"""
@study("nobody")
def {name}(options):
    return StudyResult([{{"number": {number}}}])
"""
    for name, number in (("two", 2), ("three", 3))
)


def test_a_study_of_a_file_runs(tmp_path, printed):
    file = tmp_path / "own.py"
    file.write_text(OWN)
    told = printed("study", f"{file}:three")
    assert told["study"] == "three" and told["rows"] == [{"number": 3}]


@pytest.mark.parametrize(
    "text, place, words",
    [
        (None, "own.py", "no file own.py"), ("", "own.py", "no function under @study"),
        (OWN, "own.py", "two, three"), (OWN, "own.py:four", "two, three"),
        ("import nothing_like_it\n" + OWN, "own.py:two", "nothing_like_it"),
    ],
)  # fmt: skip
def test_a_file_without_the_study_is_refused_in_one_line(
    text, place, words, tmp_path, monkeypatch, refused
):
    monkeypatch.chdir(tmp_path)
    if text is not None:
        Path("own.py").write_text(text)
    assert words in refused("study", place)
