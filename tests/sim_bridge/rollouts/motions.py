"""The motions in which rollout backends are held against plain MuJoCo."""

import numpy as np
from scipy.spatial.transform import Rotation

from saltation.hilqr import Policies
from tests.a1 import A1

STAND = np.concatenate([[0, 0, A1.stand_height, 0, 0, 0, 1], A1.stand, np.zeros(18)])
STAND.setflags(write=False)  # a backend that writes to its start must not spoil the next test
STIFFNESS, DAMPING = 80.0, 2.0  # of the feedback on the joints [N m/rad, N m s/rad]


def policies(knots, candidates=5, seed=0, *, noise=0.5, held=True):
    """Two policies about the stand, which the candidates take in turns at several step sizes.

    Args:
        knots: N; candidates: C.
        seed: of the torques.
        noise: standard deviation of the torques, nominal and step [N m].
        held: feedback holds the joints; else torques are all there is.
    """
    rng = np.random.default_rng(seed)
    gains = np.zeros((2, knots, 12, 36))
    if held:
        gains[:, :, range(12), range(6, 18)] = -STIFFNESS
        gains[:, :, range(12), range(24, 36)] = -DAMPING
    return Policies(
        np.tile(STAND, (2, knots + 1, 1)),
        noise * rng.normal(size=(2, knots, 12)),
        noise * rng.normal(size=(2, knots, 12)),
        gains,
        np.arange(candidates) % 2,
        np.linspace(0.0, 1.0, candidates),
    )


def anywhere(seed):
    """A state (37,) high up, in any attitude, the joints where they may be, all of it moving."""
    rng, x = np.random.default_rng(seed), STAND.copy()
    x[:3] = [*rng.normal(size=2), 3.0]
    x[3:7] = rng.normal(size=4)
    x[3:7] /= np.linalg.norm(x[3:7])
    x[7:19] += rng.uniform(-0.4, 0.4, 12)
    x[19:] = np.concatenate([rng.normal(size=3), 2.0 * rng.normal(size=3), rng.normal(size=12)])
    return x


def on_its_feet():
    """The stand (37,), feet 1 mm into the floor: whether they touch is no matter of rounding."""
    return STAND - 0.001 * np.eye(37)[2]


def standing():
    """On its feet (37,), pushed a little."""
    x = on_its_feet()
    x[19:] = 0.1 * np.random.default_rng(1).normal(size=18)
    return x


def landing():
    """Standing, but tilted to a corner (37,): one foot touches, a second one soon."""
    x = standing()
    x[3:7] = Rotation.from_euler("yx", [0.15, -0.25]).as_quat()
    x[2] += 0.02
    return x


def sliding():
    """On its feet (37,), which slide forward and to the right: 0.9 m/s, friction stops it later."""
    x = on_its_feet()
    x[19:21] = 0.8, -0.4
    return x


# motion -> where it begins, and its policies over a number of knots
MOTIONS = {
    "free fall": (
        lambda: anywhere(3),
        lambda knots: policies(knots, seed=3, noise=2.0, held=False),
    ),
    "standing": (standing, lambda knots: policies(knots, seed=4)),
    "sliding": (sliding, lambda knots: policies(knots, seed=5)),
}
