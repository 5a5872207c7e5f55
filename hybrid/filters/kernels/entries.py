"""Kernels as Python calls them: with the tables in a list, which stays on numba's side.

To hand numba a tuple of first-class functions takes some 150 us a function; a list of one tuple
takes 9 us whatever is in it.
"""

# ruff: noqa: N803 (the letters are the thesis's)

from __future__ import annotations

from typing import Any

from numba import njit
from numba.typed import List

from hybrid.compiled.system import quiet
from hybrid.filters.kernels import cloud as clouds
from hybrid.filters.kernels import kalman, mixture
from hybrid.filters.model import FilterModel
from hybrid.filters.tables import FilterTables, filter_tables


def tables_and_box(
    model: FilterModel, salted: bool = True, native_code: bool | None = None
) -> tuple[FilterTables, Any]:
    """A model's tables, see ``filter_tables``, and the same in a list of numba's, made once."""
    known = model.__dict__.setdefault("_boxes", {})
    tables = filter_tables(model, native_code)._replace(salted=salted)
    key = id(tables.slots), salted
    if key not in known:
        known[key] = boxed(tables)
    return tables, known[key]


def boxed(f: FilterTables) -> Any:
    """The tables in a list of numba's; they must be kept as long as it is used."""
    with quiet():
        return _boxed(f)


@njit(cache=True)
def _boxed(f):
    box = List()
    box.append(f)
    return box


@njit(cache=True, error_model="numpy")
def predict(box, g, u, end):
    """See ``kalman.predict``."""
    return kalman.predict(box[0], g, u, end, True)


@njit(cache=True, error_model="numpy")
def correct(box, g, u, y):
    """See ``kalman.correct``."""
    return kalman.correct(box[0], g, u, y)


@njit(cache=True, error_model="numpy")
def force(box, g, u, e):
    """See ``kalman.force``."""
    return kalman.force(box[0], g, u, e)


@njit(cache=True, error_model="numpy")
def predict_mixture(box, before, t, u, end, split, out):
    """See ``mixture.predict_mixture``."""
    mixture.predict_mixture(box[0], before, t, u, end, split, out)


@njit(cache=True, error_model="numpy")
def correct_mixture(box, before, t, u, y, split, out):
    """See ``mixture.correct_mixture``."""
    return mixture.correct_mixture(box[0], before, t, u, y, split, out)


@njit(cache=True, error_model="numpy", nogil=True)
def move_all(box, t, u, end, key, part, cloud):
    """See ``cloud.move_all``."""
    clouds.move_all(box[0], t, u, end, key, part, cloud)


@njit(cache=True, error_model="numpy", nogil=True)
def weigh(box, t, u, y, cloud):
    """See ``cloud.weigh``."""
    return clouds.weigh(box[0], t, u, y, cloud)
