"""``saltus doctor`` says whether this machine is fast enough, and what helps where it is not."""

import pytest

from saltus.doctor.speed_check import Speed, measure, verdict

FAST = Speed(solve_ms=9.12, solve_p99_ms=12.4, tracker_ms=0.05, estimator_ms=0.2)


def test_a_fast_machine():
    ok, text = verdict(FAST, 2)
    assert ok and "slow" not in text and "too few" not in text
    assert text.startswith("a plan takes 9.1 ms (p99 12), a tick 0.25 ms of each 1 ms")


@pytest.mark.parametrize("speed, cores, fault, remedies", [
    (FAST._replace(solve_ms=31.0), 4, "a plan is too slow, 25 ms",
     ["faster core", "rollout: remote", "docs/remote.md", "hilqr.knots"]),
    (FAST._replace(estimator_ms=0.76), 4, "a tick is too slow, less than 0.8 ms",
     ["faster core", "estimator"]),
    (FAST, 1, "1 core is too few", ["2 or more"]),
])  # fmt: skip
def test_a_machine_that_lacks_one_thing_reads_which_and_the_remedy(speed, cores, fault, remedies):
    ok, text = verdict(speed, cores)
    assert not ok and text.startswith(f"a plan takes {speed.solve_ms:.1f} ms")
    assert fault in text and all(remedy in text for remedy in remedies)
    assert text.count("too slow") + text.count("too few") == 1


def test_a_short_walk_is_measured():
    speed = measure(duration=0.1)
    assert 0.0 < speed.solve_ms <= speed.solve_p99_ms
    assert min(speed.tracker_ms, speed.estimator_ms) > 0.0
    assert speed.tick_ms == speed.tracker_ms + speed.estimator_ms
