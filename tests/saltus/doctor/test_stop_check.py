"""``saltus doctor`` says for how long the machine stops by itself."""

import pytest

from saltus.common.stalls import LEAST_MS
from saltus.doctor.checks import BOUND_MS, longest_stop, verdict


@pytest.mark.parametrize("stop_ms, good, words", [
    (0.4, True, "up to 0.4 ms"), (BOUND_MS + 7.3, False, "up to 12.3 ms, more than 5 ms"),
    (BOUND_MS + 7.3, False, "not virtual"), (None, False, "real-time scheduling"),
])  # fmt: skip
def test_how_long_it_stopped_and_the_remedy(stop_ms, good, words):
    ok, found = verdict(stop_ms)
    assert ok == good and words in found


def test_it_is_measured_beside_busy_cores():
    stop_ms = longest_stop(0.5)
    assert stop_ms is None or stop_ms >= LEAST_MS
