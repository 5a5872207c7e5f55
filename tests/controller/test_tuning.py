"""Tunings of the planner: merged and checked like a launch file, refused whole, never raised."""

import logging

import msgspec
import pytest
from msgspec.structs import replace

from controller.planner_options import HilqrSection, Search
from controller.tuning import Tuner
from runtime.messages import Tuning
from tests.runtime.inbox import Inbox

OPTIONS = HilqrSection(paused=Search(threads=1))
REFUSED = [
    "", "[1]", '{"cost": 5}', '{"cost": {"wieght": 1.0}}', '{"weights": {}}',
    '{"cost": {"base_velocity": NaN}}', '{"tolerance": 1e999}', '{"cost": {"base_velocity": -1}}',
    '{"cost": {"base_position": [1, 2]}}', '{"paused": {"step_sizes": []}}',
    '{"paused": {"step_sizes": [2.0]}}', '{"iterations": 3}',
    '{"paused": {"line_search": "best"}}', '{"realtime": null}', '{"realtime": {"iterations": 0}}',
    '{"knots": 40}', '{"period": 0.02}', '{"paused": {"threads": 3}}',
    '{"paused": {"substeps": 1}}',
    '{"derivatives": "rigid"}', '{"variant": "dxr"}', '{"realtime": {"threads": 2}}',
    '{"realtime": {"time_limit": 1.0}}', '{"tolerance": 0.1, "knots": 40}', "[" * 100_000,
    '{"cost": ' * 100_000,
]  # fmt: skip


class Planner:
    """Keeps the options that it is given."""

    def __init__(self):
        self.given = []

    def retune(self, options):
        if options.search.iterations == 13:
            raise ValueError("13 brings bad luck")
        self.given.append(options)


def tuner(planner, *texts, mode="paused"):
    tunings = [Tuning(sequence=k, time=0.0, options=text) for k, text in enumerate(texts, start=1)]
    return Tuner(Inbox(tunings), planner, OPTIONS, mode)


def test_changes_are_merged_over_what_there_is_and_tunings_add_up():
    planner = Planner()
    one = tuner(
        planner, '{"cost": {"base_velocity": 9}, "damping": 0.1}',
        '{"cost": {"joints": [1, 2, 3]}, "paused": {"step_sizes": [1, 0.5]}}',
    )  # fmt: skip
    one.look()
    cost = replace(OPTIONS.cost, base_velocity=9.0, joints=(1.0, 2.0, 3.0))
    search = replace(OPTIONS.paused, step_sizes=(1.0, 0.5))
    expected = replace(OPTIONS, cost=cost, damping=0.1, paused=search)
    assert one.options == expected and planner.given[-1] == expected.in_mode("paused")
    assert type(expected.cost.base_velocity) is type(planner.given[-1].cost.base_velocity)
    assert len(planner.given) == 2 and one.counts == {"applied": 2}


def test_in_real_time_the_search_of_real_time_holds():
    planner = Planner()
    whole = msgspec.json.encode(OPTIONS).decode()  # names the threads of lock step too
    changes = (
        '{"paused": {"iterations": 7}, "cost": {"base_velocity": 9}, '
        '"realtime": {"step_sizes": [0.3]}}'
    )
    one = tuner(planner, whole, changes, mode="realtime")
    one.look()
    assert one.counts == {"applied": 2}
    new = planner.given[-1]
    section = replace(OPTIONS, realtime=replace(OPTIONS.realtime, step_sizes=(0.3,)))
    assert new.search == section.in_mode("realtime").search != OPTIONS.paused
    assert new.cost.base_velocity == 9.0 and one.options.paused.iterations == 7


@pytest.mark.parametrize("text", REFUSED)
def test_a_refused_tuning_is_one_line_and_changes_nothing(text, caplog):
    planner = Planner()
    one = tuner(planner, text)
    with caplog.at_level(logging.INFO):
        one.look()
    assert planner.given == [] and one.options == OPTIONS and one.counts == {"refused": 1}
    assert len(caplog.messages) == 1 and "\n" not in caplog.messages[0]
    assert caplog.messages[0].startswith("planner: tuning 1 refused: ")


def test_what_the_planner_cannot_run_on_is_refused_and_the_next_tuning_counts():
    planner = Planner()
    one = tuner(planner, '{"paused": {"iterations": 13}}', '{"damping": 0.5}')
    one.look()
    assert one.counts == {"refused": 1, "applied": 1}
    assert planner.given == [replace(OPTIONS, damping=0.5).in_mode("paused")]
