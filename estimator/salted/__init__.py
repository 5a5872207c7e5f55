"""The A1's salted Kalman filter: full contact dynamics, and impacts with saltation matrices."""

from estimator.salted.estimator import SaltedEstimator
from estimator.salted.options import SaltedOptions

__all__ = ["SaltedEstimator", "SaltedOptions"]
