"""A ground as a physics server and its clients exchange it: named by its contents, and checked.

A server keeps the grounds that it was sent. A rollout names one, so that a ground travels only when
it changes. Patches of other friction are no part of it: a planner does not know them.
"""

from __future__ import annotations

import hashlib

import numpy as np

from robots.terrain import Ground, make_ground
from runtime.physics_messages import GroundRequest

MOST_BOXES, MOST_CELLS = 4096, 2**20
FARTHEST = 1e4  # of boxes and their sizes, and of heights [m]
SOLIDS = ("floor", "half", "grid", "grid_origin", "grid_spacing")
POSES = ("centre", "rotation")


def to_request(id: int, ground: Ground) -> GroundRequest:
    """The message that brings a ground to a server."""
    return GroundRequest(id=id, **{field: getattr(ground, field) for field in SOLIDS + POSES})


def from_request(request: GroundRequest) -> Ground:
    """The ground of a message without a fault."""
    return make_ground()._replace(
        **{field: getattr(request, field) for field in SOLIDS + POSES},
        reach=np.linalg.norm(request.half, axis=1),
    )


def name_of(ground: Ground) -> str:
    """The name by which rollouts ask for a ground: a hash, the same wherever it is computed."""
    return _hash(ground, SOLIDS + POSES)


def name_of_solids(ground: Ground) -> str:
    """A name of all grounds that differ in the poses of their boxes alone."""
    return _hash(ground, SOLIDS)


def fault_of(request: GroundRequest) -> str:
    """Fault of a ground, with the accepted values; empty without one."""
    boxes, cells = len(request.half), request.grid.size
    if boxes > MOST_BOXES or cells > MOST_CELLS:
        return f"{boxes} boxes and {cells} heights; accepted: {MOST_BOXES} and {MOST_CELLS}"
    numbers = [np.ravel(getattr(request, field)) for field in SOLIDS + POSES]
    if not (np.abs(np.concatenate(numbers)) <= FARTHEST).all():  # NaN is not
        return f"the ground reaches farther than {FARTHEST:g} m or has numbers that are none"
    if (request.half <= 0.0).any() or request.grid_spacing <= 0.0 or cells == 1:
        return "boxes and cells of the grid must have a size"
    return ""


def _hash(ground: Ground, fields: tuple[str, ...]) -> str:
    digest = hashlib.sha256()
    for field in fields:
        array = np.asarray(getattr(ground, field), dtype="<f8")
        digest.update(f"{array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
