"""Workers: every trial's result comes."""

import pytest

from saltus.sweep.running import run_all, workers


def double(item):
    return 2 * item


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_result_comes(jobs):
    with workers(jobs):
        assert sorted(run_all(double, list(range(5)))) == [0, 2, 4, 6, 8]
        assert list(run_all(double, [21])) == [42]
        assert list(run_all(double, [])) == []
