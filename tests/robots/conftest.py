import numpy as np
import pytest

from robots.contact_dynamics import ContactDynamics
from robots.pinocchio_model import foot_frame_ids, load_pinocchio
from tests.a1 import A1


@pytest.fixture(scope="module")
def quadruped():
    """A module of tests may put others in its place."""
    return A1


@pytest.fixture(scope="module")
def model(quadruped):
    return load_pinocchio(quadruped)


@pytest.fixture(scope="module")
def dynamics(model):
    return ContactDynamics(model, foot_frame_ids(model))


@pytest.fixture
def random_state(quadruped):
    """q (19), v (18), tau (12): any attitude, joints within their limits, brisk velocities."""
    rng = np.random.default_rng(2026)

    def draw():
        quaternion = rng.normal(size=4)
        joints = rng.uniform(quadruped.legs.lower, quadruped.legs.upper)
        q = np.concatenate((rng.normal(size=3), quaternion / np.linalg.norm(quaternion), joints))
        return q, 2.0 * rng.normal(size=18), 10.0 * rng.normal(size=12)

    return draw
