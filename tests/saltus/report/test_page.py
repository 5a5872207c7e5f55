"""The page of `saltus report`: whole, self-contained, honest about what is missing."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from saltus.film.drawing import Job, Picture, View
from saltus.report import page, pictures
from saltus.report.pictures import draw_pictures
from tests.saltus.report.fake_sweep import change_rows, make_sweep

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)


class Page(HTMLParser):
    """Elements, open ones, texts and addresses of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.images = []
        self.addresses = []
        self.unclosed = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.append(tag)
        if tag == "img":
            self.images.append(given)
        self.addresses += [v for k, v in attrs if k in ["src", "href", "srcset", "data", "action"]]
        assert not [name for name in given if name.startswith("on")]
        if tag not in ("img", "meta", "br"):
            self.unclosed.append(tag)

    def handle_endtag(self, tag):
        assert self.unclosed.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    return page.write_report(make_sweep(tmp_path_factory.mktemp("report") / "sweep"))


@pytest.fixture
def bare(tmp_path):
    """A sweep without traces, which needs no figure."""
    return make_sweep(tmp_path / "bare", traces=False)


@pytest.fixture(scope="module")
def found(report):
    return Page(report.path.read_text())


def written(folder):
    return Page(page.write_report(folder).path.read_text())


def test_nothing_is_fetched_and_nothing_runs(found):
    assert not found.unclosed
    assert "script" not in found.tags and "iframe" not in found.tags and "link" not in found.tags
    assert found.addresses and all(address.startswith("data:") for address in found.addresses)
    style = (Path(page.__file__).parent / "page.css").read_text()
    assert not re.search(r"url\(|@import|https?:", style)


def test_verdict_comes_first_and_table_stands_beside_the_thesis(found):
    text = found.text
    verdict = "HiLQR MPC in 4 of 4 trials; Convex MPC in 4 of 4 trials; Instant QP in 2 of 4 trials"
    assert text.index(verdict) < text.index("Success rate")
    assert "100 % (8 of 8)" in text and "25 % (2 of 8)" in text and "3.729" in text
    assert "0 to 66 %" in text and "34 to 100 %" in text  # Wilson, 0 of 2 and 2 of 2
    assert "does not say whether its average deviation counts" in text


def test_planners_are_compared_trial_by_trial(found):
    text = found.text
    assert "HiLQR MPC beside each rival" in text and "McNemar" in text
    assert "all trials" in text and "Processor time of a plan" not in text


def test_a_sweep_with_budgets_shows_processor_times(tmp_path):
    folder = make_sweep(tmp_path / "s", suite="pushes", traces=False)
    about = json.loads((folder / "sweep.json").read_text())
    about["trials"] = dict.fromkeys(about["trials"], list(range(8)))
    (folder / "sweep.json").write_text(json.dumps(about))
    change_rows(folder, lambda rows: [
        *(row | {"budget_ms": None, "processor_ms_p50": 13.5} for row in rows),
        *(row | {"trial": row["trial"] + 4, "budget_ms": 10.0, "processor_ms_p50": 9.25}
          for row in rows if row["trial"] < 3),
    ])  # fmt: skip
    text = written(folder).text
    assert "Processor time of a plan" in text and "13.5" in text and "9.2" in text
    assert "10 ms a plan" in text and "default settings" in text


def test_figures_of_the_thesis_are_there(found):
    labels = " ".join(image["alt"] for image in found.images)
    assert "Instant QP, base velocity 1.5 m/s along (0, 1, 0): 2 of 2 fell" in labels
    assert "Contacts of the feet FR, FL, RR, RL over time, HiLQR MPC: schedule, one plan" in labels
    assert "Cost of 4 candidates by step size, 1 of them diverged" in labels
    assert "Commanded and true velocity" not in found.text  # nobody drove


def test_names_in_the_data_are_text(tmp_path):
    folder = make_sweep(tmp_path / "s", suite="<script>alert(1)</script>", traces=False)
    found = written(folder)
    assert "script" not in found.tags and "<script>alert(1)</script>" in found.text


def test_the_same_sweep_gives_the_same_bytes(tmp_path):
    subject = page.read_sweep(make_sweep(tmp_path / "s", planners=("hilqr",)))
    assert page.page(subject) == page.page(subject)


def test_unfinished_sweep_and_half_a_row(bare):
    rows = (bare / "rows.jsonl").read_bytes().splitlines(keepends=True)
    (bare / "rows.jsonl").write_bytes(b"".join(rows[:5]) + rows[5][:40])
    text = written(bare).text
    assert "5 of 12 trials are done. On its feet" in text
    assert "it goes on where it stopped" in text and "1 line(s) of rows.jsonl" in text


def test_strips_are_drawn(graphics):
    q = np.array([[0.0, 0.0, 0.3, 0.0, 0.0, 0.0, 1.0, *[0.0, 0.8, -1.6] * 4]])
    drawn, failure = draw_pictures([Job("strip0", [*map(Picture, q)], (96, 64), View(), "webp")])
    assert failure == "" and drawn.keys() == {"strip0"}


def test_without_graphics_the_rest_is_there(tmp_path, monkeypatch):
    monkeypatch.setattr(pictures, "draw_pictures", draw_pictures)
    monkeypatch.setenv("MUJOCO_GL", "none")
    text = written(make_sweep(tmp_path / "s", planners=("instant_qp",))).text
    assert "Pictures are missing here" in text and "saltus doctor" in text
    assert "Solve times" in text


def test_command_prints_path_and_verdict(bare, tmp_path, printed):
    target = tmp_path / "page.html"
    told = printed("report", str(bare), "--output", str(target))
    assert told["report"] == str(target) and told["rows"] == 12 and "4 of 4" in told["verdict"]
    assert target.exists()


def test_a_bad_file_is_one_line(bare, refused):
    refused("report", str(bare), "--output", ".")


def test_a_folder_without_a_sweep(tmp_path, refused):
    for folder in (tmp_path, tmp_path / "nothing"):
        assert "holds no sweep" in refused("report", str(folder))


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")
def test_a_real_browser_finds_nothing_to_complain_about(report, tmp_path):
    command = [
        str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
        "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={tmp_path / 'profile'}",
        "--dump-dom", report.path.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ">Success rate<" in done.stdout
    assert "CONSOLE" not in done.stderr


def test_a_robot_that_did_not_arrive_has_not_passed(bare):
    change_rows(bare, lambda rows: [
        row | {"passed": not row["fell"] and row["planner"] != "convex_mpc"} for row in rows
    ])  # fmt: skip
    text = written(bare).text
    assert "Passed: HiLQR MPC in 4 of 4 trials; Convex MPC in 0 of 4 trials" in text
    assert "beyond the obstacle" in text and text.count("did not arrive") == 4
