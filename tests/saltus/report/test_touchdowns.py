"""The report's section on touchdowns."""

from dataclasses import replace

import numpy as np

from robots.conventions import FOOT_NAMES
from saltus.metrics.touchdowns import Touchdowns
from saltus.report import page
from saltus.report.measures import SAMPLES, measured
from saltus.report.reading import Subject, TrialRecord
from tests.a1 import A1
from tests.saltus.report.fake_sweep import fake_trace

STAND = np.concatenate(([0.0, 0.0, A1.stand_height, 0.0, 0.0, 0.0, 1.0], A1.stand))
LANDINGS = (("RL",), ("FR", "RL"), ("FL", "RR"), ("FR",))  # at 0.5, 1.0, 1.5 and 2.0 s


def landings(q=STAND) -> Touchdowns:
    mask = np.array([[float(foot in feet) for foot in FOOT_NAMES] for feet in LANDINGS])
    v = np.zeros((4, 18))
    v[:, 2], v[:, 3] = -0.5, 0.2
    return Touchdowns(np.array([0.5, 1.0, 1.5, 2.0]), np.tile(q, (4, 1)), v, mask, 1.0 - mask)


def trial(found: Touchdowns, fell: bool = False, planner: str = "hilqr") -> TrialRecord:
    """Of a robot that is pushed at 1.2 s."""
    trace = replace(fake_trace(planner, 1.2, 1.0, fell), touchdowns=found)
    return TrialRecord({"planner": planner, "trial": 3, "fell": fell, "at": 1.2}, trace)


def page_of(*shown: TrialRecord) -> str:
    subject = Subject("run", None, "walk", {}, "", shown)  # type: ignore[arg-type]
    text = page.page(subject)
    return text[text.index("<h2>Touchdowns") : text.index("<h2>Cost by")]


def test_the_section_draws_each_trial_and_tells_its_kinds():
    text = page_of(trial(landings()), trial(landings(), planner="convex_mpc"))
    assert text.count("<img") == 2 and "Touchdowns</h2>" in text
    assert "Spread of the outcomes and s of 4 touchdowns over time, HiLQR MPC: at most" in text
    assert text.count("<td>diagonal pair</td>") == text.count("<td>one foot</td>") == 2
    assert f"{SAMPLES} sampled outcomes" in text


def test_touchdowns_after_a_fall_do_not_count():
    fallen = trial(landings(), fell=True)
    end = fallen.fall_time
    assert end is not None and 1.5 < end < 2.0
    assert measured(A1, fallen, 10).of == 3


def test_no_trace_is_no_touchdown():
    assert "no trace of a trial to draw" in page_of(replace(trial(landings()), trace=None))
