"""The whole stack makes of a short walk what it made when the reference run was recorded."""

import numpy as np
import pytest
from msgspec.structs import replace

from tests.reference import record
from tests.reference.record import Made, read, unexplained

ELSEWHERE = {"computed_by": {"processor": "another"}}


def changed(tick, topic, field, change):
    """The reference run with one message changed."""
    made = read()
    message = made.messages[topic][tick]
    value = change(getattr(message, field))
    made.messages[topic][tick] = replace(message, **{field: value})
    return made


def test_the_stack_makes_what_it_made():
    lines = unexplained(read(), record.make())
    assert not lines, (
        "The output of the stack has changed:\n"
        + "\n".join(lines)
        + "\nIf that is what you want, record the reference run anew: make reference"
    )


@pytest.mark.parametrize("topic, field, change, words", [
    ("motor_command", "tau", lambda tau: np.nextafter(tau, np.inf), ": tau_"),
    ("plan", "cost", lambda cost: np.nextafter(cost, np.inf), "cost"),
    ("state_estimate", "status", lambda _: "degraded", "status was 'ok', is 'degraded'"),
])  # fmt: skip
def test_the_last_bit_shows_and_its_tick(topic, field, change, words):
    lines = unexplained(read(), changed(400, topic, field, change))
    assert f"{topic}: 1 of 75 differ; first at tick 400" in lines[0] and words in lines[0]


def test_a_metric_that_changed_shows_before_and_after():
    before, after = read(), read()
    after.facts["run"]["distance_m"] = 0.0
    distance = before.facts["run"]["distance_m"]
    assert unexplained(before, after) == [f"distance_m: was {distance}, is 0.0"]


@pytest.mark.parametrize("tick, topic, field, change, shows", [
    (780, "ground_truth", "q", lambda q: q + 1e-8, False),
    (780, "ground_truth", "q", lambda q: q + 1e-5, True),
    (780, "plan", "status", lambda _: "failed", True),
    (1200, "ground_truth", "q", lambda q: q + 0.005, False),
    (1200, "ground_truth", "q", lambda q: q + 0.02, True),
    (1200, "ground_truth", "q", lambda q: q * np.nan, True),
])  # fmt: skip
def test_another_processor_may_round_otherwise_and_no_more(tick, topic, field, change, shows):
    made = changed(tick, topic, field, change)
    assert bool(unexplained(read(), Made(made.messages, made.facts | ELSEWHERE))) == shows


def test_a_message_that_is_missing_shows_on_any_processor():
    made = read()
    del made.messages["plan"][300]
    assert "differ" in unexplained(read(), made)[0]
    elsewhere = Made(made.messages, made.facts | ELSEWHERE)
    assert unexplained(read(), elsewhere) == ["plan: messages are missing"]
