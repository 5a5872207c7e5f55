"""Workers: every trial's result comes, and a cluster that is not there is one line."""

import sys

import pytest

from saltus.common.errors import BadRequest
from saltus.sweep.running import run_all, workers
from tests.refusals import refusal


def double(item):
    return 2 * item


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_result_comes(jobs):
    with workers(jobs):
        assert sorted(run_all(double, list(range(5)))) == [0, 2, 4, 6, 8]
        assert list(run_all(double, [21])) == [42]
        assert list(run_all(double, [])) == []


def test_a_missing_package_is_one_line_that_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    scheduler = "tcp://127.0.0.1:9"
    assert scheduler in refusal(BadRequest, workers(scheduler=scheduler).__enter__)


def test_a_dask_cluster_runs_trials():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(1, threads_per_worker=1, dashboard_address=None) as cluster:
        with workers(scheduler=cluster.scheduler_address):
            assert sorted(run_all(double, list(range(3)))) == [0, 2, 4]
