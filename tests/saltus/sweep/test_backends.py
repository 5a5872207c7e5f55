"""Backends of joblib: every trial's result comes, and one that is not there is one line."""

import importlib

import pytest

from saltus.common.errors import BadRequest
from saltus.sweep.running import backend_ready, run_all


def double(item):
    return 2 * item


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing", "sequential"])
def test_every_result_comes(backend, jobs):
    with backend_ready(backend, None, jobs):
        assert sorted(run_all(double, list(range(5)))) == [0, 2, 4, 6, 8]
        assert list(run_all(double, [21])) == [42]
        assert list(run_all(double, [])) == []


@pytest.mark.parametrize("backend", ["dask", "ray", "spark"])
def test_missing_package_is_one_line_that_names_it(backend, monkeypatch):
    def missing(name, *_):
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(BadRequest, match=f"--cluster {backend}.*pip install .*{backend}"):
        with backend_ready(backend, None, 1):
            pass


def test_dask_of_ones_own_runs_trials():
    pytest.importorskip("distributed")
    with backend_ready("dask", None, 1):
        assert sorted(run_all(double, list(range(3)))) == [0, 2, 4]
