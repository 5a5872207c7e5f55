"""Reference trajectories that planners track: gaits, standing, and recordings."""

from controller.references.make import GAIT_NAMES, make_reference
from controller.references.recorded import load_reference, save_reference
from controller.references.trajectory import (
    Reference,
    ReferenceTrajectory,
    ReferenceWindow,
)

__all__ = [
    "GAIT_NAMES",
    "Reference",
    "ReferenceTrajectory",
    "ReferenceWindow",
    "load_reference",
    "make_reference",
    "save_reference",
]
