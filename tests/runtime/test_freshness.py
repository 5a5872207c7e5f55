"""Freshness follows the topic table."""

import pytest

from runtime.freshness import Freshness
from runtime.topics import PLAN, STATE_ESTIMATE, TOPICS


def test_a_topic_is_silent_then_alive_then_late():
    freshness = Freshness()
    assert freshness.of(PLAN, 0.0).state == "silent"
    freshness.mark(PLAN, 10.0)
    assert freshness.of(PLAN, 10.0 + 0.9 * PLAN.max_age_s).state == "alive"
    assert freshness.of(PLAN, 10.0 + 1.1 * PLAN.max_age_s).state == "late"
    freshness.mark(PLAN, 11.0)
    assert freshness.of(PLAN, 11.0).state == "alive"
    assert freshness.of(STATE_ESTIMATE, 11.0).state == "silent"


def test_the_frequency_is_that_of_the_arrivals():
    freshness = Freshness()
    for k in range(400):
        freshness.mark(STATE_ESTIMATE, 5.0 + 0.002 * k)
    status = freshness.of(STATE_ESTIMATE, 5.0 + 0.002 * 399 + 0.001)
    assert status.frequency_hz == pytest.approx(500.0)
    assert status.age_s == pytest.approx(0.001)
    assert status.received == 400
    for k in range(400):
        freshness.mark(STATE_ESTIMATE, 6.0 + 0.004 * k)
    assert freshness.of(STATE_ESTIMATE, 7.6).frequency_hz == pytest.approx(250.0, rel=0.01)


def test_one_message_has_no_frequency_yet():
    freshness = Freshness()
    freshness.mark(PLAN, 3.0)
    assert freshness.of(PLAN, 3.0).frequency_hz == 0.0
    assert set(freshness.all(3.0)) == {topic.name for topic in TOPICS}


def test_topics_are_named_once_and_outlive_a_missed_message():
    assert len({topic.name for topic in TOPICS}) == len(TOPICS)
    assert all(topic.max_age_s >= 2.0 / topic.rate_hz for topic in TOPICS)
