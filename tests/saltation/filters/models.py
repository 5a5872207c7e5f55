"""Filter models that the tests share, and textbook integrals."""

import numpy as np
from scipy.linalg import expm

from saltation.filters.model import FilterModel, Measurement, ProcessNoise
from saltation.filters.particle import ParticleFilter, ParticleOptions

NONE, NO_FORCE, EYE = np.zeros(0), np.zeros(1), np.eye(2)


def whole(t, x, u):
    return x.copy()


def model_of(system, Q=0.01, V=0.1, power=2, **others):
    """Noise Q I, and measurements of the whole state with noise V I, in every mode."""
    dims = {number: mode.state_dim for number, mode in system.modes.items()}
    return FilterModel(
        system,
        {i: ProcessNoise(Q if np.ndim(Q) else Q * np.eye(n), power) for i, n in dims.items()},
        {i: Measurement(whole, V * np.eye(n)) for i, n in dims.items()},
        **others,
    )


def van_loan(F, Q, h):
    """W(h) = int_0^h exp(F s) Q exp(F s)' ds by one matrix exponential (Van Loan 1978)."""
    n = len(F)
    block = expm(h * np.block([[-F, Q], [np.zeros((n, n)), F.T]]))
    return block[n:, n:].T @ block[:n, n:]


def particles(number, **options):
    """A kind of filter: a particle filter with so many particles."""

    def make(*arguments):
        return ParticleFilter(*arguments, options=ParticleOptions(number, **options))

    return make
