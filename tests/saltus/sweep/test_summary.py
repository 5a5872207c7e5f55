"""Success by condition and planner, and the table that people read."""

import yaml
from pytest import approx

from saltus.metrics.run import DRIVING_MEASURES
from saltus.sweep.summary import failed_solves, readable_summary, summarise


def row(planner="hilqr", group="", fell=False, value=(0.0, 1.5, 0.0), kind="base_velocity",
        deviation=0.25):  # fmt: skip
    return {"planner": planner, "trial": 0, "kind": kind, "at": 1.0,
            "value": None if value is None else list(value), "fell": fell,
            "max_lateral_deviation_m": deviation, "solve_ms_p50": 3.0, "group": group, "seed": 0,
            "solve_ms_p99": 5.0}  # fmt: skip


def test_trials_are_counted_by_magnitude_and_averaged_over_those_on_their_feet():
    rows = [
        row(deviation=0.2), row(value=(0.0, -1.5, 0.0), deviation=0.4),
        row(value=(1.5, 0.0, 0.0), fell=True), row(value=(0.0, 1.0, 0.0), fell=True),
        row(value=None, kind="motor_block"),
    ]  # fmt: skip
    strong, weak, block = (
        (entry["kind"], entry["magnitude"], entry["trials"], entry["success"],
         entry["mean_max_lateral_deviation_m"])
        for entry in summarise([row | {"group": "all"} for row in rows])
    )  # fmt: skip
    assert strong == ("base_velocity", 1.5, 3, 2, approx(0.3))
    assert weak == ("base_velocity", 1.0, 1, 0, None) and block[1:4] == (0.0, 1, 1)


def test_groups_and_planners_stay_apart_and_in_order():
    rows = [row("hilqr", "z", value=(0.0, -1.5, 0.0)), row("hilqr", "z", fell=True),
            row("hilqr", "a"), row("convex_mpc", "z"), row("convex_mpc", "a")]  # fmt: skip
    summary = summarise(rows)
    found = [f"{entry['group']} {entry['planner']} {entry['trials']}" for entry in summary]
    assert found == ["z hilqr 2", "z convex_mpc 1", "a hilqr 1", "a convex_mpc 1"]
    assert (
        list(summary[0])
        == """
        planner kind magnitude trials success mean_max_lateral_deviation_m
        mean_max_lateral_deviation_of_all_m largest_lateral_deviation_m group success_low
        success_high condition values
    """.split()
    )


def test_table_has_success_with_its_interval():
    table = readable_summary([row(fell=i == 0, deviation=0.2 + 0.1 * (i % 2)) for i in range(16)])
    assert table == yaml.safe_load("""
        - condition: base velocity 1.5 m/s along (0, 1, 0)
          planner: hilqr
          success: 15/16 (72-99 %)
          lateral deviation: 0.25 m
          largest: 0.30 m
          solve time: 3.0 ms
    """)
    (blocked,) = readable_summary([row(group="g", value=None, kind="motor_block", fell=True)])
    assert (blocked["condition"], blocked["lateral deviation"]) == ("g", "-")


def driven(fell=False, **measures):
    known = dict.fromkeys(DRIVING_MEASURES, 0.5) | measures
    return row(fell=fell, value=None, kind="none") | {"max_lateral_deviation_m": None} | known


def test_trials_whose_solves_failed_are_named():
    rows = [{"planner": "hilqr", "trial": n, "plans_failed": 2 * (n > 0)} for n in range(6)]
    assert failed_solves(rows[:1]) == ""
    assert failed_solves(rows[:3]) == "4 solves failed: hilqr in trial 1, hilqr in trial 2"
    assert failed_solves(rows).startswith("10 solves failed: ")
    assert failed_solves(rows).endswith("hilqr in trial 3, 2 more")


def test_measures_of_driven_robots_are_means_over_successful_trials_that_have_them():
    rows = [driven(velocity_rmse_m_s=0.1), driven(velocity_rmse_m_s=0.3),
            driven(velocity_rmse_m_s=None), driven(True, velocity_rmse_m_s=9.0)]  # fmt: skip
    (entry,) = summarise(rows)
    assert (entry["trials"], entry["success"]) == (4, 3)
    assert entry["mean_velocity_rmse_m_s"] == approx(0.2)
    assert entry["mean_max_lateral_deviation_m"] is None and entry["mean_distance_m"] == 0.5
    (line,) = readable_summary(rows)
    assert line["velocity error"] == "0.200 m/s" and line["condition"] == "undisturbed"
    assert "lateral deviation" not in line
    (fallen,) = readable_summary([driven(True)])
    assert fallen["distance"] == "-"
