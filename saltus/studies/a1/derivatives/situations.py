"""What the feet do in each knot of a trajectory, by MuJoCo's own contacts."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

from hybrid.systems import Array
from robots.a1.constants import FOOT_NAMES
from robots.state import mujoco_from_pinocchio

FLIGHT, STICKING, SLIDING, LIMIT, APPROACH, TOUCHDOWN, LIFT_OFF = SITUATIONS = (
    "flight", "sticking", "sliding", "joint limit", "approach", "touchdown", "lift-off",
)  # fmt: skip
EDGES = 4  # of the pyramid of friction of a foot


def situations(
    model: mujoco.MjModel, states: Array, inputs: Array, substeps: int
) -> NDArray[np.str_]:
    """What the feet do in each knot (N,), of `SITUATIONS`.

    - touchdown: a foot touches in a substep and did not in the one before;
    - lift-off: the reverse;
    - approach: the next knot is a touchdown; rigid derivatives have their jump here;
    - joint limit: a joint is beyond one, whatever the feet do;
    - sliding: a foot that touches has unloaded edges of its pyramid of friction;
    - sticking: all edges of all feet that touch are loaded;
    - flight: no foot touches.

    A knot of several is the first of this list. Before its first substep comes the last one of the
    knot before; the first knot has none before.

    Args:
        model: of the rollouts.
        states: x (N+1, 37); inputs: torques (N, 12) [N m].
        substeps: in a knot.
    """
    data, feet = mujoco.MjData(model), [model.geom(f"{name}_foot").id for name in FOOT_NAMES]
    before: list[list[int]] = []  # of the last substep
    names = []
    for x, torque in zip(states[:-1], inputs, strict=True):
        data.qpos[:], data.qvel[:] = mujoco_from_pinocchio(x[:19], x[19:])
        data.ctrl[:] = torque
        edges, limited = [], False
        for _ in range(substeps):
            mujoco.mj_step(model, data)
            edges.append(loaded_edges(data, feet))
            limited |= bool((data.efc_type == mujoco.mjtConstraint.mjCNSTR_LIMIT_JOINT).any())
        names.append(_situation(np.array(before + edges), np.array(edges), limited))
        before = edges[-1:]
    for k, after in enumerate(names[1:]):
        if after == TOUCHDOWN and names[k] not in (TOUCHDOWN, LIFT_OFF):
            names[k] = APPROACH
    return np.array(names)


def loaded_edges(data: mujoco.MjData, feet: Sequence[int]) -> list[int]:
    """Edges of each foot's pyramid that carry force, 0 to 4; -1 for a foot that does not touch."""
    edges = [-1] * len(feet)
    for contact in range(data.ncon):
        first = data.contact.efc_address[contact]
        force = data.efc_force[first : first + EDGES]
        edges[feet.index(int(data.contact.geom[contact, 1]))] = int(np.count_nonzero(force > 0.0))
    return edges


def _situation(with_before: NDArray[np.int64], edges: NDArray[np.int64], limited: bool) -> str:
    """Of loaded edges (substeps, 4) of a knot, and of the same after the substep before."""
    change = np.diff((with_before >= 0).astype(int), axis=0)
    if (change > 0).any():
        return TOUCHDOWN
    if (change < 0).any():
        return LIFT_OFF
    if limited:
        return LIMIT
    if ((edges >= 0) & (edges < EDGES)).any():
        return SLIDING
    return STICKING if (edges == EDGES).any() else FLIGHT
