"""Joint torque that makes a kinematic reference consistent with its contacts."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.optimize import nnls

from robots.pinocchio_model import foot_frame_ids
from robots.robot import Robot

FRICTION = 0.5  # of the pyramid that the reference's forces stay in, below the real one [-]
REGULARISATION = 1e-3  # weight of the force magnitudes against the base wrench [-]


def pyramid(friction: float) -> NDArray[np.float64]:
    """Edges of the linearised friction cone as columns, (3, 4)."""
    mu = friction
    return np.array([[mu, -mu, 0.0, 0.0], [0.0, 0.0, mu, -mu], [1.0, 1.0, 1.0, 1.0]])


class FeedForward:
    """Contact-consistent inverse dynamics.

    Solves  min | (J_c^T f)_base - (M a + h)_base |^2 + eps |lambda|^2,  f = E lambda, lambda >= 0
    for the stance feet's forces, then tau = (M a + h - J_c^T f)_joints.
    """

    def __init__(self, robot: Robot, model: pin.Model) -> None:
        """`model` is Pinocchio's of the robot."""
        self._model, self._data = model, model.createData()
        self._frames, self._most = foot_frame_ids(model), robot.torque_limit
        self._edges = pyramid(FRICTION)

    def __call__(
        self,
        q: NDArray[np.float64],
        v: NDArray[np.float64],
        a: NDArray[np.float64],
        contacts: NDArray[np.bool_],
    ) -> NDArray[np.float64]:
        """Joint torque [N m], (12,), for q (19,), v (18,), a (18,) and stance feet (4,)."""
        wrench = pin.rnea(self._model, self._data, q, v, a)
        pin.computeJointJacobians(self._model, self._data, q)
        columns = []
        for foot in np.flatnonzero(contacts):
            jacobian = pin.getFrameJacobian(
                self._model, self._data, self._frames[foot], pin.LOCAL_WORLD_ALIGNED
            )
            columns.append(jacobian[:3].T @ self._edges)
        if not columns:
            return np.clip(wrench[6:], -self._most, self._most)
        generators = np.hstack(columns)
        size = generators.shape[1]
        system = np.vstack([generators[:6], REGULARISATION * np.eye(size)])
        forces, _ = nnls(system, np.concatenate([wrench[:6], np.zeros(size)]))
        return wrench[6:] - generators[6:] @ forces
