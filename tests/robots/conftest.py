from collections.abc import Callable

import numpy as np
import pinocchio as pin
import pytest

from robots.contact_dynamics import ContactDynamics
from robots.pinocchio_model import foot_frame_ids, load_pinocchio
from tests.a1 import A1

RandomState = Callable[[], tuple[np.ndarray, np.ndarray, np.ndarray]]


@pytest.fixture(scope="session")
def model() -> pin.Model:
    return load_pinocchio(A1)


@pytest.fixture(scope="session")
def dynamics(model: pin.Model) -> ContactDynamics:
    return ContactDynamics(model, foot_frame_ids(model))


@pytest.fixture
def random_state() -> RandomState:
    """q (19), v (18), tau (12): any attitude, joints within their limits, brisk velocities."""
    rng = np.random.default_rng(2026)

    def draw() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        quaternion = rng.normal(size=4)
        joints = rng.uniform(A1.legs.lower, A1.legs.upper)
        q = np.concatenate((rng.normal(size=3), quaternion / np.linalg.norm(quaternion), joints))
        return q, 2.0 * rng.normal(size=18), 10.0 * rng.normal(size=12)

    return draw
